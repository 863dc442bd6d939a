"""Version 6 of the tables: several people, their opinions, and who is looking at which question."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from samekind.ledger.version_3 import LATEST, MOST_ROWS

__all__ = ["add_team"]

TABLES = sa.MetaData()
_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def _column(name: str, type_: sa.types.TypeEngine[Any], rule: str = "") -> sa.Column[Any]:
    checks = [sa.CheckConstraint(rule)] if rule else []
    return sa.Column(name, type_, *checks, nullable=False)


def _row(name: str) -> sa.Column[int]:
    rule = f"{name} >= 0 AND {name} < {MOST_ROWS} AND CAST({name} AS BIGINT) = {name}"
    return _column(name, sa.BigInteger(), rule)


opinions = sa.Table(
    "opinions",
    TABLES,
    sa.Column("id", _ID, sa.CheckConstraint("id > 0"), primary_key=True, autoincrement=False),
    _row("a"),
    _row("b"),
    _column("answer", sa.SmallInteger(), "answer IN (-2, -1, 0, 1)"),  # -2: it is taken back
    _column("who", sa.Text()),
    _column("at", sa.Float(53), f"at >= 0 AND at < {LATEST}"),
    _column("role", sa.SmallInteger(), "role IN (0, 1, 2)"),  # see `OpinionRole`
    sa.CheckConstraint("a <> b"),
)
leases = sa.Table(
    "leases",
    TABLES,
    _column("key", sa.BigInteger()),
    _column("who", sa.Text()),
    _column("question", sa.Text()),
    _column("until", sa.Float(53)),
    sa.PrimaryKeyConstraint("key", "who"),
)


def add_team(connection: sa.Connection) -> None:
    """Make the tables; and let changes say for how many people the run asks from then on, 0: as before."""
    TABLES.create_all(connection)
    connection.exec_driver_sql(
        "ALTER TABLE changes ADD COLUMN people BIGINT NOT NULL DEFAULT 0 CHECK (people >= 0)"
    )
    if connection.dialect.name != "sqlite":  # after a crash of the server everybody is asked anew
        connection.exec_driver_sql("ALTER TABLE leases SET UNLOGGED")
