"""The paper's basic algorithm with the paper's constants (Algorithm 2)."""

from __future__ import annotations

from math import log

from samekind.algorithms.paper.base import ExactParams
from samekind.algorithms.paper.exact import ExactAlgorithm, Round
from samekind.flow import Flow

__all__ = ["BasicExact"]


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
            T1 = 8 / epsilon * log(10 * (k + 1))  # l. 6
            while this.q == 0 and this.size <= T1:  # l. 7
                this.add((yield from this.sample(T1 - this.size + 1)))  # l. 8
            if this.q == 0:  # l. 10, 28
                return "reducible"

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
