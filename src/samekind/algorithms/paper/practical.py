"""UNIFORM, BASIC and BATCHED, the paper's practical algorithms (Section 5)."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter, defaultdict
from dataclasses import dataclass
from math import inf
from typing import NamedTuple

import numpy as np

from samekind._validation import check_fraction, check_positive_int
from samekind.algorithms.paper.base import Draws, PaperAlgorithm
from samekind.algorithms.paper.classify import PaperParams
from samekind.algorithms.paper.quiet_test import QuietTest
from samekind.algorithms.state import ClusterState
from samekind.flow import FloatArray, Flow, IntArray
from samekind.points import Points, Sampler

__all__ = ["REFERENCES", "Basic", "Batched", "PracticalParams", "RejectionSampling", "Uniform"]

REFERENCES = 10  # draws of unrecovered clusters by which a round looks for reference points


@dataclass(frozen=True, kw_only=True)
class PracticalParams(PaperParams):
    """Parameters of the practical algorithms.

    Attributes
    ----------
    epsilon : float or None
        How small undiscovered clusters may be when the run stops by itself; None: it never does.
    heavy : int
        Uniform samples that recover a cluster: eleven, the paper's "more than 10".
    """

    epsilon: float | None = 0.01
    heavy: int = 11

    def __post_init__(self) -> None:
        super().__post_init__()
        check_fraction("epsilon", self.epsilon, none="stop only at the budget or the target")
        check_positive_int("heavy", self.heavy)


class Uniform(PaperAlgorithm[PracticalParams]):
    """Draw uniformly; a cluster is recovered when it is heavy. One round, whatever happens.

    The paper gives it no test of when to stop, and the one for D²-draws says nothing about uniform ones: few
    rows far away may hold most of the cost. A run of draws inside the recovered clusters as long as there
    stops it here with "rare", which promises less: but with a chance of 1/60, fewer than a share of ε/4 of
    the rows are in clusters that are not recovered.
    """

    name = "uniform"
    Params = PracticalParams

    def run(self) -> Flow[str]:
        """Draw and ask until there is a reason to stop."""
        points, state, params = self.points, self.state, self.params
        quiet = QuietTest(params.epsilon)
        ahead = np.empty(0, dtype=np.intp)
        state.n_rounds = 1
        while state.n_closed < points.n:
            if quiet.passed:
                return "rare"
            if quiet.verdict is False:
                return self.unplaced(quiet.n_given_up, quiet.n_draws)
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


class _KeptDraw(NamedTuple):
    row: int
    threshold: float  # u·Φ(x): it is kept while Φ(x*) is above


class RejectionSampling:
    """Keeps of the draws of each unrecovered cluster uniform samples of it.

    A round has the paper's phases. Its first `REFERENCES` draws of unrecovered clusters show what there is
    and look for each cluster's reference point x*, the known member with the smallest Φ (Phases 1 to 3).
    Each later draw x is kept with probability Φ(x*)/Φ(x) (Phase 4): if u·Φ(x) < Φ(x*), u uniform. What
    would not have been kept at a nearer x* is dropped when one is found. While there is no centre all draws
    are uniform, and are kept. Samples are reused in later rounds, as the paper says: drawn with a chance
    proportional to the Φ of their round, they are uniform whatever centres come later.

    The bias that is left is due to x*, the nearest of the known members and not of all: where Φ differs
    44-fold within a cluster, the nearest third of its rows has 28 % of the eleven samples (uniform: 33 %,
    as drawn: 8 %).
    """

    def __init__(self, state: ClusterState, enough: int) -> None:
        self._state = state
        self._enough = enough
        self._smallest: defaultdict[int, float] = defaultdict(lambda: inf)  # Φ(x*) of each cluster
        self._earlier: defaultdict[int, list[int]] = defaultdict(list)  # kept in earlier rounds
        self._samples: defaultdict[int, list[_KeptDraw]] = defaultdict(list)  # of this round
        self._n_in_round = 0
        self._heavy: set[int] = set()  # clusters with enough samples
        self.n_draws: Counter[int] = Counter()
        """Draws of each cluster, in all rounds."""

    def next_round(self, sampler: Sampler) -> None:
        """Keep for good what there is, and find each x* among the known members for the new centres."""
        self._n_in_round = 0
        self._heavy = {k for k in self._heavy if not self._state.is_recovered(k)}
        for k in range(len(self._state)):
            if not self._state.is_recovered(k):
                self._earlier[k] += [sample.row for sample in self._samples.pop(k, [])]
                costs = sampler.cost(np.array(self._state.members[k]))
                self._smallest[k] = float(costs[costs > 0].min(initial=inf))  # can be drawn

    def add(self, draws: Draws, coins: FloatArray, points: Points, start: int = 0) -> int:
        """Take in draws from `start` on; return how many are in now.

        If a cluster is heavy, one that may decide is the last: it does not matter how many come together.
        """
        state = self._state
        open_places = start + np.flatnonzero(state.is_open(draws.clusters[start:]))
        uniform = not state.recovered
        for place in open_places.tolist():
            k, cost = int(draws.clusters[place]), float(draws.costs[place])
            self.n_draws[k] += 1
            self._n_in_round += 1
            if cost < self._smallest[k]:
                self._smallest[k] = cost
                self._thin(k, points)
            sample = _KeptDraw(int(draws.rows[place]), 0.0 if uniform else coins[place] * cost)
            judged = uniform or self._n_in_round > REFERENCES
            if judged and sample.threshold < self._smallest[k]:
                self._samples[k].append(sample)
                if state.n_uniform[k] < self._enough:  # a centre is the mean of eleven, no more
                    state.add_uniform(k, points.row(sample.row))
            is_heavy = state.n_uniform[k] >= self._enough
            (self._heavy.add if is_heavy else self._heavy.discard)(k)
            if self._heavy:
                return place + 1
        return draws.rows.size

    def _thin(self, cluster: int, points: Points) -> None:
        """Drop the samples of this round that would not have been kept at its Φ(x*)."""
        samples, smallest = self._samples[cluster], self._smallest[cluster]
        kept = [sample for sample in samples if sample.threshold < smallest]
        if len(kept) < len(samples):
            self._samples[cluster] = kept
            rows = [*self._earlier[cluster], *(row for row, _ in kept)][: self._enough]
            self._state.set_uniform(cluster, points.rows(np.array(rows, dtype=np.intp)))


class _Ahead(NamedTuple):
    """Draws that are still to be taken in."""

    rows: IntArray
    costs: FloatArray
    coins: FloatArray

    def after(self, n: int) -> _Ahead:
        return _Ahead(self.rows[n:], self.costs[n:], self.coins[n:])


class _RecoveryLoop(PaperAlgorithm[PracticalParams]):
    """Draw by D² from the recovered centres until `choose` names clusters to recover; repeat.

    Of the draws of unrecovered clusters, rejection sampling keeps uniform samples of them, which are kept
    for later rounds, too. A cluster with `heavy` of them is heavy, and its centre is their mean.

    Rows are drawn ahead and taken in one after the other. What is left when a cluster is recovered was drawn
    for other centres, and is dropped.
    """

    Params = PracticalParams

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
            if sampler.total == 0 and state.n_closed < points.n:
                return "covered"
            chosen: list[int] = []
            ahead = _Ahead(np.empty(0, dtype=np.intp), np.empty(0), np.empty(0))
            while not chosen:
                if state.n_closed == points.n:
                    state.settle(points)
                    return "exhausted"
                if quiet.passed and params.epsilon is not None:
                    return self.reducible(params.epsilon)
                if quiet.verdict is False:
                    return self.unplaced(quiet.n_given_up, quiet.n_draws)
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


class Basic(_RecoveryLoop):
    """D²-sample with respect to the recovered centres; recover a cluster as soon as it is heavy."""

    name = "basic"

    def choose(self, heavy: list[int], n_draws: Counter[int]) -> list[int]:
        """Choose one cluster: of several that became heavy in one batch, the most drawn."""
        return [max(heavy, key=lambda cluster: (n_draws[cluster], -cluster))]


class Batched(_RecoveryLoop):
    """D²-sample until the heavy clusters hold more than half of the samples outside; recover them all.

    A cluster weighs as much as was drawn of it, and is recovered if its uniform samples suffice. Fewer rounds
    than BASIC, hence fewer passes over the data and, with many people answering at once, fewer moments at
    which everyone waits.
    """

    name = "batched"

    def choose(self, heavy: list[int], n_draws: Counter[int]) -> list[int]:
        """Choose all once clusters with more than ten draws hold more than half of those outside I."""
        outside = [n for k, n in n_draws.items() if not self.state.is_recovered(k)]
        held = sum(n for n in outside if n >= self.params.heavy)
        return heavy if 2 * held > sum(outside) else []
