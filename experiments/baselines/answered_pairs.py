"""Which candidate pairs are answered, or follow from answers: what flows over pairs of records share."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from samekind.flow import DIFFERENT, SAME, UNSURE, BoolArray, IntArray
from samekind.points import RecordPoints

__all__ = ["AnsweredPairs", "Incidence"]


class Incidence:
    """Which candidate pairs each record is in; pairs are sorted, so half of it is there already."""

    def __init__(self, pairs: NDArray[np.int32], n: int) -> None:
        self.pairs = pairs
        rows = np.arange(n + 1)
        self._starts = np.searchsorted(pairs[:, 0], rows)
        self._by_second = np.argsort(pairs[:, 1], kind="stable").astype(np.int32)
        counts = np.bincount(pairs[:, 1], minlength=n)
        self._second_starts = np.concatenate([[0], np.cumsum(counts)])

    def of_row(self, row: int) -> IntArray:
        """Return the numbers of the pairs that a row is in."""
        first = np.arange(self._starts[row], self._starts[row + 1])
        second = self._by_second[self._second_starts[row] : self._second_starts[row + 1]]
        return np.concatenate([first, second])

    def number_of(self, a: int, b: int) -> int:
        """Return the number of the pair of two rows, -1 if it is no candidate."""
        low, high = (a, b) if a < b else (b, a)
        start, stop = self._starts[low], self._starts[low + 1]
        place = int(start + np.searchsorted(self.pairs[start:stop, 1], high))
        return place if place < stop and self.pairs[place, 1] == high else -1

    def others(self, row: int) -> tuple[IntArray, IntArray]:
        """Return the pairs that a row is in, and the other row of each."""
        numbers = self.of_row(row)
        return numbers, self.pairs[numbers].sum(axis=1) - row


class AnsweredPairs:
    """Answers about pairs of records, and what follows from them.

    Parameters
    ----------
    points : RecordPoints
        The records. Two of one file are never one entity.
    infers : bool
        Whether other answers follow (same and same is same, same and different is different); not where they
        may be wrong.
    """

    def __init__(
        self, points: RecordPoints, *, infers: bool, incidence: Incidence | None = None
    ) -> None:
        self.incidence = incidence or Incidence(points.candidates.pairs, points.n)
        self.infers = infers
        self.given: dict[tuple[int, int], int] = {}
        """What was answered, by the pair with the smaller row first, in the order of the answers."""
        self.decided: BoolArray = np.zeros(len(points.candidates.pairs), dtype=bool)
        """(candidate pairs,) answered, or known from other answers; nobody need be asked."""
        self._files = points.files
        self._root: dict[int, int] = {}
        self._members: dict[int, list[int]] = {}
        self._apart: dict[int, set[int]] = {}
        self._files_of: dict[int, set[int]] = {}

    def root(self, row: int) -> int:
        """Return the row that stands for all that are the same as this one."""
        return self._root.get(row, row)

    def members(self, row: int) -> list[int]:
        """Return the rows known to be the same as this one, and itself."""
        return self._members.get(self.root(row), [row])

    def relation(self, a: int, b: int) -> int | None:
        """Return SAME or DIFFERENT if that is known of two rows, else what was answered, if anything."""
        if self.infers:
            one, other = self.root(a), self.root(b)
            if one == other:
                return SAME
            if other in self._apart.get(one, ()):
                return DIFFERENT
            if self._files is not None and self._share_file(one, other):
                return DIFFERENT
        return self.given.get((min(a, b), max(a, b)))

    def apart(self, row: int) -> set[int]:
        """Return the rows that stand for those known to be different from this one."""
        return self._apart.get(self.root(row), set())

    def groups(self) -> Iterator[list[int]]:
        """Return the rows of each group of two and more."""
        return iter(self._members.values())

    def add(self, a: int, b: int, answer: int) -> None:
        """Take in an answer; what it contradicts stays as it was."""
        known = self.relation(a, b)
        self.given[(min(a, b), max(a, b))] = answer
        number = self.incidence.number_of(a, b)
        if number >= 0:
            self.decided[number] = True
        if not self.infers or answer == UNSURE or known in (SAME, DIFFERENT):
            return
        if answer == SAME:
            self._join(self.root(a), self.root(b))
        else:
            self._set_apart(a, b)

    def _set_apart(self, a: int, b: int) -> None:
        one, other = self.root(a), self.root(b)
        self._apart.setdefault(one, set()).add(other)
        self._apart.setdefault(other, set()).add(one)
        smaller = min(self.members(one), self.members(other), key=len)
        self._decide(smaller)

    def _join(self, keep: int, gone: int) -> None:
        if len(self.members(keep)) < len(self.members(gone)):
            keep, gone = gone, keep
        rows = self.members(gone)
        if self._files is not None:
            self._files_of[keep] = self._files_in(keep) | self._files_in(gone)
        self._members[keep] = self.members(keep) + rows
        self._members.pop(gone, None)
        for row in rows:
            self._root[row] = keep
        self._root.setdefault(keep, keep)
        far = self._apart.pop(gone, set())
        for other in far:
            self._apart[other].discard(gone)
            self._apart[other].add(keep)
        self._apart.setdefault(keep, set()).update(far)
        self._decide(self._members[keep] if self._files is not None else rows)
        for other in far:  # what differs from the one differs from the other, too
            self._decide(min(self.members(other), self._members[keep], key=len))

    def _decide(self, rows: list[int]) -> None:
        """Note which candidate pairs of these rows follow from answers."""
        for row in rows:
            numbers, others = self.incidence.others(row)
            for number, other in zip(numbers.tolist(), others.tolist(), strict=True):
                if not self.decided[number] and self.relation(row, other) is not None:
                    self.decided[number] = True

    def _files_in(self, root: int) -> set[int]:
        assert self._files is not None
        return self._files_of.get(root) or {int(self._files[root])}

    def _share_file(self, one: int, other: int) -> bool:
        return bool(self._files_in(one) & self._files_in(other))
