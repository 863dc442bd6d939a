"""The rounds that BASIC and BATCHED share (Section 5 of the paper)."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter

from samekind.algorithms.paper.base import PaperAlgorithm, PracticalParams
from samekind.algorithms.paper.quiet_test import QuietTest
from samekind.algorithms.paper.rejection import RejectionSampling
from samekind.flow import Flow

__all__ = ["RecoveryLoop"]


class RecoveryLoop(PaperAlgorithm[PracticalParams]):
    """Draw by D² from the recovered centres until `choose` names clusters to recover; repeat.

    Of the draws of unrecovered clusters, rejection sampling keeps uniform samples of them, which are kept
    for later rounds, too. A cluster with `heavy` of them is heavy, and its centre is their mean.
    """

    Params = PracticalParams
    version = 2

    @abstractmethod
    def choose(self, heavy: list[int], n_draws: Counter[int]) -> list[int]:
        """Return which of the heavy clusters (at least one) to recover now; none: draw on.

        `n_draws` are the draws of each cluster so far.
        """

    def run(self) -> Flow[str]:
        """Draw and ask until there is a reason to stop."""
        points, state, params, sampler = self.points, self.state, self.params, self.sampler
        quiet = QuietTest(params.epsilon)
        samples = RejectionSampling(state, params.heavy)
        while True:
            state.n_rounds += 1
            samples.next_round(sampler)
            if sampler.total == 0 and state.n_labelled < points.n:
                return "covered"
            chosen: list[int] = []
            while not chosen:
                if state.n_labelled == points.n:
                    state.settle(points)
                    return "exhausted"
                if quiet.passed:
                    return "reducible"
                size = self.batch_size()
                draws = yield from self.draw(size)
                coins = self.rng.random(size)
                places = quiet.outside(draws.clusters, state)
                if places:
                    samples.add(draws, places, points.rows(draws.rows[places]), coins[places])
                    heavy = state.unrecovered_heavy(params.heavy)
                    chosen = self.choose(heavy, samples.n_draws) if heavy else []
            sampler.add(state.recover(chosen))
            quiet.restart()
            if params.target is not None and len(state.recovered) >= params.target:
                return "target"
