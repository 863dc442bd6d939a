"""Leases that no program will end: of servers that were killed, or that came from elsewhere.

They do no harm for long, as each runs out. But until then nobody else is asked the question, and what has
run out is only cleared away while somebody is asked something.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError

from samekind.ledger import tables
from samekind.ledger.addresses import ProjectPlace, ProjectURL, without_secrets
from samekind.ledger.database import Database
from samekind.ledger.errors import LedgerError
from samekind.ledger.faults import n_rows_of
from samekind.ledger.leasing import REMEMBERED, Lease, rows_of_question
from samekind.ledger.opinions import WITHDRAWN
from samekind.ledger.sql_leases import DELETE, read_leases

__all__ = ["OrphanedLease", "find_orphaned_leases", "free_orphaned_leases"]

WAIT = 10.0


class OrphanedLease(NamedTuple):
    """A lease, and why it is of no use."""

    lease: Lease
    why: str

    def __str__(self) -> str:
        return f"question {self.lease.question} of {self.lease.who or 'nobody by name'}: {self.why}"


def find_orphaned_leases(place: ProjectPlace, *, now: float) -> list[OrphanedLease]:
    """Return the leases of a project that are of no use; nothing is changed."""
    with _opened(place, read_only=True) as database, database.reading() as connection:
        return _orphans(connection, now)


def free_orphaned_leases(place: ProjectPlace, *, now: float) -> list[OrphanedLease]:
    """Delete the leases of a project that are of no use; return them."""
    with _opened(place, read_only=False) as database, database.leasing() as connection:
        found = _orphans(connection, now)
        if found:
            keys = [{"key": one.lease.key, "who": one.lease.who} for one in found]
            connection.execute(DELETE, keys)
        return found


@contextmanager
def _opened(place: ProjectPlace, *, read_only: bool) -> Iterator[Database]:
    where = place.reveal() if isinstance(place, ProjectURL) else str(place)
    database = Database(where, WAIT, read_only=read_only)
    try:
        with database.opened():
            pass
        yield database
    except DBAPIError as error:
        words = without_secrets(error.orig, where)
        raise LedgerError(f"{place}: who is asked what could not be read: {words}.") from error
    finally:
        database.close()


def _orphans(connection: sa.Connection, now: float) -> list[OrphanedLease]:
    leases = read_leases(connection)
    facts = connection.execute(sa.select(tables.meta.c.key, tables.meta.c.value))
    meta = {row.key: row.value for row in facts}
    n_rows, said = n_rows_of(meta), _said(connection, {lease.who for lease in leases})
    found = [(lease, _why(lease, now, n_rows, said)) for lease in leases]
    return [OrphanedLease(lease, why) for lease, why in found if why]


def _why(
    lease: Lease, now: float, n_rows: int | None, said: set[tuple[frozenset[int], str]]
) -> str:
    """Return why a lease is of no use; "" if it is of some."""
    rows = rows_of_question(lease.question)
    if rows is None:
        return "it is no question"
    row, *others = rows
    if n_rows is not None and max(rows) >= n_rows:
        return f"there is no row {max(rows)}"
    if any((frozenset((row, other)), lease.who) in said for other in others):
        return "it was answered"
    return "it ran out long ago" if lease.until < now - REMEMBERED else ""


def _said(connection: sa.Connection, people: set[str]) -> set[tuple[frozenset[int], str]]:
    """Return the pairs that each of these people has said something of that stands."""
    answers, opinions = tables.answers, tables.opinions
    struck = sa.select(tables.retractions.c.answer_id)
    standing = answers.c.who.in_(people) & answers.c.id.not_in(struck)
    lines = connection.execute(sa.select(answers.c.a, answers.c.b, answers.c.who).where(standing))
    found = {(frozenset((a, b)), who) for a, b, who in lines}
    columns = sa.select(opinions.c.a, opinions.c.b, opinions.c.who, opinions.c.answer)
    own = columns.where(opinions.c.who.in_(people)).order_by(opinions.c.id)
    latest = {(frozenset((a, b)), who): said for a, b, who, said in connection.execute(own)}
    return found | {key for key, said in latest.items() if said != WITHDRAWN}
