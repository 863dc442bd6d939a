"""Opinions: what several people say of one pair, blind to each other; the log has what counts of it.

An opinion is no answer: no run sees it. It becomes one when as many people as are wanted agree, or when a
reviewer settles it. Later ones of the same annotator on the same pair replace earlier ones.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from typing import NamedTuple

from samekind.flow import UNANSWERED

__all__ = ["WITHDRAWN", "Opinion", "OpinionLog", "OpinionRole"]

WITHDRAWN = UNANSWERED  # an opinion that was taken back


class OpinionRole(IntEnum):
    """What an opinion was given as."""

    BLIND = 0
    """One of several that are wanted."""
    LATE = 1
    """To a question that somebody else had answered meanwhile."""
    SETTLES = 2
    """By a reviewer, who has seen the others: it ends the matter."""


class Opinion(NamedTuple):
    """What somebody says of a pair of rows; a is below b."""

    a: int
    b: int
    answer: int
    who: str
    at: float
    role: int


class OpinionLog:
    """All opinions, in the order in which they were given, and those that stand, pair by pair.

    Examples
    --------
    >>> log = OpinionLog()
    >>> log.add([Opinion(1, 4, 1, "ann", 1.0, 0), Opinion(1, 4, 0, "bob", 2.0, 0)])
    >>> [one.answer for one in log.on(1, 4)], len(log.disputed())
    ([1, 0], 1)
    >>> log.add([Opinion(1, 4, 1, "cy", 3.0, 2)])
    >>> log.disputed()
    []
    """

    def __init__(self) -> None:
        self.lines: list[Opinion] = []
        self._of_pair: dict[tuple[int, int], dict[str, Opinion]] = {}
        self._open: set[tuple[int, int]] = set()  # pairs that no reviewer has settled
        self._with_blind: dict[
            int, set[tuple[int, int]]
        ] = {}  # of them, by the number of blind ones
        self._n_indexed = 0  # lines that these know

    def __copy__(self) -> OpinionLog:
        """Return a log that later opinions do not reach."""
        other = OpinionLog()
        other.lines = self.lines[:]
        return other

    def add(self, opinions: Iterable[Opinion]) -> None:
        """Add opinions."""
        self.lines.extend(opinions)

    def on(self, a: int, b: int) -> list[Opinion]:
        """Return the opinions on a pair that stand."""
        self._index()
        return list(self._of_pair.get((min(a, b), max(a, b)), {}).values())

    def standing(self) -> list[Opinion]:
        """Return all that stand, pair by pair."""
        self._index()
        return [one for standing in self._of_pair.values() for one in standing.values()]

    def unsettled(self) -> list[tuple[int, int]]:
        """Return the pairs on which there are opinions and which no reviewer has settled since."""
        self._index()
        return sorted(pair for pair in self._open if self._of_pair[pair])

    def n_blind(self, a: int, b: int) -> int:
        """Return how many people gave a blind opinion on a pair that stands."""
        self._index()
        return _n_blind(self._of_pair.get((min(a, b), max(a, b)), {}))

    def waiting(self, n_wanted: int) -> list[tuple[int, int]]:
        """Return the unsettled pairs that have blind opinions, but fewer than are wanted."""
        self._index()
        return sorted(pair for n in range(1, n_wanted) for pair in self._with_blind.get(n, ()))

    def disputed(self) -> list[tuple[int, int]]:
        """Return those of them on which opinions differ."""
        return [
            pair
            for pair in self.unsettled()
            if len({one.answer for one in self._of_pair[pair].values()}) > 1
        ]

    def _index(self) -> None:
        for opinion in self.lines[self._n_indexed :]:
            pair = opinion.a, opinion.b
            standing = self._of_pair.setdefault(pair, {})
            self._with_blind.get(_n_blind(standing), set()).discard(pair)
            standing.pop(opinion.who, None)  # so that it is the last one
            if opinion.answer != WITHDRAWN:
                standing[opinion.who] = opinion
            if opinion.role == OpinionRole.SETTLES:
                self._open.discard(pair)
            else:
                self._open.add(pair)
                self._with_blind.setdefault(_n_blind(standing), set()).add(pair)
        self._n_indexed = len(self.lines)


def _n_blind(standing: dict[str, Opinion]) -> int:
    return sum(one.role == OpinionRole.BLIND for one in standing.values())
