"""From the tables of any older samekind to those of this one, step by step.

``STEPS[v]`` makes version v + 1 of version v; version 0 is an empty database. A project is brought up to
date in the transaction that opens it. Neither a step nor a table that it makes is ever changed once it is
released: what it made is altered by a new step.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray

__all__ = ["VERSION", "VersionError", "migrate", "pack_rows", "unpack_rows"]

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
    _column("rows", sa.LargeBinary()),  # see `pack_rows`
    _column("ask", sa.LargeBinary()),
)
changes = _made(
    "changes",
    _column("after_answer"),  # the last answer and retraction before the change, 0: none,
    _column("upto_answer"),  # and after it
    _column("after_retraction"),
    _column("upto_retraction"),
    sa.Column("checkpoint_id", sa.BigInteger, sa.ForeignKey("checkpoints.id"), nullable=True),
)


class VersionError(ValueError):
    """The database is no project, or one that this version of samekind does not know."""


def migrate(connection: sa.Connection) -> None:
    """Bring a database to the tables of this version of samekind."""
    version = _version(connection)
    if version == VERSION:
        return
    for step in STEPS[version:]:
        try:
            step(connection)
        except (ValueError, TypeError, AttributeError) as error:
            raise VersionError(f"is damaged: what it kept in `meta` is {error!r}.") from error
    connection.execute(sa.delete(meta).where(meta.c.key == VERSION_KEY))
    connection.execute(sa.insert(meta).values(key=VERSION_KEY, value=str(VERSION)))


def _version(connection: sa.Connection) -> int:
    tables = set(sa.inspect(connection).get_table_names())
    if not tables:
        return 0
    if not tables >= {meta.name, answers.name, retractions.name}:
        raise VersionError("is a database, but not a samekind project.")
    stored = connection.execute(sa.select(meta.c.value).where(meta.c.key == VERSION_KEY)).scalar()
    version = str(stored)
    if not version.isdecimal() or version == "0":
        raise VersionError(f"is damaged: its schema version is {stored!r}.")
    if int(version) > VERSION:
        raise VersionError(
            f"was written by a newer samekind (schema {version}; this one knows {VERSION}). Update "
            "samekind to open it."
        )
    return int(version)


def _keep_answers(connection: sa.Connection) -> None:
    """Version 1: answers and retractions; everything else is JSON in `meta`."""
    MADE.create_all(connection, [meta, answers, retractions])


def _give_notes_tables(connection: sa.Connection) -> None:
    """Version 2: names, corrections and checkpoints have tables of their own."""
    MADE.create_all(connection, [names, corrections, checkpoints])
    for table, read in (
        (names, _old_names),
        (corrections, _old_corrections),
        (checkpoints, _old_checkpoints),
    ):
        own = meta.c.key == table.name
        stored = connection.execute(sa.select(meta.c.value).where(own)).scalar()
        rows = [] if stored is None else read(json.loads(stored), connection)
        if rows:
            numbered = [{"id": number, **row} for number, row in enumerate(rows, start=1)]
            connection.execute(sa.insert(table), numbered)
        connection.execute(sa.delete(meta).where(own))


def _order_changes(connection: sa.Connection) -> None:
    """Version 3: where in the order of answers the past was changed."""
    MADE.create_all(connection, [changes])


STEPS: Sequence[Callable[[sa.Connection], None]] = (
    _keep_answers,
    _give_notes_tables,
    _order_changes,
)
VERSION = len(STEPS)


def pack_rows(rows: NDArray[np.int32] | Sequence[int]) -> bytes:
    """Return row numbers as the database keeps them: little-endian int32, compressed."""
    return zlib.compress(np.asarray(rows, dtype="<i4").tobytes())


def unpack_rows(packed: bytes) -> NDArray[np.int32]:
    """Return the row numbers that `pack_rows` packed."""
    return np.frombuffer(zlib.decompress(packed), dtype="<i4").astype(np.int32)


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


def _old_checkpoints(stored: list[Any], connection: sa.Connection) -> list[_Row]:
    """Of version 1: [[line, upto, rows, rows to ask about], …], lines from 0, -1 for none."""
    return [
        {
            "answer_id": None if line < 0 else line + 1,
            "upto": upto,
            "rows": pack_rows(known),
            "ask": pack_rows(ask),
        }
        for line, upto, known, ask in stored
    ]
