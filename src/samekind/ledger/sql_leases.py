"""Leases in a project's database."""

from __future__ import annotations

from contextlib import suppress

import sqlalchemy as sa

from samekind.ledger.errors import LedgerError
from samekind.ledger.leases import Choose, Lease, changed_leases
from samekind.ledger.store import Store
from samekind.ledger.tables import leases as table

__all__ = ["SqlLeases"]


class SqlLeases:
    """Leases in a project's database, in transactions of their own.

    Parameters
    ----------
    store : Store
        Where they are kept.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._answered: set[tuple[str, str]] = set()  # to be forgotten with the next transaction
        self._unwritten: list[Lease] = []  # to be kept with it

    def share(self, who: str, choose: Choose, *, now: float, until: float) -> dict[int, str]:
        """Let somebody have questions that are chosen by who has which; see `LeaseTable`.

        Where another program writes for long, that is kept later, and who asks another server may be asked
        the same meanwhile: better than nothing to answer.
        """
        try:
            return self._share(who, choose, now, until)
        except LedgerError:
            there = self._known(self._read())
            chosen = dict(choose(there))
            new, _ = changed_leases(there, who, chosen, now, until)
            self._unwritten = _replaced(self._unwritten, new)
            return chosen

    def _share(self, who: str, choose: Choose, now: float, until: float) -> dict[int, str]:
        with self._store.explaining("keep who is asked what"), self._store.leasing() as connection:
            there = _leases_in(connection)
            known = self._known(there)
            chosen = dict(choose(known))
            changed, old = changed_leases(known, who, chosen, now, until)
            new = _replaced(self._unwritten, changed)
            gone = [lease for lease in there if lease not in known] + old
            keys = {(lease.key, lease.who) for lease in (*gone, *new)}
            if keys:
                own = (table.c.key == sa.bindparam("own")) & (table.c.who == sa.bindparam("name"))
                connection.execute(
                    sa.delete(table).where(own), [{"own": key, "name": name} for key, name in keys]
                )
            if new:
                connection.execute(sa.insert(table), [lease._asdict() for lease in new])
        self._answered.clear()
        self._unwritten.clear()
        return chosen

    def shown(self, who: str) -> list[str]:
        """Return the ids of the questions that somebody was shown lately and has not answered."""
        return [lease.question for lease in self._known(self._read()) if lease.who == who]

    def drop(self, who: str, question: str) -> None:
        """Forget a lease: it was answered."""
        self._answered.add((who, question))
        self._unwritten = [one for one in self._unwritten if one[1:3] != (who, question)]

    def release(self, who: str) -> None:
        """Forget all leases of somebody, who has left; if another program writes just now, they run out."""
        self._unwritten = [one for one in self._unwritten if one.who != who]
        store = self._store
        purpose = "keep who is asked what"
        with suppress(LedgerError), store.explaining(purpose), store.leasing() as connection:
            connection.execute(sa.delete(table).where(table.c.who == who))

    def _read(self) -> list[Lease]:
        with self._store.explaining("be read"), self._store.reading() as transaction:
            return _leases_in(transaction.connection)

    def _known(self, there: list[Lease]) -> list[Lease]:
        """Return the leases that hold, by what is kept and what is still to be."""
        now = _replaced(there, self._unwritten)
        return [lease for lease in now if (lease.who, lease.question) not in self._answered]


def _leases_in(connection: sa.Connection) -> list[Lease]:
    return [Lease(*row) for row in connection.execute(sa.select(table))]


def _replaced(leases: list[Lease], newer: list[Lease]) -> list[Lease]:
    """Return leases with the newer ones in their places."""
    found = {(lease.key, lease.who): lease for lease in leases}
    return list((found | {(lease.key, lease.who): lease for lease in newer}).values())
