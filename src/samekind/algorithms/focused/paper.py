"""The paper's own draws, and its test whether anything is left to find."""

from __future__ import annotations

import numpy as np

from samekind.algorithms.paper import QuietTest
from samekind.algorithms.state import ClusterState
from samekind.points import Sampler

__all__ = ["PaperDraws"]


class PaperDraws:
    """D²-samples with respect to the recovered centres, whatever the other draws do."""

    def __init__(self, sampler: Sampler, kinds: ClusterState, epsilon: float | None) -> None:
        self._kinds = kinds
        self._sampler = sampler
        self._quiet = QuietTest(epsilon)
        self._waiting: list[int] = []  # recovered kinds whose centres the sampler lacks

    @property
    def passed(self) -> bool:
        """Whether the run may stop."""
        return self._quiet.passed

    def draw(self, rng: np.random.Generator) -> int:
        """Draw a row; -1 when all lie on centres."""
        if self._waiting:
            self._sampler.add_lazily(self._kinds.centers[self._waiting])
            self._waiting = []
            self._quiet.restart()
        return next(iter(self._sampler.draw_by_rejection(rng, 1)), -1)

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
