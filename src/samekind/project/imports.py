"""Answers from elsewhere: a CSV of pairs, Splink's table of labels, dedupe's training file."""

from __future__ import annotations

import csv
import io
import json
from array import array
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from samekind.data import cell_text
from samekind.errors import did_you_mean
from samekind.flow import DIFFERENT, SAME, UNSURE, Answers, Pairs

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["ImportCounts", "ReadAnswers", "as_answers", "read_answers", "read_file"]

SPLINK = ("unique_id_l", "unique_id_r", "clerical_match_score")
MEANINGS = {
    **dict.fromkeys(("same", "s", "yes", "y", "true", "1"), SAME),
    **dict.fromkeys(("different", "d", "no", "n", "false", "0"), DIFFERENT),
    **dict.fromkeys(("unsure", "u", "not sure", "", "-1"), UNSURE),
}
ENDINGS = (
    ("_a", "_b"),
    ("_1", "_2"),
    (" a", " b"),
    (" 1", " 2"),
)  # of a column's name, for two rows
MOST_TRIED = 50  # columns in which ids are sought

RowOf = Callable[[str, int], int]
"""Returns the row that a cell on a line of the file names; a ValueError says that there is none."""


class ReadAnswers(NamedTuple):
    """What a file says of pairs, each once, and how many of them it answers in two ways."""

    pairs: Pairs
    answers: Answers
    contradictory: int


class ImportCounts(NamedTuple):
    """What came of an import.

    Attributes
    ----------
    news : int
        Pairs whose answers are new, or changed.
    contradictory : int
        Pairs that the file answers both "same" and "different": the last answer counts.
    """

    news: int
    contradictory: int


def read_file(
    text: str, n: int, frame: pd.DataFrame | None = None, id_column: str | None = None
) -> ReadAnswers:
    """Return what a file of any of the known forms says of n rows; see `read_answers`."""
    pairs, answers = read_answers(as_answers(text, frame), n, frame, id_column)
    contradictory = n_contradictory(pairs, answers)
    return ReadAnswers(*latest_of_each(pairs, answers), contradictory)


def read_answers(
    text: str, n: int, frame: pd.DataFrame | None = None, id_column: str | None = None
) -> tuple[Pairs, Answers]:
    r"""Return the pairs and answers of a CSV with columns a, b and answer.

    a and b are row numbers below n, or ids: values of the column of `frame` that `id_column` names, that the
    file names (as ``order_a`` and ``order_b``), or, if they are no row numbers, that has each of them once.

    Examples
    --------
    >>> pairs, answers = read_answers("a,b,answer\n0,4,same\n1,2,different\n", n=5)
    >>> pairs.tolist(), answers.tolist()
    ([[0, 4], [1, 2]], [1, 0])
    >>> import pandas as pd
    >>> orders = pd.DataFrame({"order": ["A7", "A9", "B2"]})
    >>> read_answers("order_a,order_b,answer\nA7,B2,same\n", 3, orders)[0].tolist()
    [[0, 2]]
    """
    reader = csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline=""), strict=True)
    try:
        return _read(reader, n, frame, id_column)
    except csv.Error as error:
        raise ValueError(f"This is not a CSV file: {error}.") from error


def latest_of_each(pairs: Pairs, answers: Answers) -> tuple[Pairs, Answers]:
    """Return each pair of which somebody was sure once, with the last answer to it, in the order of those."""
    sure = answers != UNSURE
    pairs, answers = pairs[sure], answers[sure]
    last = np.unique(_keys(pairs)[::-1], return_index=True)[1]
    kept = np.sort(len(pairs) - 1 - last)
    return pairs[kept], answers[kept]


def n_contradictory(pairs: Pairs, answers: Answers) -> int:
    """Return how many pairs are answered both SAME and DIFFERENT."""
    same, different = (_keys(pairs[answers == said]) for said in (SAME, DIFFERENT))
    return int(np.intersect1d(same, different).size)


def _keys(pairs: Pairs) -> Pairs:
    keys: Pairs = (pairs.min(axis=1) << 31) + pairs.max(axis=1)  # rows are below 2^31
    return keys


def _read(
    lines: Iterator[list[str]], n: int, frame: pd.DataFrame | None, id_column: str | None
) -> tuple[Pairs, Answers]:
    header = [name.strip() for name in next(lines, [])]
    names = [] if frame is None else [str(name) for name in frame.columns]
    first, second, named = _columns(header, names)
    places = [header.index(first), header.index(second), _answer_place(header)]
    cells: list[tuple[int, str, str]] = []
    answers = array("b")  # a file may have millions of lines
    for number, line in enumerate(lines, start=2):
        if not any(cell.strip() for cell in line):
            continue
        if len(line) <= max(places):
            raise ValueError(f"Line {number} has only {len(line)} columns.")
        a, b, said = (line[place].strip() for place in places)
        if said.lower() not in MEANINGS:
            raise ValueError(
                f"Line {number}: the answer is same, different or unsure, not {said[:40]!r}."
            )
        cells.append((number, a, b))
        answers.append(MEANINGS[said.lower()])
    if not cells:
        raise ValueError("There is no answer in this file.")
    row_of = _rows_by(id_column or named, cells, n, frame, names)
    rows = array("q")
    for number, a, b in cells:
        rows.extend((row_of(a, number), row_of(b, number)))
        if rows[-1] == rows[-2]:
            raise ValueError(f"Line {number} compares row {a} with itself.")
    pairs = np.frombuffer(rows, dtype=np.int64).astype(np.intp).reshape(-1, 2)
    return pairs, np.frombuffer(answers, dtype=np.int8).copy()


def _columns(header: list[str], names: list[str]) -> tuple[str, str, str | None]:
    """Return the two columns of a file that name rows, and the column of the data that they are about."""
    lower = {name.lower(): name for name in reversed(header)}
    if "a" in lower and "b" in lower:
        return lower["a"], lower["b"], None
    for name in names:
        for one, two in ENDINGS:
            if f"{name}{one}" in header and f"{name}{two}" in header:
                return f"{name}{one}", f"{name}{two}", name
    missing = [name for name in ("a", "b", "answer") if name not in lower]
    raise ValueError(
        "The first line must name the columns a, b and answer; "
        f"{' and '.join(missing)} {'are' if len(missing) > 1 else 'is'} missing."
    )


def _answer_place(header: list[str]) -> int:
    lower = [name.lower() for name in header]
    if "answer" not in lower:
        raise ValueError("The first line must name the columns a, b and answer; answer is missing.")
    return lower.index("answer")


def _rows_by(
    column: str | None,
    cells: list[tuple[int, str, str]],
    n: int,
    frame: pd.DataFrame | None,
    names: list[str],
) -> RowOf:
    """Return what finds the row that a cell names."""
    if column is not None and (frame is None or column not in names):
        listed = f" They are {', '.join(map(repr, names[:30]))}." if names else ""
        raise ValueError(
            f"The data have no column {column!r}.{did_you_mean(column, names)}{listed}"
        )

    def by_number(text: str, line: int) -> int:
        if not _is_row(text, n):
            raise ValueError(
                f"Line {line}: {text[:40]!r} is not a row of the data; rows go from 0 to {n - 1}."
            )
        return int(text)

    wanted = {text for _, *both in cells for text in both}
    if frame is None or (column is None and all(_is_row(text, n) for text in wanted)):
        return by_number
    if column is None:
        column = _column_with(wanted, frame, names)
    if column is None:
        return by_number
    rows = _rows_of_ids(frame[column])

    def by_id(text: str, line: int) -> int:
        found = rows.get(text, [])
        if len(found) != 1:
            how = f"in {len(found):,} rows" if found else "nowhere"
            raise ValueError(f"Line {line}: {text[:40]!r} is {how} in the column {column!r}.")
        return found[0]

    return by_id


def _is_row(text: str, n: int) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 10 and int(text) < n


def _column_with(wanted: set[str], frame: pd.DataFrame, names: list[str]) -> str | None:
    """Return the first column that has each of these texts once."""
    for name in names[:MOST_TRIED]:
        rows = _rows_of_ids(frame[name])
        if all(len(rows.get(text, ())) == 1 for text in wanted):
            return name
    return None


def _rows_of_ids(column: pd.Series[str]) -> dict[str, list[int]]:
    rows: dict[str, list[int]] = {}
    for row, value in enumerate(column.tolist()):
        rows.setdefault(cell_text(value).strip(), []).append(row)
    return rows


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
