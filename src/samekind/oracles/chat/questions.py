"""From pairs to calls: single ones, and sheets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from samekind.flow import Pairs

__all__ = ["Form", "ModelQuestion", "group_pairs"]

Form: TypeAlias = Literal["pair", "sheet"]


@dataclass(frozen=True)
class ModelQuestion:
    """What one call asks.

    Attributes
    ----------
    form : {"pair", "sheet"}
        A sheet asks of each of several others whether it is like one and the same row.
    row : int
        The row that all others are compared with.
    others : tuple of int
        What it is compared with.
    pairs : tuple of (int, int)
        The pairs that are asked about, one for each of the others.
    """

    form: Form
    row: int
    others: tuple[int, ...]
    pairs: tuple[tuple[int, int], ...]


def group_pairs(pairs: Pairs, most: int) -> list[ModelQuestion]:
    """Return the calls that ask about all pairs, at most so many in one.

    Pairs that share a row are asked about on one sheet, where each is answered for itself.

    Examples
    --------
    >>> import numpy as np
    >>> [q.form for q in group_pairs(np.array([[1, 5], [2, 5], [3, 6]]), 9)]
    ['sheet', 'pair']
    """
    listed: list[tuple[int, int]] = [(a, b) for a, b in pairs.tolist()]
    questions: list[ModelQuestion] = []
    for side in (1, 0):
        left: list[tuple[int, int]] = []
        for row, own in _grouped(listed, side).items():
            if len(own) == 1:
                left += own
            else:
                for some in _cut(own, most):
                    questions.append(_question("sheet" if len(some) > 1 else "pair", row, some))
        listed = left
    return questions + [_question("pair", b, [(a, b)]) for a, b in listed]


def _question(form: Form, row: int, pairs: list[tuple[int, int]]) -> ModelQuestion:
    others = tuple(b if a == row else a for a, b in pairs)
    return ModelQuestion(form, row, others, tuple(pairs))


def _grouped(pairs: list[tuple[int, int]], side: int) -> dict[int, list[tuple[int, int]]]:
    groups: dict[int, list[tuple[int, int]]] = {}
    for pair in pairs:
        groups.setdefault(pair[side], []).append(pair)
    return groups


def _cut(pairs: list[tuple[int, int]], most: int) -> list[list[tuple[int, int]]]:
    return [pairs[start : start + most] for start in range(0, len(pairs), most)]
