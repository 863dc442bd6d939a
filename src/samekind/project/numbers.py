"""The numbers of clusters, which they keep for life.

A number is held by a row, its anchor: whichever cluster the anchor is in has the number. So numbers need not
be touched when clusters grow or merge, and come back when that is undone:

- a new cluster gets the next number, and the row of it that was asked about first holds it;
- of clusters that become one, the oldest keeps its number and its name: the lowest number counts. The others
  rest, and are there again if the clusters are told apart;
- of the parts of a cluster, the one with most of its rows keeps the number, and the name goes with it. What
  is taken out by hand never takes them along.

Anchors are kept in the ledger, in the order in which they were given, so every process sees the same numbers.
Who only looks writes nothing: the numbers of new clusters follow from what is known, so all see the same,
and the next act, which alone could change that, begins by keeping them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from samekind.engine import Session
from samekind.flow import IntArray
from samekind.ledger import pairs_of

__all__ = ["ClusterNumbers"]


class ClusterNumbers:
    """Which number each cluster of a session has.

    Examples
    --------
    >>> import numpy as np
    >>> session = Session(np.array([[0.0], [5.0], [5.1]]), random_state=0)
    >>> session.tell(session.pending(), [False])
    >>> numbers = ClusterNumbers(session)
    >>> sorted(numbers.by_cluster.values())
    [1, 2]
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._at: object = None
        self._by_cluster: dict[int, int] = {}

    @property
    def by_cluster(self) -> dict[int, int]:
        """The number of each cluster, by its place in the run."""
        anchors = self._session.ledger.log.found
        now = self._session.known().at, tuple(anchors.items())
        if self._at != now:
            self._by_cluster = self._held(anchors | dict(self._without_number()))
            self._at = now
        return self._by_cluster

    def keep(self) -> None:
        """Keep the numbers of clusters that have none yet; an act begins with that."""
        for number, row in self._without_number():
            self._session.ledger.anchor(number, row)

    def of(self, row: int) -> int:
        """Return the number of the cluster that a row is in; the next one if the run does not know it."""
        numbers = self.by_cluster
        place = int(self._session.places_of([row])[0])
        return numbers[place] if place in numbers else max(numbers.values(), default=0) + 1

    def of_clusters(self, members: list[list[int]]) -> list[int]:
        """Return the number of each cluster; 1, 2, … if the run does not know them, as of a guess."""
        places = self._session.places_of([rows[0] for rows in members]).tolist()
        if not self.by_cluster.keys() >= set(places):
            return list(range(1, len(members) + 1))
        return [self.by_cluster[place] for place in places]

    def anchor_of(self, row: int) -> int:
        """Return the row that holds the number of a row's cluster, and stands for it."""
        number = self.of(row)
        anchors = self._session.ledger.log.found
        return anchors[number] if number in anchors else [*self._session.members_of(row), row][0]

    def move(self, number: int, row: int, who: str = "") -> None:
        """Let another row hold a number; a name that was given to the one before moves along."""
        ledger = self._session.ledger
        before = ledger.log.found[number]
        named = ledger.log.names.get(before)
        ledger.anchor(number, row)
        if named is not None and (named.text or named.definition):
            ledger.name(before, "", who=who)
            ledger.name(row, named.text, definition=named.definition, who=named.who)

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Within it and an act, change what is known: then a number is where most rows of its cluster are.

        Answers tell which rows are together, as the run hears of them only when they are kept.
        """
        before = {
            self.by_cluster[place]: np.array(rows, dtype=np.intp)
            for place, rows in enumerate(self._session.known().clusters)
            if rows
        }
        yield
        anchors, implied = self._session.ledger.log.found, self._session.ledger.log.implications
        held = implied.components(np.array(list(anchors.values()), dtype=np.intp))
        groups = dict(zip(anchors, held.tolist(), strict=True))
        for number, rows in before.items():
            home = _largest_part(implied.components(rows), groups[number], held)
            if home is not None:
                self.move(number, int(rows[home]))

    def _without_number(self) -> list[tuple[int, int]]:
        """Return new numbers, each with the row that is to hold it, for clusters that have none."""
        anchors = self._session.ledger.log.found
        held = self._held(anchors)
        clusters = enumerate(self._session.known().clusters)
        new = [rows for place, rows in clusters if rows and place not in held]
        if not new:
            return []
        mentioned = pairs_of(self._session.ledger.active()).ravel().tolist()
        when = {row: k for k, row in reversed(list(enumerate(mentioned)))}
        firsts = [min(rows, key=lambda row: (when.get(row, len(mentioned)), row)) for rows in new]
        firsts.sort(key=lambda row: (when.get(row, len(mentioned)), row))
        return list(enumerate(firsts, start=max(anchors, default=0) + 1))

    def _held(self, anchors: dict[int, int]) -> dict[int, int]:
        """Return the number of each cluster that has one, by its place in the run."""
        numbers = sorted(anchors)
        places = self._session.places_of([anchors[number] for number in numbers]).tolist()
        held: dict[int, int] = {}
        for number, place in zip(numbers, places, strict=True):
            if place >= 0:
                held.setdefault(place, number)
        return held


def _largest_part(parts: IntArray, own: int, held: IntArray) -> int | None:
    """Return where the largest part of a cluster begins; None if that is its own, which has its number.

    Parts that are `held` have numbers already, which rested.
    """
    if (parts == own).all():
        return None
    is_free = (parts == own) | ((parts >= 0) & ~np.isin(parts, held))
    free, sizes = np.unique(parts[is_free], return_counts=True)
    if sizes[free == own].sum() == sizes.max(initial=0):
        return None
    return int(np.isin(parts, free[sizes == sizes.max()]).argmax())
