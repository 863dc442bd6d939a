"""The random pairs that are asked about for the certificate, and what they say."""

from __future__ import annotations

from itertools import zip_longest

import numpy as np
from numpy.typing import NDArray

from samekind.algorithms.records.certificate import PairCertificate, audit_numbers, certify_pairs
from samekind.algorithms.records.clustering import pair_keys
from samekind.algorithms.records.known_pairs import KnownPairs
from samekind.algorithms.records.scores import View, chance_of
from samekind.flow import UNANSWERED, BoolArray, IntArray

__all__ = ["certify", "line_up", "next_pairs"]

NEAR = -4.6  # log-odds of pairs that might be matches: one in a hundred
NEXT = 10  # of the pairs that are put together, as many as one in so many are near, and at least
LEAST_NEAR = 30
AHEAD = 2**10  # pairs that are lined up
LARGE = 64  # records in an entity of which only candidate pairs are audited

Queue = NDArray[np.int64]
"""(m, 2) pairs in the order of their random numbers."""


def line_up(view: View, key: int) -> tuple[Queue, Queue]:
    """Return pairs at random: of those in one entity, and of those next to them."""
    found = []
    for pairs in (
        _together(view.learnt, view, view.entities),
        view.index.pairs[_near(view.learnt, view, view.entities)].astype(np.int64),
    ):
        numbers = audit_numbers(pairs, key)
        if len(pairs) > AHEAD:
            first = np.argsort(numbers, kind="stable")[:AHEAD]
            pairs, numbers = pairs[first], numbers[first]
        found.append(pairs[np.argsort(numbers)])
    together, near = found
    return together, near


def next_pairs(queues: tuple[Queue, Queue], known: KnownPairs, n_audited: int, most: int) -> Queue:
    """Return the pairs to audit next, of both queues in turn: those that nothing is known of."""
    of_both = [queue[known.relation(queue) == UNANSWERED][:most].tolist() for queue in queues]
    first, second = of_both if n_audited % 2 == 0 else of_both[::-1]
    in_turn = [pair for two in zip_longest(first, second) for pair in two if pair]
    return np.array(in_turn[:most], dtype=np.int64).reshape(-1, 2)


def certify(
    view: View, known: KnownPairs, audited: NDArray[np.int64], entities: IntArray, key: int
) -> PairCertificate:
    """Return what the audit says of entities that were learnt without it.

    Parameters
    ----------
    view : View
        The model, and what it learnt from.
    known : KnownPairs
        All answers.
    audited : ndarray of int
        The keys of the pairs that were asked about for the audit.
    entities : ndarray of shape (n,)
        By what was learnt alone.
    key : int
        Of the random numbers.
    """
    learnt = view.learnt
    together = _together(learnt, view, entities)
    near = _near(learnt, view, entities)
    pairs = np.concatenate([together, view.index.pairs[near]])
    asked: BoolArray = np.isin(pair_keys(pairs), audited)
    answers = known.relation(pairs)
    if not known.infers:  # what was learnt is no proof
        answers[~asked] = UNANSWERED
    chances = chance_of(view.odds)
    one, other = entities[view.index.pairs].T
    strangers = (one != other) & ~learnt.decided
    strangers[near] = False
    sizes = np.bincount(entities)
    is_together = np.arange(len(pairs)) < len(together)
    return certify_pairs(
        numbers=audit_numbers(pairs, key),
        answers=answers,
        asked=asked,
        together=is_together,
        chances=np.concatenate([np.ones(len(together)), chances[near]]),
        n_together=int((sizes * (sizes - 1) // 2).sum()),
        n_strangers=float(chances[strangers].sum()),
    )


def _near(learnt: KnownPairs, view: View, entities: IntArray) -> IntArray:
    """Return the likeliest candidate pairs that are not put together, and are not known.

    Those that might be matches by the model, and never fewer than a tenth as many as are put together: that
    the model is certain of the next ones is not taken for granted.
    """
    odds = view.odds
    one, other = entities[view.index.pairs].T
    apart = np.flatnonzero((one != other) & ~learnt.decided)
    n_together = int(np.count_nonzero(one == other))
    wanted = min(apart.size, max(LEAST_NEAR, n_together // NEXT))
    might: IntArray = apart[odds[apart] > NEAR]
    if might.size >= wanted:
        return might
    return np.sort(apart[np.argsort(-odds[apart], kind="stable")[:wanted]])


def _together(learnt: KnownPairs, view: View, entities: IntArray) -> NDArray[np.int64]:
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
    pairs = view.index.pairs
    large = sizes[entities[pairs[:, 0]]] > LARGE
    if large.any():
        one, other = entities[pairs[large]].T
        found.append(pairs[large][one == other].astype(np.int64))
    every = np.concatenate(found)
    one, other = learnt.root[every].T
    return np.asarray(every[one != other])
