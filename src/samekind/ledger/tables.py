"""The tables of a project in a database, as they are now; `migrations` makes them."""

from __future__ import annotations

import sqlalchemy as sa

__all__ = ["answers", "checkpoints", "corrections", "meta", "metadata", "names", "retractions"]

metadata = sa.MetaData()


def _id() -> sa.Column[int]:
    """Ids are 1, 2, 3, … without gaps, so that a reader knows what it has not seen yet."""
    return sa.Column("id", sa.BigInteger, primary_key=True, autoincrement=False)


def _at() -> sa.Column[float]:
    return sa.Column("at", sa.Float(53), nullable=False)  # seconds since 1970


meta = sa.Table(
    "meta",
    metadata,
    sa.Column("key", sa.String(64), primary_key=True),
    sa.Column("value", sa.Text, nullable=False),
)
answers = sa.Table(
    "answers",
    metadata,
    _id(),
    sa.Column("a", sa.BigInteger, nullable=False),
    sa.Column("b", sa.BigInteger, nullable=False),
    sa.Column("answer", sa.SmallInteger, nullable=False),
    sa.Column("who", sa.Text, nullable=False),
    _at(),
    sa.Column("asked", sa.Boolean, nullable=False),
)
retractions = sa.Table(
    "retractions",
    metadata,
    _id(),
    sa.Column("answer_id", sa.BigInteger, sa.ForeignKey("answers.id"), nullable=False),
    _at(),
)
names = sa.Table(
    "names",
    metadata,
    _id(),
    sa.Column("row", sa.BigInteger, nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("who", sa.Text, nullable=False),
    _at(),
)
corrections = sa.Table(
    "corrections",
    metadata,
    _id(),
    sa.Column("answer_id", sa.BigInteger, sa.ForeignKey("answers.id"), nullable=False),
    sa.Column("replaced_id", sa.BigInteger, sa.ForeignKey("answers.id"), nullable=False),
)
checkpoints = sa.Table(
    "checkpoints",
    metadata,
    _id(),
    # the first answer of the change that made it; without one it stays whatever happens
    sa.Column("answer_id", sa.BigInteger, sa.ForeignKey("answers.id")),
    sa.Column("upto", sa.BigInteger, nullable=False),
    sa.Column("rows", sa.LargeBinary, nullable=False),  # see `pack_rows`
    sa.Column("ask", sa.LargeBinary, nullable=False),
)
