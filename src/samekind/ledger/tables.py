"""The tables of a project in a database: their only description, for SQLite and PostgreSQL."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from samekind.ledger.events import KINDS, MOST_ITEMS, ROLES

__all__ = ["SCHEMA", "events", "items", "leases", "links", "meta", "replies", "tables"]

SCHEMA = 9  # another one is refused
tables = sa.MetaData()
_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")  # the rowid itself: no second index


def _column(name: str, type_: Any, rule: str = "", *, nullable: bool = False) -> sa.Column[Any]:
    checks = [sa.CheckConstraint(rule)] if rule else []
    return sa.Column(name, type_, *checks, nullable=nullable)


def _key(name: str = "id", rule: str = "") -> sa.Column[Any]:
    checks = [sa.CheckConstraint(rule)] if rule else []
    return sa.Column(name, _ID, *checks, primary_key=True, autoincrement=False)


def _item(name: str) -> sa.Column[Any]:
    """Return a column of items; the cast finds what is no whole number, which SQLite would keep."""
    rule = f"{name} >= 0 AND {name} < {MOST_ITEMS} AND CAST({name} AS BIGINT) = {name}"
    return _column(name, sa.BigInteger(), rule, nullable=True)


def _time(name: str, *, nullable: bool = False) -> sa.Column[Any]:
    return _column(name, sa.Float(53), f"{name} >= 0 AND {name} < 1e12", nullable=nullable)


events = sa.Table(  # the columns are those of `Event`
    "events",
    tables,
    _key(rule="id > 0"),
    _column("act", sa.BigInteger(), "act > 0 AND act <= id"),
    _column("kind", sa.Text(), f"kind IN {KINDS}"),
    _column("who", sa.Text()),
    _time("at"),
    _item("a"),
    _item("b"),
    _column("answer", sa.SmallInteger(), "answer IN (-1, 0, 1)", nullable=True),
    _column("charged", sa.Boolean(create_constraint=True, name="charged_is_boolean")),
    _column("ref", sa.BigInteger(), "ref >= 0", nullable=True),
    _column("payload", sa.Text(), nullable=True),
    _column(
        "expected",
        sa.LargeBinary(),
        "length(expected) IN (4, 8, 12, 16, 20, 24, 28, 32)",
        nullable=True,
    ),
    sa.CheckConstraint("a <> b"),
    sa.CheckConstraint(
        "kind NOT IN ('answer', 'edit', 'opinion') OR "
        "(a IS NOT NULL AND b IS NOT NULL AND answer IS NOT NULL)"
    ),
    sa.CheckConstraint("kind <> 'retract' OR (ref IS NOT NULL AND ref < id)"),
)
items = sa.Table(  # in pieces, from item 0 on
    "items",
    tables,
    _key(),
    _column("digests", sa.LargeBinary()),
    _column("rows", sa.LargeBinary()),  # where each item is now; -1: it is gone
)
meta = sa.Table(
    "meta",
    tables,
    sa.Column("key", sa.String(64), primary_key=True),
    _column("value", sa.Text()),
)
replies = sa.Table(
    "replies",
    tables,
    sa.Column("who", sa.Text(), primary_key=True),
    sa.Column("key", sa.Text(), primary_key=True),
    _column("request", sa.Text()),
    _column("reply", sa.Text()),
    _time("at"),
    sa.Index("replies_by_time", "at"),
)
leases = sa.Table(
    "leases",
    tables,
    _key("key"),
    sa.Column("who", sa.Text(), primary_key=True),
    _column("question", sa.Text()),
    _column("until", sa.Float(53)),
)
links = sa.Table(
    "links",
    tables,
    _key(),
    sa.Column("digest", sa.String(64), nullable=False, unique=True),
    _column("who", sa.Text()),
    _column("role", sa.Text(), f"role IN {ROLES}"),
    _time("at"),
    _time("expires", nullable=True),
    _time("revoked", nullable=True),
)
