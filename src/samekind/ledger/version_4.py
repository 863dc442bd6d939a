"""Version 4 of the tables: clusters have numbers for life."""

from __future__ import annotations

import sqlalchemy as sa

from samekind.ledger.version_3 import MOST_ROWS

__all__ = ["add_anchors"]

_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_BETWEEN = '"{0}" >= {1} AND "{0}" < {2} AND CAST("{0}" AS BIGINT) = "{0}"'


def _whole(name: str, least: int) -> sa.Column[int]:
    """Return a column of whole numbers; the cast finds what is none, which SQLite would keep."""
    rule = sa.CheckConstraint(_BETWEEN.format(name, least, MOST_ROWS))
    return sa.Column(name, sa.BigInteger, rule, nullable=False)


TABLES = sa.MetaData()
anchors = sa.Table(
    "anchors",
    TABLES,
    sa.Column("id", _ID, sa.CheckConstraint("id > 0"), primary_key=True, autoincrement=False),
    _whole("number", 1),
    _whole("row", 0),
)


def add_anchors(connection: sa.Connection) -> None:
    """Make the table that holds for every number of a cluster a row of it; the newest row counts."""
    TABLES.create_all(connection)
