"""The paper's test whether anything is left to find."""

from __future__ import annotations

from math import log

import numpy as np

from samekind.algorithms.state import ClusterState
from samekind.flow import IntArray

__all__ = ["QuietTest"]


class QuietTest:
    """The paper's phase-1 test, held at every moment of a practical run.

    If clusters that are not ε-reducible are left, a draw falls outside the recovered ones with
    probability at least ε/4 (Lemma 2). So a run of more than T = 8/ε·ln(10 t) draws inside them
    means, but with probability (10 t)^-2, that none is left. t numbers the tests: a new one begins with
    every draw outside and with every new centre, and the errors of all tests together stay below
    1/60. The paper holds its test once at the start of a round, with t = k + 1.

    For uniform draws the same run says less: that fewer than ε/4 of the rows are in unrecovered clusters.
    """

    def __init__(self, epsilon: float | None) -> None:
        self._epsilon = epsilon
        self._n_tests = 0
        self.restart()

    def restart(self) -> None:
        """Begin the next test."""
        self._n_tests += 1
        self._quiet = 0

    def go_on(self, n_draws: int = 1) -> None:
        """Take in draws of clusters that are recovered, or of none."""
        self._quiet += n_draws

    @property
    def passed(self) -> bool:
        """Whether the quiet lasted long enough."""
        if self._epsilon is None:
            return False
        return self._quiet > 8 / self._epsilon * log(10 * self._n_tests)

    def outside(self, clusters: IntArray, state: ClusterState) -> list[int]:
        """Take in the clusters of draws, and return the places of those that are not recovered."""
        places: list[int] = np.flatnonzero(state.is_open(clusters)).tolist()
        if places:
            self._n_tests += len(places)
            self._quiet = clusters.size - 1 - places[-1]
        else:
            self.go_on(clusters.size)
        return places
