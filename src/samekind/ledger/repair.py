"""Mending a project's file: what cannot be right is dropped, and a copy of all of it is kept.

Where only rows are wrong they are deleted, and whoever has the project open reads it anew. Where the file
itself is damaged, what can still be read goes into a new one, which then takes its place.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import NamedTuple

import sqlalchemy as sa

from samekind.ledger import tables
from samekind.ledger.addresses import ProjectPlace, ProjectURL
from samekind.ledger.checkup import Checkup, check_file
from samekind.ledger.erase import begin_edition, restore_replaced
from samekind.ledger.errors import LedgerDamaged
from samekind.ledger.faults import COLUMNS, Fault, find_faults
from samekind.ledger.migrations import NOTES_VERSION, VERSION, migrate
from samekind.ledger.sqlite_file import (
    driver_of,
    path_beside,
    prepare_to_write,
    sqlite_engine,
    wal_of,
)

__all__ = ["Repaired", "repair_file"]

WAIT = 10.0


class Repaired(NamedTuple):
    """What was done to a project.

    Attributes
    ----------
    backup : Path
        The project as it was.
    dropped : list of str
        What is no longer in it.
    """

    backup: Path
    dropped: list[str]


def repair_file(path: ProjectPlace) -> Repaired | None:
    """Repair a project; None if nothing is wrong with it. An error says that it cannot be repaired."""
    found = check_file(path)
    if found.is_fine:
        return None
    if isinstance(path, ProjectURL):
        raise LedgerDamaged(
            f"{path} is on a server: what cannot be right came from outside of samekind. Put a backup of "
            "the database in its place (pg_restore)."
        )
    if found.hopeless:
        raise LedgerDamaged(
            f"{found.hopeless} It cannot be repaired: put a copy from before in its place."
        )
    backup = _back_up(path)
    dropped = list(found.torn)
    if found.torn:
        fresh = _salvaged(path, backup)
        dropped += _mend(fresh)
        for leftover in (wal_of(path), path.with_name(f"{path.name}-shm")):
            leftover.unlink(missing_ok=True)  # of the damaged file; the backup has it all
        os.replace(fresh, path)
    else:
        dropped += _mend(path)
    _confirm(path, check_file(path), backup)
    return Repaired(backup, dropped)


def _confirm(path: Path, found: Checkup, backup: Path) -> None:
    if not found.is_fine:
        what = "; ".join([found.hopeless or "", *found.torn, *map(str, found.faults)][:4]).strip(
            "; "
        )
        raise LedgerDamaged(
            f"{path} could not be repaired: {what}. It is kept as it was in {backup}."
        )


def _back_up(path: Path) -> Path:
    """Copy a project with all its faults; return where to."""
    backup = path_beside(path, "backup")
    prepare_to_write(backup)
    try:
        with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(backup)) as copy:
            source.backup(copy)
    except sqlite3.Error:  # too damaged for SQLite: then byte by byte
        for source_file, copy_file in ((path, backup), (wal_of(path), wal_of(backup))):
            if source_file.exists():
                shutil.copyfile(source_file, copy_file)
                copy_file.chmod(0o600)
    return backup


def _mend(path: Path) -> list[str]:
    """Drop all rows that cannot be right, in one transaction; return what they were."""
    engine = sqlite_engine(prepare_to_write(path), WAIT)
    dropped: list[Fault] = []
    try:
        with engine.begin() as connection:
            driver_of(connection).text_factory = lambda text: text.decode(errors="surrogateescape")
            for table in tables.table_names(connection) & {"changes", "checkpoints"}:
                connection.exec_driver_sql(
                    f"DELETE FROM {table}"
                )  # of an older samekind; no use now
            for version in (1, NOTES_VERSION, VERSION):
                while faults := find_faults(connection):
                    _drop(connection, faults)
                    dropped += faults
                migrate(connection, str(path), upto=version)
            begin_edition(connection)
    finally:
        engine.dispose()
    return list(map(str, dropped))


def _drop(connection: sa.Connection, faults: Sequence[Fault]) -> None:
    answers = [fault.key for fault in faults if fault.table == "answers"]
    there = tables.table_names(connection)
    if answers and "corrections" in there:
        ids = sa.select(tables.answers.c.id)
        for start in range(0, len(answers), 500):
            some = sa.literal_column("rowid").in_(answers[start : start + 500])
            restore_replaced(connection, ids.where(some))
    for table in (*reversed([*COLUMNS]), "meta"):  # what refers to answers goes before them
        keys = [(fault.key,) for fault in faults if fault.table == table]
        if keys:
            key = "key" if table == "meta" else "rowid"
            driver_of(connection).executemany(f'DELETE FROM {table} WHERE "{key}" = ?', keys)


def _salvaged(path: Path, backup: Path) -> Path:
    """Write what can be read of a damaged file into a new one; return where it is."""
    fresh = path_beside(path, "repaired")
    engine = sqlite_engine(prepare_to_write(fresh), WAIT)
    try:
        with engine.begin() as connection:
            migrate(connection, str(fresh))
        with closing(sqlite3.connect(backup)) as source, engine.connect() as connection:
            source.text_factory = lambda text: text.decode(errors="surrogateescape")
            target = driver_of(connection)
            target.rollback()
            for pragma in ("foreign_keys = OFF", "ignore_check_constraints = ON"):
                target.execute(f"PRAGMA {pragma}")
            target.execute("BEGIN IMMEDIATE")
            for table, columns in {"meta": ("key", "value"), **COLUMNS}.items():
                _copy_readable(source, target, table, columns)
            target.execute("COMMIT")
    except BaseException:
        engine.dispose()
        fresh.unlink(missing_ok=True)
        raise
    engine.dispose()
    return fresh


def _copy_readable(
    source: sqlite3.Connection, target: sqlite3.Connection, table: str, columns: Sequence[str]
) -> None:
    """Copy a table's rows from its beginning and from its end, as far as they can be read."""
    with suppress(sqlite3.DatabaseError):
        there = {column for _, column, *_ in source.execute(f"PRAGMA table_info({table})")}
        columns = [column for column in columns if column in there]  # an older samekind had fewer
    if not columns:
        return
    listed = ", ".join(f'"{column}"' for column in columns)
    marks = ", ".join("?" * len(columns))
    verb = "REPLACE" if table == "meta" else "IGNORE"  # the new file has facts of its own
    for direction in ("ASC", "DESC"):
        query = f"SELECT {listed} FROM {table} NOT INDEXED ORDER BY rowid {direction}"
        for row in _as_far_as_it_goes(source, query):
            if row[0] == "schema_version":
                continue
            with suppress(sqlite3.IntegrityError, UnicodeEncodeError):
                target.execute(f"INSERT OR {verb} INTO {table} ({listed}) VALUES ({marks})", row)


def _as_far_as_it_goes(source: sqlite3.Connection, query: str) -> Iterator[tuple[object, ...]]:
    with suppress(sqlite3.DatabaseError):
        yield from source.execute(query)
