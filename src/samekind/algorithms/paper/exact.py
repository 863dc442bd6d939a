"""The paper's algorithms with the paper's constants: BASIC (Algorithm 2) and IMPROVED (Algorithm 5)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from math import ceil, log, log2
from typing import TypeVar

import numpy as np

from samekind._validation import check_fraction
from samekind.algorithms.paper.base import Draws, PaperAlgorithm
from samekind.algorithms.paper.classify import PaperParams
from samekind.algorithms.paper.quiet_test import is_quiet
from samekind.algorithms.state import GIVEN_UP
from samekind.flow import Flow

__all__ = ["BasicExact", "ExactAlgorithm", "ExactParams", "ImprovedExact", "Round", "heavy_bands"]

LARGEST_DRAW = 2**16


@dataclass(frozen=True, kw_only=True)
class ExactParams(PaperParams):
    """Parameters of the algorithms with the paper's constants.

    Attributes
    ----------
    epsilon : float
        How small undiscovered clusters may be, and how accurate centres are.
    """

    epsilon: float = 0.5
    order: str = "index"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_fraction("epsilon", self.epsilon)


P = TypeVar("P", bound=ExactParams)


class Round:
    """The multiset S of a round, counted by cluster; Q, the clusters seen outside I; and each x_j*.

    The exact constants ask for millions of draws, nearly all of rows that are already labelled. So
    it draws in bulk as long as nothing has to be asked, and `batch` rows at a time otherwise.
    """

    def __init__(self, algorithm: ExactAlgorithm[P]) -> None:
        self._algorithm = algorithm
        self._state = algorithm.state
        self._n_closed = algorithm.state.n_closed
        self._chunk = algorithm.batch_size()
        self.size = 0  # |S|
        self.n_given_up = 0  # samples in S of rows that nobody can tell
        self.counts: Counter[int] = Counter()  # samples in S of each cluster in Q
        self.smallest: dict[int, float] = {}  # Φ(x_j*) of each cluster in Q

    @property
    def q(self) -> int:
        """|Q|."""
        return len(self.counts)

    @property
    def is_new(self) -> bool:
        """Whether S shows anything outside I."""
        return self.q > 0

    def quiet(self, k: int) -> bool | None:
        """Return whether S, with nothing new in it, is large enough to say that nothing is left."""
        epsilon = self._algorithm.params.epsilon
        return is_quiet(self.size, self.n_given_up, epsilon, k + 1 + self.n_given_up)

    def sample(self, size: float) -> Flow[Draws]:
        """Sample(I, {μ̃_i}, Q, S), at most `size` times and at least once."""
        n = max(1, int(min(size, self._chunk)))
        draws = yield from self._algorithm.draw(n)
        self._chunk = min(2 * self._chunk, LARGEST_DRAW)
        if self._state.n_closed > self._n_closed:
            self._n_closed = self._state.n_closed
            self._chunk = self._algorithm.batch_size()
        return draws

    def add(self, draws: Draws) -> None:
        """Put draws into S, and their clusters into Q where they are not recovered."""
        self.size += draws.rows.size
        self.n_given_up += int((draws.clusters == GIVEN_UP).sum())
        for cluster in np.unique(draws.clusters).tolist():
            if cluster >= 0 and not self._state.is_recovered(cluster):
                own = draws.clusters == cluster
                self.counts[cluster] += int(own.sum())
                lowest = float(draws.costs[own].min())
                self.smallest[cluster] = min(lowest, self.smallest.get(cluster, lowest))


class ExactAlgorithm(PaperAlgorithm[P]):
    """An algorithm with the paper's constants."""

    def look_for_new(self, this: Round, k: int) -> Flow[None]:
        """Phase 1: sample until something is outside I, or there is no reason to expect it any more.

        Where rows are given up, it takes more than the paper's T1 samples.
        """
        T1 = 8 / self.params.epsilon * log(10 * (k + 1))  # Alg. 2, l. 6; Alg. 5, l. 8
        while not this.is_new and this.quiet(k) is None:
            wanted = T1 - this.size + 1 if this.size <= T1 else this.size / 8
            this.add((yield from this.sample(wanted)))

    def nothing_left(self, this: Round, k: int) -> str:
        """Return why a run stops whose phase 1 found nothing."""
        if this.quiet(k) is False:
            return self.unplaced(this.n_given_up, this.size)
        return self.reducible(self.params.epsilon)

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

    def recover_all(self, this: Round, W: list[int], K: float) -> Flow[None]:
        """Phase 4 of Algorithm 5: collect uniform samples of the clusters in W, and recover them."""
        if len(W) > K:
            self.state.note(
                f"A round recovered {len(W)} clusters where K was guessed as {K:g}. The paper's bound on "
                "errors assumes that no round recovers more than K."
            )
        T3 = 30 * K / self.params.epsilon  # Alg. 5, l. 30
        yield from self.rejection_sample(this, T3, W)  # Alg. 5, l. 31
        self.sampler.add(self.state.recover(W))  # Alg. 5, l. 32-34, 36


class BasicExact(ExactAlgorithm[ExactParams]):
    """Recover one cluster a round; right with probability 0.9 (Theorem 7).

    At the end the clusters are ε-reducible with respect to the recovered ones, and every centre is a
    (1+ε)-approximation. The number of draws grows with ε^-4, the number of questions is at most the
    number of rows times the number of clusters, for a row is asked about only once.
    """

    name = "basic-exact"
    Params = ExactParams

    def run(self) -> Flow[str]:
        """Run the rounds of the pseudocode, whose lines are cited."""
        state, params, sampler = self.state, self.params, self.sampler
        epsilon = params.epsilon
        k = r = 0  # l. 1-2
        while True:
            r += 1  # l. 4
            state.n_rounds = r
            this = Round(self)  # l. 5: Q, S ← ∅
            if sampler.total == 0:
                return "covered"

            # Phase 1: is there anything left to recover?
            yield from self.look_for_new(this, k)  # l. 6-9
            if this.q == 0:  # l. 10, 28
                return self.nothing_left(this, k)

            # Phase 2: find the largest unrecovered cluster.
            while this.size <= (bound := 96 * this.q * log(10 * (k + this.q)) / epsilon):  # l. 11
                this.add((yield from this.sample(bound - this.size + 1)))  # l. 12
            j = max(this.counts, key=lambda cluster: (this.counts[cluster], -cluster))  # l. 14

            # Phase 3: find a reference point for it.
            q = this.q  # l. 15
            T2 = 2**12 * q * log(10 * (k + q)) / epsilon**2  # l. 16
            while this.size <= T2:  # l. 17
                this.add((yield from this.sample(T2 - this.size + 1)))  # l. 18

            # Phase 4: x_j* (l. 20) is kept by the round; collect uniform samples of the cluster.
            T3 = 20 / epsilon * r * log(10 * r) ** 2  # l. 22
            yield from self.rejection_sample(this, T3, [j])  # l. 21, 23
            sampler.add(state.recover([j]))  # l. 24, 26
            k += 1  # l. 25
            if params.target is not None and k >= params.target:
                return "target"


class ImprovedExact(ExactAlgorithm[ExactParams]):
    """Recover all clusters of the heavy bands in each round; right with probability 0.9 (Theorem 12).

    Two slips of the paper's pseudocode are mended as its text and proofs require: p̂_i is the share
    among the samples outside I, and log|Q|, zero for one new cluster, is taken of at least 2.
    """

    name = "improved-exact"
    Params = ExactParams

    def run(self) -> Flow[str]:
        """Run the rounds of the pseudocode, whose lines are cited."""
        state, params, sampler = self.state, self.params, self.sampler
        epsilon = params.epsilon
        k = r = 0  # l. 1-2
        K = 0.5  # l. 2
        while True:
            K *= 2  # l. 4
            while True:
                r += 1  # l. 6
                state.n_rounds = r
                this = Round(self)  # l. 7: Q, S ← ∅
                if sampler.total == 0:
                    return "covered"

                # Phase 1: is there anything left to recover?
                yield from self.look_for_new(this, k)  # l. 8-11
                if this.q == 0 or k >= K:  # l. 12
                    break

                # Phase 2: find the clusters of the heavy bands.
                while True:
                    this.add(
                        (yield from this.sample(bound2(this, k, epsilon) - this.size))
                    )  # l. 14
                    W = heavy_bands(this.counts)  # l. 15-19
                    if this.size >= bound2(this, k, epsilon):  # l. 20
                        break

                # Phase 3: find a reference point for each of them.
                q = this.q  # l. 21
                T2 = 2**17 * len(W) * log2(max(q, 2)) * log(10 * (k + q)) / epsilon**2  # l. 22
                while this.size <= T2:  # l. 23
                    this.add((yield from this.sample(T2 - this.size + 1)))  # l. 24

                # Phase 4: each x_j* (l. 26-29) is kept by the round; collect uniform samples.
                yield from self.recover_all(this, W, K)  # l. 30-34, 36
                k += len(W)  # l. 35
                if params.target is not None and k >= params.target:
                    return "target"
                if k >= K:  # l. 38
                    break
            if this.q == 0 and k <= K:  # l. 39
                return self.nothing_left(this, k)


def bound2(this: Round, k: int, epsilon: float) -> float:
    """Return the size of S at which phase 2 ends (l. 20); it moves with Q and W."""
    W = heavy_bands(this.counts)
    return 1600 * len(W) * log2(max(this.q, 2)) * log(10 * (k + this.q)) / epsilon


def heavy_bands(counts: Counter[int], outside: int | None = None) -> list[int]:
    """Return the clusters of the heavy bands, given the samples of each cluster outside I.

    p̂ is the share among all samples `outside` I, by default those in `counts`.

    Band ℓ = 1, …, 3·log₂ q holds the clusters with 2^-ℓ < p̂ ≤ 2^-(ℓ-1), one more band the rest. A
    band is heavy if its p̂ sum to at least 1/(9·log₂ q). Some band always is where the sums add up
    to 1: where `outside` has no samples of other clusters.

    Examples
    --------
    >>> heavy_bands(Counter({4: 60, 7: 39, 9: 1}))
    [4, 7]
    """
    n_bands = 3 * log2(max(len(counts), 2))
    total = counts.total() if outside is None else outside
    bands: dict[int, list[int]] = {}
    for cluster, count in counts.items():
        band = min(int(log2(total / count)) + 1, ceil(n_bands) + 1)
        bands.setdefault(band, []).append(cluster)
    heavy = [
        cluster
        for members in bands.values()
        if sum(counts[cluster] for cluster in members) >= total / (3 * n_bands)
        for cluster in members
    ]
    return sorted(heavy)
