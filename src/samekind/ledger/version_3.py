"""Version 3 of the tables: they refuse what cannot be right, and know when the past was changed.

SQLite cannot add constraints to a table, so each is made anew, filled from the old one and put in its place.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from samekind.ledger.sqlite_file import APPLICATION_ID

__all__ = ["EDITION", "PROJECT_ID", "add_constraints"]

PROJECT_ID = "project_id"  # in `meta`: random, so that a project is told from any other
EDITION = "edition"  # in `meta`: grows when rows are deleted, so that who knows them forgets them
NEW = "new_"

TABLES = sa.MetaData()
_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")  # the rowid itself: no second index
MOST_ROWS = 2**31
LATEST = 10**12  # seconds since 1970


def _table(name: str, *parts: sa.Column[Any] | sa.CheckConstraint) -> sa.Table:
    key = sa.Column("id", _ID, sa.CheckConstraint("id > 0"), primary_key=True, autoincrement=False)
    return sa.Table(NEW + name, TABLES, key, *parts)


def _column(name: str, type_: sa.types.TypeEngine[Any], rule: str = "") -> sa.Column[Any]:
    checks = [sa.CheckConstraint(rule)] if rule else []
    return sa.Column(name, type_, *checks, nullable=False)


def _row(name: str) -> sa.Column[int]:
    """Return a column of row numbers; the cast finds what is no whole number, which SQLite would keep."""
    quoted = f'"{name}"'  # ROW is a word of SQL
    return _column(
        name,
        sa.BigInteger(),
        f"{quoted} >= 0 AND {quoted} < {MOST_ROWS} AND CAST({quoted} AS BIGINT) = {quoted}",
    )


def _answer_id(name: str = "answer_id", *, nullable: bool = False) -> sa.Column[int]:
    parent = sa.ForeignKey(f"{NEW}answers.id", ondelete="CASCADE")
    return sa.Column(name, sa.BigInteger, parent, nullable=nullable)


def _at() -> sa.Column[float]:
    return _column("at", sa.Float(53), f"at >= 0 AND at < {LATEST}")


def _text(name: str) -> sa.Column[str]:
    return _column(name, sa.Text())


def _packed(name: str) -> sa.Column[bytes]:
    return _column(name, sa.LargeBinary())


answers = _table(
    "answers",
    _row("a"),
    _row("b"),
    _column("answer", sa.SmallInteger(), "answer IN (-1, 0, 1)"),
    _text("who"),
    _at(),
    _column("asked", sa.Boolean(create_constraint=True)),
    sa.CheckConstraint("a <> b"),
)
retractions = _table("retractions", _answer_id(), _at())
names = _table("names", _row("row"), _text("name"), _text("who"), _at())
corrections = _table(
    "corrections",
    _answer_id(),
    _answer_id("replaced_id"),
    sa.CheckConstraint("answer_id <> replaced_id"),
)
checkpoints = _table(
    "checkpoints",
    _answer_id(nullable=True),
    _column("upto", sa.BigInteger(), "upto >= 0"),
    _packed("rows"),
    _packed("ask"),
)
changes = _table(
    "changes",
    _column(
        "after_answer", sa.BigInteger(), "after_answer >= 0"
    ),  # the last answer before, 0: none,
    _column("upto_answer", sa.BigInteger(), "upto_answer >= after_answer"),  # and after it
    _column("after_retraction", sa.BigInteger(), "after_retraction >= 0"),
    _column("upto_retraction", sa.BigInteger(), "upto_retraction >= after_retraction"),
    sa.Column(
        "checkpoint_id",
        sa.BigInteger,
        sa.ForeignKey(f"{NEW}checkpoints.id", ondelete="SET NULL"),
        nullable=True,
    ),
)


def add_constraints(connection: sa.Connection, meta: sa.Table, old: Sequence[sa.Table]) -> None:
    """Make every table with constraints, in the place of the old ones; give the project an id of its own.

    The old tables are those of version 2, answers before what refers to them; or none.
    """
    TABLES.create_all(connection)
    for before in old:
        table = TABLES.tables[NEW + before.name]
        copied = table.insert().from_select(before.c.keys(), sa.select(before))
        connection.execute(copied)
    for before in reversed(old):
        before.drop(connection)
    for table in TABLES.sorted_tables:
        own = table.name.removeprefix(NEW)
        connection.exec_driver_sql(f"ALTER TABLE {table.name} RENAME TO {own}")
    facts = {PROJECT_ID: secrets.token_hex(16), EDITION: "1"}
    connection.execute(sa.insert(meta), [{"key": key, "value": v} for key, v in facts.items()])
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql(f"PRAGMA application_id = {APPLICATION_ID}")
