"""Answers from elsewhere: a CSV of pairs, Splink's table of labels, dedupe's training file."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from samekind.data import cell_text
from samekind.errors import did_you_mean
from samekind.flow import DIFFERENT, SAME, UNSURE, Answers, IntArray, Pairs
from samekind.ledger import keys_of

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["ImportCounts", "ReadAnswers", "read_answers", "read_file"]

MEANINGS = {
    **dict.fromkeys(("same", "s", "yes", "y", "true", "1"), SAME),
    **dict.fromkeys(("different", "d", "no", "n", "false", "0"), DIFFERENT),
    **dict.fromkeys(("unsure", "u", "not sure", "", "-1"), UNSURE),
}
SPLINK = ("unique_id_l", "unique_id_r", "clerical_match_score")
# of a column's name, for two rows
ENDINGS = ("_a", "_b"), ("_1", "_2"), (" a", " b"), (" 1", " 2")
MOST_TRIED = 50  # columns in which ids are sought
NOT_DEDUPE = (
    'This is no training file of dedupe, which has "distinct" and "match", lists of two records '
    "each."
)

RowOf = Callable[[str, int], int]
"""Returns the row that a cell on a line of the file names; a ValueError says that there is none."""


class ReadAnswers(NamedTuple):
    """What a file says of pairs, each once, and how many of them it answers in two ways."""

    pairs: Pairs
    answers: Answers
    contradictory: int

    def of_items(self, item_of: IntArray) -> ReadAnswers:
        """Return what is said of items, given the item of each row; copies cannot differ."""
        pairs = item_of[self.pairs]
        between = pairs[:, 0] != pairs[:, 1]
        strange = ~between & (self.answers == DIFFERENT)
        last = len(pairs) - 1 - np.unique(keys_of(pairs)[::-1], return_index=True)[1]
        kept = np.sort(last[between[last]])
        same, different = (keys_of(pairs[between & (self.answers == a)]) for a in (SAME, DIFFERENT))
        contradictory = np.intersect1d(same, different).size + int(strange.sum())
        return ReadAnswers(pairs[kept], self.answers[kept], self.contradictory + contradictory)


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


class _Line(NamedTuple):
    """What a line of a file says: its number, what names the two rows, and the answer."""

    number: int
    a: str
    b: str
    said: int


def read_file(
    text: str, n: int, frame: pd.DataFrame | None = None, id_column: str | None = None
) -> ReadAnswers:
    """Return the last definite answer to each pair of a file; see `read_answers`."""
    pairs, answers = read_answers(text, n, frame, id_column)
    same, different = (keys_of(pairs[answers == said]) for said in (SAME, DIFFERENT))
    sure = answers != UNSURE
    pairs, answers = pairs[sure], answers[sure]
    last = np.unique(keys_of(pairs)[::-1], return_index=True)[1]
    kept = np.sort(len(pairs) - 1 - last)
    return ReadAnswers(pairs[kept], answers[kept], int(np.intersect1d(same, different).size))


def read_answers(
    text: str, n: int, frame: pd.DataFrame | None = None, id_column: str | None = None
) -> tuple[Pairs, Answers]:
    r"""Return the pairs and answers of a CSV with columns a, b and answer, or of a file of Splink or dedupe.

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
    >>> read_answers("unique_id_l,unique_id_r,clerical_match_score\n3,5,0.95\n", 9)[0].tolist()
    [[3, 5]]
    """
    text = text.lstrip("\ufeff \r\n\t")
    names = [] if frame is None else [str(name) for name in frame.columns]
    if text.startswith("{"):
        pairs = _of_dedupe(text, frame)
        return np.array([pair[:2] for pair in pairs]), np.array(
            [p[2] for p in pairs], dtype=np.int8
        )
    try:
        column, lines = _lines_of_csv(text, names)
    except csv.Error as error:
        raise ValueError(f"This is not a CSV file: {error}.") from error
    if not lines:
        raise ValueError("There is no answer in this file.")
    row_of = _rows_by(id_column or column, lines, n, frame, names)
    found = np.empty((len(lines), 2), dtype=np.intp)
    for place, line in enumerate(lines):
        found[place] = row_of(line.a, line.number), row_of(line.b, line.number)
        if found[place, 0] == found[place, 1]:
            raise ValueError(f"Line {line.number} compares row {line.a} with itself.")
    return found, np.array([line.said for line in lines], dtype=np.int8)


def _lines_of_csv(text: str, names: list[str]) -> tuple[str | None, list[_Line]]:
    """Return the column of the data that names rows, if the file says so, and the lines."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    header = [name.strip() for name in next(reader, [])]
    is_splink = set(SPLINK) <= set(header)
    column: str | None = None
    if is_splink:
        places = [header.index(name) for name in SPLINK]
    else:
        column, places = _places(header, names)
    return column, list(_lines(reader, places, _by_score if is_splink else _by_word))


def _lines(
    reader: Iterator[list[str]], places: list[int], meaning: Callable[[str, int], int]
) -> Iterator[_Line]:
    for number, line in enumerate(reader, start=2):
        if not any(cell.strip() for cell in line):
            continue
        if len(line) <= max(places):
            raise ValueError(f"Line {number} has only {len(line)} columns.")
        a, b, said = (line[place].strip() for place in places)
        yield _Line(number, a, b, meaning(said, number))


def _by_word(said: str, number: int) -> int:
    if said.lower() not in MEANINGS:
        raise ValueError(
            f"Line {number}: the answer is same, different or unsure, not {said[:40]!r}."
        )
    return MEANINGS[said.lower()]


def _by_score(said: str, number: int) -> int:
    try:
        score = float(said)
    except ValueError:
        raise ValueError(
            f"Line {number}: a clerical_match_score is a number from 0 to 1, not {said[:40]!r}."
        ) from None
    return SAME if score > 0.5 else DIFFERENT if score < 0.5 else UNSURE


def _places(header: list[str], names: list[str]) -> tuple[str | None, list[int]]:
    """Return the column of the data by which a file names rows, and where it has them and the answer."""
    lower = {name.lower(): place for place, name in reversed(list(enumerate(header)))}
    missing = [name for name in ("a", "b", "answer") if name not in lower]
    if not missing:
        return None, [lower["a"], lower["b"], lower["answer"]]
    for name in names if "answer" in lower else []:
        for one, two in ENDINGS:
            if f"{name}{one}" in header and f"{name}{two}" in header:
                both = header.index(f"{name}{one}"), header.index(f"{name}{two}")
                return name, [*both, lower["answer"]]
    raise ValueError(
        "The first line must name the columns a, b and answer; "
        f"{' and '.join(missing)} {'are' if len(missing) > 1 else 'is'} missing."
    )


def _rows_by(
    column: str | None,
    lines: list[_Line],
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

    wanted = {text for line in lines for text in (line.a, line.b)}
    if frame is None or (column is None and all(_is_row(text, n) for text in wanted)):
        return by_number
    for name in names[:MOST_TRIED] if column is None else [column]:
        rows = _rows_of_ids(frame[name])
        if column is not None or all(len(rows.get(text, ())) == 1 for text in wanted):
            return _by_id(name, rows)
    return by_number


def _by_id(column: str, rows: dict[str, list[int]]) -> RowOf:
    def by_id(text: str, line: int) -> int:
        found = rows.get(text, [])
        if len(found) != 1:
            how = f"in {len(found):,} rows" if found else "nowhere"
            raise ValueError(f"Line {line}: {text[:40]!r} is {how} in the column {column!r}.")
        return found[0]

    return by_id


def _is_row(text: str, n: int) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 10 and int(text) < n


def _rows_of_ids(column: pd.Series[str]) -> dict[str, list[int]]:
    rows: dict[str, list[int]] = {}
    for row, value in enumerate(column.tolist()):
        rows.setdefault(cell_text(value).strip(), []).append(row)
    return rows


def _of_dedupe(text: str, frame: pd.DataFrame | None) -> list[tuple[int, int, int]]:
    """Return two rows and an answer for each pair of records of a training file of dedupe."""
    try:
        told = json.loads(text)
        pairs = [
            (*_two_records(pair), said)
            for key, said in (("match", SAME), ("distinct", DIFFERENT))
            for pair in told[key]
        ]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise ValueError(NOT_DEDUPE) from None
    if frame is None:
        raise ValueError(
            "A training file of dedupe names records by their fields: it needs a table."
        )
    index: dict[tuple[str, ...], dict[tuple[str, ...], list[int]]] = {}

    def rows_of(record: dict[str, object]) -> list[int]:
        names = tuple(sorted(name for name in record if name in frame.columns))
        if not names:
            raise ValueError("A record of the file has none of the columns of the data.")
        if names not in index:
            columns = [[_plain(value) for value in frame[name]] for name in names]
            found: dict[tuple[str, ...], list[int]] = {}
            for row, values in enumerate(zip(*columns, strict=True)):
                found.setdefault(values, []).append(row)
            index[names] = found
        places = index[names].get(tuple(_plain(record[name]) for name in names), [])
        if not places:
            shown = ", ".join(f"{name} {record[name]}" for name in names[:3])
            raise ValueError(f"A record of the file is not in the data: {shown}.")
        return places

    rows: list[tuple[int, int, int]] = []
    for first, second, said in pairs:
        one, other = rows_of(first), rows_of(second)
        if one[0] != other[0]:
            rows.append((one[0], other[0], said))
        elif len(one) > 1:  # records that are the same in every field
            rows.append((one[0], one[1], said))
    if not rows:
        raise ValueError("There is no answer in this file.")
    return rows


def _two_records(pair: Any) -> tuple[dict[str, object], dict[str, object]]:
    """Return the records of a pair, which dedupe may have written as a tuple; errors if it is none."""
    first, second = pair["__value__"] if isinstance(pair, dict) else pair
    if not isinstance(first, dict) or not isinstance(second, dict):
        raise TypeError
    return first, second


def _plain(value: object) -> str:
    return cell_text(value).strip().casefold()
