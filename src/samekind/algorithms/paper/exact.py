"""The paper's algorithms with the paper's constants: BASIC (Algorithm 2) and IMPROVED (Algorithm 5)."""

from __future__ import annotations

from collections import Counter
from typing import TypeVar

import numpy as np

from samekind.algorithms.paper.base import Draws, ExactParams, PaperAlgorithm
from samekind.flow import Flow

__all__ = ["ExactAlgorithm", "Round"]

LARGEST_DRAW = 2**16

P = TypeVar("P", bound=ExactParams)


class Round:
    """The multiset S of a round, counted by cluster; Q, the clusters seen outside I; and each x_j*.

    The exact constants ask for millions of draws, nearly all of rows that are already labelled. So
    it draws in bulk as long as nothing has to be asked, and `batch` rows at a time otherwise.
    """

    def __init__(self, algorithm: PaperAlgorithm[P]) -> None:
        self._algorithm = algorithm
        self._state = algorithm.state
        self._labelled = algorithm.state.n_labelled
        self._chunk = algorithm.batch_size()
        self.size = 0  # |S|
        self.counts: Counter[int] = Counter()  # samples in S of each cluster in Q
        self.smallest: dict[int, float] = {}  # Φ(x_j*) of each cluster in Q

    @property
    def q(self) -> int:
        """|Q|."""
        return len(self.counts)

    def sample(self, size: float) -> Flow[Draws]:
        """Sample(I, {μ̃_i}, Q, S), at most `size` times and at least once."""
        n = max(1, int(min(size, self._chunk)))
        draws = yield from self._algorithm.draw(n)
        self._chunk = min(2 * self._chunk, LARGEST_DRAW)
        if self._state.n_labelled > self._labelled:
            self._labelled = self._state.n_labelled
            self._chunk = self._algorithm.batch_size()
        return draws

    def add(self, draws: Draws) -> None:
        """Put draws into S, and their clusters into Q where they are not recovered."""
        self.size += draws.rows.size
        for cluster in np.unique(draws.clusters).tolist():
            if cluster >= 0 and not self._state.is_recovered(cluster):
                own = draws.clusters == cluster
                self.counts[cluster] += int(own.sum())
                lowest = float(draws.costs[own].min())
                self.smallest[cluster] = min(lowest, self.smallest.get(cluster, lowest))


class ExactAlgorithm(PaperAlgorithm[P]):
    """An algorithm with the paper's constants."""

    def rejection_sample(self, this: Round, enough: float, wanted: list[int]) -> Flow[None]:
        """RejSamp(I, {μ̃_i}, T, W, {x_j*}): at least T uniform samples of every cluster in W."""
        state, epsilon = self.state, self.params.epsilon
        for cluster in wanted:
            state.set_uniform(cluster, [])  # S_j ← ∅
        while any(state.n_uniform[cluster] < enough for cluster in wanted):  # Alg. 4, l. 6
            draws = yield from this.sample(np.inf)  # Alg. 4, l. 2-3
            coins = self.rng.random(draws.rows.size)
            for cluster in wanted:  # Alg. 4, l. 4
                own = np.flatnonzero(draws.clusters == cluster)
                ratio = this.smallest[cluster] / draws.costs[own]
                accept = epsilon / 128 * ratio
                if (accept > 1).any():
                    state.note(
                        f"The bound Φ(x*)/Φ(x) ≤ 128/ε did not hold for a cluster: {ratio.max():.3g} > "
                        f"{128 / epsilon:.3g}. Its samples are not quite uniform."
                    )
                kept = own[coins[own] < accept]  # Alg. 4, l. 5
                for x in self.points.rows(draws.rows[kept]):
                    state.add_uniform(cluster, x)
