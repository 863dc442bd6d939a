"""A project goes to another database, or a copy of it to a file: all tables, or nothing."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from itertools import zip_longest
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError

from samekind.ledger import tables
from samekind.ledger.addresses import ProjectPlace, ProjectURL, without_secrets
from samekind.ledger.checkup import check_file
from samekind.ledger.database import Database
from samekind.ledger.erase import MOVED_TO, begin_edition
from samekind.ledger.errors import LedgerError
from samekind.ledger.faults import COLUMNS
from samekind.ledger.sql import SqlLedger
from samekind.ledger.sqlite_file import driver_of, prepare_to_write, wal_of

__all__ = ["back_up_project", "move_project"]

WAIT = 10.0
PIECE = 10_000  # rows at a time
FLAGS = ("asked", "held")  # 0 or 1 in SQLite
META = ("key", "value")

Row = tuple[object, ...]


def move_project(source: ProjectPlace, target: ProjectPlace) -> int:
    """Move a project to a place where there is none yet; return how many answers it has.

    Nobody can write meanwhile. The source stays, as it was, but can only be read from then on: it says where
    the project went. An error leaves it as it was.
    """
    if isinstance(target, Path) and target.exists():
        raise LedgerError(f"{target} is there already. Name another place.")
    with SqlLedger(source):  # it is a project, of this version, and nothing is wrong with it
        pass
    old = Database(_revealed(source), WAIT, read_only=False)
    with closing(old):
        new = Database(_revealed(target), WAIT, read_only=False)
        is_kept = False
        try:
            with old.writing() as reading:
                with new.made() as writing:
                    for table, columns in {"meta": META, **COLUMNS}.items():
                        _copy(reading, writing, table, columns)
                is_kept = True
                begin_edition(reading)  # whoever has it open reads it anew
                fact = {"key": MOVED_TO, "value": str(target)}
                reading.execute(sa.insert(tables.meta), [fact])
                count = sa.select(sa.func.count()).select_from(tables.answers)
                answers = int(reading.execute(count).scalar_one())
        except DBAPIError as error:
            words = without_secrets(
                without_secrets(error.orig, _revealed(source)), _revealed(target)
            )
            after = f" {target} is complete; {source} is not marked as moved." if is_kept else ""
            raise LedgerError(
                f"{source} could not be moved to {target}: {words}.{after}"
            ) from error
        finally:
            new.close()
            if not is_kept and isinstance(target, Path):
                target.unlink(missing_ok=True)
    return answers


def back_up_project(source: ProjectPlace, target: Path) -> int:
    """Copy a project to a file that is not there yet, while others write; return how many answers it has.

    The copy is of one moment. Nothing is left of one that does not arrive whole.
    """
    if target.exists():
        raise LedgerError(f"{target} is there already. Name another file.")
    with SqlLedger(source, read_only=True):  # it is a project, and nothing is wrong with it
        pass
    is_kept = False
    try:
        with closing(Database(_revealed(source), WAIT, read_only=True)) as old:
            if old.path is not None:
                place = prepare_to_write(target)
                with old.reading() as reading, closing(sqlite3.connect(place.path)) as copy:
                    driver_of(reading).backup(copy)
            else:
                new = Database(str(target), WAIT, read_only=False)
                with closing(new), old.reading() as reading, new.made() as writing:
                    for table, columns in {"meta": META, **COLUMNS}.items():
                        _copy(reading, writing, table, columns)
        found = check_file(target)
        if not found.is_fine:
            raise LedgerError(f"{target} did not arrive whole: {found}. Nothing was changed.")
        is_kept = True
        return found.answers
    except (DBAPIError, sqlite3.Error) as error:
        cause = error.orig if isinstance(error, DBAPIError) else error
        words = without_secrets(cause, _revealed(source))
        raise LedgerError(f"{source} could not be copied to {target}: {words}.") from error
    finally:
        if not is_kept:
            for file in (target, wal_of(target), target.with_name(f"{target.name}-shm")):
                file.unlink(missing_ok=True)


def _revealed(place: ProjectPlace) -> str:
    return place.reveal() if isinstance(place, ProjectURL) else str(place)


def _copy(
    source: sa.Connection, target: sa.Connection, table: str, columns: tuple[str, ...]
) -> None:
    """Copy a table, and compare what has arrived with what was sent."""
    own = sa.table(table, *map(sa.column, columns))
    target.execute(sa.delete(own))  # a new project has facts of its own
    piece: list[dict[str, object]] = []
    for row in _rows(source, own):
        piece.append(dict(zip(columns, row, strict=True)))
        if len(piece) == PIECE:
            tables.insert_rows(target, own, piece)
            piece = []
    if piece:
        tables.insert_rows(target, own, piece)
    for number, (sent, arrived) in enumerate(zip_longest(_rows(source, own), _rows(target, own))):
        if sent != arrived:
            raise LedgerError(
                f"row {number} of {table} does not arrive as it is: {arrived!r:.80} instead of {sent!r:.80}. "
                "Nothing was changed."
            )


def _rows(connection: sa.Connection, table: sa.TableClause) -> Iterator[Row]:
    """Yield the rows of a table by their keys, in the form that they have in any database."""
    columns = list(table.c)
    flags = [place for place, column in enumerate(columns) if column.name in FLAGS]
    found = connection.execute(sa.select(table).order_by(columns[0]))
    # databases do not agree on the order of texts
    for row in sorted(map(tuple, found)) if columns[0].name == "key" else found:
        values = list(row)
        for place in flags:
            values[place] = bool(values[place])
        yield tuple(values)
