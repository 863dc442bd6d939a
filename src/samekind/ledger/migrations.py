"""From the tables of any older samekind to those of this one, step by step.

``STEPS[v]`` makes version v + 1 of version v; version 0 is an empty database. A project is brought up to
date in the transaction that opens it. A step is never changed once it is released: what it made is altered
by a new step.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Sequence

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray

from samekind.ledger.tables import (
    answers,
    checkpoints,
    corrections,
    meta,
    metadata,
    names,
    retractions,
)

__all__ = ["VERSION", "VersionError", "migrate", "pack_rows", "unpack_rows"]

VERSION_KEY = "schema_version"


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
    metadata.create_all(connection, [meta, answers, retractions])


def _give_notes_tables(connection: sa.Connection) -> None:
    """Version 2: names, corrections and checkpoints have tables of their own."""
    metadata.create_all(connection, [names, corrections, checkpoints])
    _move_names(_take_meta(connection, "names", "{}"), connection)
    _move_corrections(_take_meta(connection, "corrections", "{}"), connection)
    _move_checkpoints(_take_meta(connection, "checkpoints", "[]"), connection)


STEPS: Sequence[Callable[[sa.Connection], None]] = (_keep_answers, _give_notes_tables)
VERSION = len(STEPS)


def pack_rows(rows: NDArray[np.int32] | Sequence[int]) -> bytes:
    """Return row numbers as the database keeps them: little-endian int32, compressed."""
    return zlib.compress(np.asarray(rows, dtype="<i4").tobytes())


def unpack_rows(packed: bytes) -> NDArray[np.int32]:
    """Return the row numbers that `pack_rows` packed."""
    return np.frombuffer(zlib.decompress(packed), dtype="<i4").astype(np.int32)


def _take_meta(connection: sa.Connection, key: str, otherwise: str) -> str:
    found = connection.execute(sa.select(meta.c.value).where(meta.c.key == key)).scalar()
    connection.execute(sa.delete(meta).where(meta.c.key == key))
    return otherwise if found is None else str(found)


def _insert(connection: sa.Connection, table: sa.Table, rows: list[dict[str, object]]) -> None:
    if rows:
        numbered = [{"id": number, **row} for number, row in enumerate(rows, start=1)]
        connection.execute(sa.insert(table), numbered)


def _move_names(stored: str, connection: sa.Connection) -> None:
    """Of version 1: {row: [name, at]}."""
    given = sorted((at, int(row), name) for row, (name, at) in json.loads(stored).items())
    rows: list[dict[str, object]] = [
        {"row": row, "name": name, "who": "", "at": at} for at, row, name in given
    ]
    _insert(connection, names, rows)


def _move_corrections(stored: str, connection: sa.Connection) -> None:
    """Of version 1: {time of the correction: [[a, b, answer, who, asked] of each replaced answer]}."""
    columns = answers.c
    rows: list[dict[str, object]] = []
    for at, replaced in json.loads(stored).items():
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
    _insert(connection, corrections, rows)


def _move_checkpoints(stored: str, connection: sa.Connection) -> None:
    """Of version 1: [[line, upto, rows, rows to ask about], …], lines from 0, -1 for none."""
    rows: list[dict[str, object]] = [
        {
            "answer_id": None if line < 0 else line + 1,
            "upto": upto,
            "rows": pack_rows(known),
            "ask": pack_rows(ask),
        }
        for line, upto, known, ask in json.loads(stored)
    ]
    _insert(connection, checkpoints, rows)
