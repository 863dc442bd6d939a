"""UNIFORM, the paper's baseline (Section 5)."""

from __future__ import annotations

import numpy as np

from samekind.algorithms.paper.base import PaperAlgorithm, PracticalParams
from samekind.algorithms.paper.quiet_test import QuietTest
from samekind.flow import Flow

__all__ = ["Uniform"]


class Uniform(PaperAlgorithm[PracticalParams]):
    """Draw uniformly; a cluster is recovered when it is heavy. One round, whatever happens.

    The paper gives it no test of when to stop, and the one for D²-draws says nothing about uniform ones: few
    rows far away may hold most of the cost. A run of draws inside the recovered clusters as long as there
    stops it here with "rare", which promises less: but with a chance of 1/60, fewer than a share of ε/4 of
    the rows are in clusters that are not recovered.
    """

    name = "uniform"
    version = 3
    Params = PracticalParams

    def run(self) -> Flow[str]:
        """Draw and ask until there is a reason to stop."""
        points, state, params = self.points, self.state, self.params
        quiet = QuietTest(params.epsilon)
        ahead = np.empty(0, dtype=np.intp)
        state.n_rounds = 1
        while state.n_labelled < points.n:
            if quiet.passed:
                return "rare"
            if not ahead.size:
                ahead = self.sampler.draw(self.rng.random(max(self.batch_size(), self.n_ahead)))
            n_taken = self.n_at_once(ahead)
            rows, ahead = ahead[:n_taken], ahead[n_taken:]
            clusters = yield from self.clusters_of(rows)
            state.n_samples += n_taken
            for place in quiet.outside(clusters, state):
                cluster = int(clusters[place])
                if state.is_recovered(cluster):  # by a draw just before
                    continue
                state.add_uniform(cluster, points.row(int(rows[place])))
                if state.n_uniform[cluster] >= params.heavy:
                    state.recover([cluster])
            if params.target is not None and len(state.recovered) >= params.target:
                return "target"
        state.settle(points)
        return "exhausted"
