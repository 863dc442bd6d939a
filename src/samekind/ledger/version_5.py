"""Version 5 of the tables: a project knows the contents of its rows, and keeps answers about rows gone."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

__all__ = ["add_row_contents"]

TABLES = sa.MetaData()
_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def _table(name: str, *columns: sa.Column[Any]) -> None:
    key = sa.Column("id", _ID, sa.CheckConstraint("id > 0"), primary_key=True, autoincrement=False)
    sa.Table(name, TABLES, key, *columns)


def _column(name: str, type_: sa.types.TypeEngine[Any], rule: str = "") -> sa.Column[Any]:
    checks = [sa.CheckConstraint(rule)] if rule else []
    return sa.Column(name, type_, *checks, nullable=False)


_table("contents", _column("columns", sa.Text()), _column("digests", sa.LargeBinary()))
_table("gone_rows", _column("digests", sa.LargeBinary()))  # the row's number is -id
_table(
    "set_aside",  # an answer, by its id; rows below 0 are gone
    _column("one", sa.BigInteger()),
    _column("two", sa.BigInteger()),
    _column("answer", sa.SmallInteger(), "answer IN (-1, 0, 1)"),
    _column("who", sa.Text()),
    _column("at", sa.Float(53)),
    _column("asked", sa.Boolean()),
    _column("held", sa.Boolean()),  # whether the answer of this id is there, about other rows
)
_table(
    "set_aside_names",
    _column("named", sa.BigInteger(), "named < 0"),
    _column("name", sa.Text()),
    _column("who", sa.Text()),
    _column("at", sa.Float(53)),
)


def add_row_contents(connection: sa.Connection) -> None:
    """Make the tables."""
    TABLES.create_all(connection)
