"""What is deleted from a project for good, and what stands again then."""

from __future__ import annotations

from typing import NamedTuple

import sqlalchemy as sa

from samekind.ledger.tables import (
    answers,
    corrections,
    leases,
    links,
    meta,
    names,
    opinions,
    replies,
    retractions,
    set_aside,
    set_aside_names,
)
from samekind.ledger.version_3 import EDITION

__all__ = ["MOVED_TO", "Erased", "begin_edition", "erase_annotator", "restore_replaced"]

MOVED_TO = "moved_to"  # in `meta`: where the project went; here it can only be read then


class Erased(NamedTuple):
    """How much was deleted."""

    answers: int
    names: int
    restored: int


def erase_annotator(connection: sa.Connection, who: str) -> Erased:
    """Delete an annotator's answers and names, and all that refers to these or follows from them.

    Answers of others that theirs had replaced stand again.
    """
    own = sa.select(answers.c.id).where(answers.c.who == who)
    erased = Erased(
        answers=_count(connection, answers, answers.c.who == who)
        + _count(connection, set_aside, (set_aside.c.who == who) & ~set_aside.c.held),
        names=_count(connection, names, names.c.who == who)
        + _count(connection, set_aside_names, set_aside_names.c.who == who),
        restored=restore_replaced(connection, own),
    )
    for table, theirs in (
        (set_aside, set_aside.c.who == who),
        (set_aside_names, set_aside_names.c.who == who),
        (opinions, opinions.c.who == who),
        (leases, leases.c.who == who),
        (names, names.c.who == who),
        (links, links.c.who == who),
        (replies, replies.c.who == who),
        (retractions, retractions.c.answer_id.in_(own)),
        (corrections, corrections.c.answer_id.in_(own) | corrections.c.replaced_id.in_(own)),
        (answers, answers.c.who == who),
    ):
        connection.execute(sa.delete(table).where(theirs))
    begin_edition(connection)
    return erased


def restore_replaced(connection: sa.Connection, gone: sa.Select[tuple[int]]) -> int:
    """Let stand again what answers that are about to be deleted had replaced; return how many.

    Not where such an answer was taken back itself: what it had replaced was recorded again then.
    """
    taken_back = sa.select(retractions.c.answer_id)
    replaced = sa.select(corrections.c.replaced_id).where(
        corrections.c.answer_id.in_(gone),
        corrections.c.answer_id.not_in(taken_back),
        corrections.c.replaced_id.not_in(gone),
    )
    restored = retractions.c.answer_id.in_(replaced)
    count = _count(connection, retractions, restored)
    connection.execute(sa.delete(retractions).where(restored))
    return count


def begin_edition(connection: sa.Connection) -> None:
    """Tell all who know the project that rows were deleted: they read it anew."""
    own = meta.c.key == EDITION
    before = connection.execute(sa.select(meta.c.value).where(own)).scalar()
    connection.execute(sa.delete(meta).where(own))
    connection.execute(sa.insert(meta).values(key=EDITION, value=str(int(before or 0) + 1)))


def _count(connection: sa.Connection, table: sa.TableClause, which: sa.ColumnElement[bool]) -> int:
    found = connection.execute(sa.select(sa.func.count()).select_from(table).where(which))
    return int(found.scalar_one())
