"""The numbers of clusters, which they keep for life.

A number is held by a row, its anchor: whichever cluster the anchor is in has the number. So numbers need not
be touched when clusters grow or merge, and come back when that is undone:

- a new cluster gets the next number, and its first row holds it;
- of clusters that become one, the oldest keeps its number and its name: the lowest number counts. The others
  rest, and are there again if the clusters are told apart;
- of the parts of a cluster, the one with most of its rows keeps the number, and the name goes with it. What
  is taken out by hand never takes them along.

Anchors are kept in the ledger, in the order in which they were given, so every process sees the same numbers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from samekind.engine import Session
from samekind.ledger import LedgerError, LedgerGone, Revision

__all__ = ["ClusterNumbers"]


class ClusterNumbers:
    """Which number each cluster of a session has.

    Examples
    --------
    >>> import numpy as np
    >>> session = Session(np.array([[0.0], [5.0], [5.1]]), random_state=0)
    >>> session.tell(session.pending(), [False])
    >>> numbers = ClusterNumbers(session)
    >>> numbers.give()
    >>> sorted(numbers.by_cluster.values())
    [1, 2]
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._at: Revision | None = None
        self.by_cluster: dict[int, int] = {}
        """The number of each cluster, by its place in the run."""

    def give(self, *, look_at_all: bool = False) -> None:
        """Give numbers to clusters that have none; where nothing can be written they are only shown."""
        ledger = self._session.ledger
        if self._at == ledger.revision:
            return
        new = self._without_number(look_at_all)
        if new and not ledger.read_only:
            try:
                with self._session.act():  # so that no other process gives the same number
                    for number, row in self._without_number(look_at_all):
                        ledger.anchor(number, row)
                new = []
            except LedgerGone:
                raise
            except (
                LedgerError
            ):  # who only looks is not kept from it: they are written the next time
                new = self._without_number(look_at_all)
        self.by_cluster = self._held(ledger.anchors | dict(new))
        self._at = ledger.revision

    def of(self, row: int) -> int:
        """Return the number of the cluster that a known row is in."""
        self.give()
        for _ in range(2):
            place = int(self._session.places_of([row])[0])
            if place in self.by_cluster:
                return self.by_cluster[place]
            self._at = None  # clusters came and went at once, as others answer, too
            self.give(look_at_all=True)
        return max(self.by_cluster.values(), default=0) + 1  # it is about to change again

    def of_clusters(self, members: list[list[int]]) -> list[int]:
        """Return the number of each cluster; 1, 2, … if the run does not know them, as of a guess."""
        self.give()
        places = self._session.places_of([rows[0] for rows in members]).tolist()
        if not self.by_cluster.keys() >= set(places):
            return list(range(1, len(members) + 1))
        return [self.by_cluster[place] for place in places]

    def anchor_of(self, row: int) -> int:
        """Return the row that holds the number of a row's cluster, and stands for it."""
        number = self.of(row)
        anchors = self._session.ledger.anchors
        return anchors[number] if number in anchors else [*self._session.members_of(row), row][0]

    def move(self, number: int, row: int, who: str = "") -> None:
        """Let another row hold a number; a name that was given to the one before moves along."""
        ledger = self._session.ledger
        before = ledger.anchors[number]
        named = ledger.names.get(before)
        ledger.anchor(number, row)
        if named is not None and named.text:
            ledger.name(before, "", who=who)
            ledger.name(row, named.text, who=named.who)

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Within it, change what is known: afterwards a number is where most rows of its cluster are."""
        self.give()
        ledger = self._session.ledger
        before = {
            number: self._session.members_of(ledger.anchors[number])
            for number in self.by_cluster.values()
            if number in ledger.anchors
        }
        yield
        moves = {number: self._home(number, rows) for number, rows in before.items()}
        if any(row is not None for row in moves.values()):
            with self._session.act():
                for number, row in moves.items():
                    if row is not None:
                        self.move(number, row)
        self.give()

    def _home(self, number: int, rows: list[int]) -> int | None:
        """Return the row of those that were in a cluster that should hold its number; None: as it is."""
        anchors = self._session.ledger.anchors
        held = self._session.places_of([row for other, row in anchors.items() if other != number])
        own = int(self._session.places_of([anchors[number]])[0])
        taken = set(held.tolist()) - {own}  # they have numbers of their own, which rested
        places = self._session.places_of(rows).tolist()
        counts = Counter(place for place in places if place >= 0 and place not in taken)
        if not counts or counts[own] == max(counts.values()):
            return None
        [(most, _)] = counts.most_common(1)
        home: int = rows[places.index(most)]
        return home

    def _without_number(self, look_at_all: bool) -> list[tuple[int, int]]:
        """Return new numbers, each with the row that is to hold it, for clusters that have none."""
        anchors = self._session.ledger.anchors
        held = self._held(anchors)
        if len(held) == self._session.progress.discovered and not look_at_all:
            return []
        firsts = [rows[0] for rows in self._session.known_clusters() if rows]
        places = self._session.places_of(firsts).tolist()
        new = [row for row, place in zip(firsts, places, strict=True) if place not in held]
        return list(enumerate(new, start=max(anchors, default=0) + 1))

    def _held(self, anchors: dict[int, int]) -> dict[int, int]:
        """Return the number of each cluster that has one, by its place in the run."""
        numbers = sorted(anchors)
        places = self._session.places_of([anchors[number] for number in numbers]).tolist()
        held: dict[int, int] = {}
        for number, place in zip(numbers, places, strict=True):
            if place >= 0:
                held.setdefault(place, number)
        return held
