"""The paper's own draws, and its test whether anything is left to find."""

from __future__ import annotations

import numpy as np

from samekind.algorithms.paper import QuietTest
from samekind.algorithms.state import ClusterState
from samekind.points import Sampler

__all__ = ["PaperDraws"]


class PaperDraws:
    """D²-samples with respect to the recovered centres, whatever the other draws do."""

    def __init__(self, sampler: Sampler, state: ClusterState, epsilon: float | None) -> None:
        self._state = state
        self._sampler = sampler
        self._quiet = QuietTest(epsilon)
        self._pending: list[int] = []  # recovered clusters whose centres the sampler lacks

    @property
    def passed(self) -> bool:
        """Whether the run may stop."""
        return self._quiet.passed

    def draw(self, rng: np.random.Generator) -> int:
        """Draw a row; -1 when all lie on centres."""
        if self._pending:
            self._sampler.add_lazily(self._state.centers[self._pending])
            self._pending = []
            self._quiet.restart()
        return next(iter(self._sampler.draw_by_rejection(rng, 1)), -1)

    def observe(self, cluster: int) -> None:
        """Take the cluster of a row that was drawn into the test."""
        if cluster in self._pending or (cluster >= 0 and not self._state.is_recovered(cluster)):
            self._quiet.restart()
        else:
            self._quiet.go_on()

    def add_recovered(self, cluster: int) -> None:
        """Let the sampler have the centre of a recovered cluster before it draws again."""
        self._pending.append(cluster)

    def drop(self, cluster: int) -> None:
        """Forget a cluster that became part of another."""
        self._pending = [other for other in self._pending if other != cluster]
