"""Looking for damage in a project's file, without changing anything."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError

from samekind.ledger.addresses import ProjectPlace, ProjectURL, without_secrets
from samekind.ledger.database import Database
from samekind.ledger.errors import LedgerDamaged, LedgerError, LedgerMissing
from samekind.ledger.faults import Fault, find_faults
from samekind.ledger.migrations import find_version
from samekind.ledger.sqlite_file import driver_of, readable_place, sqlite_engine

__all__ = ["Checkup", "check_file"]

MOST_TORN = 20
WAIT = 10.0
ROW_RULES = ("CHECK constraint failed", "NULL value in")  # `find_faults` says more of these


class Checkup(NamedTuple):
    """What was found in a project's file.

    Attributes
    ----------
    answers : int
        How many answers there are, right or wrong.
    version : int
        Of the tables; 0 if that cannot be told.
    hopeless : str or None
        Why it is no project.
    torn : list of str
        Where the file itself is damaged, in the words of SQLite.
    faults : list of Fault
        What is kept that cannot be right.
    """

    answers: int = 0
    version: int = 0
    hopeless: str | None = None
    torn: list[str] = []  # noqa: RUF012
    faults: list[Fault] = []  # noqa: RUF012

    @property
    def is_fine(self) -> bool:
        """Whether nothing was found."""
        return not (self.hopeless or self.torn or self.faults)


def check_file(path: ProjectPlace) -> Checkup:
    """Look at all of a project; it may be in use. An error says that there is nothing to look at."""
    if isinstance(path, ProjectURL):
        return _check_database(path)
    try:
        with _reading(path) as connection:
            return _look(connection, path)
    except LedgerDamaged as error:
        return Checkup(hopeless=str(error))
    except DBAPIError as error:
        if "not a database" in str(error.orig):
            made = f"samekind label makes one, such as {path.stem}.samekind.db."
            return Checkup(hopeless=f"{path} is not a SQLite database, so it is no project: {made}")
        if "malformed" in str(error.orig):
            return Checkup(torn=[str(error.orig)])
        raise LedgerError(f"{path} could not be read: {error.orig}.") from error


def _check_database(place: ProjectURL) -> Checkup:
    """Look at a project on a server, which looks after its files and constraints itself."""
    database = Database(place.reveal(), WAIT, read_only=True)
    try:
        with database.reading() as connection:
            version = find_version(connection, str(place))
            if not version:
                raise LedgerMissing(f"{place}: there is no such project.")
            answers = connection.exec_driver_sql("SELECT count(*) FROM answers").scalar_one()
            return Checkup(int(answers), version, None, [], find_faults(connection))
    except LedgerDamaged as error:
        return Checkup(hopeless=str(error))
    except DBAPIError as error:
        words = without_secrets(error.orig, place.reveal())
        raise LedgerError(f"{place} could not be read: {words}.") from error
    finally:
        database.close()


def _look(connection: sa.Connection, path: Path) -> Checkup:
    try:
        version = find_version(connection, str(path))
    except LedgerError as error:
        return Checkup(hopeless=str(error))
    if not version:
        return Checkup(hopeless=f"{path} is an empty database: there is no project in it.")
    found = connection.exec_driver_sql(f"PRAGMA integrity_check({MOST_TORN})").scalars()
    torn = [line for line in map(str, found) if line != "ok" and not line.startswith(ROW_RULES)]
    if torn:
        return Checkup(version=version, torn=torn)
    answers = connection.exec_driver_sql("SELECT count(*) FROM answers").scalar_one()
    faults = find_faults(connection)
    known = {(fault.table, fault.key) for fault in faults}
    for table, row, parent, _ in connection.exec_driver_sql("PRAGMA foreign_key_check"):
        if (table, row) not in known:
            faults.append(Fault(table, row, f"it refers to a row that is not in {parent}"))
    return Checkup(answers, version, None, [], faults)


@contextmanager
def _reading(path: Path) -> Iterator[sa.Connection]:
    """Yield a connection that can only read, and that reads what is no UTF-8, too."""
    place = readable_place(path)
    engine = sqlite_engine(place, WAIT, reads=True)
    try:
        with engine.connect() as connection:
            driver_of(connection).text_factory = _decoded
            yield connection
    finally:
        engine.dispose()
        place.clean()


def _decoded(text: bytes) -> str:
    return text.decode(errors="surrogateescape")
