"""When the next cluster may be found: an honest range, from when the last ones were."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["Forecast", "discovery_times", "forecast_discovery"]

WINDOW = 8  # gaps between discoveries that count: the rate falls as clusters are found
PRIOR = 1.0  # a discovery, and the step that it took
LAST = 0.5  # of k clusters the one found last is the last there is with probability LAST / (k + 1)
FEWEST = 3  # clusters from which on there is something to tell


class Forecast(NamedTuple):
    """How many more steps (questions, or presses of a key) the next new cluster takes.

    Attributes
    ----------
    low, high : float
        It takes between `low` and `high` steps with a probability of 80 %, or more; `high` is infinite where
        there may be no other cluster.
    median : float
        It takes more or fewer with equal chances; infinite where there is likelier no other cluster.
    none_left : float
        The probability that all clusters are found.
    rate : float
        New clusters to be expected in a step, for as long as there are any.
    """

    low: float
    median: float
    high: float
    none_left: float
    rate: float

    def found_within(self, steps: int) -> float:
        """Return about how many new clusters so many steps find: no more than one in `median` steps."""
        return steps * min((1 - self.none_left) * self.rate, 1 / max(self.median, 1.0))


def discovery_times(steps: ArrayLike, discovered: ArrayLike) -> NDArray[np.int64]:
    """Return after how many steps each cluster was found, of those that are there at the end.

    Both are histories, of steps done and of clusters there were then; clusters may have proved to be one, and
    steps may have been taken back.

    Examples
    --------
    >>> discovery_times([1, 2, 3, 4, 9], [1, 2, 3, 2, 3]).tolist()
    [1, 2, 9]
    """
    there = _never_more_later(discovered)
    when = _never_more_later(steps)
    first = np.searchsorted(there, np.arange(1, there[-1] + 1)) if there.size else there
    return when[first]


def forecast_discovery(times: ArrayLike, now: int) -> Forecast | None:
    """Forecast the next discovery, given when each cluster was found; None while that says nothing.

    Discoveries come at a rate that is unknown (a Gamma posterior, from the last gaps and the time since), so
    the next one comes after a time that has a Lomax distribution. The longer nothing was found, compared
    with that, the likelier nothing is left.

    Examples
    --------
    >>> found = forecast_discovery(range(0, 100, 10), now=91)
    >>> round(found.low, 1), round(found.median, 1), round(found.high, 1)
    (1.0, 7.1, 31.9)
    >>> forecast_discovery(range(0, 100, 10), now=400).high
    inf
    """
    found = np.asarray(times)
    if found.size < FEWEST:
        return None
    gaps = np.diff(found)[-WINDOW:]
    shape, scale = gaps.size + PRIOR, float(gaps.sum()) + PRIOR
    quiet = max(0.0, float(now - found[-1]))
    silence = (1 + quiet / scale) ** -shape  # the chance of it, if something is left
    last = LAST / (found.size + 1)
    none_left = last / (last + (1 - last) * silence)

    def quantile(share: float) -> float:
        """Return after how long so much of all that may happen has, if there is another cluster."""
        later = 1 - share
        return float((scale + quiet) * (later ** (-1 / shape) - 1)) if later > 0 else np.inf

    rate, some = shape / (scale + quiet), 1 - none_left
    median, high = (quantile(share / some) if share < some else np.inf for share in (0.5, 0.9))
    return Forecast(quantile(0.1), median, high, none_left, rate)


def _never_more_later(history: ArrayLike) -> NDArray[np.int64]:
    """Return the least that came at or after each moment, which never falls."""
    values = np.asarray(history, dtype=np.int64)
    return np.minimum.accumulate(values[::-1])[::-1]
