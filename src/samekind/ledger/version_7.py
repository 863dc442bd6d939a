"""Version 7 of the tables: links by which people come in, and what requests with a key were told."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from samekind.ledger.version_3 import LATEST

__all__ = ["ROLES", "add_links"]

ROLES = ("answer", "review", "own")  # each may do what those before it may
TABLES = sa.MetaData()
_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def _table(name: str, *parts: sa.Column[Any] | sa.UniqueConstraint) -> None:
    key = sa.Column("id", _ID, sa.CheckConstraint("id > 0"), primary_key=True, autoincrement=False)
    sa.Table(name, TABLES, key, *parts)


def _text(name: str, rule: str = "") -> sa.Column[str]:
    checks = [sa.CheckConstraint(rule)] if rule else []
    return sa.Column(name, sa.Text, *checks, nullable=False)


def _time(name: str, *, nullable: bool = False) -> sa.Column[float]:
    rule = sa.CheckConstraint(f"{name} >= 0 AND {name} < {LATEST}")
    return sa.Column(name, sa.Float(53), rule, nullable=nullable)


_table(
    "links",
    _text("digest", "length(digest) = 64"),  # SHA-256 of the token, which is not kept
    _text("who"),
    _text("role", f"role IN {ROLES}"),
    _time("at"),
    _time("expires", nullable=True),
    _time("revoked", nullable=True),
    sa.UniqueConstraint("digest"),
)
_table(
    "replies",
    _text("who"),
    _text("key"),
    _text("request"),  # a digest of it
    _text("reply"),  # JSON
    _time("at"),
    sa.UniqueConstraint("who", "key"),
)


def add_links(connection: sa.Connection) -> None:
    """Make the tables."""
    TABLES.create_all(connection)
