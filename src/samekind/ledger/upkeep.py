"""Upkeep of a project: checked, copied, moved; somebody forgotten.

Nothing here "repairs": what cannot be read is refused, and a backup takes its place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

import sqlalchemy as sa

from samekind.ledger import events as ev
from samekind.ledger import tables as sql
from samekind.ledger.errors import LedgerDamaged, LedgerError, LedgerMissing, ReplacedError
from samekind.ledger.ledger import Ledger
from samekind.ledger.places import ProjectPlace
from samekind.ledger.sqlite import wal_of
from samekind.ledger.store import ARRIVING, MOVED_TO, State, Store, Transaction

__all__ = ["Checkup", "Erased", "back_up_project", "check_project", "forget", "move_project"]

MOST_SHOWN = 20
PIECE = 10_000  # rows at a time
COPIED = sql.meta, sql.items, sql.events, sql.replies, sql.links  # leases are of no use elsewhere


class Checkup(NamedTuple):
    """What was found in a project: how many answers, and what is wrong with it."""

    answers: int
    faults: list[str]

    @property
    def is_fine(self) -> bool:
        """Whether nothing is wrong."""
        return not self.faults


class Erased(NamedTuple):
    """How much of somebody was deleted.

    Attributes
    ----------
    answers, names, opinions : int
        Taken back or not.
    restored : int
        Answers of others that stand again, as theirs had replaced them.
    traceless : bool
        Whether the project holds no trace of them; not so while another program reads it.
    """

    answers: int
    names: int
    opinions: int
    restored: int = 0
    traceless: bool = False


def check_project(place: ProjectPlace) -> Checkup:
    """Look at all of a project, which may be in use: its file, and whether its events make sense.

    An error says that there is nothing to look at.
    """
    try:
        with Ledger(place, read_only=True) as ledger:
            store = ledger.store
            assert store is not None
            n_rows = ledger.settings.get("shape", "").partition(" x ")[0]
            if n_rows.isdecimal():
                ledger.limit_rows(int(n_rows))
            with store.explaining("be read"), store.reading() as transaction, store.understanding():
                faults = _torn(transaction)
                _look_at(transaction)
            return Checkup(sum(1 for _ in ledger.lines()), faults)
    except LedgerDamaged as error:
        return Checkup(0, [str(error)])


def back_up_project(source: ProjectPlace, target: Path) -> int:
    """Copy a project to a file that is not there yet, while others write; return how many answers it has.

    The copy is of one moment, and is looked at as `check_project` does. Nothing is left of one that does not
    arrive whole.
    """
    with (
        _opened(source, read_only=True) as old,
        old.reading() as reading,
        _made(target, lambda writing: _copy(reading, writing)),
    ):
        return _check_copy(target)


def move_project(source: ProjectPlace, target: ProjectPlace) -> int:
    """Move a project to a place where there is none yet; return how many answers it has.

    The source stays as it was, but can only be read from then on: it says where the project went. The copy
    cannot be written until the source says so; so at no moment can both be written. A move that was cut off
    goes on when it is run again.
    """
    with _opened(source) as old:
        if not _is_on_its_way(old, source, target):
            with old.write() as reading, _made(target, lambda new: _copy(reading, new, source)):
                _check_copy(target)
                reading.set_meta(MOVED_TO, str(target))
                reading.begin_edition()  # whoever has it open looks anew
    with _opened(target) as new, new.write() as writing:
        writing.set_meta(ARRIVING, None)
    return check_project(target).answers


def forget(place: ProjectPlace, who: str, *, dry: bool = False) -> Erased:
    """Delete all that somebody answered, said or named, for good; what the others answered counts on.

    With `dry` only look how much that is. A ValueError says that there is nothing, and whose there is.
    """
    with Ledger(place, read_only=True) as ledger:
        store = ledger.store
        assert store is not None
        with store.explaining("be read"), store.reading() as transaction:
            found = _count(transaction.connection, who)
            everybody = sa.select(sql.events.c.who).where(sql.events.c.who != "").distinct()
            people = sorted(transaction.connection.execute(everybody).scalars())
        if not any(found):
            named = ", ".join(map(repr, people)) or "nobody"
            raise ValueError(f"{who!r} gave no answer in {place}. Those who did: {named}.")
    if dry:
        return found
    with Ledger(place) as ledger:
        store = ledger.store
        assert store is not None
        lines = ledger.active()
        of_others = int((lines["who"] != ledger.log.number_of(who)).sum())
        with store.explaining("be written"):
            with store.write() as transaction:
                found = _count(transaction.connection, who)
                store.overwrite_deleted(transaction)
                _erase(transaction, who)
            ledger.refresh()
            restored = max(0, len(ledger) - of_others)
            return found._replace(restored=restored, traceless=store.scrub())


def _count(connection: sa.Connection, who: str) -> Erased:
    """Count what is somebody's."""
    kind = sql.events.c.kind
    counts = sa.select(kind, sa.func.count()).where(sql.events.c.who == who).group_by(kind)
    found: dict[str, int] = {row[0]: row[1] for row in connection.execute(counts)}
    answers = found.get(ev.ANSWER, 0) + found.get(ev.EDIT, 0)
    return Erased(answers, found.get(ev.NAME, 0), found.get(ev.OPINION, 0))


def _erase(transaction: Transaction, who: str) -> None:
    """Delete what is somebody's. What they took back of others stays taken back, by nobody."""
    own = sql.events.c.who == who
    connection = transaction.connection
    kept = sql.events.c.kind == ev.RETRACT
    connection.execute(sa.update(sql.events).where(own & kept).values(who=""))
    connection.execute(sa.delete(sql.events).where(own))
    spent = sql.events.c.payload.contains(f"spent by {who}", autoescape=True)
    connection.execute(sa.delete(sql.events).where((sql.events.c.kind == ev.SETTINGS) & spent))
    for table in (sql.leases, sql.links, sql.replies):
        connection.execute(sa.delete(table).where(table.c.who == who))
    transaction.begin_edition()


def _torn(transaction: Transaction) -> list[str]:
    """Return where a file is damaged, in the words of SQLite; a server looks after its files itself."""
    connection = transaction.connection
    if connection.dialect.name != "sqlite":
        return []
    found = connection.exec_driver_sql(f"PRAGMA integrity_check({MOST_SHOWN})").scalars()
    return [line for line in map(str, found) if line != "ok"]


def _look_at(transaction: Transaction) -> None:
    """Read what a ledger does not read; an error says that it makes no sense."""
    transaction.items()
    for link in transaction.connection.execute(sa.select(sql.links)):
        if link.role not in ev.ROLES:
            raise ValueError(f"link {link.id}: its role is {link.role!r:.40}")
    for reply in transaction.connection.execute(sa.select(sql.replies)):
        if not isinstance(reply.reply, str):
            raise ValueError(f"the reply to {reply.key!r:.40} is no text")


def _copy(source: Transaction, target: Transaction, arriving: ProjectPlace | None = None) -> None:
    """Copy all tables, and compare what has arrived with what was sent; mark one that replaces the source."""
    for table in COPIED:
        target.connection.execute(sa.delete(table))
        rows = sa.select(table).order_by(*table.primary_key.columns)
        for piece in source.connection.execute(rows).mappings().partitions(PIECE):
            target.connection.execute(sa.insert(table), [dict(row) for row in piece])
        sent, arrived = (one.connection.execute(rows) for one in (source, target))
        for number, (here, there) in enumerate(zip_longest(sent, arrived)):
            if here is None or there is None or tuple(here) != tuple(there):
                raise LedgerError(f"row {number} of {table.name} did not arrive as it was sent.")
    if arriving is not None:
        target.set_meta(ARRIVING, str(arriving))


def _check_copy(target: ProjectPlace) -> int:
    found = check_project(target)
    if not found.is_fine:
        raise LedgerError(f"{target} did not arrive whole: {'; '.join(found.faults)}")
    return found.answers


def _is_on_its_way(old: Store, source: ProjectPlace, target: ProjectPlace) -> bool:
    """Return whether a move to this place was cut off when the source was marked already.

    A copy that arrived before that is removed: others may have written to the source since.
    """
    with old.explaining("be read"), old.reading() as transaction:
        state = transaction.state()
    if state.moved_to not in (None, str(target)):
        raise LedgerError(f"{source} was moved to {state.moved_to}: go on there.")
    arrived = _state_of(target)
    is_copy = arrived is not None and (arrived.project, arrived.arriving) == (
        state.project,
        str(source),
    )
    if state.moved_to is not None and not is_copy:
        raise LedgerError(f"{source} was moved to {target}: go on there.")
    if state.moved_to is None and is_copy:
        with closing(Store(target)) as store:
            _discard(store, target)
    return state.moved_to is not None


def _state_of(place: ProjectPlace) -> State | None:
    """Return where the project at a place stands; None if there is none."""
    if isinstance(place, Path) and (not place.exists() or not place.stat().st_size):
        return None
    try:
        with closing(Store(place, read_only=True)) as store, store.reading() as transaction:
            return transaction.state()
    except LedgerMissing:
        return None


@contextmanager
def _opened(place: ProjectPlace, *, read_only: bool = False) -> Iterator[Store]:
    """Yield the store of a project that is there, and with which nothing is wrong."""
    if isinstance(place, Path) and not place.exists():
        raise LedgerError(f"{place}: there is no such project. `samekind label DATA` makes one.")
    with Ledger(place, read_only=True):
        pass
    with closing(Store(place, read_only=read_only)) as store:
        try:
            yield store
        except ReplacedError as error:
            raise LedgerError(f"{place} was deleted or replaced meanwhile.") from error


@contextmanager
def _made(place: ProjectPlace, fill: Callable[[Transaction], object]) -> Iterator[None]:
    """Make a project in one transaction, and look at it within; nothing is left of it if anything fails."""
    if _state_of(place) is not None:
        raise LedgerError(f"{place} is a project already. Name another place.")
    store, is_kept = None, False
    try:
        store = Store(place, fill=fill)
        yield
        is_kept = True
    finally:
        if not is_kept:
            _discard(store, place)
        if store is not None:
            store.close()


def _discard(store: Store | None, place: ProjectPlace) -> None:
    """Remove a copy that has not arrived."""
    if isinstance(place, Path):
        if store is not None:
            store.close()
        for file in (place, wal_of(place), Path(f"{place}-shm")):
            file.unlink(missing_ok=True)
    elif store is not None:
        with store.write() as transaction:
            sql.tables.drop_all(transaction.connection)
