"""What somebody who knows better can mend with few answers, when all others have answered."""

from __future__ import annotations

from collections.abc import Iterator
from math import exp, log
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from samekind.algorithms.focused import constants as const
from samekind.algorithms.focused.doubtful_rows import DoubtfulRows
from samekind.algorithms.focused.learner import Learner
from samekind.algorithms.focused.mergers import chances_of_one
from samekind.algorithms.focused.noise_model import NoiseModel
from samekind.algorithms.focused.open_row import OpenRow
from samekind.algorithms.focused.revision import AnswerChecks, WeakLink
from samekind.flow import DIFFERENT, SAME, FloatArray, Flow

if TYPE_CHECKING:
    from samekind.algorithms.focused.noisy_answers import NoisyAnswers

__all__ = ["Settling"]

SETTLED_AT_ONCE, MOST_TO_SETTLE = 8, 3
"""Doubts that somebody better is asked about before they are looked for anew, and questions about each."""
SETTLED_ONE, SETTLED_TWO, SETTLED_ROW = 0.9, 0.05, 0.97
"""Probabilities at which they have said that two clusters are one, or two, and where a row is."""
LEAST_SIMILAR = 1e-3
"""Similarity of two clusters below which they are not asked whether these are one."""
FIRM_IMPURITY = 0.02
"""`IMPURITY` of the most certain members, by which they compare clusters."""
ROW_REACH = 0.3
"""Rows that one labelled row predicts, as a share of those there are for each: others predict them, too."""


class PairDoubt(NamedTuple):
    """Two clusters that may be one."""

    a: int
    b: int
    chance: float


class RowDoubt(NamedTuple):
    """A row that may be misplaced."""

    row: int


Doubt = PairDoubt | RowDoubt | WeakLink


def _key(doubt: Doubt) -> tuple[int, ...]:
    """Return what a doubt is known by."""
    match doubt:
        case PairDoubt():
            return doubt.a, doubt.b
        case RowDoubt():
            return (doubt.row,)
        case _:
            return doubt.cluster, -1, *sorted(doubt.part)


class Settling:
    """Asks about clusters that may be one or two, and about rows that may be misplaced, by what it is worth.

    Two clusters that are one cost more than any row: all rows of the smaller one are misplaced. The chance is
    that of their similarity, by what became of others, and of the answers that compared them. As much costs a
    cluster that is two; then answers within it disagree, or there are few.
    """

    def __init__(
        self,
        learner: Learner,
        noise: NoiseModel,
        doubtful: DoubtfulRows,
        checks: AnswerChecks,
        policy: NoisyAnswers,
    ) -> None:
        self._learner = learner
        self._noise = noise
        self._doubtful = doubtful
        self._checks = checks
        self._policy = policy
        self._settled: set[tuple[int, ...]] = set()  # what was asked about

    def ask(self) -> Flow[None]:
        """Ask about the doubts that are worth most; new ones come up as answers change what is known."""
        while doubts := self._worst(SETTLED_AT_ONCE):
            for doubt in doubts:
                self._settled.add(_key(doubt))
                match doubt:
                    case PairDoubt():
                        yield from self._settle_pair(doubt)
                    case RowDoubt():
                        yield from self._settle_row(doubt.row)
                    case WeakLink():
                        yield from self._checks.check_link(doubt)
            self._policy.revise(const.REVISE_EVERY)

    def _worst(self, size: int) -> list[Doubt]:
        """Return the doubts of which a question is worth most rows that would be predicted rightly."""
        alive = np.flatnonzero(self._learner.model.scorer.alive).tolist()
        mean = self._learner.points.n / max(1, len(alive))
        found = [*self._pairs(alive, mean), *self._links(mean), *self._rows()]
        found = [one for one in found if _key(one[1]) not in self._settled]
        found.sort(key=itemgetter(0), reverse=True)
        return [doubt for _, doubt in found[:size]]

    # Clusters

    def _pairs(self, alive: list[int], mean: float) -> Iterator[tuple[float, Doubt]]:
        learner, sizes = self._learner, self._learner.model.scorer.sizes
        similarities = learner.model.predictor.similarities()
        if similarities is not None:
            learner.pairs.set_similarities(similarities)
        found = [
            (learner.pairs.similarity(a, b), a, b)
            for place, a in enumerate(alive)
            for b in alive[place + 1 :]
        ]
        found = [one for one in found if one[0] >= LEAST_SIMILAR]
        chances = chances_of_one(learner.pairs, np.array([one[0] for one in found]))
        for (_, a, b), chance in zip(found, chances.tolist(), strict=True):
            odds, _ = self._policy.compared(a, b)
            chance = 1 / (1 + exp(min(500.0, -log(chance / (1 - chance)) - odds)))
            yield chance * sizes[a] * sizes[b] / mean, PairDoubt(a, b, chance)

    def _links(self, mean: float) -> Iterator[tuple[float, Doubt]]:
        for link in self._checks.links:
            smaller, larger = sorted((len(link.part), len(link.rest)))
            rows = self._learner.model.scorer.sizes[link.cluster] / (smaller + larger)
            yield link.harm * rows * larger * rows / mean, link

    def _settle_pair(self, doubt: PairDoubt) -> Flow[None]:
        """Compare two clusters until it is clear whether they are one; merge them if so."""
        learner, chance = self._learner, doubt.chance
        alive = learner.model.scorer.alive
        if not (alive[doubt.a] and alive[doubt.b]):
            return
        for n_asked, pair in enumerate(self._policy.member_pairs(doubt.a, doubt.b)):
            if n_asked == MOST_TO_SETTLE:
                return
            answer, who = yield from self._ask(*pair, compares=True)
            if answer in (SAME, DIFFERENT):
                chance = self._updated(chance, answer, who)
            if chance >= SETTLED_ONE:
                self._policy.merge(doubt.a, doubt.b)
            if chance >= SETTLED_ONE or chance <= SETTLED_TWO:
                return

    def _updated(self, chance: float, answer: int, who: int) -> float:
        error = min(self._noise.rates.of(who) + FIRM_IMPURITY, 0.5)
        ratio = (1 - error) / error if answer == SAME else error / (1 - error)
        return chance * ratio / (chance * ratio + 1 - chance)

    # Rows

    def _rows(self) -> Iterator[tuple[float, Doubt]]:
        learner = self._learner
        reach = ROW_REACH * learner.points.n / max(1, learner.state.n_labelled)
        founders = {members[0] for members in learner.state.members if members}
        for row, certainty in self._noise.certainty.items():
            cluster = learner.state.cluster_of_row(row)
            is_known = cluster >= 0 and row in self._noise.priors
            if not is_known or row in founders:
                continue
            chance = 1 - certainty
            if row in self._noise.doubtful:
                chance *= certainty
            yield chance * reach, RowDoubt(row)

    def _settle_row(self, row: int) -> Flow[None]:
        """Ask about a row until its cluster is certain; move it if that is another one."""
        learner = self._learner
        open_row = OpenRow(row, learner.points.row(row), -1, "given")
        for _ in range(MOST_TO_SETTLE):
            cluster, certainty = self._place(row)
            if cluster < 0 or certainty >= SETTLED_ROW:
                return
            member = self._policy.next_member(open_row, cluster)
            if member < 0:
                return
            yield from self._ask(row, member, compares=False)
        self._place(row)

    def _place(self, row: int) -> tuple[int, float]:
        """Find out by all answers where a row is; return its cluster, and how certain that is."""
        learner, noise = self._learner, self._noise
        if row in self._doubtful:
            cluster = self._doubtful.place_anew(row)
            return cluster, noise.certainty[row]
        posterior = noise.posterior(row, self._prior(row))
        best = int(posterior[:-1].argmax())
        noise.certainty[row] = float(posterior[best])
        if best != learner.state.cluster_of_row(row):
            learner.move(row, best)
        return best, noise.certainty[row]

    def _prior(self, row: int) -> FloatArray:
        """Return the prior of a row when it was asked about, with the clusters that came later."""
        then, alive = self._noise.priors[row], self._learner.model.scorer.alive
        prior = np.full(alive.size + 1, const.LATER_CLUSTERS / (alive.size + 1))
        prior[: then.size - 1], prior[-1] = then[:-1], then[-1]
        prior[:-1][~alive] = const.IMPOSSIBLE
        return prior

    def _ask(self, a: int, b: int, *, compares: bool) -> Flow[tuple[int, int]]:
        answers, who, _ = yield np.array([[a, b]])
        answer, annotator = int(answers[0]), -1 if who is None else int(who[0])
        if answer in (SAME, DIFFERENT):
            self._noise.observe(a, b, answer, annotator, compares=compares)
        else:
            self._learner.unsure.add_pair(a, b)
        return answer, annotator
