"""From the pairs of a wave to calls: pairs, line-ups and sheets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from samekind.flow import Pairs

__all__ = ["Form", "ModelQuestion", "group_pairs"]

Form: TypeAlias = Literal["pair", "lineup", "sheet"]


@dataclass(frozen=True)
class ModelQuestion:
    """What one call asks.

    Attributes
    ----------
    form : {"pair", "lineup", "sheet"}
        A line-up asks which one of several others a row is like, if any; a sheet asks of each of several
        others whether it is like one and the same row.
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


def group_pairs(pairs: Pairs, most: int, *, lineups: bool) -> list[ModelQuestion]:
    """Return the calls that ask about all pairs, at most so many in one.

    With `lineups` the pairs of one first row are a line-up: at most one of them is the same. Pairs that
    share a row otherwise are asked about on one sheet, where each is answered for itself.

    Examples
    --------
    >>> import numpy as np
    >>> [q.form for q in group_pairs(np.array([[1, 5], [2, 5], [3, 6]]), 9, lineups=False)]
    ['sheet', 'pair']
    >>> [q.others for q in group_pairs(np.array([[1, 5], [1, 6]]), 9, lineups=True)]
    [(5, 6)]
    """
    listed: list[tuple[int, int]] = [(a, b) for a, b in pairs.tolist()]
    questions: list[ModelQuestion] = []
    if lineups:
        chains = _grouped(listed, 0)
        for row, own in chains.items():
            for some in _cut(own, most) if len(own) > 1 else ():
                form: Form = "lineup" if len(some) > 1 else "pair"
                questions.append(_question(form, row, some))
        listed = [pair for own in chains.values() if len(own) == 1 for pair in own]
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
