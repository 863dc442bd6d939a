"""The answers as evidence: which rows were compared, what each answer says, and what was expected of it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from samekind.algorithms.focused.same import N_FEATURES, Same
from samekind.flow import BoolArray, FloatArray, IntArray

__all__ = ["ELSEWHERE", "LONE", "Evidence", "Kind"]


class Kind:
    """What a question was about, as it is stored with the answer."""

    ROW = 0  # a fresh row, and its likeliest group
    GROUPS = 1  # whether two groups are one
    LINK = 2  # a doubtful link inside a group
    AUDIT = 3  # a uniform draw, and its predicted group; nothing is learnt from it
    FAR = 4  # a fresh row, drawn far from all known rows (D²)
    TEST = 5  # a fresh row, drawn far from all centres: the paper's test
    LINK_OF_GROUPS = 6  # a link between what were two groups


LONE = (Kind.ROW, Kind.AUDIT, Kind.FAR, Kind.TEST)
"""Kinds of questions about a fresh row."""
ELSEWHERE = 10
"""Added to a kind where somebody placed the row elsewhere than in the group that was asked about.

The answer says where it is, or that it is of a new kind, and what was expected of the question is stored with
it: P(same) learns that the row is not where it was expected.
"""


class Evidence(NamedTuple):
    """Clear answers about nodes, as columns; each counts for or against two nodes being in one cluster."""

    pairs: IntArray = np.empty((0, 2), dtype=np.intp)
    yes: BoolArray = np.empty(0, dtype=bool)
    who: IntArray = np.empty(0, dtype=np.intp)
    kind: IntArray = np.empty(0, dtype=np.intp)
    """-1 where nobody asked."""
    phi: FloatArray = np.empty((0, N_FEATURES))
    """Features when it was asked; the constant is 0 where nobody asked."""
    net: FloatArray = np.empty(0)
    """What earlier answers said of the two parts, in answers."""
    stage: FloatArray = np.empty(0)
    """How many answers there were when it was asked."""

    @property
    def size(self) -> int:
        """How many answers there are."""
        return len(self.yes)

    @property
    def was_asked(self) -> BoolArray:
        """Which answers somebody was asked for: P(same) is learnt from them."""
        return self.kind >= 0

    @property
    def is_elsewhere(self) -> BoolArray:
        """Which say that a row is elsewhere than was expected."""
        return self.kind >= ELSEWHERE

    @property
    def share_placed(self) -> float:
        """Of the rows that were not where they were expected, the share that somebody placed at once."""
        placed = np.unique(self.stage[self.is_elsewhere])  # nearly: by when they were asked about
        missed = np.unique(self.stage[self.is_elsewhere | self.is_early])
        return placed.size / max(missed.size, 1)

    def odds(self, same: Same) -> FloatArray:
        """Return the log odds of "same" that were expected; none of rows that were placed elsewhere."""
        found: FloatArray = np.where(self.is_elsewhere, 0.0, same.odds(self.phi))
        return found

    @property
    def is_early(self) -> BoolArray:
        """Which are refusals of a row that was alone then.

        When two groups are of one cluster, a row that the first refused by mistake ends in the second, and a
        row that it took ends in the first. So only the mistakes show between the two, however many rows were
        asked: such refusals count as one at most between two groups.
        """
        lone = np.isin(self.kind % ELSEWHERE, LONE)
        lone |= (self.kind == Kind.GROUPS) & (self.phi[:, 4] == 0)
        found: BoolArray = lone & ~self.yes
        return found

    def weights(self, same: Same) -> FloatArray:
        """Return the log odds that each answer adds for its two rows being in one cluster."""
        found: FloatArray = np.where(self.yes, 1.0, -1.0) * same.says_of(self.who)
        return found

    def some(self, chosen: BoolArray | IntArray) -> Evidence:
        """Return some of the answers."""
        return Evidence._make(column[chosen] for column in self)

    def plus(self, more: Evidence) -> Evidence:
        """Return these answers and more."""
        return Evidence._make(np.concatenate(both) for both in zip(self, more, strict=True))
