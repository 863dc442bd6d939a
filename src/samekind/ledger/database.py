"""The database of a project: opened, brought up to date, and watched for whether it is still there."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError, NoSuchModuleError

from samekind.ledger import postgres, sqlite_file, tables
from samekind.ledger.addresses import shown_address, without_secrets
from samekind.ledger.errors import LedgerError, LedgerMissing
from samekind.ledger.migrations import VERSION, find_version, migrate
from samekind.ledger.sqlite_file import FileIdentity, Place, sqlite_engine, tune_sqlite

__all__ = ["Database", "FileReplacedError"]


LEASES_WAIT = 1.0  # seconds: who wants a question waits no longer for a program that writes
READERS_MS = 500  # how long the traces of what was deleted wait for readers to end


class FileReplacedError(Exception):
    """The file at the path is not the one that was opened, or there is none."""


class Database:
    """An engine and the file that it writes to, if it is one.

    Attributes
    ----------
    engine, reading_engine : Engine
        Transactions of the first one take the lock at once; those of the other one take none.
    path : Path or None
        The SQLite file, if it is one.
    address : PostgresAddress or None
        The place in PostgreSQL, if it is one.
    shown : str
        What to call it in messages: without a password.
    """

    def __init__(self, where: str, wait: float, *, read_only: bool) -> None:
        if not where:
            raise LedgerError("a project needs a file or a database URL, got an empty name.")
        self.shown = shown_address(where)
        self.path: Path | None = None
        self.address: postgres.PostgresAddress | None = None
        self._wait = wait
        self._record = postgres.WriterRecord()
        self._read_only = read_only
        self._place: Place | None = None
        self._identity: FileIdentity | None = None
        self._leasing_engine: sa.Engine | None = None
        if "://" in where:
            self._use(self._engine_of_url(where, wait))
            return
        self._open_file(Path(where), wait)

    @contextmanager
    def opened(self) -> Iterator[sa.Connection]:
        """Yield a transaction in which the tables are those of this version; note which file it is.

        It takes no lock, unless something must be written.
        """
        with self.reading() as connection:
            version = find_version(connection, self.shown)
            if version == VERSION and not self._lacks_writers(connection):
                self._note_file()
                yield connection
                return
            if self._read_only:
                what = "an empty database" if self.address is None else "a place in a database"
                raise LedgerMissing(
                    f"{self.shown} is {what}: there is no project in it. `samekind label DATA` makes one."
                )
        self._use_wal()
        with self.writing() as connection:
            self._migrate(connection)
            yield connection

    @contextmanager
    def made(self) -> Iterator[sa.Connection]:
        """Yield a transaction in which the tables are there and empty; an error says that a project is."""
        self._use_wal()
        with self.writing() as connection:
            if find_version(connection, self.shown):
                raise LedgerError(f"{self.shown} is a project already. Name another place.")
            self._migrate(connection)
            yield connection

    @contextmanager
    def reading(self) -> Iterator[sa.Connection]:
        """Yield a transaction that locks nobody out."""
        with closing(self._begun(self.reading_engine)) as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[sa.Connection]:
        """Yield a transaction that holds the lock; what is written is kept in the end, or by `commit`."""
        with closing(self._begun(self.engine)) as connection:
            yield connection
            if connection.in_transaction():
                self.commit(connection)

    def commit(self, connection: sa.Connection) -> None:
        """Keep what was written. Where the connection breaks meanwhile, find out whether it is kept."""
        if self.address is None:
            connection.commit()
            return
        self._record.write(connection)
        try:
            connection.commit()
        except DBAPIError as error:
            if not error.connection_invalidated:
                raise
            if not self._is_kept(error):
                raise

    @property
    def keeps_leases(self) -> bool:
        """Whether other programs can see here who is asked what."""
        return not self._read_only and (self.path is not None or self.address is not None)

    @contextmanager
    def leasing(self) -> Iterator[sa.Connection]:
        """Yield a transaction for leases, which has a lock of its own where there is one to be had."""
        if self._leasing_engine is None:
            self._leasing_engine = self._make_leasing_engine()
        with closing(self._begun(self._leasing_engine)) as connection:
            yield connection
            connection.commit()

    def _make_leasing_engine(self) -> sa.Engine:
        if self.address is not None:
            return postgres.postgres_engine(self.address, self._wait, lock="leases of")
        assert self._place is not None
        return sqlite_engine(self._place, min(self._wait, LEASES_WAIT), durable=False)

    def _is_kept(self, lost: DBAPIError) -> bool:
        """Return whether the last transaction was kept, though the server could not say so."""
        try:
            with closing(self._begun(self.engine)) as connection:
                return self._record.is_kept(connection)
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

    def check_file(self) -> None:
        """Raise `FileReplacedError` if the file at the path is not the one that was opened."""
        noted = self._identity
        if noted is not None and self.path is not None and FileIdentity.of(self.path) != noted:
            raise FileReplacedError

    def overwrite_deleted(self, connection: sa.Connection) -> None:
        """Have what is deleted from now on overwritten with zeros, where the database can."""
        if connection.dialect.name == "sqlite":
            connection.exec_driver_sql("PRAGMA secure_delete = ON")

    def scrub(self) -> bool:
        """Rewrite the file without traces of what was deleted; return whether none is left."""
        if self.address is not None:
            return postgres.rewrite_tables(self.engine, self.address, self._wait)
        with self._driver() as driver:
            driver.execute("VACUUM")
            [(wait,)] = driver.execute("PRAGMA busy_timeout").fetchall()
            driver.execute(f"PRAGMA busy_timeout = {READERS_MS}")
            busy, *_ = driver.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            driver.execute(f"PRAGMA busy_timeout = {wait}")
        return not busy

    def settle(self, last: Sequence[int], project_id: str | None) -> None:
        """Move what SQLite keeps beside a file that is gone into that file, wherever it is now.

        Or else it would be taken for a part of the next file of the same name. Not if anybody else has
        written there meanwhile.
        """
        with self.reading() as connection:
            *there, own, _ = connection.execute(tables.STATE).one()
        if (there, own) == ([row or tables.NO_ID for row in last], project_id):
            with self._driver() as driver:
                driver.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def close(self) -> None:
        """Close all connections, and remove what was made only to read the file."""
        if self._leasing_engine is not None:
            self._leasing_engine.dispose()
        self.engine.dispose()
        if self._place is not None:
            self._place.clean()

    def _open_file(self, path: Path, wait: float) -> None:
        self.path = path.absolute()
        if not self.path.parent.is_dir():
            raise LedgerError(f"{path}: there is no such folder. Make it first.")
        prepare = sqlite_file.readable_place if self._read_only else sqlite_file.prepare_to_write
        self._place = prepare(path)
        self._use(sqlite_engine(self._place, wait, reads=self._read_only))

    def _use(self, engine: sa.Engine) -> None:
        self.engine = engine
        self.reading_engine = engine.execution_options(samekind_reads=True)

    def _note_file(self) -> None:
        if self.path is not None and not self._read_only:
            self._identity = FileIdentity.of(self.path)

    def _engine_of_url(self, where: str, wait: float) -> sa.Engine:
        try:
            url = sa.make_url(where)
            is_file = url.get_backend_name() == "sqlite" and not url.query
            if is_file and url.database and url.database != ":memory:":
                self._open_file(Path(url.database), wait)
                return self.engine
            self.address = postgres.PostgresAddress.of(url)
            if self.address is not None:
                return postgres.postgres_engine(self.address, wait, reads=self._read_only)
            if url.get_backend_name() != "sqlite":
                raise ValueError(f"a project is in SQLite or PostgreSQL, not {url.drivername}")
            engine = sa.create_engine(url)
        except ImportError:
            raise LedgerError(
                f"{self.shown}: PostgreSQL needs psycopg, which is not installed. Install it: "
                "pip install 'samekind[postgres]'"
            ) from None
        except (NoSuchModuleError, ValueError, sa.exc.ArgumentError) as error:
            raise LedgerError(
                f"{self.shown}: cannot use this database: {without_secrets(error, where)}. Check the URL: "
                "postgresql+psycopg://USER@HOST/DATABASE?project=NAME"
            ) from None  # what SQLAlchemy says may hold the URL with its password
        tune_sqlite(engine, wait, reads=self._read_only)
        return engine

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

    def _lacks_writers(self, connection: sa.Connection) -> bool:
        writes = self.address is not None and not self._read_only
        return writes and postgres.WRITERS not in tables.table_names(connection)

    def _migrate(self, connection: sa.Connection) -> None:
        if self.address is not None:
            postgres.make_schema(connection, self.address)
        migrate(connection, self.shown)
        if self.address is not None:
            postgres.make_writers(connection)
        self._note_file()

    def _use_wal(self) -> None:
        """Let readers and one writer not wait for each other; a project stays so."""
        if self.engine.dialect.name == "sqlite":
            with self._driver() as driver, suppress(sqlite3.OperationalError):
                driver.execute("PRAGMA journal_mode = WAL")

    @contextmanager
    def _driver(self) -> Iterator[sqlite3.Connection]:
        """Yield a connection outside of any transaction."""
        pooled = self.engine.raw_connection()
        try:
            driver = pooled.driver_connection
            assert isinstance(driver, sqlite3.Connection)
            yield driver
        finally:
            pooled.close()
