"""What a result promises of pairs, and the random pairs that are asked about for it.

Every pair has a random number of its own, by its rows and the seed. Of a set of pairs, those with the
smallest numbers are a uniform sample, also if the set was not known when they were asked about. So the sets
may change as the model learns: those that are predicted to be one entity (of which precision speaks), and
those next to them that are not (recall). The model does not learn from the pairs of the audit.

Precision and the matches missed among the near pairs are bounded by Clopper and Pearson. Of the strangers,
which are too many to sample and which nobody wants to be asked about, the model says how many matches it
expects; that is multiplied by what the audit says the model may be off by among the near pairs, ten at most.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaincinv

from samekind.algorithms.base import Certificate, percent_at_most
from samekind.flow import (
    DIFFERENT,
    SAME,
    UNANSWERED,
    UNSURE,
    Answers,
    BoolArray,
    FloatArray,
)

__all__ = ["PairCertificate", "audit_numbers", "certify_pairs", "most_likely_share"]

CONFIDENCE = 0.95
MOST_OFF = 10.0  # times as many matches among strangers as the model says
TAIL = (1 - CONFIDENCE) / 2  # for each of the two bounds


@dataclass(frozen=True)
class PairCertificate(Certificate):
    """What a result promises of pairs of records, from an audit of pairs drawn at random.

    Attributes
    ----------
    confidence : float
        The probability, over the draws of the audit, that both bounds hold.
    undiscovered : float
        At most this share of the candidate pairs that belong together are not put into one entity.
    wrong : float
        At most this share of the pairs that are put into one entity do not belong together.
    n_audited, n_wrong : int
        Pairs audited, and how many of them were not as predicted, those that nobody could tell among them.
    n_missed : int
        How many of the wrong ones belong together and were not put into one entity.
    undiscovered_at_any_time : float
        As `wrong_at_any_time`: a bound on `undiscovered` for anybody who looks after every answer.
    """

    n_missed: int = 0
    undiscovered_at_any_time: float = 1.0

    @property
    def precision(self) -> float:
        """At least this share of the pairs that are put into one entity belong together."""
        return 1 - self.wrong

    @property
    def recall(self) -> float:
        """At least this share of the candidate pairs that belong together are put into one entity."""
        return 1 - self.undiscovered

    @property
    def at_any_time(self) -> float:
        """The larger of the two bounds for anybody who looks after every answer."""
        return max(self.wrong_at_any_time, self.undiscovered_at_any_time)

    def in_words(self, noun: str = "") -> str:
        """Return what is promised in a few sentences, which call every cluster an entity."""
        if self.confidence == 1.0:
            return "Every candidate pair was asked about, or follows from answers."
        if not self.n_audited:
            return "No promise yet: no pair was audited."
        wrong, missed = percent_at_most(self.wrong), percent_at_most(self.undiscovered)
        return (
            f"With {self.confidence:.0%} confidence, at most {wrong} of the pairs in one entity do not "
            f"belong together, and at most {missed} of the candidate pairs that do are missing "
            f"({self.n_wrong:,} of {self.n_audited:,} audited pairs were wrong). Matches that were never "
            "compared are not counted."
        )


def audit_numbers(pairs: NDArray[np.integer], key: int) -> NDArray[np.uint64]:
    """Return a random number for each pair, by its rows and a key (splitmix64)."""
    rows = pairs.astype(np.uint64)
    with np.errstate(over="ignore"):
        x = (rows[:, 0] << np.uint64(32) | rows[:, 1]) + np.uint64(key)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return x ^ (x >> np.uint64(31))


def most_likely_share(n_wrong: ArrayLike, n_drawn: ArrayLike, tail: float = TAIL) -> FloatArray:
    """Return the largest share of a set that so many of a sample fit, but for a tail (Clopper, Pearson).

    Examples
    --------
    >>> most_likely_share([0, 60], 60, tail=0.05).round(3).tolist()
    [0.049, 1.0]
    """
    wrong, drawn = np.asarray(n_wrong), np.asarray(n_drawn)
    right = np.maximum(drawn - wrong, 1)
    return np.where(wrong >= drawn, 1.0, betaincinv(wrong + 1, right, 1 - tail))


class _Sample(NamedTuple):
    drawn: int
    wrong: int
    """Of those drawn, and how many nobody could tell of."""
    undecided: int
    share: float
    """At most this share of the set is wrong."""
    share_at_any_time: float


def _sample(numbers: NDArray[np.uint64], answers: Answers, asked: BoolArray, right: int) -> _Sample:
    """Look at the smallest numbers of a set that were asked about.

    A pair that came to the set since, and that nothing is known of, counts as wrong. So the sample ends where
    that costs least; the answers have no part in it.
    """
    order = np.argsort(numbers)
    said, asked = answers[order], asked[order]
    ends = np.flatnonzero(asked)
    if not ends.size:
        return _Sample(0, 0, 0, 1.0, 1.0)
    gaps = np.cumsum(said == UNANSWERED)[ends]
    size = int(ends[most_likely_share(gaps, ends + 1).argmin()]) + 1
    said, asked = said[:size], asked[:size]
    wrong = int((said != right).sum())
    return _Sample(
        drawn=int(asked.sum()),
        wrong=int((said[asked] != right).sum()),
        undecided=int((said[asked] == UNSURE).sum()),
        share=float(most_likely_share(wrong, size)),
        share_at_any_time=float(most_likely_share(wrong, size, TAIL / (size * (size + 1)))),
    )


def certify_pairs(
    *,
    numbers: NDArray[np.uint64],
    answers: Answers,
    asked: BoolArray,
    together: BoolArray,
    chances: FloatArray,
    n_together: int,
    n_strangers: float,
) -> PairCertificate:
    """Return bounds on precision and recall.

    Parameters
    ----------
    numbers : ndarray of shape (m,)
        The random numbers of pairs that were not learnt from, nor follow from what was.
    answers : ndarray of shape (m,)
        What is known of them: SAME, DIFFERENT, UNSURE, or UNANSWERED.
    asked : ndarray of shape (m,)
        Which of them were asked about for the audit.
    together : ndarray of shape (m,)
        Which of them are put into one entity; the others are not but might be.
    chances : ndarray of shape (m,)
        The model's probabilities.
    n_together : int
        All pairs that are put into one entity, those known to be right among them.
    n_strangers : float
        Matches that the model expects among all other pairs.
    """
    near = ~together
    in_one = _sample(numbers[together], answers[together], asked[together], SAME)
    apart = _sample(numbers[near], answers[near], asked[near], DIFFERENT)
    expected = float(chances[near].sum())

    def bounds(share_wrong: float, share_missed: float) -> tuple[float, float]:
        """Return the shares that are wrong, and missing, at most."""
        false = share_wrong * float(together.sum())
        missed = share_missed * float(near.sum())
        off_by = min(max(1.0, missed / expected), MOST_OFF) if expected > 0 else 1.0
        missed += off_by * n_strangers
        found = max(n_together - false, 0.0)
        return (
            false / n_together if n_together else 0.0,
            missed / (found + missed) if found + missed > 0 else 0.0,
        )

    wrong, undiscovered = bounds(in_one.share, apart.share)
    at_any_time = bounds(in_one.share_at_any_time, apart.share_at_any_time)
    return PairCertificate(
        confidence=CONFIDENCE,
        undiscovered=undiscovered,
        wrong=wrong,
        n_audited=in_one.drawn + apart.drawn,
        n_wrong=in_one.wrong + apart.wrong,
        n_unproven=0,
        n_undecided=in_one.undecided + apart.undecided,
        wrong_at_any_time=at_any_time[0],
        n_missed=apart.wrong - apart.undecided,
        undiscovered_at_any_time=at_any_time[1],
    )
