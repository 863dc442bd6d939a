"""Version 8 of the tables: what was expected of an answer; runs keep nothing of their own any more."""

from __future__ import annotations

import sqlalchemy as sa

from samekind.ledger.log import MOST_EXPECTED
from samekind.ledger.packing import WIDTH

__all__ = ["add_expected"]


def add_expected(connection: sa.Connection) -> None:
    """Give answers a column for what was expected; drop where runs began, and what changed their past."""
    type_ = sa.LargeBinary().compile(connection.dialect)
    sizes = tuple(WIDTH * count for count in range(1, MOST_EXPECTED + 1))
    rule = f"CHECK (expected IS NULL OR length(expected) IN {sizes})"
    for table in ("answers", "set_aside"):
        connection.exec_driver_sql(f"ALTER TABLE {table} ADD COLUMN expected {type_} {rule}")
    for table in ("changes", "checkpoints"):
        connection.exec_driver_sql(f"DROP TABLE {table}")
