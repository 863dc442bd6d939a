"""What follows from what was answered.

same ∘ same = same, and same ∘ different = different. Rows known to be the same form a component; a
component knows which others it differs from. The loops are compiled (`_components`), so that a million
answers take a fraction of a second.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from samekind._intmap import empty_table, refill
from samekind.flow import DIFFERENT, SAME, Answers, IntArray, Pairs
from samekind.ledger import _components

__all__ = ["Contradiction", "Explainer", "Implications", "Statement"]


class Statement(NamedTuple):
    """One recorded answer to a pair."""

    a: int
    b: int
    answer: int
    who: str


class Contradiction(NamedTuple):
    """Answers that cannot all be true. Retract one of them, or answer it again, to settle it."""

    statements: tuple[Statement, ...]

    @property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """The pairs involved."""
        return tuple((s.a, s.b) for s in self.statements)

    def __str__(self) -> str:
        return ", ".join(
            f"{s.a} {'=' if s.answer == SAME else '≠'} {s.b}" + (f" ({s.who})" if s.who else "")
            for s in self.statements
        )


class Implications:
    """Components of rows that are the same, and which components differ.

    Examples
    --------
    >>> known = Implications()
    >>> known.add(np.array([[0, 1], [1, 2], [0, 2]]), np.array([SAME, DIFFERENT, SAME]))
    array([2])
    >>> known.get(np.array([[2, 0], [2, 5]]), otherwise=-2)
    array([ 0, -2], dtype=int8)
    """

    def __init__(self) -> None:
        self._sizes = np.zeros(4, dtype=np.int64)
        self._keys, self._nodes = empty_table(128), np.empty(128, dtype=np.int64)
        self._differing = empty_table(128)
        self._by_node = tuple(np.empty(64, dtype=np.int64) for _ in range(4))
        self._by_entry = tuple(np.empty(128, dtype=np.int64) for _ in range(2))

    def get(self, pairs: Pairs, otherwise: int) -> Answers:
        """Return for each pair SAME or DIFFERENT if that follows, or else `otherwise`."""
        answers = np.full(len(pairs), otherwise, dtype=np.int8)
        self.fill_in(pairs, otherwise, answers)
        return answers

    def fill_in(self, pairs: Pairs, otherwise: int, answers: Answers) -> None:
        """Replace `otherwise` among answers by SAME or DIFFERENT where that follows."""
        rows, parent = (self._keys, self._nodes), self._by_node[0]
        _components.fill_implied(pairs, otherwise, answers, *rows, parent, self._differing)

    def components(self, rows: IntArray) -> IntArray:
        """Return a number for each row that rows known to be the same share; -1 if nothing is known of it."""
        roots = np.empty(rows.size, dtype=np.intp)
        _components.fill_roots(rows, self._keys, self._nodes, self._by_node[0], roots)
        return roots

    def add(self, pairs: Pairs, answers: Answers) -> NDArray[np.intp]:
        """Take in SAME and DIFFERENT, skip UNSURE; return the places of those that contradict.

        A contradicting answer changes nothing.
        """
        pairs, answers = np.ascontiguousarray(pairs), np.ascontiguousarray(answers)
        contradicts = np.zeros(len(pairs), dtype=np.bool_)
        done = 0
        while True:
            rows, by_node, by_entry = (self._keys, self._nodes), self._by_node, self._by_entry
            done = _components.add_answers(
                *(pairs, answers, done, contradicts),
                *(rows, by_node, by_entry, self._differing, self._sizes),
            )
            if done == len(pairs):
                return contradicts.nonzero()[0]
            self._grow()

    def _grow(self) -> None:
        """Double whatever `add_answers` found too small."""
        short = self._sizes[3]
        if short == _components.NODES:
            size = 2 * self._keys.size
            keys, nodes = empty_table(size), np.empty(size, dtype=np.int64)
            refill(self._keys, self._nodes, keys, nodes)
            self._keys, self._nodes = keys, nodes
            self._by_node = tuple(np.resize(array, size // 2) for array in self._by_node)
        elif short == _components.ENTRIES:
            self._by_entry = tuple(np.resize(array, 2 * array.size) for array in self._by_entry)
        else:
            differing = empty_table(2 * self._differing.size)
            refill(self._differing, self._differing, differing, differing)
            self._differing = differing


class Explainer:
    """Finds for conflicting statements the fewest held ones that contradict each."""

    def __init__(self) -> None:
        self._neighbours: dict[int, list[tuple[int, Statement]]] = {}

    def hold(self, statement: Statement) -> None:
        """Take in a statement that contradicts none of the others."""
        for row, other in ((statement.a, statement.b), (statement.b, statement.a)):
            self._neighbours.setdefault(row, []).append((other, statement))

    def explain(self, last: Statement) -> Contradiction:
        """Return a statement with the fewest held ones that contradict it."""
        return Contradiction((*_chain(self._neighbours, last), last))


def _chain(neighbours: dict[int, list[tuple[int, Statement]]], last: Statement) -> list[Statement]:
    """Return the shortest chain from `last.a` to `last.b` that contradicts `last`.

    A chain of SAME contradicts DIFFERENT, one with exactly one DIFFERENT in it contradicts SAME: a
    breadth-first search over (row, DIFFERENT passed or not).
    """
    start, goal = (last.a, False), (last.b, last.answer == SAME)
    came: dict[tuple[int, bool], tuple[tuple[int, bool], Statement] | None] = {start: None}
    queue = deque([start])
    while queue and goal not in came:
        row, passed = state = queue.popleft()
        for other, statement in neighbours.get(row, ()):
            if statement.answer == DIFFERENT and passed:
                continue
            following = (other, passed or statement.answer == DIFFERENT)
            if following not in came:
                came[following] = (state, statement)
                queue.append(following)
    chain: list[Statement] = []
    step = came.get(goal)
    while step is not None:
        chain.append(step[1])
        step = came[step[0]]
    return chain[::-1]
