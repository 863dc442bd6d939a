"""Who is looking at which question, for all programs that serve one project.

Leases are of no use for long, so nothing waits for a disk because of them: SQLite keeps them in its log and
does not wait, PostgreSQL has them in a table that it does not log. Of a lease that has run out it is still
known for an hour what was shown to whom: an answer that comes late is to be told from one to a question that
nobody asked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, Protocol

__all__ = ["Choose", "Lease", "LeaseTable", "MemoryLeases", "changed_leases", "rows_of_question"]

QUESTION = re.compile(r"[a-z]-(\d{1,10})-(\d{1,10}(?:\.\d{1,10})*)", re.ASCII)
REMEMBERED = 3600.0  # seconds after which it is forgotten what was shown to whom


class Lease(NamedTuple):
    """That somebody is shown a question: its key, and the id under which they answer it."""

    key: int
    who: str
    question: str
    until: float


Choose = Callable[[Sequence[Lease]], Mapping[int, str]]
"""From all leases, also those that have run out, to those that somebody gets: question ids by key."""


class LeaseTable(Protocol):
    """Where leases are kept."""

    def share(self, who: str, choose: Choose, *, now: float, until: float) -> dict[int, str]:
        """Let somebody have questions that are chosen by who has which; nobody else chooses meanwhile.

        A lease is dropped after the answer is written: who misses the one sees the other in the ledger.
        """

    def shown(self, who: str) -> list[str]:
        """Return the ids of the questions that somebody was shown lately and has not answered."""

    def drop(self, who: str, question: str) -> None:
        """Forget a lease: it was answered."""

    def release(self, who: str) -> None:
        """Forget all leases of somebody, who has left."""


def rows_of_question(question: str) -> list[int] | None:
    """Return the row that a question compares with others, and those, by its id; None if it is no such id.

    Examples
    --------
    >>> rows_of_question("l-12-3.40"), rows_of_question("what?")
    ([12, 3, 40], None)
    """
    found = QUESTION.fullmatch(question)
    return None if found is None else [int(found[1]), *map(int, found[2].split("."))]


def changed_leases(
    there: Sequence[Lease], who: str, chosen: Mapping[int, str], now: float, until: float
) -> tuple[list[Lease], list[Lease]]:
    """Return the leases that are new or to be prolonged, and those that are forgotten."""
    own = {lease.key: lease for lease in there if lease.who == who}
    half = now + (until - now) / 2
    new = [
        Lease(key, who, question, until)
        for key, question in chosen.items()
        if key not in own or own[key].question != question or own[key].until < half
    ]
    return new, [lease for lease in there if lease.until < now - REMEMBERED]


class MemoryLeases:
    """Leases of one process."""

    def __init__(self) -> None:
        self._leases: dict[tuple[int, str], Lease] = {}

    def share(self, who: str, choose: Choose, *, now: float, until: float) -> dict[int, str]:
        """Let somebody have questions that are chosen by who has which."""
        there = list(self._leases.values())
        chosen = dict(choose(there))
        new, old = changed_leases(there, who, chosen, now, until)
        for lease in old:
            del self._leases[lease.key, lease.who]
        self._leases.update({(lease.key, lease.who): lease for lease in new})
        return chosen

    def shown(self, who: str) -> list[str]:
        """Return the ids of the questions that somebody was shown lately and has not answered."""
        return [lease.question for lease in self._leases.values() if lease.who == who]

    def drop(self, who: str, question: str) -> None:
        """Forget a lease: it was answered."""
        answered = who, question
        self._leases = {
            key: one for key, one in self._leases.items() if (one.who, one.question) != answered
        }

    def release(self, who: str) -> None:
        """Forget all leases of somebody, who has left."""
        self._leases = {key: lease for key, lease in self._leases.items() if lease.who != who}
