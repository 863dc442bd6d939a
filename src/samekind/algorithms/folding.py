"""What it means to fold and to choose: state from answers, questions from state.

    answers (a log)  --fold-->  state  --choose-->  questions

The state is a function of the answers that stand, in whatever order they came. Choosing changes nothing. So
resuming, undoing, importing and following others are all "fold what is new", or "fold again".
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection
from typing import ClassVar, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from samekind.algorithms.base import Algorithm, Params
from samekind.flow import SAME, Answers, BoolArray, FloatArray, IntArray, Pairs

__all__ = ["Answered", "Expected", "Folding"]

P = TypeVar("P", bound=Params)

Expected = NDArray[np.float32]
"""(m, n_features) what was known of each pair when it was asked about; NaN where nobody asked."""


class Answered(NamedTuple):
    """Answers that stand, at most one by each annotator for a pair."""

    pairs: Pairs
    answers: Answers
    """SAME, DIFFERENT or UNSURE."""
    who: IntArray
    """(m,) the number of the annotator."""
    skipped: BoolArray
    """(m,) whether UNSURE means that the question was put aside."""
    expected: Expected

    def plus(self, more: Answered) -> Answered:
        """Return these answers and more."""
        return Answered(
            np.concatenate([self.pairs, more.pairs]),
            np.concatenate([self.answers, more.answers]),
            np.concatenate([self.who, more.who]),
            np.concatenate([self.skipped, more.skipped]),
            np.concatenate([self.expected, more.expected]),
        )


class Folding(Algorithm[P]):
    """An algorithm whose state is folded from answers, and which chooses questions from its state.

    Clusters have numbers from 0 on, which hold until the next answer: whoever keeps one names a row of it.
    """

    n_features: ClassVar[int]
    """How many numbers are stored with each answer that was asked for (`expect`)."""

    @abstractmethod
    def fold(self, answers: Answered) -> None:
        """Forget all answers, and start anew from these: all that stand.

        What the state is made of is replaced, not changed: a shallow copy that is folded is independent.
        """

    @abstractmethod
    def apply(self, answers: Answered) -> None:
        """Take in answers beyond those known, asked for or not."""

    @abstractmethod
    def expect(self, pairs: Pairs) -> Expected:
        """Return what is known of pairs that were asked about, to be stored with their answers.

        To be called before the answers are applied.
        """

    def elsewhere(self, expected: Expected) -> Expected:
        """Return what is stored with answers that place a row elsewhere than it was asked about.

        `expected` is what was known of the pairs that were asked about.
        """
        return np.full_like(expected, np.nan)

    @classmethod
    def came_true(cls, answers: Answers, expected: Expected) -> BoolArray:
        """Return which questions were answered "same" with what they were about."""
        found: BoolArray = answers == SAME
        return found

    @abstractmethod
    def choose(self, n: int, taken: Collection[int] = ()) -> Pairs:
        """Return up to n pairs that are best asked next, in the order of their value; none: nothing is left.

        `taken` are rows of questions that others are being asked: what is chosen does not overlap them. The
        first row of a pair is the one in question, where the two differ in that.
        """

    def choose_together(self, most: int, taken: Collection[int] = ()) -> Pairs:
        """Return the best question, and up to `most` whose choice its answer would hardly change."""
        return self.choose(min(most, 1), taken)

    @abstractmethod
    def reason_to_stop(self) -> str:
        """Return why nothing more needs to be asked, or an empty text."""

    @abstractmethod
    def known_clusters(self) -> list[list[int]]:
        """Return the rows known to be in each cluster."""

    @abstractmethod
    def cluster_of(self, rows: IntArray) -> IntArray:
        """Return the number of the known cluster of each row, UNKNOWN or GIVEN_UP."""

    def is_known(self, rows: IntArray) -> BoolArray:
        """Return whether each row is known to be in some cluster."""
        return self.cluster_of(rows) >= 0

    def counts(self) -> tuple[int, int]:
        """Return about how many rows are known, and how many clusters: what a progress bar shows."""
        sizes = [len(rows) for rows in self.known_clusters() if rows]
        return sum(sizes), len(sizes)

    @abstractmethod
    def rank_clusters(self, row: int) -> list[int]:
        """Return the clusters that a row may be in, the likeliest first."""

    @abstractmethod
    def likely_members(self, cluster: int, most: int, taken: Collection[int] = ()) -> IntArray:
        """Return rows that are not known, but predicted to be in a cluster, the most doubtful first."""

    @abstractmethod
    def confidence(self, rows: IntArray) -> FloatArray:
        """Return how likely each row is in the cluster of its label: 1 if that is known."""
