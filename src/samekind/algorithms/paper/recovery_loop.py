"""The rounds that BASIC and BATCHED share (Section 5 of the paper)."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from typing import NamedTuple

import numpy as np

from samekind.algorithms.paper.base import Draws, PaperAlgorithm, PracticalParams
from samekind.algorithms.paper.quiet_test import QuietTest
from samekind.algorithms.paper.rejection import RejectionSampling
from samekind.flow import FloatArray, Flow, IntArray

__all__ = ["RecoveryLoop"]


class _Ahead(NamedTuple):
    """Draws that are still to be taken in."""

    rows: IntArray
    costs: FloatArray
    coins: FloatArray

    def after(self, n: int) -> _Ahead:
        return _Ahead(self.rows[n:], self.costs[n:], self.coins[n:])


class RecoveryLoop(PaperAlgorithm[PracticalParams]):
    """Draw by D² from the recovered centres until `choose` names clusters to recover; repeat.

    Of the draws of unrecovered clusters, rejection sampling keeps uniform samples of them, which are kept
    for later rounds, too. A cluster with `heavy` of them is heavy, and its centre is their mean.

    Rows are drawn ahead and taken in one after the other. What is left when a cluster is recovered was drawn
    for other centres, and is dropped.
    """

    Params = PracticalParams
    version = 4

    @abstractmethod
    def choose(self, heavy: list[int], n_draws: Counter[int]) -> list[int]:
        """Return which of the heavy clusters (at least one) to recover now; none: draw on.

        `heavy` are those with enough uniform samples, `n_draws` the draws of each cluster so far.
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
            ahead = _Ahead(np.empty(0, dtype=np.intp), np.empty(0), np.empty(0))
            while not chosen:
                if state.n_labelled == points.n:
                    state.settle(points)
                    return "exhausted"
                if quiet.passed:
                    return "reducible"
                if not ahead.rows.size:
                    ahead = self._draw_ahead(max(self.batch_size(), self.n_ahead))
                rows = ahead.rows[: self.n_at_once(ahead.rows)]
                draws = Draws(rows, (yield from self.clusters_of(rows)), ahead.costs[: rows.size])
                used = 0
                while used < rows.size and not chosen:
                    used = samples.add(draws, ahead.coins, points, used)
                    heavy = state.unrecovered_heavy(params.heavy)
                    chosen = self.choose(heavy, samples.n_draws) if heavy else []
                quiet.outside(draws.clusters[:used], state)
                state.n_samples += used
                ahead = ahead.after(rows.size)
            sampler.add(state.recover(chosen))
            quiet.restart()
            if params.target is not None and len(state.recovered) >= params.target:
                return "target"

    def _draw_ahead(self, size: int) -> _Ahead:
        rows = self.sampler.draw(self.rng.random(size))
        return _Ahead(rows, self.sampler.cost(rows), self.rng.random(size))
