"""The tables of a project in a database, as queries see them; `migrations` makes them."""

from __future__ import annotations

import sqlalchemy as sa

__all__ = ["answers", "changes", "checkpoints", "corrections", "meta", "names", "retractions"]


def _table(name: str, *columns: str | sa.ColumnClause[bool]) -> sa.TableClause:
    return sa.table(name, *(sa.column(c) if isinstance(c, str) else c for c in columns))


meta = _table("meta", "key", "value")
answers = _table("answers", "id", "a", "b", "answer", "who", "at", sa.column("asked", sa.Boolean))
retractions = _table("retractions", "id", "answer_id", "at")
names = _table("names", "id", "row", "name", "who", "at")
corrections = _table("corrections", "id", "answer_id", "replaced_id")
checkpoints = _table("checkpoints", "id", "answer_id", "upto", "rows", "ask")
changes = _table(
    "changes",
    "id",
    "after_answer",
    "upto_answer",
    "after_retraction",
    "upto_retraction",
    "checkpoint_id",
)
