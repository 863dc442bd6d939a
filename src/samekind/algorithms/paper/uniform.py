"""UNIFORM, the paper's baseline (Section 5)."""

from __future__ import annotations

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
    version = 2
    Params = PracticalParams

    def run(self) -> Flow[str]:
        """Draw and ask until there is a reason to stop."""
        points, state, params = self.points, self.state, self.params
        quiet = QuietTest(params.epsilon)
        state.n_rounds = 1
        while state.n_labelled < points.n:
            if quiet.passed:
                return "rare"
            draws = yield from self.draw(self.batch_size())
            places = quiet.outside(draws.clusters, state)
            for place, x in zip(places, points.rows(draws.rows[places]), strict=True):
                state.add_uniform(int(draws.clusters[place]), x)
            if places and (heavy := state.unrecovered_heavy(params.heavy)):
                state.recover(heavy)
                if params.target is not None and len(state.recovered) >= params.target:
                    return "target"
        state.settle(points)
        return "exhausted"
