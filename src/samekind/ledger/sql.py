"""The ledger in a database: a SQLite file, or any URL that SQLAlchemy knows.

Rows are only ever added, with ids 1, 2, 3, … without gaps. A wave of answers, or all that belongs to one
`transaction`, is on disk when that returns, so a killed process loses none of it. Several processes may
write to one project: each takes in what the others wrote before it adds its own.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray
from sqlalchemy.exc import DBAPIError, NoSuchModuleError
from sqlalchemy.pool import ConnectionPoolEntry

from samekind.flow import Answers, Pairs
from samekind.ledger import tables
from samekind.ledger.addresses import shown_address, without_secrets
from samekind.ledger.log import Asked, LedgerLine, Wave
from samekind.ledger.memory import Ledger
from samekind.ledger.migrations import VersionError, migrate, pack_rows, unpack_rows
from samekind.ledger.notes import Checkpoint

__all__ = ["LedgerError", "SqlLedger"]

FOLLOWED = {  # tables, and what is read of them when another process has written to them
    tables.answers: ("a", "b", "answer", "who", "at", "asked"),
    tables.retractions: ("answer_id",),
    tables.names: ("row", "name", "who", "at"),
    tables.corrections: ("answer_id", "replaced_id"),
    tables.checkpoints: ("answer_id", "upto"),
}
LAST_IDS = sa.select(
    *(sa.select(sa.func.coalesce(sa.func.max(t.c.id), 0)).scalar_subquery() for t in FOLLOWED)
)


class LedgerError(RuntimeError):
    """The ledger could not be opened, read or written."""


class SqlLedger(Ledger):
    """Answers on disk.

    Parameters
    ----------
    where : str or Path
        A file, which is made if it is not there, or a database URL.
    infer : bool
        As for `Ledger`.
    wait : float
        Seconds to wait for another process that is writing.

    Examples
    --------
    >>> import tempfile, os
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = os.path.join(folder.name, "mine.db")
    >>> with SqlLedger(path) as ledger:
    ...     ledger.record([[0, 1]], [1], who="ann")
    >>> with SqlLedger(path) as ledger:
    ...     print(len(ledger))
    1
    >>> folder.cleanup()
    """

    def __init__(self, where: str | Path, *, infer: bool = True, wait: float = 10.0) -> None:
        super().__init__(infer=infer)
        place = str(where)
        self.where = shown_address(place)
        self._place = place
        self._connection: sa.Connection | None = None  # of the transaction that is open
        if not self.where:
            raise LedgerError("a project needs a file or a database URL, got an empty name.")
        is_url = "://" in place
        if not is_url and not Path(self.where).absolute().parent.is_dir():
            raise LedgerError(f"{self.where}: there is no such folder. Make it first.")
        url = place if is_url else sa.URL.create("sqlite", database=self.where)
        try:
            self._engine = sa.create_engine(url)
        except (NoSuchModuleError, ImportError, ValueError, sa.exc.ArgumentError) as error:
            raise LedgerError(
                f"{self.where}: cannot use this database: {without_secrets(error, place)}. Check the URL, "
                "and that the database's Python driver is installed."
            ) from None  # what SQLAlchemy says may hold the URL with its password
        self._reading_engine = self._engine.execution_options(samekind_reads=True)
        if self._engine.dialect.name == "sqlite":
            _tune_sqlite(self._engine, wait)
        try:
            with self._explaining("be opened"), self._engine.begin() as connection:
                migrate(connection)
                self._read_meta(connection)
                self._catch_up(connection)
        except BaseException as error:
            self._engine.dispose()
            if isinstance(error, VersionError):
                raise LedgerError(f"{self.where} {error}") from error
            raise

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Keep all that is written within, or, if anything fails, nothing of it.

        It begins with what others have written. A transaction within another one is part of that.
        """
        if self._connection is not None:
            yield
            return
        with self._explaining("be written"), self._engine.begin() as connection:
            self._catch_up(connection)
            self._read_meta(connection)
            self._connection = connection
            try:
                with super().transaction():
                    yield
                    connection.commit()  # here, so that what is not kept is not remembered either
            finally:
                self._connection = None

    def name(self, row: int, text: str, *, who: str = "") -> None:
        """Give a row's cluster a name; "" takes it away. The name outlives changes of the cluster."""
        at = self._add(tables.names, [{"row": row, "name": text, "who": who}], "keep a name")
        self._notes.add_name(row, text, who, at)

    def add_checkpoint(self, checkpoint: Checkpoint) -> None:
        """Keep a place from which a run may begin."""
        new = {
            "answer_id": None if checkpoint.line < 0 else checkpoint.line + 1,
            "upto": checkpoint.upto,
            "rows": pack_rows(checkpoint.rows),
            "ask": pack_rows(checkpoint.ask),
        }
        self._add(tables.checkpoints, [new], "keep a checkpoint")
        self._notes.checkpoints.clear()  # the earlier ones can be read again
        self._notes.add_checkpoint(checkpoint)

    def set_meta(self, key: str, value: str) -> None:
        """Keep a fact about the project beside its answers."""
        with self._connected("keep its settings") as connection:
            connection.execute(sa.delete(tables.meta).where(tables.meta.c.key == key))
            connection.execute(sa.insert(tables.meta).values(key=key, value=value))
        super().set_meta(key, value)

    def refresh(self) -> bool:
        """Take in what other writers wrote; return whether anything was taken back."""
        before = self._log.n_struck
        if self._connection is None:
            with self._connected("be read", writes=False) as connection:
                self._catch_up(connection)
        return self._log.n_struck > before

    def close(self) -> None:
        """Close the database; a SQLite project is one file again."""
        self._engine.dispose()

    def _append(self, pairs: Pairs, answers: Answers, who: str, asked: Asked) -> None:
        paid = np.broadcast_to(asked, len(pairs)).tolist()
        new = [
            {"a": a, "b": b, "answer": said, "who": who, "asked": cost}
            for (a, b), said, cost in zip(pairs.tolist(), answers.tolist(), paid, strict=True)
        ]
        at = self._add(tables.answers, new, "keep answers")
        self._learn_new(Wave(pairs, answers, self._number(who), at, asked))

    def _retract(self, numbers: NDArray[np.intp]) -> list[LedgerLine]:
        if numbers.size:
            new = [{"answer_id": number + 1} for number in numbers.tolist()]
            self._add(tables.retractions, new, "take an answer back")
        return super()._retract(numbers)

    def _append_correction(self, line: int, replaced: list[int]) -> None:
        new = [{"answer_id": line + 1, "replaced_id": other + 1} for other in replaced]
        self._add(tables.corrections, new, "keep a correction")
        super()._append_correction(line, replaced)

    def _checkpoint(self, number: int) -> Checkpoint:
        if number not in self._notes.checkpoints:
            table = tables.checkpoints
            with self._connected("be read", writes=False) as connection:
                found = connection.execute(sa.select(table).where(table.c.id == number + 1)).one()
            self._notes.checkpoints = {
                number: Checkpoint(
                    *self._notes.marks[number], unpack_rows(found.rows), unpack_rows(found.ask)
                )
            }
        return super()._checkpoint(number)

    def _catch_up(self, connection: sa.Connection) -> None:
        """Take in the rows of the database that this object has not seen."""
        notes, new = self._notes, []
        last = connection.execute(LAST_IDS).one()
        for (table, columns), there in zip(FOLLOWED.items(), last, strict=True):
            seen = self._n_seen(table)
            unseen = sa.select(*(table.c[name] for name in columns)).where(table.c.id > seen)
            new.append(
                connection.execute(unseen.order_by(table.c.id)).all() if there > seen else ()
            )
        answers, retractions, names, corrections, checkpoints = new
        if answers:
            a, b, said, who, at, asked = zip(*answers, strict=True)
            numbers = np.array([self._number(name) for name in who], dtype=np.int32)
            pairs = np.column_stack([a, b]).astype(np.intp)
            times = np.array(at, dtype=np.float64)
            given = np.array(said, dtype=np.int8)
            self._learn_new(Wave(pairs, given, numbers, times, np.array(asked)))
            self._last_time = max(self._last_time, float(times.max()))
        if retractions:
            self._strike(np.array([answer_id - 1 for (answer_id,) in retractions], dtype=np.intp))
        for row, text, who, at in names:
            notes.add_name(row, text, who, at)
        for answer_id, replaced_id in corrections:
            notes.add_correction(answer_id - 1, replaced_id - 1)
        for answer_id, upto in checkpoints:
            notes.marks.append((-1 if answer_id is None else answer_id - 1, upto))

    def _read_meta(self, connection: sa.Connection) -> None:
        rows = connection.execute(sa.select(tables.meta.c.key, tables.meta.c.value))
        self.meta = {row.key: row.value for row in rows}

    def _n_seen(self, table: sa.TableClause) -> int:
        """Return how many rows of a table this object knows."""
        log, notes = self._log, self._notes
        known = (log.size, log.n_struck, notes.n_names, notes.n_replaced, len(notes.marks))
        return dict(zip(FOLLOWED, known, strict=True))[table]

    def _add(
        self, table: sa.TableClause, rows: Sequence[Mapping[str, object]], purpose: str
    ) -> float:
        """Write rows, with ids and, where there is a column for it, the time; return the time."""
        with self._connected(purpose) as connection:
            at = self._now()
            stamp = {"at": at} if "at" in table.c else {}
            first = self._n_seen(table) + 1
            new = [{"id": number, **row, **stamp} for number, row in enumerate(rows, start=first)]
            connection.execute(sa.insert(table), new)
        return at

    @contextmanager
    def _connected(self, purpose: str, *, writes: bool = True) -> Iterator[sa.Connection]:
        """Yield the open transaction, or one of its own.

        That begins with what others wrote if it writes, and locks nobody out if it does not.
        """
        with self._explaining(purpose):
            if self._connection is not None:
                yield self._connection
                return
            with (self._engine if writes else self._reading_engine).begin() as connection:
                if writes:
                    self._catch_up(connection)
                yield connection

    @contextmanager
    def _explaining(self, purpose: str) -> Iterator[None]:
        try:
            yield
        except DBAPIError as error:
            raise LedgerError(
                f"{self.where} could not {purpose}: {without_secrets(error.orig, self._place)}. Nothing was "
                "changed; "
                "mend the cause (a full disk, another program that writes, a file that is not a "
                "samekind project) and try again."
            ) from error


def _tune_sqlite(engine: sa.Engine, wait: float) -> None:
    @sa.event.listens_for(engine, "connect")
    def connect(connection: sqlite3.Connection, record: ConnectionPoolEntry) -> None:
        connection.isolation_level = None  # the driver starts no transactions of its own
        for pragma in (
            f"busy_timeout = {int(wait * 1000)}",
            "journal_mode = WAL",
            "synchronous = FULL",  # on disk, not merely with the system, when a commit returns
            "foreign_keys = ON",
        ):
            connection.execute(f"PRAGMA {pragma}")

    @sa.event.listens_for(engine, "begin")
    def begin(connection: sa.Connection) -> None:
        reads = connection.get_execution_options().get("samekind_reads", False)
        # who writes takes the lock before reading, who only reads takes none
        connection.exec_driver_sql("BEGIN" if reads else "BEGIN IMMEDIATE")
