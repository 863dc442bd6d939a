"""What in a project's tables cannot be right: row by row, and what refers to rows that are not there.

A database checks none of this in projects of before version 3, nor in a file that somebody tampered with.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import sqlalchemy as sa

from samekind.ledger.packing import is_packed
from samekind.ledger.tables import table_names
from samekind.ledger.version_3 import LATEST, MOST_ROWS
from samekind.ledger.version_7 import ROLES

__all__ = ["COLUMNS", "Fault", "described", "find_faults", "meta_faults", "n_rows_of"]

COLUMNS: Mapping[str, tuple[str, ...]] = {  # parents first
    "answers": ("id", "a", "b", "answer", "who", "at", "asked", "expected"),
    "retractions": ("id", "answer_id", "at"),
    "names": ("id", "row", "name", "who", "at"),
    "corrections": ("id", "answer_id", "replaced_id"),
    "anchors": ("id", "number", "row"),
    "contents": ("id", "columns", "digests"),
    "gone_rows": ("id", "digests"),
    "set_aside": ("id", "one", "two", "answer", "who", "at", "asked", "held", "expected"),
    "set_aside_names": ("id", "named", "name", "who", "at"),
    "opinions": ("id", "a", "b", "answer", "who", "at", "role"),
    "links": ("id", "digest", "who", "role", "at", "expires", "revoked"),
    "replies": ("id", "who", "key", "request", "reply", "at"),
}
OBJECTS = ("things", "settings")  # in `meta`: JSON
OLD_LISTS = ("names", "corrections")  # in `meta` of version 1: JSON
DIGEST = re.compile(r"[0-9a-f]{64}")
SHAPE = re.compile(r"(\d{1,10}) x \d+")
NEW_ROWS = re.compile(r"\d+ new rows x \d+")
MOST_SHOWN = 3


class Fault(NamedTuple):
    """One thing that cannot be right.

    Attributes
    ----------
    table : str
        Where it is.
    key : int or str
        The row's number in its table (in SQLite its rowid), or the key in `meta`.
    what : str
        What is wrong with it, in words.
    """

    table: str
    key: int | str
    what: str

    def __str__(self) -> str:
        return f"{self.table} {self.key}: {self.what}"


def described(faults: Sequence[Fault], where: str) -> str:
    """Say what is wrong and what to do, in a sentence or two."""
    shown = "; ".join(map(str, faults[:MOST_SHOWN]))
    more = f"; and {len(faults) - MOST_SHOWN:,} more" if len(faults) > MOST_SHOWN else ""
    return (
        f"{shown}{more}. Nothing was changed. `samekind check {where}` lists all of it; put a "
        "backup in its place."
    )


def n_rows_of(meta: Mapping[str, object]) -> int | None:
    """Return how many rows the data of a project have, if that is kept."""
    found = SHAPE.fullmatch(str(meta.get("shape", "")))
    return int(found[1]) if found else None


def find_faults(connection: sa.Connection, *, n_rows: int | None = None) -> list[Fault]:
    """Return everything that cannot be right, in the order of the tables.

    The data have `n_rows` rows, or as many as the project says.
    """
    there = table_names(connection)
    key = "rowid" if connection.dialect.name == "sqlite" else "id"
    meta = {str(k): v for k, v in _rows(connection, "meta", ("key", "value"))}
    faults = meta_faults(meta)
    limit = n_rows or n_rows_of(meta) or 2**31
    answer_ids = set[object]()
    for table, columns in COLUMNS.items():
        if table not in there:
            continue
        known = columns_of(connection, table)
        columns = tuple(name for name in columns if name in known)  # not those of later versions
        for number, *values in _rows(connection, table, (key, *columns)):
            row = dict(zip(columns, values, strict=True))
            what = next(_wrong(table, row, limit, answer_ids), None)
            if what is not None:
                faults.append(Fault(table, int(str(number)), what))
            elif table == "answers":
                answer_ids.add(row["id"])
    return faults


def columns_of(connection: sa.Connection, table: str) -> set[str]:
    """Return the columns that a table has here."""
    return set(connection.exec_driver_sql(f"SELECT * FROM {table} LIMIT 0").keys())


def meta_faults(meta: Mapping[str, object]) -> list[Fault]:
    """Return what cannot be right among the facts about a project."""
    faults: list[Fault] = []

    def check(key: str, right: Callable[[str], bool], rule: str) -> None:
        value = meta.get(key)
        if key in meta and not (isinstance(value, str) and right(value)):
            faults.append(Fault("meta", key, f"must be {rule}, is {value!r:.60}"))

    for key, value in meta.items():
        if key not in (*OBJECTS, *OLD_LISTS) and not isinstance(value, str):
            faults.append(Fault("meta", key, f"must be a text, is {value!r:.60}"))
    for key in OBJECTS:
        check(key, lambda text: isinstance(_parsed(text), dict), "a JSON object")
    for key in OLD_LISTS:
        check(key, lambda text, key=key: _is_old_list(key, _parsed(text)), "JSON of another form")  # type: ignore[misc]
    check("edition", str.isdecimal, "a whole number")
    check("seed", lambda text: text.isdecimal() and len(text) < 60, "a whole number")
    check(
        "shape",
        lambda text: bool(SHAPE.fullmatch(text) or NEW_ROWS.fullmatch(text)),
        'as "rows x columns"',
    )
    return faults


def _parsed(text: str) -> object:
    try:
        found: object = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found


def _is_json(text: str) -> bool:
    return text == "null" or _parsed(text) is not None


def _is_old_list(key: str, found: object) -> bool:
    """Return whether names or corrections of version 1 have their form."""
    if not isinstance(found, dict):
        return False
    if key == "names":
        return all(
            row.isdecimal() and _is_list(entry, 2) and _is_text(entry[0]) and _is_time(entry[1])
            for row, entry in found.items()
        )
    return all(
        _is_number(at) and isinstance(entries, list) and all(_is_list(e, 5) for e in entries)
        for at, entries in found.items()
    )


def _is_list(value: object, size: int) -> bool:
    return isinstance(value, list) and len(value) == size


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def _rows(
    connection: sa.Connection, table: str, columns: Sequence[str]
) -> Iterator[Sequence[object]]:
    """Yield the rows of a table as the database has them, whatever is in them."""
    quoted = ", ".join(c if c == "rowid" else f'"{c}"' for c in columns)
    yield from connection.exec_driver_sql(f"SELECT {quoted} FROM {table} ORDER BY 1")


def _wrong(
    table: str, row: Mapping[str, object], limit: int, answer_ids: set[object]
) -> Iterator[str]:
    """Yield what is wrong with a row."""
    if not _is_int(row["id"], 1, 2**63):
        yield f"its id is {row['id']!r:.40}"
    for name in ("a", "b", "row"):
        if name in row and not _is_int(row[name], 0, limit):
            yield f"there is no row {row[name]!r:.40} (rows go from 0 to {limit - 1})"
    for name in ("one", "two", "named"):
        if name in row and not _is_int(row[name], -(2**31), limit):
            yield f"there is no row {row[name]!r:.40}, nor was there one"
    if "digests" in row and not isinstance(row["digests"], bytes):
        yield f"what its rows hold is {row['digests']!r:.40}"
    if table == "answers":
        if row["a"] == row["b"]:
            yield f"row {row['a']} is compared with itself"
        if not _is_int(row["answer"], -1, 2):
            yield f"the answer is {row['answer']!r:.40}, not 1 (same), 0 (different) or -1 (unsure)"
        if row["asked"] not in (0, 1):
            yield f"whether it was asked is {row['asked']!r:.40}, not 0 or 1"
    if table == "opinions":
        if row["a"] == row["b"]:
            yield f"row {row['a']} is compared with itself"
        if not _is_int(row["answer"], -2, 2) or not _is_int(row["role"], 0, 3):
            yield f"the opinion is {row['answer']!r:.40}, given as {row['role']!r:.40}"
    if not is_packed(row.get("expected")):
        yield f"what was expected of it is {row['expected']!r:.40}, not up to eight numbers"
    for name in ("who", "name", "key", "request"):
        if name in row and not _is_text(row[name]):
            yield f"{name} is no text but {row[name]!r:.40}"
    if "at" in row and not _is_time(row["at"]):
        yield f"its time is {row['at']!r:.40}"
    for name in ("answer_id", "replaced_id"):
        if name in row and row[name] not in answer_ids:
            yield f"it is about answer {row[name]!r:.40}, which is not there"
    if table == "corrections" and row["answer_id"] == row["replaced_id"]:
        yield f"answer {row['answer_id']} replaces itself"
    if table == "links":
        if row["role"] not in ROLES:
            yield f"its role is {row['role']!r:.40}, not one of {', '.join(ROLES)}"
        if not (isinstance(row["digest"], str) and DIGEST.fullmatch(row["digest"])):
            yield f"the digest of its token is {row['digest']!r:.40}"
        for name in ("expires", "revoked"):
            if row[name] is not None and not _is_time(row[name]):
                yield f"it is {name} at {row[name]!r:.40}"
    if table == "replies" and not (_is_text(row["reply"]) and _is_json(str(row["reply"]))):
        yield f"what was replied is {row['reply']!r:.40}, not JSON"
    if table == "anchors" and not _is_int(row["number"], 1, MOST_ROWS):
        yield f"a cluster's number is {row['number']!r:.40}, not 1 or more"


def _is_int(value: object, low: int, high: int) -> bool:
    return isinstance(value, int) and low <= value < high


def _is_text(value: object) -> bool:
    try:
        return isinstance(value, str) and value.encode() is not None
    except UnicodeEncodeError:  # it was no UTF-8
        return False


def _is_time(value: object) -> bool:
    return isinstance(value, int | float) and math.isfinite(value) and 0 <= value < LATEST
