"""Leases in a project's database."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, suppress

import sqlalchemy as sa

from samekind.ledger.errors import LedgerError
from samekind.ledger.leasing import Choose, Lease, changed_leases

__all__ = ["DELETE", "SqlLeases", "read_leases"]

SELECT = sa.text("SELECT key, who, question, until FROM leases")
DELETE = sa.text("DELETE FROM leases WHERE key = :key AND who = :who")
RELEASE = sa.text("DELETE FROM leases WHERE who = :who")
INSERT = sa.text(
    "INSERT INTO leases (key, who, question, until) VALUES (:key, :who, :question, :until)"
)


class SqlLeases:
    """Leases in a project's database, in transactions of their own."""

    def __init__(
        self,
        connected: Callable[[bool], AbstractContextManager[sa.Connection]],
        is_current: Callable[[sa.Connection], bool],
    ) -> None:
        self._connected = connected  # to write, or only to read
        self._is_current = is_current  # whether the ledger has all that others wrote
        self._answered: set[tuple[str, str]] = set()  # to be forgotten with the next transaction
        self._unwritten: list[Lease] = []  # to be kept with it

    def share(self, who: str, choose: Choose, *, now: float, until: float) -> dict[int, str] | None:
        """Let somebody have questions that are chosen by who has which; see `LeaseTable`.

        Where another program writes for long, that is kept later, and who asks another server may be asked
        the same meanwhile: better than nothing to answer.
        """
        try:
            return self._share(who, choose, now, until)
        except LedgerError:
            with self._connected(False) as connection:
                there = self._known(read_leases(connection))
            chosen = dict(choose(there))
            new, _ = changed_leases(there, who, chosen, now, until)
            self._unwritten = _replaced(self._unwritten, new)
            return chosen

    def _share(self, who: str, choose: Choose, now: float, until: float) -> dict[int, str] | None:
        with self._connected(True) as connection:
            if not self._is_current(connection):
                return None
            there = read_leases(connection)
            known = self._known(there)
            chosen = dict(choose(known))
            changed, old = changed_leases(known, who, chosen, now, until)
            new = _replaced(self._unwritten, changed)
            gone = [lease for lease in there if lease not in known] + old
            keys = {(lease.key, lease.who) for lease in (*gone, *new)}
            if keys:
                connection.execute(DELETE, [{"key": key, "who": name} for key, name in keys])
            if new:
                connection.execute(INSERT, [lease._asdict() for lease in new])
        self._answered.clear()
        self._unwritten.clear()
        return chosen

    def _known(self, there: list[Lease]) -> list[Lease]:
        """Return the leases that hold, by what is kept and what is still to be."""
        now = _replaced(there, self._unwritten)
        return [lease for lease in now if (lease.who, lease.question) not in self._answered]

    def shown(self, who: str) -> list[str]:
        """Return the ids of the questions that somebody was shown lately and has not answered."""
        with self._connected(False) as connection:
            there = read_leases(connection)
        return [lease.question for lease in self._known(there) if lease.who == who]

    def drop(self, who: str, question: str) -> None:
        """Forget a lease: it was answered."""
        self._answered.add((who, question))
        self._unwritten = [one for one in self._unwritten if one[1:3] != (who, question)]

    def release(self, who: str) -> None:
        """Forget all leases of somebody, who has left; if another program writes just now, they run out."""
        self._unwritten = [one for one in self._unwritten if one.who != who]
        with suppress(LedgerError), self._connected(True) as connection:
            connection.execute(RELEASE, {"who": who})


def read_leases(connection: sa.Connection) -> list[Lease]:
    """Return all leases that are kept."""
    return [Lease(*row) for row in connection.execute(SELECT)]


def _replaced(leases: list[Lease], newer: list[Lease]) -> list[Lease]:
    """Return leases with the newer ones in their places."""
    found = {(lease.key, lease.who): lease for lease in leases}
    return list((found | {(lease.key, lease.who): lease for lease in newer}).values())
