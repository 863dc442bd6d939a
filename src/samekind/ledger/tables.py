"""The tables of a project in a database, as queries see them; `migrations` makes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import sqlalchemy as sa

from samekind.ledger.version_3 import EDITION, PROJECT_ID

__all__ = [
    "FOLLOWED",
    "NO_ID",
    "STATE",
    "anchors",
    "answers",
    "contents",
    "corrections",
    "gone_rows",
    "insert_rows",
    "leases",
    "links",
    "meta",
    "names",
    "opinions",
    "replies",
    "retractions",
    "set_aside",
    "set_aside_names",
    "table_names",
]

NO_ID = -1  # the last id of an empty table


def _table(name: str, *columns: str) -> sa.TableClause:
    return sa.table(name, *map(sa.column, columns))


meta = _table("meta", "key", "value")
answers = _table("answers", "id", "a", "b", "answer", "who", "at", "asked", "expected")
retractions = _table("retractions", "id", "answer_id", "at")
names = _table("names", "id", "row", "name", "who", "at")
corrections = _table("corrections", "id", "answer_id", "replaced_id")
anchors = _table("anchors", "id", "number", "row")
contents = _table("contents", "id", "columns", "digests")
gone_rows = _table("gone_rows", "id", "digests")
set_aside = _table(
    "set_aside", "id", "one", "two", "answer", "who", "at", "asked", "held", "expected"
)
opinions = _table("opinions", "id", "a", "b", "answer", "who", "at", "role")
leases = _table("leases", "key", "who", "question", "until")
set_aside_names = _table("set_aside_names", "id", "named", "name", "who", "at")
links = _table("links", "id", "digest", "who", "role", "at", "expires", "revoked")
replies = _table("replies", "id", "who", "key", "request", "reply", "at")

FOLLOWED = {  # tables, and what is read of them when another process has written to them
    answers: ("id", "a", "b", "answer", "who", "at", "asked", "expected"),
    retractions: ("id", "answer_id"),
    names: ("id", "row", "name", "who", "at"),
    corrections: ("id", "answer_id", "replaced_id"),
    anchors: ("id", "number", "row"),
    opinions: ("id", "a", "b", "answer", "who", "at", "role"),
}


def _fact(key: str) -> sa.ScalarSelect[str]:
    return sa.select(meta.c.value).where(meta.c.key == key).scalar_subquery()


STATE = sa.select(  # the last id of each table, which project it is, and its edition
    *(sa.select(sa.func.coalesce(sa.func.max(t.c.id), NO_ID)).scalar_subquery() for t in FOLLOWED),
    _fact(PROJECT_ID),
    _fact(EDITION),
)


def table_names(connection: sa.Connection) -> set[str]:
    """Return the tables that are there."""
    if connection.dialect.name == "sqlite":
        return set(sa.inspect(connection).get_table_names())
    query = "SELECT tablename FROM pg_tables WHERE schemaname = current_schema()"
    return set(connection.exec_driver_sql(query).scalars())


def insert_rows(
    connection: sa.Connection, table: sa.TableClause, rows: Sequence[Mapping[str, object]]
) -> None:
    """Insert rows, all with the same columns; for SQLite without SQLAlchemy's work for each row."""
    if connection.dialect.name != "sqlite":
        connection.execute(sa.insert(table), rows)
        return
    columns = ", ".join(f'"{name}"' for name in rows[0])
    marks = ", ".join("?" * len(rows[0]))
    statement = f"INSERT INTO {table.name} ({columns}) VALUES ({marks})"
    connection.exec_driver_sql(statement, [tuple(row.values()) for row in rows])
