"""The paper's improved algorithm with the paper's constants (Algorithm 5)."""

from __future__ import annotations

from collections import Counter
from math import ceil, log, log2

from samekind.algorithms.paper.base import ExactParams
from samekind.algorithms.paper.exact import ExactAlgorithm, Round
from samekind.flow import Flow

__all__ = ["ImprovedExact", "heavy_bands"]


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
                T1 = 8 / epsilon * log(10 * (k + 1))  # l. 8
                while this.q == 0 and this.size <= T1:  # l. 9
                    this.add((yield from this.sample(T1 - this.size + 1)))  # l. 10
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
                T3 = 30 * K / epsilon  # l. 30
                yield from self.rejection_sample(this, T3, W)  # l. 31
                sampler.add(state.recover(W))  # l. 32-34, l. 36
                k += len(W)  # l. 35
                if params.target is not None and k >= params.target:
                    return "target"
                if k >= K:  # l. 38
                    break
            if this.q == 0 and k <= K:  # l. 39
                return "reducible"


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
