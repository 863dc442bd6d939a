"""A mean of runs, how sure it is, and how it stands against a number of the paper."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

__all__ = ["Cell", "band", "compare", "deviation", "summarize"]

Cell = dict[str, Any]
LEVEL = 0.95
PRINTED = 0.005  # the paper prints two decimals: a difference below this is none


def summarize(values: Sequence[float]) -> Cell:
    """Return the mean of runs and its 95 % interval by Student's t; no interval of fewer than two.

    The median of the runs tells where a few of them make the mean.

    Examples
    --------
    >>> summarize([1.0, 2.0, 3.0])
    {'mean': 2.0, 'low': -0.484..., 'high': 4.484..., 'median': 2.0, 'runs': 3}
    """
    middle = np.median(values) if len(values) else np.nan
    mean, low, high, median = (
        float(v) if np.isfinite(v) else None for v in (*(end[0] for end in band([values])), middle)
    )
    return {"mean": mean, "low": low, "high": high, "median": median, "runs": len(values)}


def deviation(values: Sequence[float]) -> float | None:
    """Return the standard deviation of runs; None of fewer than two, or of infinite values.

    Examples
    --------
    >>> deviation([1.0, 2.0, 3.0]), deviation([1.0])
    (1.0, None)
    """
    if len(values) < 2 or not np.isfinite(values).all():
        return None
    return float(np.std(values, ddof=1))


def band(
    rows: Sequence[Sequence[float]] | NDArray[Any],
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return mean, lower and upper end of the 95 % interval of each row; NaN where there is none."""
    values = np.asarray(rows, dtype=np.float64)
    n = values.shape[1]
    nothing = np.full(len(values), np.nan)
    if n == 0:
        return nothing, nothing, nothing
    mean = values.mean(axis=1)
    if n == 1:
        return mean, nothing, nothing
    with np.errstate(invalid="ignore"):  # an infinite error has no spread
        half = stdtrit(n - 1, (1 + LEVEL) / 2) * values.std(axis=1, ddof=1) / np.sqrt(n)
        return mean, mean - half, mean + half


def compare(cell: Cell, paper: float | None, better: str | None) -> str | None:
    """Return "better", "within" or "worse" for where our interval lies from the paper's number.

    "open" where this cannot be said: one run alone, or runs that did not get that far; None where
    there is nothing to compare with.

    Parameters
    ----------
    cell : dict
        A result of `summarize`, perhaps with "reached", how many runs got that far, and "at_least",
        which the mean of all runs cannot be below.
    paper : float or None
        The paper's number.
    better : {"higher", "lower"} or None
        Which numbers are good ones.
    """
    if paper is None or better is None:
        return None
    if cell.get("reached", cell["runs"]) < cell["runs"]:
        beyond = cell.get("at_least")
        sure = beyond is not None and beyond > paper + PRINTED and better == "lower"
        return "worse" if sure else "open"
    if cell["low"] is None or cell["high"] is None:
        return "open"
    if cell["low"] - PRINTED <= paper <= cell["high"] + PRINTED:
        return "within"
    return "better" if (cell["low"] > paper) == (better == "higher") else "worse"
