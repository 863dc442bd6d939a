"""The random pairs that are asked about for the certificate, and what they say."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from samekind.algorithms.answered_pairs import AnsweredPairs
from samekind.algorithms.records.certificate import PairCertificate, audit_numbers, certify_pairs
from samekind.algorithms.records.scores import PairScores, chance_of
from samekind.flow import UNANSWERED, IntArray

__all__ = ["PairAudit"]

NEAR = -4.6  # log-odds of pairs that might be matches: one in a hundred
NEXT = 10  # of the pairs that are put together, as many as one in so many are near, and at least
LEAST_NEAR = 30
AHEAD = 2**10  # pairs that are lined up
LARGE = 64  # records in an entity of which only candidate pairs are audited


class PairAudit:
    """Lines up pairs at random: in turn of those in one entity, and of those next to them."""

    def __init__(self, scores: PairScores, rng: np.random.Generator) -> None:
        self._scores = scores
        self._key = int(rng.integers(2**62))
        self._queues: list[list[tuple[int, int]]] = [[], []]
        self.asked: dict[tuple[int, int], int] = {}
        """What was answered, by pair."""
        self.n_drawn = 0

    def line_up(self, learnt: AnsweredPairs) -> None:
        """Look anew which pairs are in one entity, and which might be."""
        self._queues = []
        entities = self._scores.entities
        near = self._scores.pairs[self._near(learnt, entities)]
        for pairs in (self._together(learnt, entities), near):
            numbers = audit_numbers(pairs, self._key)
            if len(pairs) > AHEAD:
                first = np.argpartition(numbers, AHEAD)[:AHEAD]
                pairs, numbers = pairs[first], numbers[first]
            order = np.argsort(numbers)[::-1]
            self._queues.append([(a, b) for a, b in pairs[order].tolist()])

    def draw(self, answers: AnsweredPairs) -> tuple[int, int] | None:
        """Return the next pair to ask about, if there is one."""
        for queue in self._queues if self.n_drawn % 2 == 0 else self._queues[::-1]:
            while queue:
                pair = queue.pop()
                if pair not in answers.given:
                    self.n_drawn += 1
                    return pair
        return None

    def certificate(self, learnt: AnsweredPairs, entities: IntArray) -> PairCertificate:
        """Return what the audit says of the entities that were learnt without it."""
        scores = self._scores
        together = self._together(learnt, entities)
        near = self._near(learnt, entities)
        pairs = np.concatenate([together, scores.pairs[near]])
        answers = self._look_up(pairs)
        chances = chance_of(scores.odds)
        one, other = entities[scores.pairs].T
        strangers = (one != other) & ~learnt.decided
        strangers[near] = False
        sizes = np.bincount(entities)
        is_together = np.arange(len(pairs)) < len(together)
        return certify_pairs(
            numbers=audit_numbers(pairs, self._key),
            answers=answers,
            together=is_together,
            near=~is_together,
            chances=np.concatenate([np.ones(len(together)), chances[near]]),
            n_together=int((sizes * (sizes - 1) // 2).sum()),
            n_strangers=float(chances[strangers].sum()),
        )

    def _look_up(self, pairs: NDArray[np.integer]) -> IntArray:
        """Return the audit's answer to each pair, UNANSWERED where it has none."""
        answers = np.full(len(pairs), UNANSWERED, dtype=np.intp)
        keys = pairs[:, 0].astype(np.int64) << 32 | pairs[:, 1]
        order = np.argsort(keys)
        for (a, b), answer in self.asked.items():
            place = int(np.searchsorted(keys, a << 32 | b, sorter=order))
            if place < len(keys) and keys[order[place]] == a << 32 | b:
                answers[order[place]] = answer
        return answers

    def _near(self, learnt: AnsweredPairs, entities: IntArray) -> IntArray:
        """Return the likeliest candidate pairs that are not put together, and are not known.

        Those that might be matches by the model, and never fewer than a tenth as many as are put together:
        that the model is certain of the next ones is not taken for granted.
        """
        odds, pairs = self._scores.odds, self._scores.pairs
        one, other = entities[pairs].T
        apart = np.flatnonzero((one != other) & ~learnt.decided)
        n_together = int(np.count_nonzero(one == other))
        wanted = min(apart.size, max(LEAST_NEAR, n_together // NEXT))
        might: IntArray = apart[odds[apart] > NEAR]
        if might.size >= wanted:
            return might
        return np.sort(apart[np.argpartition(-odds[apart], wanted - 1)[:wanted]])

    def _together(self, learnt: AnsweredPairs, entities: IntArray) -> NDArray[np.int64]:
        """Return the pairs in one entity that are not known to be so."""
        order = np.argsort(entities, kind="stable")
        sizes = np.bincount(entities)
        starts = np.concatenate([[0], np.cumsum(sizes)])
        found = [np.empty((0, 2), dtype=np.int64)]
        for size in np.unique(sizes[(sizes > 1) & (sizes <= LARGE)]).tolist():
            first = starts[:-1][sizes == size]
            low, high = np.triu_indices(size, 1)
            rows = order[first[:, None] + np.arange(size)]
            found.append(np.column_stack([rows[:, low].ravel(), rows[:, high].ravel()]))
        pairs = self._scores.pairs
        large = sizes[entities[pairs[:, 0]]] > LARGE
        if large.any():
            one, other = entities[pairs[large]].T
            found.append(pairs[large][one == other].astype(np.int64))
        every = np.concatenate(found)
        if not learnt.infers:
            return every
        root = np.arange(len(entities))
        for rows_of in learnt.groups():
            root[rows_of] = rows_of[0]
        unknown: NDArray[np.int64] = every[root[every[:, 0]] != root[every[:, 1]]]
        return unknown
