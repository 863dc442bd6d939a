"""The latest answer to each pair, and who gave it: a compiled map, for whole arrays at a time.

It is an open hash table as in `_intmap`, with two values for each key.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from samekind._intmap import EMPTY, empty_table, refill, size_for, slot_of
from samekind.flow import UNANSWERED, UNSURE, Answers, Pairs
from samekind.ledger._components import key_of

__all__ = ["LatestAnswers"]

NOBODY = -1


@njit(nogil=True, cache=True)
def _get(table, values, pairs, otherwise, out):
    for i in range(out.size):
        key = key_of(pairs[i, 0], pairs[i, 1])
        slot = slot_of(table, key)
        out[i] = values[slot] if table[slot] == key else otherwise


@njit(nogil=True, cache=True)
def _put(table, answers, annotators, pairs, given, who):
    """Keep the answer to each pair, and return how many of the pairs are new."""
    added = 0
    for i in range(given.size):
        key = key_of(pairs[i, 0], pairs[i, 1])
        slot = slot_of(table, key)
        if table[slot] == EMPTY or answers[slot] == UNANSWERED:
            table[slot] = key
            answers[slot] = given[i]
            added += 1
        elif given[i] != UNSURE:  # which counts only while there is no other answer
            answers[slot] = given[i]
        annotators[slot] = who[i]
    return added


class LatestAnswers:
    """The latest answer to each unordered pair, and the number of the annotator who gave it.

    UNSURE counts only while there is no other answer.

    Examples
    --------
    >>> latest = LatestAnswers()
    >>> latest.put(np.array([[0, 1], [2, 0]]), np.array([1, 0], dtype=np.int8), who=3)
    2
    >>> latest.answers(np.array([[1, 0], [1, 2]]))
    array([ 1, -2], dtype=int8)
    >>> latest.annotators(np.array([[0, 2], [1, 2]]))
    array([ 3, -1])
    """

    def __init__(self) -> None:
        self._make(64)
        self._size = 0

    def answers(self, pairs: Pairs) -> Answers:
        """Return the answer to each pair, or UNANSWERED."""
        out = np.empty(len(pairs), dtype=np.int8)
        _get(self._table, self._answers, np.ascontiguousarray(pairs), UNANSWERED, out)
        return out

    def annotators(self, pairs: Pairs) -> NDArray[np.int64]:
        """Return the number of who last answered each pair, or -1."""
        out = np.empty(len(pairs), dtype=np.int64)
        _get(self._table, self._annotators, np.ascontiguousarray(pairs), NOBODY, out)
        return out

    def put(self, pairs: Pairs, answers: Answers, who: int | NDArray[np.int32]) -> int:
        """Keep answers, all by one annotator or each by its own; return how many pairs are new."""
        size = size_for(self._size + len(pairs), self._table.size)
        if size > self._table.size:
            table, *columns = self._table, self._answers, self._annotators
            self._make(size)
            for old, new in zip(columns, (self._answers, self._annotators), strict=True):
                refill(table, old, self._table, new)
        annotators = np.empty(len(pairs), dtype=np.int32)
        annotators[:] = who
        added: int = _put(
            self._table,
            self._answers,
            self._annotators,
            np.ascontiguousarray(pairs),
            np.ascontiguousarray(answers),
            annotators,
        )
        self._size += added
        return added

    def _make(self, size: int) -> None:
        self._table = empty_table(size)
        self._answers = np.empty(size, dtype=np.int8)
        self._annotators = np.empty(size, dtype=np.int32)
