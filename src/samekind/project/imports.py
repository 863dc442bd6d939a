"""Answers from elsewhere: a CSV of pairs."""

from __future__ import annotations

import csv
import io
from array import array
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from samekind.flow import DIFFERENT, SAME, UNSURE, Answers, Pairs

__all__ = ["ImportCounts", "latest_of_each", "n_contradictory", "read_answers"]

MEANINGS = {
    **dict.fromkeys(("same", "s", "yes", "y", "true", "1"), SAME),
    **dict.fromkeys(("different", "d", "no", "n", "false", "0"), DIFFERENT),
    **dict.fromkeys(("unsure", "u", "not sure", "", "-1"), UNSURE),
}


def read_answers(text: str, n: int) -> tuple[Pairs, Answers]:
    r"""Return the pairs and answers of a CSV with columns a, b and answer; rows are below n.

    Examples
    --------
    >>> pairs, answers = read_answers("a,b,answer\n0,4,same\n1,2,different\n", n=5)
    >>> pairs.tolist(), answers.tolist()
    ([[0, 4], [1, 2]], [1, 0])
    """
    reader = csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline=""), strict=True)
    try:
        return _read(reader, n)
    except csv.Error as error:
        raise ValueError(f"This is not a CSV file: {error}.") from error


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


def n_contradictory(pairs: Pairs, answers: Answers) -> int:
    """Return how many pairs are answered both SAME and DIFFERENT."""
    sure = answers != UNSURE
    keys = (pairs.min(axis=1) << 31) + pairs.max(axis=1)
    said = np.unique(np.column_stack([keys[sure], answers[sure]]), axis=0)
    return len(said) - np.unique(said[:, 0]).size


def latest_of_each(pairs: Pairs, answers: Answers) -> tuple[Pairs, Answers]:
    """Return each pair of which somebody was sure once, with the last answer to it, in the order of those."""
    sure = answers != UNSURE
    pairs, answers = pairs[sure], answers[sure]
    keys = (pairs.min(axis=1) << 31) + pairs.max(axis=1)  # rows are below 2^31
    last = np.unique(keys[::-1], return_index=True)[1]
    kept = np.sort(keys.size - 1 - last)
    return pairs[kept], answers[kept]


def _read(lines: Iterator[list[str]], n: int) -> tuple[Pairs, Answers]:
    header = [name.strip().lower() for name in next(lines, [])]
    missing = [name for name in ("a", "b", "answer") if name not in header]
    if missing:
        raise ValueError(
            "The first line must name the columns a, b and answer; "
            f"{' and '.join(missing)} {'are' if len(missing) > 1 else 'is'} missing."
        )
    places = [header.index(name) for name in ("a", "b", "answer")]
    rows, answers = array("q"), array("b")  # a file may have millions of lines
    for number, line in enumerate(lines, start=2):
        if not any(cell.strip() for cell in line):
            continue
        if len(line) <= max(places):
            raise ValueError(f"Line {number} has only {len(line)} columns.")
        a, b, said = (line[place].strip() for place in places)
        rows.extend((_row(a, number, n), _row(b, number, n)))
        if rows[-1] == rows[-2]:
            raise ValueError(f"Line {number} compares row {a} with itself.")
        if said.lower() not in MEANINGS:
            raise ValueError(
                f"Line {number}: the answer is same, different or unsure, not {said[:40]!r}."
            )
        answers.append(MEANINGS[said.lower()])
    if not rows:
        raise ValueError("There is no answer in this file.")
    pairs = np.frombuffer(rows, dtype=np.int64).astype(np.intp).reshape(-1, 2)
    return pairs, np.frombuffer(answers, dtype=np.int8).copy()


def _row(text: str, line: int, n: int) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 10 and int(text) < n):
        raise ValueError(
            f"Line {line}: {text[:40]!r} is not a row of the data; rows go from 0 to {n - 1}."
        )
    return int(text)
