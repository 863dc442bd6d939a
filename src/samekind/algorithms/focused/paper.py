"""The paper's own draws, and its test whether anything is left to find."""

from __future__ import annotations

import numpy as np

from samekind.algorithms.kinds import Kinds
from samekind.algorithms.sampling import QuietTest
from samekind.points import Points

__all__ = ["PaperDraws"]

AHEAD = 8  # rows that are drawn at once


class PaperDraws:
    """D²-samples with respect to the recovered centres, whatever the other draws do.

    Centres are added some at a time, as each takes a pass over the data; a kind counts as recovered here once
    its centre is among the sampler's.
    """

    def __init__(self, points: Points, kinds: Kinds, epsilon: float | None) -> None:
        self._kinds = kinds
        self._sampler = kinds.sampler = points.sampler()
        self._quiet = QuietTest(epsilon)
        self._waiting: list[int] = []  # recovered kinds whose centres the sampler lacks
        self._drawn: list[int] = []  # ahead, the last first
        self._n_covered = 0
        self._n_draws = 0

    @property
    def passed(self) -> bool:
        """Whether the run may stop."""
        return self._quiet.passed

    def draw(self, rng: np.random.Generator) -> int:
        """Draw a row; -1 when all lie on centres."""
        self._n_draws += 1
        due = len(self._waiting) > self._n_covered or self._n_draws % 64 == 0
        if self._waiting and due:
            self._sampler.add(self._kinds.centers[self._waiting])
            self._n_covered += len(self._waiting)
            self._waiting = []
            self._drawn = []
            self._quiet.restart()
        if not self._drawn:
            if self._sampler.total == 0:
                return -1
            self._drawn = self._sampler.draw(rng.random(AHEAD)).tolist()[::-1]
        return self._drawn.pop()

    def hear(self, kind: int) -> None:
        """Take in the kind of a row that was drawn."""
        if kind in self._waiting or (kind >= 0 and not self._kinds.is_recovered(kind)):
            self._quiet.restart()
        else:
            self._quiet.go_on()

    def cover(self, kind: int) -> None:
        """Take in the centre of a kind that was recovered."""
        self._waiting.append(kind)

    def drop(self, kind: int) -> None:
        """Forget a kind that became part of another."""
        self._waiting = [other for other in self._waiting if other != kind]
