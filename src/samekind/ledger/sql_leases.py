"""Leases in a project's database."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, suppress

import sqlalchemy as sa

from samekind.ledger.errors import LedgerError
from samekind.ledger.leasing import Choose, Lease, changed_leases

__all__ = ["SqlLeases"]

SELECT = sa.text("SELECT key, who, question, until FROM leases")
DELETE = sa.text("DELETE FROM leases WHERE key = :key AND who = :who")
RELEASE = sa.text("DELETE FROM leases WHERE who = :who")
INSERT = sa.text(
    "INSERT INTO leases (key, who, question, until) VALUES (:key, :who, :question, :until)"
)


class SqlLeases:
    """Leases in a project's database, in transactions of their own."""

    def __init__(self, connected: Callable[[bool], AbstractContextManager[sa.Connection]]) -> None:
        self._connected = connected  # to write, or only to read
        self._answered: set[tuple[str, str]] = set()  # to be forgotten with the next transaction

    def share(self, who: str, choose: Choose, *, now: float, until: float) -> dict[int, str]:
        """Let somebody have questions that are chosen by who has which.

        Where another program writes for long, that is not kept, and somebody else may be asked the same:
        better than nothing to answer.
        """
        try:
            return self._share(who, choose, now, until)
        except LedgerError:
            with self._connected(False) as connection:
                return dict(choose(self._read(connection)))

    def _share(self, who: str, choose: Choose, now: float, until: float) -> dict[int, str]:
        with self._connected(True) as connection:
            there = self._read(connection)
            kept = [lease for lease in there if (lease.who, lease.question) not in self._answered]
            chosen = dict(choose(kept))
            new, old = changed_leases(kept, who, chosen, now, until)
            gone = [lease for lease in there if lease not in kept] + old
            keys = {(lease.key, lease.who) for lease in (*gone, *new)}
            if keys:
                connection.execute(DELETE, [{"key": key, "who": name} for key, name in keys])
            if new:
                connection.execute(INSERT, [lease._asdict() for lease in new])
        self._answered.clear()
        return chosen

    def shown(self, who: str) -> list[str]:
        """Return the ids of the questions that somebody was shown lately and has not answered."""
        with self._connected(False) as connection:
            there = self._read(connection)
        return [
            lease.question
            for lease in there
            if lease.who == who and (who, lease.question) not in self._answered
        ]

    def drop(self, who: str, question: str) -> None:
        """Forget a lease: it was answered."""
        self._answered.add((who, question))

    def release(self, who: str) -> None:
        """Forget all leases of somebody, who has left; if another program writes just now, they run out."""
        with suppress(LedgerError), self._connected(True) as connection:
            connection.execute(RELEASE, {"who": who})

    @staticmethod
    def _read(connection: sa.Connection) -> list[Lease]:
        return [Lease(*row) for row in connection.execute(SELECT)]
