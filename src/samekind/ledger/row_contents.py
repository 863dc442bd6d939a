"""What a project keeps so that it can grow: the contents of its rows, and answers about rows that are gone.

Rows have numbers from 0 on, by their places in the data. When the data have changed all that names a row is
renumbered, in one transaction. What was said of a row that is gone is set aside under a number below 0, which
the row keeps until it is there again; then so are the answers. Meanwhile another row of the same cluster
stands for it in each of them, since the cluster is what was meant: so nothing that is known is lost.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray

from samekind.ledger.erase import begin_edition
from samekind.ledger.tables import (
    anchors,
    answers,
    contents,
    corrections,
    gone_rows,
    insert_rows,
    leases,
    meta,
    names,
    opinions,
    retractions,
    set_aside,
    set_aside_names,
)

__all__ = [
    "KeptContents",
    "Renumbered",
    "Renumbering",
    "read_contents",
    "renumber_rows",
    "write_contents",
]

KEPT = ("id", "answer", "who", "at", "asked", "expected")  # of an answer, whatever its rows
Numbers = dict[int, int]
PIECE = 500  # ids in one statement


class KeptContents(NamedTuple):
    """The contents of all rows as bytes, what they were made from, and those of rows that are gone."""

    digests: bytes
    columns: str
    gone: dict[int, bytes]


class Renumbering(NamedTuple):
    """What becomes of the rows of a project.

    Attributes
    ----------
    now : ndarray of int
        For each row its new number; -1: it is gone.
    returned : dict
        Rows that were gone, by their numbers below 0, and their numbers now.
    stands_for : dict
        For rows that go, by their numbers before, one of the same cluster that stays.
    digests : bytes
        The contents of all rows now.
    facts : mapping
        What changes in `meta`; None drops it.
    """

    now: NDArray[np.intp]
    returned: Numbers
    stands_for: Numbers
    digests: bytes
    facts: Mapping[str, str | None]


class Renumbered(NamedTuple):
    """How many answers that stood were set aside, of these how many hold for another row, and came back."""

    set_aside: int
    held_by_others: int
    restored: int


def read_contents(connection: sa.Connection) -> KeptContents | None:
    """Return the contents of all rows, if they are kept."""
    found = connection.execute(sa.select(contents)).first()
    if found is None:
        return None
    gone = connection.execute(sa.select(gone_rows)).all()
    return KeptContents(found.digests, found.columns, {-row.id: row.digests for row in gone})


def write_contents(connection: sa.Connection, digests: bytes, columns: str) -> None:
    """Keep the contents of all rows."""
    connection.execute(sa.delete(contents))
    insert_rows(connection, contents, [{"id": 1, "columns": columns, "digests": digests}])


def renumber_rows(connection: sa.Connection, moved: Renumbering) -> Renumbered:
    """Give all rows their new numbers, wherever the project names one."""
    before = read_contents(connection)
    assert before is not None
    numbers = _with_gone(connection, before, moved)
    aside = _set_answers_aside(connection, moved, numbers)
    restored = _restore_answers(connection)
    _move_names(connection, moved, numbers)
    _move_anchors(connection, moved, numbers)
    _move_opinions(connection, numbers)
    for row in moved.returned:
        connection.execute(sa.delete(gone_rows).where(gone_rows.c.id == -row))
    write_contents(connection, moved.digests, before.columns)
    for key, value in moved.facts.items():
        connection.execute(sa.delete(meta).where(meta.c.key == key))
        if value is not None:
            connection.execute(sa.insert(meta).values(key=key, value=value))
    begin_edition(connection)
    return Renumbered(*aside, restored)


def _with_gone(connection: sa.Connection, before: KeptContents, moved: Renumbering) -> Numbers:
    """Return the new number of every row that is named anywhere; note the contents of those that go."""
    numbers = dict(enumerate(moved.now.tolist()))
    named = _rows_named(connection)
    going = [row for row, now in numbers.items() if now < 0 and row in named]
    last = max((-row for row in before.gone), default=0)
    size = len(before.digests) // max(1, moved.now.size)
    gone = {row: last + k for k, row in enumerate(going, start=1)}
    if gone:
        own = {row: before.digests[row * size : (row + 1) * size] for row in gone}
        insert_rows(
            connection, gone_rows, [{"id": key, "digests": own[row]} for row, key in gone.items()]
        )
    numbers |= {row: -key for row, key in gone.items()}
    return numbers | {row: moved.returned.get(row, row) for row in before.gone}


def _rows_named(connection: sa.Connection) -> set[int]:
    """Return all rows that some answer or name is about."""
    columns = (answers.c.a, answers.c.b, names.c.row, set_aside.c.one, set_aside.c.two)
    found = (connection.execute(sa.select(column).distinct()).scalars() for column in columns)
    return {row for rows in found for row in rows}


def _set_answers_aside(
    connection: sa.Connection, moved: Renumbering, numbers: Numbers
) -> tuple[int, int]:
    """Renumber answers; those about a row that goes are set aside, and another row stands for it.

    Each keeps its id and its time. Return how many were set aside, and how many hold for another row.
    """
    aside = {
        line.id: {**line._mapping, "one": numbers[line.one], "two": numbers[line.two]}
        for line in connection.execute(sa.select(set_aside)).all()
    }
    connection.execute(sa.delete(set_aside))
    lines = connection.execute(sa.select(answers).order_by(answers.c.id)).all()
    taken_back = set(connection.execute(sa.select(retractions.c.answer_id)).scalars())
    stay = [line for line in lines if numbers[line.a] >= 0 and numbers[line.b] >= 0]
    pairs = {(line.who, *sorted((line.a, line.b))) for line in stay}
    placed = [(line.id, numbers[line.a], numbers[line.b]) for line in stay]
    gone: list[int] = []
    n_held = n_aside = 0
    for line in lines:
        if numbers[line.a] >= 0 and numbers[line.b] >= 0:
            continue
        one, two = (moved.stands_for.get(row, row) for row in (line.a, line.b))
        pair = (line.who, *sorted((one, two)))
        is_new = one != two and pair not in pairs and line.answer >= 0
        holds = is_new and min(numbers[one], numbers[two]) >= 0 and line.id not in taken_back
        if holds:
            pairs.add(pair)
            placed.append((line.id, numbers[one], numbers[two]))
        else:
            gone.append(line.id)
        if line.id in taken_back:
            aside.pop(line.id, None)
        elif line.id in aside:  # what was said at first is set aside already
            aside[line.id]["held"] = holds
        else:
            own = {name: getattr(line, name) for name in KEPT}
            rows = {"one": numbers[line.a], "two": numbers[line.b]}
            aside[line.id] = own | rows | {"held": holds}
            n_aside, n_held = n_aside + 1, n_held + holds
    _delete_answers(connection, gone)
    if placed:
        move = sa.update(answers).where(answers.c.id == sa.bindparam("number"))
        new = [{"number": number, "one": one, "two": two} for number, one, two in placed]
        connection.execute(move.values(a=sa.bindparam("one"), b=sa.bindparam("two")), new)
    if aside:
        insert_rows(connection, set_aside, list(aside.values()))
    return n_aside, n_held


def _delete_answers(connection: sa.Connection, ids: list[int]) -> None:
    """Delete answers, and before them what refers to them."""
    for first in range(0, len(ids), PIECE):
        some = ids[first : first + PIECE]
        connection.execute(sa.delete(retractions).where(retractions.c.answer_id.in_(some)))
        either = corrections.c.answer_id.in_(some) | corrections.c.replaced_id.in_(some)
        connection.execute(sa.delete(corrections).where(either))
        connection.execute(sa.delete(answers).where(answers.c.id.in_(some)))


def _restore_answers(connection: sa.Connection) -> int:
    """Put back answers both of whose rows are there again, where they were; return how many."""
    both = (set_aside.c.one >= 0) & (set_aside.c.two >= 0)
    back = connection.execute(sa.select(set_aside).where(both).order_by(set_aside.c.id)).all()
    there = set(connection.execute(sa.select(answers.c.id)).scalars())
    last = connection.execute(sa.select(sa.func.max(answers.c.at))).scalar() or 0.0
    for line in back:
        pair = {"a": line.one, "b": line.two}
        if line.id in there and line.held:
            place = sa.update(answers).where(answers.c.id == line.id)
            connection.execute(place.values(**pair))
            continue
        own = {name: getattr(line, name) for name in KEPT}
        if line.id in there:  # another answer has its id since
            own |= {"id": max(there) + 1, "at": max(last, line.at)}
        insert_rows(connection, answers, [own | pair])
        there.add(int(str(own["id"])))
    connection.execute(sa.delete(set_aside).where(both))
    return len(back)


def _move_anchors(connection: sa.Connection, moved: Renumbering, numbers: Numbers) -> None:
    """Renumber the rows that stand for the numbers of clusters."""
    for number, row in connection.execute(sa.select(anchors.c.id, anchors.c.row)).all():
        place = numbers[moved.stands_for.get(row, row)]
        own = anchors.c.id == number
        if place >= 0:
            connection.execute(sa.update(anchors).where(own).values(row=place))
        else:
            connection.execute(sa.delete(anchors).where(own))


def _move_opinions(connection: sa.Connection, numbers: Numbers) -> None:
    """Renumber the rows that opinions are about; those on rows that go are deleted, as all leases are."""
    lines = connection.execute(sa.select(opinions).order_by(opinions.c.id)).all()
    connection.execute(sa.delete(opinions))
    connection.execute(sa.delete(leases))
    kept = []
    for line in lines:
        a, b = sorted((numbers.get(line.a, -1), numbers.get(line.b, -1)))
        if a >= 0:
            kept.append({**line._mapping, "a": a, "b": b})
    if kept:
        insert_rows(connection, opinions, kept)


def _move_names(connection: sa.Connection, moved: Renumbering, numbers: Numbers) -> None:
    """Renumber the rows that names were given to; another one of the cluster takes that of one that goes."""
    lines = connection.execute(sa.select(names).order_by(names.c.id)).all()
    aside = connection.execute(sa.select(set_aside_names)).all()
    connection.execute(sa.delete(set_aside_names))
    connection.execute(sa.delete(names))
    kept: dict[int, dict[str, object]] = {}
    gone: dict[int, dict[str, object]] = {}
    for line in (*lines, *aside):
        row = line.row if "row" in line._mapping else line.named
        place = numbers[moved.stands_for.get(row, row)]
        said = {"name": line.name, "who": line.who, "at": line.at}
        if place >= 0:
            number = line.id if line.id not in kept else max(kept) + 1
            kept[number] = {"id": number, "row": place, **said}
        else:
            number = line.id if line.id not in gone else max(gone) + 1
            gone[number] = {"id": number, "named": place, **said}
    for table, rows in ((names, kept), (set_aside_names, gone)):
        if rows:
            insert_rows(connection, table, [rows[number] for number in sorted(rows)])
