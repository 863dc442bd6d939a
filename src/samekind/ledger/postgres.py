"""PostgreSQL: one schema for each project, one lock for who writes to it, and what a lost connection means.

Who writes takes an advisory lock of the project before reading anything, so that what is checked within a
transaction holds until it is kept; the server gives the lock in the order in which it was asked for. Who only
reads sees one moment of the project, and takes no lock. All of it is set anew for each transaction, so that
it also holds where a pooler stands between.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from hashlib import blake2b
from math import inf
from time import monotonic, sleep
from typing import NamedTuple, TypeVar

import sqlalchemy as sa
from sqlalchemy.engine.interfaces import DBAPIConnection, Dialect
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import ConnectionPoolEntry

from samekind.ledger.places import PROJECT, UNNAMED

__all__ = [
    "PostgresAddress",
    "is_missing_table",
    "make_schema",
    "patiently",
    "postgres_engine",
    "rewrite_tables",
]

NAME = re.compile(r"[\w .-]+")
MOST_BYTES = 63  # of a name in PostgreSQL
LOOK_AGAIN = 0.05  # seconds
POOL_WAIT = 5.0  # seconds for a connection while all are at work; those that fail wake nobody
STUCK = "10min"  # after which a writer that does nothing loses its lock: its machine may be gone
GONE = ("42P01", "3F000")  # there is no such table, or no such schema

T = TypeVar("T")


class PostgresAddress(NamedTuple):
    """A database, and the schema of a project in it."""

    url: sa.URL
    schema: str

    @property
    def quoted(self) -> str:
        """The schema as SQL has it."""
        return f'"{self.schema}"'

    @classmethod
    def of(cls, url: sa.URL) -> PostgresAddress | None:
        """Return where a project is, or None if the URL is not of PostgreSQL; an error says what is wrong."""
        if url.drivername in ("postgres", "postgresql"):  # as most tools write it
            url = url.set(drivername="postgresql+psycopg")
        if url.drivername != "postgresql+psycopg":
            return None
        given = url.query.get(PROJECT, UNNAMED)
        name = given if isinstance(given, str) else given[-1]
        fits = NAME.fullmatch(name) and len(name.encode()) <= MOST_BYTES
        if not fits or name.startswith("pg_"):
            raise ValueError(
                f"{PROJECT} must be 1 to {MOST_BYTES} letters, digits, spaces or any of . _ -, and not begin "
                f"with pg_, got {name!r:.80}"
            )
        return cls(url.difference_update_query([PROJECT]), name)


def postgres_engine(
    address: PostgresAddress, wait: float, *, reads: bool = False, lock: str = ""
) -> sa.Engine:
    """Return an engine whose transactions see the tables of one project, and take one of its locks."""
    from samekind.ledger import silence  # needs psycopg, which not everybody has

    own = {"application_name": "samekind", **silence.BOUNDS}
    given = {name: value for name, value in own.items() if name not in address.url.query}
    engine = sa.create_engine(
        address.url,
        pool_timeout=POOL_WAIT,
        connect_args={**given, "prepare_threshold": None},  # poolers do not keep what is prepared
    )
    see_own = f"SET LOCAL search_path = {address.quoted}"
    to_read = f"SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY; {see_own}"
    to_write = (
        "SET TRANSACTION ISOLATION LEVEL READ COMMITTED, READ WRITE; "  # all that came before the lock
        f"{see_own}; SET LOCAL lock_timeout = {max(1, int(wait * 1000))}; "
        f"SET LOCAL idle_in_transaction_session_timeout = '{STUCK}'; "
        # on disk, not merely with the server, when a commit returns
        "SELECT set_config('synchronous_commit', 'on', true) "
        "WHERE current_setting('synchronous_commit') = 'off'; "
        f"SELECT pg_advisory_xact_lock({_lock_of(lock + address.schema)})"
    )

    @sa.event.listens_for(engine, "begin")
    def begin(connection: sa.Connection) -> None:
        if reads or connection.get_execution_options().get("samekind_reads", False):
            connection.exec_driver_sql(to_read)
            return
        connection.exec_driver_sql(to_write)

    connected_before = False
    server = str(address.url)

    @sa.event.listens_for(engine, "do_connect")
    def connect(
        dialect: Dialect,
        record: ConnectionPoolEntry,
        arguments: list[object],
        named: dict[str, object],
    ) -> DBAPIConnection:
        """Wait for a server that was there before: it may be starting again."""
        nonlocal connected_before
        silence.fail_fast(server)
        began = monotonic()
        while True:
            try:
                made = silence.WatchedConnection.connect(*arguments, **named)  # type: ignore[arg-type]
            except dialect.loaded_dbapi.OperationalError:
                waited = monotonic() - began
                if waited >= wait * connected_before:
                    if waited > 1:
                        silence.note_silence(server)
                    raise
                sleep(LOOK_AGAIN)
            else:
                connected_before, made.server = True, server
                # who waits for the lock is told nothing meanwhile
                made.patience = max(silence.SILENT, wait + 5)
                return made  # type: ignore[return-value]

    return engine


def patiently(act: Callable[[], T], wait: float) -> T:
    """Do what changes nothing, again and again while connections break."""
    last = monotonic() + wait
    while True:
        try:
            return act()
        except DBAPIError as error:
            if not error.connection_invalidated or monotonic() >= last:
                raise
        sleep(LOOK_AGAIN)


def make_schema(connection: sa.Connection, address: PostgresAddress) -> None:
    """Make the schema of a project, if it is not there."""
    there = sa.text("SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = :name)")
    if not connection.execute(there, {"name": address.schema}).scalar():
        # without IF NOT EXISTS, which asks for a right that is not needed where the schema is there
        connection.exec_driver_sql(f"CREATE SCHEMA {address.quoted}")


def rewrite_tables(
    engine: sa.Engine, address: PostgresAddress, wait: float, tables: Sequence[str]
) -> bool:
    """Write all tables anew without what was deleted; return whether that could be done.

    Not while somebody reads them for long, nor by who does not own them: the server only warns of that.
    """
    pooled = engine.raw_connection()
    try:
        driver = pooled.driver_connection
        assert driver is not None
        driver.autocommit = True  # in a transaction this cannot be done
        driver.patience = inf
        driver.execute(f"SET lock_timeout = {max(1, int(wait * 1000))}")
        for table in tables:
            driver.execute(f"VACUUM FULL {address.quoted}.{table}")
        owned = driver.execute(
            "SELECT bool_and(pg_has_role(relowner, 'USAGE')) FROM pg_class JOIN pg_namespace n "
            "ON n.oid = relnamespace WHERE relkind = 'r' AND nspname = %s",
            [address.schema],
        ).fetchone()
    except engine.dialect.loaded_dbapi.OperationalError as error:
        if getattr(error, "sqlstate", None) != "55P03":  # the lock was not to be had
            raise
        return False
    finally:
        pooled.invalidate()  # it is set otherwise than those for transactions
        pooled.close()
    return bool(owned[0])


def is_missing_table(error: DBAPIError) -> bool:
    """Return whether a table or schema is not there that was."""
    return getattr(error.orig, "sqlstate", None) in GONE


def _lock_of(schema: str) -> int:
    digest = blake2b(f"samekind {schema}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)
