"""Opinions: what several people say of one pair, blind to each other; the log has what counts of it.

An opinion is no answer: no run sees it. It becomes one when as many people as are wanted agree, or when a
reviewer settles it. A later one of the same annotator on the same pair replaces the earlier one.
"""

from __future__ import annotations

from typing import NamedTuple

from samekind.ledger.events import OpinionRole

__all__ = ["Opinion", "Opinions"]


class Opinion(NamedTuple):
    """What somebody says of a pair of rows; a is below b."""

    a: int
    b: int
    answer: int
    who: str
    at: float
    role: int
    act: int


class Opinions:
    """All opinions, in the order in which they were given, and those that stand, pair by pair.

    Examples
    --------
    >>> said = Opinions()
    >>> said.add(Opinion(1, 4, 1, "ann", 1.0, 0, 7))
    >>> said.add(Opinion(1, 4, 0, "bob", 2.0, 0, 8))
    >>> [one.answer for one in said.on(1, 4)], len(said.disputed())
    ([1, 0], 1)
    >>> said.add(Opinion(1, 4, 1, "cy", 3.0, 2, 9))
    >>> said.disputed()
    []
    """

    def __init__(self) -> None:
        self.lines: list[Opinion] = []
        self._of_pair: dict[tuple[int, int], dict[str, Opinion]] = {}
        self._open: set[tuple[int, int]] = set()  # pairs that no reviewer has settled
        self._with_blind: dict[int, set[tuple[int, int]]] = {}  # by the number of blind ones

    def add(self, opinion: Opinion) -> None:
        """Add an opinion."""
        self.lines.append(opinion)
        pair = opinion.a, opinion.b
        standing = self._of_pair.setdefault(pair, {})
        self._with_blind.get(_n_blind(standing), set()).discard(pair)
        standing.pop(opinion.who, None)  # so that it is the last one
        standing[opinion.who] = opinion
        if opinion.role == OpinionRole.SETTLES:
            self._open.discard(pair)
        else:
            self._open.add(pair)
            self._with_blind.setdefault(_n_blind(standing), set()).add(pair)

    def on(self, a: int, b: int) -> list[Opinion]:
        """Return the opinions on a pair that stand."""
        return list(self._of_pair.get((min(a, b), max(a, b)), {}).values())

    def standing(self) -> list[Opinion]:
        """Return all that stand, pair by pair."""
        return [one for standing in self._of_pair.values() for one in standing.values()]

    def unsettled(self) -> list[tuple[int, int]]:
        """Return the pairs on which there are opinions and which no reviewer has settled since."""
        return sorted(pair for pair in self._open if self._of_pair[pair])

    def n_blind(self, a: int, b: int) -> int:
        """Return how many people gave a blind opinion on a pair that stands."""
        return _n_blind(self._of_pair.get((min(a, b), max(a, b)), {}))

    def waiting(self, n_wanted: int) -> list[tuple[int, int]]:
        """Return the unsettled pairs that have blind opinions, but fewer than are wanted."""
        return sorted(pair for n in range(1, n_wanted) for pair in self._with_blind.get(n, ()))

    def disputed(self) -> list[tuple[int, int]]:
        """Return those of them on which opinions differ."""
        return [
            pair
            for pair in self.unsettled()
            if len({one.answer for one in self._of_pair[pair].values()}) > 1
        ]


def _n_blind(standing: dict[str, Opinion]) -> int:
    return sum(one.role == OpinionRole.BLIND for one in standing.values())
