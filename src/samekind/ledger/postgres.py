"""PostgreSQL: one schema for each project, one lock for who writes to it, and what a lost connection means.

Who writes takes an advisory lock of the project before reading anything, so that what is checked within a
transaction holds until it is kept; the server gives the lock in the order in which it was asked for. Who only
reads sees one moment of the project, and takes no lock. All of it is set anew for each transaction, so that
it also holds where a pooler stands between.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from hashlib import blake2b
from time import monotonic, sleep
from typing import NamedTuple, TypeVar

import sqlalchemy as sa
from sqlalchemy.engine.interfaces import DBAPIConnection, Dialect
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import ConnectionPoolEntry

from samekind.ledger.addresses import PROJECT, UNNAMED
from samekind.ledger.errors import LedgerError
from samekind.ledger.faults import COLUMNS

__all__ = [
    "OLDEST",
    "PostgresAddress",
    "is_missing_table",
    "make_schema",
    "patiently",
    "postgres_engine",
    "rewrite_tables",
    "transaction_of",
    "was_committed",
]

OLDEST = 13  # the first version that tells what became of a transaction
NAME = re.compile(r"[\w .-]+")
MOST_BYTES = 63  # of a name in PostgreSQL
LOOK_AGAIN = 0.05  # seconds
STUCK = "10min"  # after which a writer that does nothing loses its lock: its machine may be gone
TRANSACTION = "samekind_transaction"
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


def postgres_engine(address: PostgresAddress, wait: float, *, reads: bool = False) -> sa.Engine:
    """Return an engine whose transactions see the tables of one project."""
    own = {"application_name": "samekind", "connect_timeout": 10}
    given = {name: value for name, value in own.items() if name not in address.url.query}
    engine = sa.create_engine(
        address.url,
        pool_pre_ping=True,
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
        "WHERE current_setting('synchronous_commit') = 'off'"
    )
    take_lock = (
        f"SELECT pg_advisory_xact_lock({_lock_of(address.schema)}), pg_current_xact_id()::text"
    )

    @sa.event.listens_for(engine, "begin")
    def begin(connection: sa.Connection) -> None:
        if reads or connection.get_execution_options().get("samekind_reads", False):
            connection.exec_driver_sql(to_read)
            return
        connection.exec_driver_sql(to_write)
        connection.info[TRANSACTION] = connection.exec_driver_sql(take_lock).one()[1]

    connected_before = False

    @sa.event.listens_for(engine, "do_connect")
    def connect(
        dialect: Dialect,
        record: ConnectionPoolEntry,
        arguments: list[object],
        named: dict[str, object],
    ) -> DBAPIConnection:
        """Wait for a server that was there before: it may be starting again."""
        nonlocal connected_before
        last = monotonic() + wait * connected_before
        while True:
            try:
                made = dialect.connect(*arguments, **named)
            except dialect.loaded_dbapi.OperationalError:
                if monotonic() >= last:
                    raise
                sleep(LOOK_AGAIN)
            else:
                connected_before = True
                return made

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


def transaction_of(connection: sa.Connection) -> str | None:
    """Return the server's number of a transaction that writes."""
    found = connection.info.get(TRANSACTION)
    return None if found is None else str(found)


def was_committed(engine: sa.Engine, transaction: str, wait: float) -> bool | None:
    """Return what became of a transaction whose connection broke while it was kept; None: nobody knows."""
    last = monotonic() + wait
    status = sa.text("SELECT pg_xact_status(CAST(:own AS xid8))")

    def ask() -> object:
        with engine.begin() as connection:
            return connection.execute(status, {"own": transaction}).scalar()

    try:
        while (found := patiently(ask, wait)) == "in progress" and monotonic() < last:
            sleep(LOOK_AGAIN)
    except DBAPIError:
        return None
    return {"committed": True, "aborted": False}.get(str(found))


def make_schema(connection: sa.Connection, address: PostgresAddress, shown: str) -> None:
    """Make the schema of a project, if there is none."""
    major = int(connection.exec_driver_sql("SHOW server_version_num").scalar_one()) // 10_000
    if major < OLDEST:
        raise LedgerError(f"{shown}: this is PostgreSQL {major}; samekind needs {OLDEST} or newer.")
    there = sa.text("SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = :name)")
    if not connection.execute(there, {"name": address.schema}).scalar():
        # without IF NOT EXISTS, which asks for a right that is not needed where the schema is there
        connection.exec_driver_sql(f"CREATE SCHEMA {address.quoted}")


def rewrite_tables(engine: sa.Engine, address: PostgresAddress, wait: float) -> bool:
    """Write all tables anew without what was deleted; return whether that could be done.

    Not while somebody reads them for long, nor by who does not own them: the server only warns of that.
    """
    pooled = engine.raw_connection()
    try:
        driver = pooled.driver_connection
        assert driver is not None
        driver.autocommit = True  # in a transaction this cannot be done
        driver.execute(f"SET lock_timeout = {max(1, int(wait * 1000))}")
        for table in ("meta", *COLUMNS):
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
