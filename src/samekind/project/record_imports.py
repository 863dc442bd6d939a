"""Answers about records from other tools: Splink's table of labels, dedupe's training file."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING, Any

import pandas as pd

from samekind.data import cell_text

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["as_answers"]

SPLINK = ("unique_id_l", "unique_id_r", "clerical_match_score")


def as_answers(text: str, frame: pd.DataFrame | None) -> str:
    r"""Return a file of Splink or dedupe as a CSV of a, b and answer; any other file as it is.

    Examples
    --------
    >>> as_answers("unique_id_l,unique_id_r,clerical_match_score\n3,5,0.95\n", None)
    'a,b,answer\r\n3,5,same\r\n'
    """
    head = text.lstrip("\ufeff \r\n\t")
    if head.startswith("{"):
        return _of_dedupe(head, frame)
    try:
        first = next(csv.reader(io.StringIO(head, newline="")), [])
        return _of_splink(head, first) if set(SPLINK) <= set(first) else text
    except csv.Error:
        return text  # who reads it says what is wrong


def _of_splink(text: str, names: list[str]) -> str:
    left, right, score = (names.index(name) for name in SPLINK)
    rows = []
    for number, line in enumerate(csv.reader(io.StringIO(text, newline="")), 1):
        if number == 1 or not line:
            continue
        try:
            value = float(line[score])
        except (ValueError, IndexError):
            raise ValueError(
                f"Line {number}: a clerical_match_score is a number from 0 to 1."
            ) from None
        said = "same" if value > 0.5 else "different" if value < 0.5 else "unsure"
        rows.append((line[left], line[right], said))
    return _csv(rows)


def _of_dedupe(text: str, frame: pd.DataFrame | None) -> str:
    try:
        told = json.loads(text)
        pairs = [
            (*_two_records(pair), said)
            for key, said in (("match", "same"), ("distinct", "different"))
            for pair in told[key]
        ]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise ValueError(
            'This is no training file of dedupe, which has "distinct" and "match", lists of two records each.'
        ) from None
    if frame is None:
        raise ValueError(
            "A training file of dedupe names records by their fields: it needs a table."
        )
    rows: list[tuple[str, str, str]] = []
    index: dict[tuple[str, ...], dict[tuple[str, ...], list[int]]] = {}

    def rows_of(record: dict[str, object]) -> list[int]:
        names = tuple(sorted(name for name in record if name in frame.columns))
        if not names:
            raise ValueError("A record of the file has none of the columns of the data.")
        if names not in index:
            found: dict[tuple[str, ...], list[int]] = {}
            columns = [[_plain(value) for value in frame[name]] for name in names]
            for row, values in enumerate(zip(*columns, strict=True)):
                found.setdefault(values, []).append(row)
            index[names] = found
        places = index[names].get(tuple(_plain(record[name]) for name in names), [])
        if not places:
            shown = ", ".join(f"{name} {record[name]}" for name in names[:3])
            raise ValueError(f"A record of the file is not in the data: {shown}.")
        return places

    for first, second, said in pairs:
        one, other = rows_of(first), rows_of(second)
        if one[0] != other[0]:
            rows.append((str(one[0]), str(other[0]), said))
        elif len(one) > 1:  # records that are the same in every field
            rows.append((str(one[0]), str(one[1]), said))
    return _csv(rows)


def _two_records(pair: Any) -> tuple[dict[str, object], dict[str, object]]:
    """Return the records of a pair, which dedupe may have written as a tuple; errors if it is none."""
    first, second = pair["__value__"] if isinstance(pair, dict) else pair
    if not isinstance(first, dict) or not isinstance(second, dict):
        raise TypeError
    return first, second


def _plain(value: object) -> str:
    return cell_text(value).strip().casefold()


def _csv(rows: Iterable[tuple[str, str, str]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(("a", "b", "answer"))
    writer.writerows(rows)
    return out.getvalue()
