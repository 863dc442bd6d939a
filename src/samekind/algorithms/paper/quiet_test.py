"""The paper's test whether anything is left to find."""

from __future__ import annotations

from math import log

import numpy as np

from samekind.algorithms.state import GIVEN_UP, ClusterState
from samekind.flow import IntArray

__all__ = ["QuietTest", "is_quiet"]


def is_quiet(n_draws: int, n_given_up: int, epsilon: float, t: int) -> bool | None:
    """Return what draws, none of them outside the recovered clusters, tell about what is left.

    True: but with probability (10 t)^-2, a draw is outside, or of a row that is given up, with probability
    below ε/4. False: too many draws are given up to say so. None: it takes more draws.

    Without rows that are given up this is the paper's T1 = 8/ε·ln(10 t). With g of n it is Chernoff's
    bound for at most g successes where nε/4 are expected; for g = 0 the two are the same.

    Examples
    --------
    >>> [is_quiet(n, 0, 0.5, t=1) for n in (36, 37)]  # 16 ln 10 = 36.8
    [None, True]
    >>> [is_quiet(n, 3, 0.5, t=1) for n in (37, 93, 94)], is_quiet(37, 5, 0.5, t=1)
    ([None, None, True], False)
    """
    if n_draws <= 8 / epsilon * log(10 * t):
        return None
    if not n_given_up:
        return True
    expected = epsilon / 4 * n_draws
    if n_given_up >= expected:
        return False
    exponent = expected - n_given_up - n_given_up * log(expected / n_given_up)
    return True if exponent >= 2 * log(10 * t) else None


class QuietTest:
    """The paper's phase-1 test, held at every moment of a practical run.

    If clusters that are not ε-reducible are left, a draw falls outside the recovered ones with
    probability at least ε/4 (Lemma 2). So a run of more than T = 8/ε·ln(10 t) draws inside them
    means, but with probability (10 t)^-2, that none is left. t numbers the tests: a new one begins with
    every draw outside, with every one of a row that is given up, and with every new centre. The errors of
    all tests together stay below 1/60. The paper holds its test once at the start of a round, with t = k + 1.

    A row that is given up may be outside, so it is no evidence that nothing is left (`is_quiet`).

    For uniform draws the same run says less: that fewer than ε/4 of the rows are in unrecovered clusters.
    """

    def __init__(self, epsilon: float | None) -> None:
        self._epsilon = epsilon
        self._n_tests = 0
        self.restart()

    def restart(self) -> None:
        """Begin the next test."""
        self._n_tests += 1
        self.n_draws = 0
        self.n_given_up = 0

    def go_on(self, n_draws: int = 1) -> None:
        """Take in draws of clusters that are recovered."""
        self.n_draws += n_draws

    @property
    def verdict(self) -> bool | None:
        """Whether nothing is left: False if too many rows are given up to say, None if it is too early."""
        if self._epsilon is None:
            return None
        return is_quiet(self.n_draws, self.n_given_up, self._epsilon, self._n_tests)

    @property
    def passed(self) -> bool:
        """Whether nothing is left."""
        return self.verdict is True

    def outside(self, clusters: IntArray, state: ClusterState) -> list[int]:
        """Take in the clusters of draws, and return the places of those that are not recovered."""
        places: list[int] = np.flatnonzero(state.is_open(clusters)).tolist()
        given_up = clusters == GIVEN_UP
        self._n_tests += len(places) + int(given_up.sum())
        if places:
            self.n_draws = self.n_given_up = 0
            given_up = given_up[places[-1] + 1 :]
        self.n_draws += given_up.size
        self.n_given_up += int(given_up.sum())
        return places
