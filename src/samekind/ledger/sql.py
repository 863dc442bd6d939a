"""The ledger in a database: a SQLite file, or any URL that SQLAlchemy knows.

Lines are only ever added, to `answers` and to `retractions`; their ids are 1, 2, 3, … without gaps. A wave
of answers is one transaction and is on disk when `record` returns, so a killed process loses none of them.
Several processes may write to one project: each takes in what the others wrote before it adds its own.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray
from sqlalchemy.exc import DBAPIError, NoSuchModuleError

from samekind.flow import Answers, Pairs
from samekind.ledger.memory import Entry, Ledger

__all__ = ["LedgerError", "SqlLedger"]

SCHEMA_VERSION = 1

_metadata = sa.MetaData()
_meta = sa.Table(
    "meta",
    _metadata,
    sa.Column("key", sa.String(64), primary_key=True),
    sa.Column("value", sa.Text, nullable=False),
)
_answers = sa.Table(
    "answers",
    _metadata,
    sa.Column("id", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("a", sa.BigInteger, nullable=False),
    sa.Column("b", sa.BigInteger, nullable=False),
    sa.Column("answer", sa.SmallInteger, nullable=False),
    sa.Column("who", sa.Text, nullable=False),
    sa.Column("at", sa.Float(53), nullable=False),  # seconds since 1970
    sa.Column("asked", sa.Boolean, nullable=False),
)
_retractions = sa.Table(
    "retractions",
    _metadata,
    sa.Column("id", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("answer_id", sa.BigInteger, sa.ForeignKey("answers.id"), nullable=False),
    sa.Column("at", sa.Float(53), nullable=False),
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
        self.where = str(where)
        self._last_retraction = 0
        if not self.where:
            raise LedgerError("a project needs a file or a database URL, got an empty name.")
        is_url = "://" in self.where
        if not is_url and not Path(self.where).absolute().parent.is_dir():
            raise LedgerError(f"{self.where}: there is no such folder. Make it first.")
        url = self.where if is_url else sa.URL.create("sqlite", database=self.where)
        try:
            self._engine = sa.create_engine(url)
        except (NoSuchModuleError, ImportError, ValueError, sa.exc.ArgumentError) as error:
            raise LedgerError(
                f"{self.where}: cannot use this database: {error}. Check the URL, and that the "
                "database's Python driver is installed."
            ) from error
        if self._engine.dialect.name == "sqlite":
            _tune_sqlite(self._engine, wait)
        try:
            self._open()
        except BaseException:
            self._engine.dispose()
            raise

    def set_meta(self, key: str, value: str) -> None:
        """Keep a fact about the project beside its answers."""
        with self._transaction("keep its settings") as connection:
            connection.execute(sa.delete(_meta).where(_meta.c.key == key))
            connection.execute(sa.insert(_meta).values(key=key, value=value))
        super().set_meta(key, value)

    def refresh(self) -> bool:
        """Take in what other writers wrote; return whether anything was taken back."""
        with self._transaction("be read") as connection:
            return self._catch_up(connection)

    def close(self) -> None:
        """Close the database; a SQLite project is one file again."""
        self._engine.dispose()

    def _open(self) -> None:
        with self._transaction("be opened") as connection:
            tables = set(sa.inspect(connection).get_table_names())
            if not tables:
                _metadata.create_all(connection)
            elif not tables >= set(_metadata.tables):
                raise LedgerError(f"{self.where} is a database, but not a samekind project.")
            rows = connection.execute(sa.select(_meta.c.key, _meta.c.value))
            self.meta = {row.key: row.value for row in rows}
            version = self.meta.get("schema_version")
            if version is None:
                new = {"key": "schema_version", "value": str(SCHEMA_VERSION)}
                connection.execute(sa.insert(_meta).values(**new))
                self.meta["schema_version"] = str(SCHEMA_VERSION)
            elif not version.isdecimal():
                raise LedgerError(f"{self.where} is damaged: its schema version is {version!r}.")
            elif int(version) > SCHEMA_VERSION:
                raise LedgerError(
                    f"{self.where} was written by a newer samekind (schema {version}; this one "
                    f"knows {SCHEMA_VERSION}). Update samekind to open it."
                )
            self._catch_up(connection)

    def _append(
        self,
        pairs: Pairs,
        answers: Answers,
        who: str,
        when: float,
        asked: bool | NDArray[np.bool_],
    ) -> None:
        paid = np.broadcast_to(asked, len(pairs)).tolist()
        with self._transaction("keep answers") as connection:
            self._catch_up(connection)
            lines = zip(pairs.tolist(), answers.tolist(), paid, strict=True)
            connection.execute(
                sa.insert(_answers),
                [
                    {"id": i, "a": a, "b": b, "answer": said, "who": who, "at": when, "asked": cost}
                    for i, ((a, b), said, cost) in enumerate(lines, start=self._size + 1)
                ],
            )
        self._take(pairs, answers, self._number(who), when, asked)

    def _retract(self, lines: NDArray[np.intp]) -> list[Entry]:
        ids = (lines + 1).tolist()
        if ids:
            with self._transaction("take an answer back") as connection:
                self._catch_up(connection)
                now = time.time()
                last = self._last_retraction
                connection.execute(
                    sa.insert(_retractions),
                    [
                        {"id": last + 1 + i, "answer_id": answer_id, "at": now}
                        for i, answer_id in enumerate(ids)
                    ],
                )
            self._last_retraction += len(ids)
        return super()._retract(lines)

    def _catch_up(self, connection: sa.Connection) -> bool:
        """Take in the lines that this object has not seen."""
        new = connection.execute(
            sa.select(_answers).where(_answers.c.id > self._size).order_by(_answers.c.id)
        ).all()
        if new:
            _, a, b, answers, who, at, asked = zip(*new, strict=True)
            numbers = [self._number(name) for name in who]
            pairs = np.column_stack([a, b]).astype(np.intp)
            self._take(pairs, np.array(answers, dtype=np.int8), numbers, at, asked)
            self._last_time = max(self._last_time, *at)
        gone = connection.execute(
            sa.select(_retractions.c.id, _retractions.c.answer_id)
            .where(_retractions.c.id > self._last_retraction)
            .order_by(_retractions.c.id)
        ).all()
        if not gone:
            return False
        self._last_retraction = gone[-1][0]
        self._strike(np.array([answer_id - 1 for _, answer_id in gone], dtype=np.intp))
        return True

    @contextmanager
    def _transaction(self, purpose: str) -> Iterator[sa.Connection]:
        try:
            with self._engine.begin() as connection:
                yield connection
        except DBAPIError as error:
            raise LedgerError(
                f"{self.where} could not {purpose}: {error.orig}. Nothing was changed; "
                "mend the cause (a full disk, another program that writes, a file that is not a "
                "samekind project) and try again."
            ) from error


def _tune_sqlite(engine: sa.Engine, wait: float) -> None:
    @sa.event.listens_for(engine, "connect")
    def connect(connection: Any, record: Any) -> None:
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
        connection.exec_driver_sql("BEGIN IMMEDIATE")  # take the lock before reading
