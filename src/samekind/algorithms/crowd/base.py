"""What the crowd's algorithms share: likelihoods of the candidate pairs, and entities by answers alone."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from typing import ClassVar, TypeVar

import numpy as np

from samekind.algorithms.answered_pairs import AnsweredPairs
from samekind.algorithms.base import Algorithm, Params, Snapshot
from samekind.algorithms.exchange import Known
from samekind.algorithms.records import (
    check_records,
    entities_as_clusters,
    prior_odds,
    regroup,
    settle_entities,
)
from samekind.algorithms.records.scores import chance_of
from samekind.flow import DIFFERENT, SAME, FloatArray, Flow, IntArray, Pairs, Reply
from samekind.points import Points

__all__ = ["CrowdAlgorithm"]

P = TypeVar("P", bound=Params)


class CrowdAlgorithm(Algorithm[P]):
    """Asks about candidate pairs in some order; what nobody was asked about is taken to be different.

    An algorithm says which pairs come next (`_next_pairs`). What follows from answers is left out.
    """

    compares_records: ClassVar[bool] = True
    predicts: ClassVar[bool] = True

    def __init__(
        self, points: Points, params: P, rng: np.random.Generator, known: Known | None = None
    ) -> None:
        self.records = check_records(points, self.name)
        super().__init__(points, params, rng, known)
        self.pairs = self.records.candidates.pairs
        self.odds = prior_odds(self.records)
        self.likelihood: FloatArray = chance_of(self.odds)
        """(candidate pairs,) that each is a match: what machines say before the crowd is asked."""
        self.answers = AnsweredPairs(self.records, infers=params.trusts_answers)
        self._luck = rng.permutation(len(self.pairs))  # between pairs that are as likely

    @abstractmethod
    def _next_pairs(self, count: int) -> list[tuple[int, int]]:
        """Return up to so many pairs that can be asked about at once; none when all is known."""

    def run(self) -> Flow[str]:
        """Ask until nothing is left to ask."""
        state = self.state
        while True:
            if state.n_discovered and self._is_enough():
                return "target"
            wave = self._next_pairs(self.params.batch_size(len(self.answers.given)))
            if not wave:
                settle_entities(self.state, self.entities(), self.points)
                return "exhausted"
            pairs: Pairs = np.array(wave, dtype=np.intp)
            reply: Reply = yield pairs
            state.n_samples += len(wave)
            for (a, b), answer in zip(wave, reply.answers.tolist(), strict=True):
                self.answers.add(a, b, answer)
                if answer in (SAME, DIFFERENT):
                    self._note(a, b)

    def entities(self) -> IntArray:
        """Return the entity of each record, by what was answered."""
        root = np.arange(self.points.n)
        for rows in self.answers.groups():
            root[rows] = min(rows)
        return np.asarray(np.unique(root, return_inverse=True)[1], dtype=np.intp)

    def snapshot(self) -> Snapshot:
        """Return all entities."""
        return entities_as_clusters(self, self.records, self.entities())

    def _is_enough(self) -> bool:
        target = self.params.target
        return target is not None and len(self.state.recovered) >= target

    def _note(self, a: int, b: int) -> None:
        """Note in which clusters two rows are, of which something was answered."""
        groups = [self.answers.members(a)]
        if self.answers.root(a) != self.answers.root(b):
            groups.append(self.answers.members(b))
        regroup(self.state, groups, [], self.points)

    # Of use to several

    def _independent(self, pairs: Iterable[tuple[int, int]], count: int) -> list[tuple[int, int]]:
        """Return the first pairs that do not follow from each other, whatever is answered."""
        wave: list[tuple[int, int]] = []
        joined: dict[int, int] = {}

        def root(row: int) -> int:
            own = self.answers.root(row)
            while own in joined:
                own = joined[own]
            return own

        for a, b in pairs:
            one, other = root(a), root(b)
            if one != other:
                joined[other] = one
                wave.append((a, b))
                if len(wave) == count:
                    break
        return wave

    def _by_likelihood(self, numbers: IntArray | None = None) -> IntArray:
        """Return candidate pairs, the likeliest first."""
        some = np.arange(len(self.pairs)) if numbers is None else numbers
        return some[np.lexsort((self._luck[some], -self.likelihood[some]))]

    def _unknown(self, order: IntArray) -> Iterator[tuple[int, int]]:
        """Return the pairs of an order that nothing is known of."""
        for number in order.tolist():
            if not self.answers.decided[number]:
                a, b = self.pairs[number].tolist()
                yield a, b
