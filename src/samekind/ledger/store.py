"""The store: a project in SQLite or PostgreSQL, through the `tables`.

Who writes takes the project's lock before reading anything, so what is checked within a transaction holds
until it is kept. Who only reads sees one moment of the project, and waits for nobody. What others wrote is
found by ``id > last``.
"""

from __future__ import annotations

import secrets
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError, NoSuchModuleError

from samekind.ledger import postgres, sqlite
from samekind.ledger import tables as sql
from samekind.ledger.errors import LedgerDamaged, LedgerError, LedgerMissing, ReplacedError
from samekind.ledger.events import Event, KeptItems, KeptReply
from samekind.ledger.places import ProjectPlace, ProjectURL, shown_address, without_secrets

__all__ = ["ARRIVING", "MOVED_TO", "State", "Store", "Transaction"]

VERSION, PROJECT, EDITION = "schema_version", "project_id", "edition"  # in `meta`
MOVED_TO = "moved_to"  # where the project went; here it can only be read then
ARRIVING = "moved_from"  # where it comes from, while it is not all here
PIECE = 65_536  # items in a row of `items`
DIGEST = 24  # bytes that an item is recognised by
WAIT = 10.0  # seconds for others who write
LEASES_WAIT = 1.0  # who wants a question waits no longer for a program that writes
READERS_MS = 500  # how long the traces of what was deleted wait for readers to end
KEEP_REPLIES = 7 * 86_400  # seconds
FILE_CAUSES = "a full disk, another program that writes, a file that is not a samekind project"
SERVER_CAUSES = "the server, its disk, your rights in the database, another program that writes"


class State(NamedTuple):
    """Where a project stands."""

    project: str
    edition: str
    """Changes when events are deleted for good: then all is to be read anew."""
    last: int
    moved_to: str | None
    arriving: str | None


class Transaction:
    """What can be read and written at one moment of a project."""

    def __init__(self, connection: sa.Connection) -> None:
        self.connection = connection
        self.first: Event | None = None  # that was appended

    def state(self) -> State:
        """Return where the project stands."""
        facts = {row.key: row.value for row in self.connection.execute(sa.select(sql.meta))}
        last = self.connection.execute(sa.select(sa.func.max(sql.events.c.id))).scalar() or 0
        if not isinstance(last, int) or not isinstance(facts.get(PROJECT), str):
            raise ValueError(f"the last id is {last!r:.80}, the project {facts.get(PROJECT)!r:.80}")
        moved, arriving = facts.get(MOVED_TO), facts.get(ARRIVING)
        return State(facts[PROJECT], str(facts.get(EDITION)), last, moved, arriving)

    def since(self, last: int) -> list[tuple[Any, ...]]:
        """Return the events after one, as rows of the table."""
        newer = sa.select(sql.events).order_by(sql.events.c.id)
        if last:
            newer = newer.where(sql.events.c.id > last)
        return [tuple(row) for row in self.connection.execute(newer)]

    def append(self, events: Sequence[dict[str, Any]]) -> None:
        """Write events, as rows of the table."""
        if events:
            self.connection.execute(sa.insert(sql.events), events)
            self.first = self.first or Event(**events[0])

    def is_kept(self, first: Event) -> bool:
        """Return whether an event is there."""
        own = sa.select(sql.events.c.at, sql.events.c.who).where(sql.events.c.id == first.id)
        return self.connection.execute(own).first() == (first.at, first.who)

    def set_meta(self, key: str, value: str | None) -> None:
        """Keep a fact; None drops it."""
        self.connection.execute(sa.delete(sql.meta).where(sql.meta.c.key == key))
        if value is not None:
            self.connection.execute(sa.insert(sql.meta).values(key=key, value=value))

    def begin_edition(self) -> None:
        """Tell all who know the project that events were deleted: they read it anew."""
        self.set_meta(EDITION, str(int(self.state().edition) + 1))

    def reply_to(self, who: str, key: str) -> KeptReply | None:
        """Return what somebody's request with this key was told, if there was one."""
        own = (sql.replies.c.who == who) & (sql.replies.c.key == key)
        found = self.connection.execute(
            sa.select(sql.replies.c.request, sql.replies.c.reply).where(own)
        ).first()
        return None if found is None else KeptReply(*found)

    def keep_reply(self, who: str, key: str, kept: KeptReply) -> None:
        """Keep what a request is told; old replies, which nobody asks for any more, go."""
        now = time.time()
        self.connection.execute(sa.delete(sql.replies).where(sql.replies.c.at < now - KEEP_REPLIES))
        row = {"who": who, "key": key, "at": now, **kept._asdict()}
        self.connection.execute(sa.insert(sql.replies), [row])

    def items(self) -> KeptItems | None:
        """Return by what the items are recognised, and where they are; None if that is not kept."""
        found = self.connection.execute(sa.select(sql.items).order_by(sql.items.c.id)).all()
        if not found:
            return None
        rows = np.frombuffer(b"".join(piece.rows for piece in found), dtype="<i8")
        kept = KeptItems(b"".join(piece.digests for piece in found), rows.astype(np.int64))
        there = np.sort(kept.rows[kept.rows >= 0])
        if len(kept.digests) != DIGEST * rows.size or (there != np.arange(there.size)).any():
            raise ValueError("the rows of its items are not those of any data")
        return kept

    def keep_items(self, kept: KeptItems) -> None:
        """Keep by what the items are recognised, and where they are."""
        self.connection.execute(sa.delete(sql.items))
        packed = kept.rows.astype("<i8")
        pieces = [
            {
                "id": number,
                "digests": kept.digests[DIGEST * first : DIGEST * (first + PIECE)],
                "rows": packed[first : first + PIECE].tobytes(),
            }
            for number, first in enumerate(range(0, packed.size, PIECE), start=1)
        ]
        if pieces:
            self.connection.execute(sa.insert(sql.items), pieces)
        self.connection.execute(sa.delete(sql.leases))  # they are of rows as they were


class Store:
    """A project's database.

    Parameters
    ----------
    place : str, Path or ProjectURL
        A file, which is made if it is not there, or a database URL,
        ``postgresql+psycopg://USER@HOST/DATABASE?project=NAME``.
    wait : float
        Seconds to wait for another process that is writing.
    read_only : bool
        Only read, also what cannot be written.
    fill : callable or None
        Writes what a new project begins with, in the transaction that makes it.

    Attributes
    ----------
    path : Path or None
        The SQLite file, if it is one.
    address : PostgresAddress or None
        The place in PostgreSQL, if it is one.
    shown : str
        What to call the project in messages: without a password.
    """

    def __init__(
        self,
        place: str | ProjectPlace,
        *,
        wait: float = WAIT,
        read_only: bool = False,
        fill: Callable[[Transaction], object] | None = None,
    ) -> None:
        self.place = place.reveal() if isinstance(place, ProjectURL) else str(place)
        if not self.place:
            raise LedgerError("a project needs a file or a database URL, got an empty name.")
        self.shown = shown_address(self.place)
        self.path: Path | None = None
        self.address: postgres.PostgresAddress | None = None
        self.read_only = read_only
        self.project: str | None = None  # its id
        self._wait = wait
        self._file: sqlite.Place | None = None
        self._identity: sqlite.FileIdentity | None = None
        self._leasing: sa.Engine | None = None
        self._engine = self._make_engine()
        self._reading = self._engine.execution_options(samekind_reads=True)
        try:
            self._open(fill)
        except BaseException:
            self.close()
            raise

    # Transactions

    @contextmanager
    def reading(self) -> Iterator[Transaction]:
        """Yield a transaction that sees one moment, and locks nobody out."""
        self.check_file()
        with closing(self._begun(self._reading)) as connection:
            yield Transaction(connection)

    @contextmanager
    def write(self) -> Iterator[Transaction]:
        """Yield a transaction that holds the lock; what is written is kept in the end."""
        if self.read_only:
            raise LedgerError(f"{self.shown} is open for reading only.")
        with closing(self._begun(self._engine)) as connection:
            self.check_file()
            transaction = Transaction(connection)
            yield transaction
            self.check_file()
            try:
                self._commit(transaction)
            except BaseException:
                connection.invalidate()  # or else it goes back to the pool within its transaction
                raise

    @contextmanager
    def leasing(self) -> Iterator[sa.Connection]:
        """Yield a connection for leases, which has a lock of its own where there is one to be had."""
        if self._leasing is None:
            self._leasing = self._make_leasing_engine()
        with closing(self._begun(self._leasing)) as connection:
            yield connection
            connection.commit()

    @property
    def keeps_leases(self) -> bool:
        """Whether other programs can see here who is asked what."""
        return not self.read_only and (self.path is not None or self.address is not None)

    @contextmanager
    def explaining(self, purpose: str) -> Iterator[None]:
        """Turn what a driver says into an error of the ledger."""
        try:
            yield
        except (DBAPIError, sa.exc.TimeoutError, sqlite3.Error) as error:
            is_open = self.project is not None
            if is_open and isinstance(error, DBAPIError) and postgres.is_missing_table(error):
                raise ReplacedError from error
            cause = error.orig if isinstance(error, DBAPIError) else error
            words = without_secrets(cause, self.place)
            if getattr(cause, "sqlite_errorcode", None) == sqlite3.SQLITE_NOTADB:
                stem = Path(str(self.shown)).stem
                raise LedgerDamaged(
                    f"{self.shown} is not a SQLite database, so it is no project. Name a project, such as "
                    f"{stem}.samekind.db."
                ) from error
            if any(word in str(cause) for word in ("malformed", "UTF-8")):
                raise damaged(self.shown, words) from error
            causes = SERVER_CAUSES if "://" in self.place else FILE_CAUSES
            raise LedgerError(
                f"{self.shown} could not {purpose}: {words}. Nothing was changed; mend the cause "
                f"({causes}) and try again."
            ) from error

    @contextmanager
    def understanding(self) -> Iterator[None]:
        """Say that the project is damaged where what it holds makes no sense."""
        try:
            yield
        except (
            ValueError,
            TypeError,
            KeyError,
            IndexError,
            OverflowError,
            AttributeError,
        ) as error:
            raise damaged(self.shown, error) from error

    def check_file(self) -> None:
        """Raise `ReplacedError` if the file at the path is not the one that was opened."""
        path, noted = self.path, self._identity
        if path is not None and noted is not None and sqlite.FileIdentity.of(path) != noted:
            raise ReplacedError

    def close(self) -> None:
        """Close all connections, and remove what was made only to read the file."""
        if self._leasing is not None:
            self._leasing.dispose()
        self._engine.dispose()
        if self._file is not None:
            self._file.clean()

    # Upkeep

    def overwrite_deleted(self, transaction: Transaction) -> None:
        """Have what is deleted from now on overwritten with zeros, where the database can."""
        if self.address is None:
            transaction.connection.exec_driver_sql("PRAGMA secure_delete = ON")

    def scrub(self) -> bool:
        """Rewrite the database without traces of what was deleted; return whether none is left.

        They stay as long as another program reads the project.
        """
        if self.address is not None:
            names = [table.name for table in sql.tables.sorted_tables]
            return postgres.rewrite_tables(self._engine, self.address, self._wait, names)
        with self._driver() as driver:
            driver.execute("VACUUM")
            [(wait,)] = driver.execute("PRAGMA busy_timeout").fetchall()
            driver.execute(f"PRAGMA busy_timeout = {READERS_MS}")
            busy, *_ = driver.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            driver.execute(f"PRAGMA busy_timeout = {wait}")
        return not busy

    def settle(self, last: int) -> None:
        """Move what SQLite keeps beside a file that is gone into that file, wherever it is now.

        Or else it would be taken for a part of the next file of the same name. Not if anybody else has
        written there meanwhile.
        """
        self._identity = None
        with self.reading() as transaction:
            state = transaction.state()
        if (state.last, state.project) == (last, self.project):
            with self._driver() as driver:
                driver.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    # Within

    def _make_engine(self) -> sa.Engine:
        if "://" not in self.place:
            return self._engine_of_file(Path(self.place))
        try:
            url = sa.make_url(self.place)
            if url.get_backend_name() == "sqlite":
                if not url.query and url.database and url.database != ":memory:":
                    return self._engine_of_file(Path(url.database))
                engine = sa.create_engine(url)
                sqlite.tune_sqlite(engine, self._wait, reads=self.read_only)
                return engine
            self.address = postgres.PostgresAddress.of(url)
            if self.address is None:
                raise ValueError(f"a project is in SQLite or PostgreSQL, not {url.drivername}")
            return postgres.postgres_engine(self.address, self._wait, reads=self.read_only)
        except ImportError:
            raise LedgerError(
                f"{self.shown}: PostgreSQL needs psycopg, which is not installed. Install it: "
                "pip install 'samekind[postgres]'"
            ) from None
        except (NoSuchModuleError, ValueError, sa.exc.ArgumentError) as error:
            raise LedgerError(
                f"{self.shown}: cannot use this database: {without_secrets(error, self.place)}. Check the "
                "URL: postgresql+psycopg://USER@HOST/DATABASE?project=NAME"
            ) from None  # what SQLAlchemy says may hold the URL with its password

    def _engine_of_file(self, path: Path) -> sa.Engine:
        self.path = path.absolute()
        if not self.path.parent.is_dir():
            raise LedgerError(f"{path}: there is no such folder. Make it first.")
        prepare = sqlite.readable_place if self.read_only else sqlite.prepare_to_write
        self._file = prepare(path)
        return sqlite.sqlite_engine(self._file, self._wait, reads=self.read_only)

    def _make_leasing_engine(self) -> sa.Engine:
        if self.address is not None:
            return postgres.postgres_engine(self.address, self._wait, lock="leases of")
        assert self._file is not None
        return sqlite.sqlite_engine(self._file, min(self._wait, LEASES_WAIT), durable=False)

    def _open(self, fill: Callable[[Transaction], object] | None) -> None:
        """Make the tables if there are none; an error says that it is no project of this version."""
        with self.explaining("be opened"), self.understanding():
            with self.reading() as transaction:
                is_there = _is_project(transaction.connection, self.shown)
            if not is_there and self.read_only:
                what = "an empty database" if self.address is None else "a place in a database"
                raise LedgerMissing(
                    f"{self.shown} is {what}: there is no project in it. `samekind label DATA` makes one."
                )
            if not is_there:
                self._use_wal()
                with self.write() as transaction:
                    if not _is_project(transaction.connection, self.shown):
                        self._create(transaction)
                        if fill is not None:
                            fill(transaction)
            with self.reading() as transaction:
                self.project = transaction.state().project
        if self.path is not None and not self.read_only:
            self._identity = sqlite.FileIdentity.of(self.path)

    def _create(self, transaction: Transaction) -> None:
        connection = transaction.connection
        if self.address is not None:
            postgres.make_schema(connection, self.address)
        sql.tables.create_all(connection)
        if self.address is not None:  # after a crash of the server everybody is asked anew
            connection.exec_driver_sql("ALTER TABLE leases SET UNLOGGED")
        else:
            connection.exec_driver_sql(f"PRAGMA application_id = {sqlite.APPLICATION_ID}")
        facts = {VERSION: str(sql.SCHEMA), PROJECT: secrets.token_hex(16), EDITION: "1"}
        for key, value in facts.items():
            transaction.set_meta(key, value)

    def _begun(self, engine: sa.Engine) -> sa.Connection:
        """Return a connection whose transaction has begun; nothing is written yet, so one may try again."""

        def begin() -> sa.Connection:
            connection = engine.connect()
            try:
                connection.begin()
            except BaseException:
                connection.close()
                raise
            return connection

        return begin() if self.address is None else postgres.patiently(begin, self._wait)

    def _commit(self, transaction: Transaction) -> None:
        """Keep what was written. Where the connection breaks meanwhile, find out whether it is kept."""
        try:
            transaction.connection.commit()
        except DBAPIError as error:
            if self.address is None or not error.connection_invalidated:
                raise
            if not self._has_kept(transaction.first, error):
                raise

    def _has_kept(self, first: Event | None, lost: DBAPIError) -> bool:
        """Return whether an act is there, by its first event; the lock says that its transaction is over."""
        try:
            with closing(self._begun(self._engine)) as connection:
                return first is not None and Transaction(connection).is_kept(first)
        except (DBAPIError, sa.exc.TimeoutError):
            unknown = LedgerError(
                f"{self.shown}: the connection broke while something was written, and the server cannot be "
                "asked whether it is kept. What is kept is shown as soon as the server is back: look before "
                "you say it once more."
            )
            unknown.public = (
                "The connection to the database broke while this was written: it is not known whether it is "
                "kept. Send it again with the same Idempotency-Key, then it counts once; or look first."
            )
            raise unknown from lost

    def _use_wal(self) -> None:
        """Let readers and one writer not wait for each other; a project stays so."""
        if self.address is None:
            with self._driver() as driver, suppress(sqlite3.OperationalError):
                driver.execute("PRAGMA journal_mode = WAL")

    @contextmanager
    def _driver(self) -> Iterator[sqlite3.Connection]:
        """Yield a connection outside of any transaction."""
        pooled = self._engine.raw_connection()
        try:
            driver = pooled.driver_connection
            assert isinstance(driver, sqlite3.Connection)
            yield driver
        finally:
            pooled.close()


def damaged(shown: str, what: object) -> LedgerDamaged:
    """Return the error that says what in a project cannot be right."""
    return LedgerDamaged(
        f"{shown} is damaged: {what}. Nothing was changed. `samekind check` looks at all of it; put a backup "
        "in its place."
    )


def _is_project(connection: sa.Connection, shown: str) -> bool:
    """Return whether there is a project; an error says that there is something else, or an older one."""
    if connection.dialect.name == "sqlite":
        made_by = connection.exec_driver_sql("PRAGMA application_id").scalar()
        if made_by not in (0, sqlite.APPLICATION_ID):  # 0: from a dump
            raise LedgerError(
                f"{shown} is a database of another program (application id {made_by}), not a samekind "
                "project."
            )
        names = set(sa.inspect(connection).get_table_names())
    else:
        query = "SELECT tablename FROM pg_tables WHERE schemaname = current_schema()"
        names = set(connection.exec_driver_sql(query).scalars())
    if not names:
        return False
    has_facts = "meta" in names and bool({"events", "answers"} & names)
    if not has_facts:
        raise LedgerError(f"{shown} is a database, but not a samekind project.")
    own = sa.select(sql.meta.c.value).where(sql.meta.c.key == VERSION)
    found = connection.execute(own).scalar()
    if found != str(sql.SCHEMA):
        raise LedgerError(
            f"{shown} is of another version of samekind (schema {found!s:.20}; this one reads {sql.SCHEMA}). "
            "Open it with the samekind that made it."
        )
    if not {table.name for table in sql.tables.sorted_tables} <= names:
        raise damaged(shown, "a table is missing")
    return True
