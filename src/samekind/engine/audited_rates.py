"""How often somebody errs, learnt from a random sample of their answers that somebody better checked."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import NamedTuple

import numpy as np

from samekind.flow import SAME, UNSURE

__all__ = ["AuditedRates", "RateInterval"]

WRONG, RIGHT = (
    0.5,
    1.5,
)  # answers that everyone is taken to have given: the Beta prior, as in `measures`
DRAWS = 2_000  # from the posterior
TAIL = 0.025  # beyond either end of an interval


class RateInterval(NamedTuple):
    """A rate with a 95 % interval, and how many answers it was learnt from."""

    mean: float
    low: float
    high: float
    n: int


@dataclass
class AuditedRates:
    """Checked answers about rows that differ and rows that are the same: how many, how many wrong.

    Only answers that were checked whatever they said may be counted, or the rates are off.

    Examples
    --------
    >>> rates = AuditedRates()
    >>> for said, truth in [(1, 1), (0, 0), (0, 0), (0, 1)]:
    ...     rates.count(said, truth)
    >>> rates.n, rates.n_wrong
    (4, 1)
    >>> rates.false_different.low < 0.5 < rates.false_different.high
    True
    """

    different: int = 0
    said_same: int = 0
    same: int = 0
    said_different: int = 0

    def count(self, said: int, truth: int) -> None:
        """Count an answer that was checked; nothing where either was not sure."""
        if UNSURE in (said, truth):
            return
        if truth == SAME:
            self.same += 1
            self.said_different += said != truth
        else:
            self.different += 1
            self.said_same += said != truth

    @property
    def n(self) -> int:
        """How many answers were checked."""
        return self.different + self.same

    @property
    def n_wrong(self) -> int:
        """How many of them were wrong."""
        return self.said_same + self.said_different

    @property
    def false_same(self) -> RateInterval:
        """How often different rows are called the same."""
        return _interval(self.said_same, self.different)

    @property
    def false_different(self) -> RateInterval:
        """How often the same rows are called different."""
        return _interval(self.said_different, self.same)

    @property
    def overall(self) -> RateInterval:
        """How often answers are wrong, of the sort that was checked."""
        return _interval(self.n_wrong, self.n)

    def chance_of_use(self, least: float) -> float:
        """Return the probability that 1 - false_same - false_different is at least so much; 0 is chance."""
        rng = np.random.default_rng(0)
        false_same = rng.beta(*_beta(self.said_same, self.different), DRAWS)
        false_different = rng.beta(*_beta(self.said_different, self.same), DRAWS)
        return float((1 - false_same - false_different >= least).mean())

    def to_text(self) -> str:
        """Return the counts as text, to be kept."""
        return json.dumps(asdict(self))

    @classmethod
    def from_text(cls, text: str) -> AuditedRates:
        """Return what `to_text` kept."""
        return cls(**json.loads(text))


def _beta(wrong: int, n: int) -> tuple[float, float]:
    return wrong + WRONG, n - wrong + RIGHT


def _interval(wrong: int, n: int) -> RateInterval:
    from scipy.special import betaincinv

    a, b = _beta(wrong, n)
    low, high = (float(betaincinv(a, b, tail)) for tail in (TAIL, 1 - TAIL))
    return RateInterval(a / (a + b), low, high, n)
