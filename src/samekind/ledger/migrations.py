"""From the tables of any older samekind to those of this one, step by step.

``STEPS[v]`` makes version v + 1 of version v; ``STEPS[0]`` makes the last version of an empty database. A
project is brought up to date in the transaction that opens it. Neither a step nor a table that it makes is
ever changed once it is released: what it made is altered by a new step.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import sqlalchemy as sa

from samekind.ledger.errors import LedgerDamaged, LedgerError
from samekind.ledger.faults import described, find_faults
from samekind.ledger.sqlite_file import APPLICATION_ID
from samekind.ledger.tables import table_names
from samekind.ledger.version_3 import add_constraints
from samekind.ledger.version_4 import add_anchors
from samekind.ledger.version_5 import add_row_contents
from samekind.ledger.version_6 import add_team
from samekind.ledger.version_7 import add_links
from samekind.ledger.version_8 import add_expected

__all__ = ["NOTES_VERSION", "VERSION", "find_version", "migrate"]

VERSION_KEY = "schema_version"
MADE = sa.MetaData()
_Row = dict[str, object]


def _made(name: str, *columns: sa.Column[Any]) -> sa.Table:
    """Return a table as its step makes it; ids are 1, 2, 3, … so that a reader knows what is new to it."""
    key = sa.Column("id", sa.BigInteger, primary_key=True, autoincrement=False)
    return sa.Table(name, MADE, key, *columns)


def _column(name: str, type_: sa.types.TypeEngine[Any] = sa.BigInteger()) -> sa.Column[Any]:
    return sa.Column(name, type_, nullable=False)


def _answer_id(name: str = "answer_id", *, nullable: bool = False) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger, sa.ForeignKey("answers.id"), nullable=nullable)


def _at() -> sa.Column[float]:
    return _column("at", sa.Float(53))  # seconds since 1970


key = sa.Column("key", sa.String(64), primary_key=True)
meta = sa.Table("meta", MADE, key, _column("value", sa.Text()))
answers = _made(
    "answers",
    _column("a"),
    _column("b"),
    _column("answer", sa.SmallInteger()),
    _column("who", sa.Text()),
    _at(),
    _column("asked", sa.Boolean()),
)
retractions = _made("retractions", _answer_id(), _at())
names = _made("names", _column("row"), _column("name", sa.Text()), _column("who", sa.Text()), _at())
corrections = _made("corrections", _answer_id(), _answer_id("replaced_id"))
checkpoints = _made(
    "checkpoints",
    _answer_id(nullable=True),  # the first answer of the change that made it; without one it stays
    _column("upto"),
    _column("rows", sa.LargeBinary()),
    _column("ask", sa.LargeBinary()),
)


def migrate(connection: sa.Connection, where: str, *, upto: int | None = None) -> None:
    """Bring a database to the tables of this version of samekind, or only of an older one.

    An error says that it is no project, or a damaged one.
    """
    version, wanted = find_version(connection, where), VERSION if upto is None else upto
    if version >= wanted:
        return
    for step in STEPS[version:wanted] if version else STEPS[:1]:
        if step is _refuse_nonsense and (faults := find_faults(connection)):
            raise LedgerDamaged(f"{where} is damaged: {described(faults, where)}")
        try:
            step(connection)
        except (ValueError, TypeError, AttributeError) as error:
            raise LedgerDamaged(
                f"{where} is damaged: what it kept in `meta` is {error!r}. `samekind check {where} --repair` "
                "keeps a copy and drops what cannot be right."
            ) from error
    connection.execute(sa.delete(meta).where(meta.c.key == VERSION_KEY))
    connection.execute(sa.insert(meta).values(key=VERSION_KEY, value=str(wanted)))


def find_version(connection: sa.Connection, where: str) -> int:
    """Return the version of a database's tables, 0 if it is empty; an error says that it is no project."""
    if connection.dialect.name == "sqlite":
        made_by = connection.exec_driver_sql("PRAGMA application_id").scalar()
        if made_by not in (0, APPLICATION_ID):  # 0: of an older samekind, or from a dump
            raise LedgerError(
                f"{where} is a database of another program (application id {made_by}), not a samekind "
                "project."
            )
    tables = table_names(connection)
    if not tables:
        return 0
    if not tables >= {meta.name, answers.name, retractions.name}:
        raise LedgerError(f"{where} is a database, but not a samekind project.")
    stored = connection.execute(sa.select(meta.c.value).where(meta.c.key == VERSION_KEY)).scalar()
    version = str(stored)
    if not version.isdecimal() or version == "0":
        raise LedgerDamaged(
            f"{where} is damaged: its schema version is {stored!r}. Put a copy from before in its place."
        )
    if int(version) > VERSION:
        raise LedgerError(
            f"{where} was written by a newer samekind (schema {version}; this one knows {VERSION}). Update "
            "samekind to open it."
        )
    return int(version)


def _make_all(connection: sa.Connection) -> None:
    """Make the tables of this version in an empty database."""
    MADE.create_all(connection, [meta])
    add_constraints(connection, meta, [])
    add_anchors(connection)
    add_row_contents(connection)
    add_team(connection)
    add_links(connection)
    add_expected(connection)


def _give_notes_tables(connection: sa.Connection) -> None:
    """Version 2: names, corrections and checkpoints have tables of their own; version 8 drops the last."""
    MADE.create_all(connection, [names, corrections, checkpoints])
    for table, read in ((names, _old_names), (corrections, _old_corrections)):
        own = meta.c.key == table.name
        stored = connection.execute(sa.select(meta.c.value).where(own)).scalar()
        rows = [] if stored is None else read(json.loads(stored), connection)
        if rows:
            numbered = [{"id": number, **row} for number, row in enumerate(rows, start=1)]
            connection.execute(sa.insert(table), numbered)
        connection.execute(sa.delete(meta).where(own))
    connection.execute(sa.delete(meta).where(meta.c.key == checkpoints.name))


def _refuse_nonsense(connection: sa.Connection) -> None:
    """Version 3: the tables have constraints, and the project an id."""
    add_constraints(connection, meta, [answers, retractions, names, corrections, checkpoints])


STEPS: Sequence[Callable[[sa.Connection], None]] = (
    _make_all,
    _give_notes_tables,
    _refuse_nonsense,
    add_anchors,
    add_row_contents,
    add_team,
    add_links,
    add_expected,
)
VERSION = len(STEPS)
NOTES_VERSION = 2  # the first one with a table for everything


def _old_names(stored: dict[str, Any], connection: sa.Connection) -> list[_Row]:
    """Of version 1: {row: [name, at]}."""
    given = sorted((at, int(row), name) for row, (name, at) in stored.items())
    return [{"row": row, "name": name, "who": "", "at": at} for at, row, name in given]


def _old_corrections(stored: dict[str, Any], connection: sa.Connection) -> list[_Row]:
    """Of version 1: {time of the correction: [[a, b, answer, who, asked] of each replaced answer]}."""
    columns = answers.c
    rows: list[_Row] = []
    for at, replaced in stored.items():
        corrected = connection.execute(
            sa.select(sa.func.min(columns.id)).where(columns.at == float(at))
        ).scalar()
        for a, b, answer, who, _ in replaced:
            earlier = connection.execute(
                sa.select(sa.func.max(columns.id)).where(
                    columns.id < (corrected or 0),
                    columns.a.in_((a, b)),
                    columns.b.in_((a, b)),
                    columns.answer == answer,
                    columns.who == who,
                )
            ).scalar()
            if earlier is not None:
                rows.append({"answer_id": corrected, "replaced_id": earlier})
    return rows
