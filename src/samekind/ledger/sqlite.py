"""A SQLite file: how it is opened for writing or reading, and whether it is still the one at its path.

Who writes takes the lock of the database before reading; who only reads takes none, and waits for nobody.
A file that cannot be written is read all the same, and so is one in a folder in which SQLite cannot make
the files that it keeps beside a database.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import datetime
from pathlib import Path
from random import uniform
from time import monotonic, sleep
from typing import NamedTuple

import sqlalchemy as sa
from sqlalchemy.exc import OperationalError
from sqlalchemy.pool import ConnectionPoolEntry, QueuePool

from samekind.ledger.errors import LedgerDamaged, LedgerError, LedgerMissing

__all__ = [
    "APPLICATION_ID",
    "FileIdentity",
    "Place",
    "connected",
    "driver_of",
    "path_beside",
    "prepare_to_write",
    "readable_place",
    "sqlite_engine",
    "tune_sqlite",
    "wal_of",
]

APPLICATION_ID = 0x534B4E44  # "SKND", in the header of every project
WRITING = "mode=rw"
LOOK_AGAIN = 0.001, 0.004  # seconds between looks whether another program has done writing


class FileIdentity(NamedTuple):
    """Which file it is, whatever its name."""

    device: int
    inode: int

    @classmethod
    def of(cls, path: Path) -> FileIdentity | None:
        """Return the identity of the file at a path; None if there is none."""
        try:
            found = path.stat()
        except OSError:
            return None
        return cls(found.st_dev, found.st_ino)


class Place(NamedTuple):
    """Where and how a file is opened; `scratch` is a folder to be removed in the end."""

    path: Path
    query: str
    scratch: Path | None = None

    @property
    def uri(self) -> str:
        """What SQLite is told to open."""
        return f"{self.path.absolute().as_uri()}?{self.query}"

    def clean(self) -> None:
        """Remove what was made only to open the file."""
        if self.scratch is not None:
            shutil.rmtree(self.scratch, ignore_errors=True)


def wal_of(path: Path) -> Path:
    """Return where SQLite keeps what was written last, until it is moved into the file itself."""
    return path.with_name(f"{path.name}-wal")


def path_beside(path: Path, word: str) -> Path:
    """Return a name beside a project that is not taken, with a word and the time in it."""
    now = datetime.now().strftime("%Y%m%d-%H%M%S")
    for more in ("", *(f"-{number}" for number in range(2, 1000))):
        beside = path.with_name(f"{path.stem}.{word}-{now}{more}{path.suffix or '.db'}")
        if not beside.exists():
            return beside
    raise LedgerError(f"{path.parent}: there are too many files called {path.stem}.{word}.")


def prepare_to_write(path: Path) -> Place:
    """Make a file that is readable by its owner only, if there is none.

    An empty file is taken for a new project: there is nothing in it to be lost.
    """
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    except FileExistsError:
        _refuse_emptied(path)
    except OSError as error:
        raise LedgerError(f"{path} could not be made: {error.strerror}.") from error
    return Place(path, WRITING)


def readable_place(path: Path) -> Place:
    """Return how a file can be read, by whoever may read it, from wherever it is."""
    if not path.is_file():
        raise LedgerMissing(f"{path}: there is no such project. `samekind label DATA` makes one.")
    _refuse_emptied(path)
    if path.stat().st_size == 0:
        raise LedgerError(
            f"{path} is an empty file (0 bytes): there is no project in it. If there was one, put a copy "
            "of it here; `samekind label DATA --project` begins a new one in its place."
        )
    if os.access(path, os.W_OK) and os.access(path.absolute().parent, os.W_OK):
        return Place(path, WRITING)  # so that nothing is left beside it in the end
    try:
        with connected(Place(path, "mode=ro")):
            return Place(path, "mode=ro")
    except sqlite3.OperationalError:  # SQLite needs files beside it, and cannot make them
        if not _size(wal_of(path)):
            return Place(path, "mode=ro&immutable=1")
    scratch = Path(tempfile.mkdtemp(prefix="samekind-"))  # for its owner only
    for source in (path, wal_of(path)):
        shutil.copyfile(source, scratch / source.name)
    return Place(scratch / path.name, WRITING, scratch)


@contextmanager
def connected(place: Place) -> Iterator[sqlite3.Connection]:
    """Yield a connection that can only read, and has read something."""
    connection = sqlite3.connect(place.uri, uri=True, isolation_level=None, check_same_thread=False)
    with closing(connection):
        connection.execute("PRAGMA query_only = ON")
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        yield connection


def sqlite_engine(
    place: Place, wait: float, *, reads: bool = False, durable: bool = True
) -> sa.Engine:
    """Return an engine that opens a file; what it writes need not outlive the system if not `durable`."""

    def connect() -> sqlite3.Connection:
        return sqlite3.connect(place.uri, uri=True, check_same_thread=False)

    engine = sa.create_engine("sqlite://", creator=connect, poolclass=QueuePool)
    tune_sqlite(engine, wait, reads=reads, durable=durable)
    return engine


def driver_of(connection: sa.Connection) -> sqlite3.Connection:
    """Return the driver's own connection."""
    driver = connection.connection.driver_connection
    assert isinstance(driver, sqlite3.Connection)
    return driver


def tune_sqlite(
    engine: sa.Engine, wait: float, *, reads: bool = False, durable: bool = True
) -> None:
    """Have an engine's connections wait, lock and keep as a project needs it."""
    pragmas = (
        f"busy_timeout = {int(wait * 1000)}",
        # on disk, not merely with the system, when a commit returns
        f"synchronous = {'FULL' if durable else 'NORMAL'}",
        "foreign_keys = ON",
        f"query_only = {int(reads)}",
    )

    @sa.event.listens_for(engine, "connect")
    def connect(connection: sqlite3.Connection, record: ConnectionPoolEntry) -> None:
        connection.isolation_level = None  # the driver starts no transactions of its own
        for pragma in pragmas:
            connection.execute(f"PRAGMA {pragma}")

    @sa.event.listens_for(engine, "begin")
    def begin(connection: sa.Connection) -> None:
        only_reads = reads or connection.get_execution_options().get("samekind_reads", False)
        # who writes takes the lock before reading, who only reads takes none
        if only_reads:
            connection.exec_driver_sql("BEGIN")
        else:
            _begin_to_write(connection, wait)


def _begin_to_write(connection: sa.Connection, wait: float) -> None:
    """Begin a transaction as soon as nobody else writes, or raise an error if that takes too long.

    SQLite's own wait looks ever more rarely, so that whoever has waited longest would get the lock last.
    """
    last = monotonic() + wait
    driver = driver_of(connection)
    driver.execute("PRAGMA busy_timeout = 0")
    try:
        while True:
            try:
                connection.exec_driver_sql("BEGIN IMMEDIATE")
                return
            except OperationalError as error:
                if "locked" not in str(error.orig) or monotonic() > last:
                    raise
            sleep(uniform(*LOOK_AGAIN))
    finally:
        driver.execute(f"PRAGMA busy_timeout = {int(wait * 1000)}")


def _refuse_emptied(path: Path) -> None:
    """Complain of a file that lost its content but for what SQLite keeps beside it.

    SQLite would remove that, too.
    """
    if _size(path) == 0 and _size(wal_of(path)):
        rest = wal_of(path).name
        raise LedgerDamaged(
            f"{path} is empty (0 bytes), but {rest} beside it is not: the project was cut off. Put a copy "
            f"of it from before in its place, and keep {rest}: the last answers are there."
        )


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
