"""The tables of a project: made in an empty database, and refused where they are of another version."""

from __future__ import annotations

import sqlalchemy as sa

from samekind.ledger.errors import LedgerDamaged, LedgerError
from samekind.ledger.sqlite_file import APPLICATION_ID
from samekind.ledger.tables import table_names
from samekind.ledger.version_3 import add_constraints
from samekind.ledger.version_4 import add_anchors
from samekind.ledger.version_5 import add_row_contents
from samekind.ledger.version_6 import add_team
from samekind.ledger.version_7 import add_links
from samekind.ledger.version_8 import add_expected

__all__ = ["VERSION", "find_version", "migrate"]

VERSION = 8
VERSION_KEY = "schema_version"
MADE = sa.MetaData()

meta = sa.Table(
    "meta",
    MADE,
    sa.Column("key", sa.String(64), primary_key=True),
    sa.Column("value", sa.Text(), nullable=False),
)


def migrate(connection: sa.Connection, where: str) -> None:
    """Make the tables in an empty database. An error says that it is no project of this version."""
    if find_version(connection, where):
        return
    MADE.create_all(connection, [meta])
    add_constraints(connection, meta, [])
    add_anchors(connection)
    add_row_contents(connection)
    add_team(connection)
    add_links(connection)
    add_expected(connection)
    connection.execute(sa.insert(meta).values(key=VERSION_KEY, value=str(VERSION)))


def find_version(connection: sa.Connection, where: str) -> int:
    """Return the version of a database's tables, 0 if it is empty; an error says that it is no project."""
    if connection.dialect.name == "sqlite":
        made_by = connection.exec_driver_sql("PRAGMA application_id").scalar()
        if made_by not in (0, APPLICATION_ID):  # 0: of an older samekind, or from a dump
            raise LedgerError(
                f"{where} is a database of another program (application id {made_by}), not a samekind "
                "project."
            )
    tables = table_names(connection)
    if not tables:
        return 0
    if not tables >= {meta.name, "answers"}:
        raise LedgerError(f"{where} is a database, but not a samekind project.")
    stored = connection.execute(sa.select(meta.c.value).where(meta.c.key == VERSION_KEY)).scalar()
    version = str(stored)
    if not version.isdecimal() or version == "0":
        raise LedgerDamaged(
            f"{where} is damaged: its schema version is {stored!r}. Put a copy from before in its place."
        )
    if int(version) != VERSION:
        raise LedgerError(
            f"{where} is of another version of samekind (schema {version}; this one reads {VERSION}). "
            "Open it with the samekind that made it."
        )
    return int(version)
