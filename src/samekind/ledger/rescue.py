"""A copy of what a ledger has in memory, as a project of its own: for when its file is gone."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

import sqlalchemy as sa

from samekind.ledger import tables
from samekind.ledger.errors import LedgerError, LedgerGone
from samekind.ledger.ids import RowIds
from samekind.ledger.log import AnswerLog
from samekind.ledger.migrations import migrate
from samekind.ledger.notes import Notes
from samekind.ledger.packing import pack_expected
from samekind.ledger.sqlite_file import path_beside, prepare_to_write, sqlite_engine

__all__ = ["rescued", "write_rescue"]

Rows = list[dict[str, object]]


def rescued(
    path: Path | None,
    shown: str,
    name: str,
    log: AnswerLog,
    notes: Notes,
    annotators: list[str],
    meta: Mapping[str, str],
    ids: Mapping[sa.TableClause, RowIds],
) -> LedgerGone:
    """Keep what is in memory and return the error that says where; `path` is None for a server's database.

    What was in a server's database, under a `name`, is kept in a file in this folder.
    """
    fate, what = "deleted or moved", "file"
    if path is None:
        fate, what, path = "deleted from its database", "database", Path.cwd() / f"{name}.db"
    elif path.exists():
        fate = "replaced by another file, which was left alone"
    found = f"was {fate}, while samekind had it open. Nothing is written to it any more."
    try:
        rescue = write_rescue(path, log, notes, annotators, meta, ids)
    except (OSError, LedgerError, sa.exc.DBAPIError) as error:
        gone = LedgerGone(f"{shown} {found} A copy of the answers could not be written: {error}")
        gone.public = f"The project's {what} {found} Nor could a copy of the answers be written."
        return gone
    gone = LedgerGone(
        f"{shown} {found} All that was answered before is kept in {rescue}: stop samekind, and go on with "
        f"samekind label {rescue}, or give that file the name of the project."
    )
    gone.public = (
        f"The project's {what} {found} All that was answered before is kept in {rescue.name}: stop samekind, "
        "and go on with that file."
    )
    gone.rescue = str(rescue)
    return gone


def write_rescue(
    path: Path,
    log: AnswerLog,
    notes: Notes,
    annotators: list[str],
    meta: Mapping[str, str],
    ids: Mapping[sa.TableClause, RowIds],
) -> Path:
    """Write all that counts beside where the project was, or else among temporary files; return where.

    Of names those that count are in memory, not the earlier ones.
    """
    shown = path.name
    for folder in (path.parent, Path(tempfile.gettempdir())):
        rescue = path_beside(folder / shown, "rescue")
        try:
            _write(rescue, _all_rows(log, notes, annotators, meta, ids))
        except (OSError, RuntimeError, sa.exc.DBAPIError):
            if folder != path.parent:
                raise
        else:
            return rescue
    raise AssertionError


def _write(path: Path, rows: Mapping[sa.TableClause, Rows]) -> None:
    engine = sqlite_engine(prepare_to_write(path), wait=10.0)
    try:
        with engine.begin() as connection:
            migrate(connection, str(path))
            connection.execute(sa.delete(tables.meta))
            for table, new in rows.items():
                if new:
                    tables.insert_rows(connection, table, new)
    except BaseException:
        engine.dispose()
        path.unlink(missing_ok=True)
        raise
    engine.dispose()
    descriptor = os.open(path.parent, os.O_RDONLY) if os.name == "posix" else None
    if descriptor is not None:  # so that its name is on disk, too
        os.fsync(descriptor)
        os.close(descriptor)


def _all_rows(
    log: AnswerLog,
    notes: Notes,
    annotators: list[str],
    meta: Mapping[str, str],
    ids: Mapping[sa.TableClause, RowIds],
) -> dict[sa.TableClause, Rows]:
    own, lines = ids[tables.answers], log.lines
    expected = pack_expected(lines["expected"], len(lines))
    latest = float(lines["when"].max(initial=0.0))
    pairs = ((line, other) for line, replaced in notes.replaced.items() for other in replaced)
    named = sorted(notes.names.values())
    return {
        tables.meta: [{"key": key, "value": value} for key, value in meta.items()],
        tables.answers: [
            {
                "id": number,
                "a": a,
                "b": b,
                "answer": answer,
                "who": annotators[who],
                "at": at,
                "asked": asked,
                "expected": known,
            }
            for number, (a, b, answer, who, at, asked, *_), known in zip(
                own.to_array().tolist(), lines.tolist(), expected, strict=True
            )
        ],
        tables.retractions: [
            {"id": ids[tables.retractions][number], "answer_id": own[line], "at": latest}
            for number, line in enumerate(log.struck(0, log.n_struck))
        ],
        tables.names: [
            {"id": number, "row": row, "name": text, "who": who, "at": at}
            for number, (_, row, text, who, at, _) in enumerate(named, start=1)
        ],
        tables.corrections: [
            {"id": number, "answer_id": own[line], "replaced_id": own[other]}
            for number, (line, other) in enumerate(pairs, start=1)
        ],
        tables.anchors: [
            {"id": number, "number": held, "row": row}
            for number, (held, row) in enumerate(sorted(notes.anchors.items()), start=1)
        ],
        tables.opinions: [
            {"id": number, **opinion._asdict()}
            for number, opinion in enumerate(notes.opinions.lines, start=1)
        ],
    }
