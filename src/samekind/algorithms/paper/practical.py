"""The paper's practical algorithms (Section 5): UNIFORM, BASIC and BATCHED."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from math import log

import numpy as np

from samekind.algorithms.paper.base import Draws, PaperAlgorithm, PracticalParams
from samekind.algorithms.state import ClusterState
from samekind.flow import FloatArray, Flow, IntArray
from samekind.points import Sampler

__all__ = ["Basic", "Batched", "QuietTest", "RecoveryLoop", "RejectionSampling", "Uniform"]


class QuietTest:
    """The paper's phase-1 test, held at every moment of a practical run.

    If clusters that are not ε-reducible are left, a draw falls outside the recovered ones with
    probability at least ε/4 (Lemma 2). So a run of more than T = 8/ε·ln(10 t) draws inside them
    means, but with probability (10 t)^-2, that none is left. t numbers the tests: a new one begins with
    every draw outside and with every new centre, and the errors of all tests together stay below
    1/60. The paper holds its test once at the start of a round, with t = k + 1.

    For uniform draws the same run bounds the share of the rows that are in unrecovered clusters.
    """

    def __init__(self, epsilon: float | None) -> None:
        self._epsilon = epsilon
        self._n_tests = 0
        self.restart()

    def restart(self) -> None:
        """Begin the next test."""
        self._n_tests += 1
        self._quiet = 0

    def go_on(self, n_draws: int = 1) -> None:
        """Take in draws of clusters that are recovered, or of none."""
        self._quiet += n_draws

    @property
    def passed(self) -> bool:
        """Whether the quiet lasted long enough."""
        if self._epsilon is None:
            return False
        return self._quiet > 8 / self._epsilon * log(10 * self._n_tests)

    def outside(self, clusters: IntArray, state: ClusterState) -> list[int]:
        """Take in the clusters of draws, and return the places of those that are not recovered."""
        places: list[int] = np.flatnonzero(state.is_open(clusters)).tolist()
        if places:
            self._n_tests += len(places)
            self._quiet = clusters.size - 1 - places[-1]
        else:
            self.go_on(clusters.size)
        return places


FOR_GOOD = -1.0


class RejectionSampling:
    """Keeps of the draws of each unrecovered cluster uniform samples of it.

    Every draw x gets a coin u, and is kept as long as u·Φ(x) < Φ(x*). x* is the known member of its
    cluster with the smallest Φ; when a smaller one is drawn, the earlier draws of the round are judged anew.
    So at every moment each of them is kept with probability Φ(x*)/Φ(x), as if x* had been known from the
    start. What is kept when a round ends is kept for good, and Φ(x*) is taken anew for the new centres.

    x* is the smallest of few draws at first, and D² draws the far rows of a cluster first. So a cluster is
    heavy only when it has enough kept samples and twice as many draws; draws made while there was no
    centre are uniform and count fully.

    The paper leaves all this open. Median centre errors on Shuttle when all 7 clusters are recovered (the
    paper has 5.7 to 5.9 %): 28 % if every draw is judged once, by the smallest Φ so far in the round; 9 % if
    draws are judged anew and x* is taken from all known members; 7 to 8 % with twice as many draws, too.
    """

    def __init__(self, state: ClusterState) -> None:
        self._state = state
        self._smallest: dict[int, float] = {}  # Φ(x*) of each cluster
        self._drawn: Counter[int] = Counter()  # draws of each cluster, in halves
        self._uniform = True  # whether draws are uniform: no cluster is recovered yet
        self._kept: dict[int, list[tuple[float, FloatArray]]] = {}  # (u·Φ(x), x)

    def next_round(self, sampler: Sampler) -> None:
        """Keep for good what is kept now, and find each x* for the sampler's centres."""
        self._uniform = not self._state.recovered
        is_open = [k for k in range(len(self._state)) if not self._state.is_recovered(k)]
        self._kept = {k: [(FOR_GOOD, x) for _, x in self._kept.get(k, ())] for k in is_open}
        self._smallest = {}
        for k in is_open:
            costs = sampler.cost(np.array(self._state.members[k]))
            self._smallest[k] = float(costs[costs > 0].min(initial=np.inf))  # can be drawn at all

    def heavy(self, enough: int) -> list[int]:
        """Return the unrecovered clusters with enough samples that can be trusted, largest first."""
        heavy = self._state.unrecovered_heavy(enough)
        return [cluster for cluster in heavy if self._drawn[cluster] >= 2 * enough]

    def add(self, draws: Draws, places: list[int], X: FloatArray, coins: FloatArray) -> None:
        """Take in the draws at these places, all of unrecovered clusters, with coordinates X."""
        found = zip(
            draws.clusters[places].tolist(), draws.costs[places].tolist(), X, coins, strict=True
        )
        for cluster, cost, x, coin in found:
            self._drawn[cluster] += 2 if self._uniform else 1
            kept = self._kept.setdefault(cluster, [])
            if cost < self._smallest.get(cluster, np.inf):
                self._smallest[cluster] = cost
                still = [sample for sample in kept if sample[0] < cost]
                if len(still) < len(kept):
                    kept = self._kept[cluster] = still
                    self._state.set_uniform(cluster, (x for _, x in still))
            if coin * cost < self._smallest[cluster]:
                kept.append((coin * cost, x))
                self._state.add_uniform(cluster, x)


class Uniform(PaperAlgorithm[PracticalParams]):
    """Draw uniformly; a cluster is recovered when it is heavy. One round, whatever happens."""

    name = "uniform"
    Params = PracticalParams

    def run(self) -> Flow[str]:
        """Draw and ask until there is a reason to stop."""
        points, state, params = self.points, self.state, self.params
        quiet = QuietTest(params.epsilon)
        state.n_rounds = 1
        while state.n_labelled < points.n:
            if quiet.passed:
                return "reducible"
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


class RecoveryLoop(PaperAlgorithm[PracticalParams]):
    """Draw by D² from the recovered centres until `choose` names clusters to recover; repeat.

    Of the draws of unrecovered clusters, rejection sampling keeps uniform samples of them, which are kept
    for later rounds, too.
    """

    Params = PracticalParams

    @abstractmethod
    def choose(self, heavy: list[int]) -> list[int]:
        """Return which of the heavy clusters (at least one, largest first) to recover now; none: draw on."""

    def run(self) -> Flow[str]:
        """Draw and ask until there is a reason to stop."""
        points, state, params, sampler = self.points, self.state, self.params, self.sampler
        quiet = QuietTest(params.epsilon)
        samples = RejectionSampling(state)
        while True:
            state.n_rounds += 1
            samples.next_round(sampler)
            while not ((heavy := samples.heavy(params.heavy)) and (chosen := self.choose(heavy))):
                if state.n_labelled == points.n:
                    state.settle(points)
                    return "exhausted"
                if sampler.total == 0:
                    return "covered"
                if quiet.passed:
                    return "reducible"
                size = self.batch_size()
                draws = yield from self.draw(size)
                coins = self.rng.random(size)
                places = quiet.outside(draws.clusters, state)
                if places:
                    samples.add(draws, places, points.rows(draws.rows[places]), coins[places])
            sampler.add(state.recover(chosen))
            quiet.restart()
            if params.target is not None and len(state.recovered) >= params.target:
                return "target"


class Basic(RecoveryLoop):
    """D²-sample with respect to the recovered centres; recover a cluster as soon as it is heavy."""

    name = "basic"

    def choose(self, heavy: list[int]) -> list[int]:
        """Choose the heaviest cluster."""
        return heavy[:1]


class Batched(RecoveryLoop):
    """D²-sample until the heavy clusters hold more than half of the unrecovered samples; recover them.

    Fewer rounds than BASIC, hence fewer passes over the data and, with many people answering at
    once, fewer moments at which everyone waits.
    """

    name = "batched"

    def choose(self, heavy: list[int]) -> list[int]:
        """Choose all heavy clusters once they hold more than half of the uniform samples outside I."""
        counts, state = self.state.n_uniform, self.state
        held = sum(counts[k] for k in heavy)
        samples = sum(count for k, count in enumerate(counts) if not state.is_recovered(k))
        return heavy if 2 * held > samples else []
