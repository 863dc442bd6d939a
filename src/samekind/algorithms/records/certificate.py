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
from numpy.typing import NDArray

from samekind.algorithms.base import Certificate, percent_at_most
from samekind.flow import (
    DIFFERENT,
    SAME,
    UNANSWERED,
    UNSURE,
    BoolArray,
    FloatArray,
    IntArray,
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
    """

    n_missed: int = 0

    @property
    def precision(self) -> float:
        """At least this share of the pairs that are put into one entity belong together."""
        return 1 - self.wrong

    @property
    def recall(self) -> float:
        """At least this share of the candidate pairs that belong together are put into one entity."""
        return 1 - self.undiscovered

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
            f"({self.n_wrong:,} of {self.n_audited:,} audited pairs were wrong)."
        )


def audit_numbers(pairs: NDArray[np.integer], key: int) -> NDArray[np.uint64]:
    """Return a random number for each pair, by its rows and a key (splitmix64)."""
    rows = pairs.astype(np.uint64)
    with np.errstate(over="ignore"):
        x = (rows[:, 0] << np.uint64(32) | rows[:, 1]) + np.uint64(key)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return x ^ (x >> np.uint64(31))


def most_likely_share(n_wrong: int, n_drawn: int, tail: float = TAIL) -> float:
    """Return the largest share of a set that so many of a sample fit, but for a tail (Clopper, Pearson).

    Examples
    --------
    >>> round(most_likely_share(0, 60, tail=0.05), 3)
    0.049
    """
    from scipy.stats import beta

    return 1.0 if n_wrong >= n_drawn else float(beta.ppf(1 - tail, n_wrong + 1, n_drawn - n_wrong))


class _Sample(NamedTuple):
    drawn: int
    wrong: int
    """Of those drawn, and how many nobody could tell of."""
    undecided: int
    share: float
    """At most this share of the set is wrong."""
    share_at_any_time: float


def _sample(numbers: NDArray[np.uint64], answers: IntArray, right: int) -> _Sample:
    """Look at the smallest numbers of a set that were asked about.

    A pair that came to the set since, and that nobody was asked about, counts as wrong. So the sample ends
    where that costs least; the answers have no part in it.
    """
    order = np.argsort(numbers)
    said = answers[order]
    asked = said != UNANSWERED
    if not asked.any():
        return _Sample(0, 0, 0, 1.0, 1.0)
    ends = np.flatnonzero(asked)
    gaps = np.cumsum(~asked)[ends]
    bounds = [
        most_likely_share(int(gap), int(end) + 1) for gap, end in zip(gaps, ends, strict=True)
    ]
    size = int(ends[int(np.argmin(bounds))]) + 1
    said, asked = said[:size], asked[:size]
    wrong = int((said != right).sum())
    return _Sample(
        drawn=int(asked.sum()),
        wrong=int((said[asked] != right).sum()),
        undecided=int((said == UNSURE).sum()),
        share=most_likely_share(wrong, size),
        share_at_any_time=most_likely_share(wrong, size, TAIL / (size * (size + 1))),
    )


def certify_pairs(
    *,
    numbers: NDArray[np.uint64],
    answers: IntArray,
    together: BoolArray,
    near: BoolArray,
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
        What the audit says of them: SAME, DIFFERENT, UNSURE, or UNANSWERED where nobody was asked.
    together, near : ndarray of shape (m,)
        Which of them are put into one entity, and which are not but might be.
    chances : ndarray of shape (m,)
        The model's probabilities.
    n_together : int
        All pairs that are put into one entity, those known to be right among them.
    n_strangers : float
        Matches that the model expects among all other pairs.
    """
    in_one = _sample(numbers[together], answers[together], SAME)
    apart = _sample(numbers[near], answers[near], DIFFERENT)
    false = in_one.share * float(together.sum())
    n_near = float(near.sum())
    missed = apart.share * n_near
    expected = float(chances[near].sum())
    off_by = min(max(1.0, missed / expected), MOST_OFF) if expected > 0 else 1.0
    missed += off_by * n_strangers
    found = max(n_together - false, 0.0)
    any_time = in_one.share_at_any_time * float(together.sum())
    return PairCertificate(
        confidence=CONFIDENCE,
        undiscovered=missed / (found + missed) if found + missed > 0 else 0.0,
        wrong=false / n_together if n_together else 0.0,
        n_audited=in_one.drawn + apart.drawn,
        n_wrong=in_one.wrong + apart.wrong,
        n_unproven=0,
        n_undecided=in_one.undecided + apart.undecided,
        wrong_at_any_time=any_time / n_together if n_together else 0.0,
        n_missed=apart.wrong - apart.undecided,
    )
