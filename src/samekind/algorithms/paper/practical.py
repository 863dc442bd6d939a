"""The paper's practical algorithms (Section 5): UNIFORM, BASIC and BATCHED."""

from __future__ import annotations

from abc import abstractmethod

from samekind.algorithms.paper.base import PaperAlgorithm, PracticalParams
from samekind.algorithms.paper.quiet_test import QuietTest
from samekind.algorithms.paper.rejection import RejectionSampling
from samekind.flow import Flow

__all__ = ["Basic", "Batched", "RecoveryLoop", "Uniform"]


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
        counts = self.state.n_uniform
        held = sum(counts[cluster] for cluster in heavy)
        samples = sum(
            count for cluster, count in enumerate(counts) if not self.state.is_recovered(cluster)
        )
        return heavy if 2 * held > samples else []
