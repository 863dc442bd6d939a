"""Rows that came from a database, checked before anything is made of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, TypeVar

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray

from samekind.flow import Answers, Pairs, check_answers, check_pairs
from samekind.ledger import tables
from samekind.ledger.ids import RowIds
from samekind.ledger.opinions import Opinion
from samekind.ledger.packing import unpack_expected
from samekind.ledger.version_3 import LATEST

__all__ = ["Incoming", "read_new"]

T = TypeVar("T")


class Incoming(NamedTuple):
    """What is new, table by table; `ids` are those of each table's new rows."""

    ids: dict[sa.TableClause, list[int]]
    pairs: Pairs
    answers: Answers
    who: list[str]
    times: NDArray[np.float64]
    asked: NDArray[np.bool_]
    expected: NDArray[np.float32] | None
    retractions: list[int]
    names: list[tuple[int, str, str, float]]
    corrections: list[tuple[int, int]]
    anchors: list[tuple[int, int]]
    opinions: list[Opinion]


def read_new(
    connection: sa.Connection,
    last: Sequence[int],
    seen: Mapping[sa.TableClause, RowIds],
    below: int,
) -> Incoming | None:
    """Return the rows with ids beyond those that are known; None if there are none.

    A ValueError says that some cannot be right: the rows of the data, say, are `below` a number.
    """
    new: list[list[Sequence[object]]] = []
    for (table, columns), there in zip(tables.FOLLOWED.items(), last, strict=True):
        known = seen[table].last or tables.NO_ID
        unseen = sa.select(*(table.c[name] for name in columns)).order_by(table.c.id)
        if known > 0:  # or else all, so that no id can hide below 1
            unseen = unseen.where(table.c.id > known)
        found = connection.execute(unseen) if there != known else ()
        new.append(list(found))
    if not any(new):
        return None
    by_column = list(map(_columns, new, _WIDTHS))
    answers, retractions, names, corrections, anchors, opinions = by_column
    _, a, b, said, who, at, asked, expected = answers
    pairs = check_pairs(np.array([a, b]).T)
    named, held = _all(names[1], int), list(zip(*(_all(c, int) for c in anchors[1:]), strict=True))
    for rows in (pairs.ravel(), np.array([*named, *(row for _, row in held)], dtype=np.int64)):
        if rows.size and not 0 <= rows.min() <= rows.max() < below:
            raise ValueError("there is no such row.")
    if any(number < 1 for number, _ in held):
        raise ValueError("a cluster's number is below 1.")
    if not set(asked) <= {0, 1}:
        raise ValueError("whether it was asked is neither 0 nor 1.")
    times = np.array(_all(at, float, int), dtype=np.float64)
    for moments in (times, np.array(_all(names[4], float, int), dtype=np.float64)):
        if moments.size and not 0 <= moments.min() <= moments.max() < LATEST:
            raise ValueError("there is no such time.")
    ids = {
        table: _all(columns[0], int)
        for table, columns in zip(tables.FOLLOWED, by_column, strict=True)
    }
    if any(own and own[0] < 1 for own in ids.values()):
        raise ValueError("an id is below 1.")
    return Incoming(
        ids=ids,
        pairs=pairs,
        answers=check_answers(np.array(said), len(pairs)),
        who=_all(who, str),
        times=times,
        asked=np.array(asked, dtype=np.bool_),
        expected=unpack_expected(expected),
        retractions=_all(retractions[1], int),
        names=list(
            zip(
                named,
                _all(names[2], str),
                _all(names[3], str),
                _all(names[4], float, int),
                strict=True,
            )
        ),
        corrections=list(zip(*(_all(ids, int) for ids in corrections[1:]), strict=True)),
        anchors=held,
        opinions=_opinions(opinions[1:], below),
    )


def _opinions(columns: Sequence[Sequence[object]], below: int) -> list[Opinion]:
    a, b, said, who, at, role = columns
    numbers = _all(a, int), _all(b, int), _all(said, int)
    found = list(map(Opinion, *numbers, _all(who, str), _all(at, float, int), _all(role, int)))
    if any(not 0 <= min(one[:2]) < max(one[:2]) < below for one in found):
        raise ValueError("there is no such row.")
    return found


_WIDTHS = [len(columns) for columns in tables.FOLLOWED.values()]


def _columns(rows: list[Sequence[object]], width: int) -> list[tuple[object, ...]]:
    return list(zip(*rows, strict=True)) if rows else [()] * width


def _all(values: Iterable[object], kind: type[T], *others: type) -> list[T]:
    """Return values that must be of a kind."""
    listed = list(values)
    if not set(map(type, listed)) <= {kind, *others}:
        raise ValueError(f"a value is no {kind.__name__}.")
    return listed  # type: ignore[return-value]
