"""Answers from elsewhere: a CSV of pairs."""

from __future__ import annotations

import csv
import io

import numpy as np

from samekind.flow import DIFFERENT, SAME, UNSURE, Answers, Pairs

__all__ = ["read_answers"]

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
    try:
        lines = list(csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline=""), strict=True))
    except csv.Error as error:
        raise ValueError(f"This is not a CSV file: {error}.") from error
    header = [name.strip().lower() for name in lines[0]] if lines else []
    missing = [name for name in ("a", "b", "answer") if name not in header]
    if missing:
        raise ValueError(
            "The first line must name the columns a, b and answer; "
            f"{' and '.join(missing)} {'are' if len(missing) > 1 else 'is'} missing."
        )
    places = [header.index(name) for name in ("a", "b", "answer")]
    pairs: list[tuple[int, int]] = []
    answers: list[int] = []
    for number, line in enumerate(lines[1:], start=2):
        if not any(cell.strip() for cell in line):
            continue
        if len(line) <= max(places):
            raise ValueError(f"Line {number} has only {len(line)} columns.")
        a, b, said = (line[place].strip() for place in places)
        pairs.append((_row(a, number, n), _row(b, number, n)))
        if pairs[-1][0] == pairs[-1][1]:
            raise ValueError(f"Line {number} compares row {a} with itself.")
        if said.lower() not in MEANINGS:
            raise ValueError(
                f"Line {number}: the answer is same, different or unsure, not {said[:40]!r}."
            )
        answers.append(MEANINGS[said.lower()])
    if not pairs:
        raise ValueError("There is no answer in this file.")
    return np.array(pairs, dtype=np.intp), np.array(answers, dtype=np.int8)


def _row(text: str, line: int, n: int) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 10 and int(text) < n):
        raise ValueError(
            f"Line {line}: {text[:40]!r} is not a row of the data; rows go from 0 to {n - 1}."
        )
    return int(text)
