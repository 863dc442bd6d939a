"""Why two records may be one entity: how alike each field is, and what that tells in this table.

A field tells the logarithm of how many times as common such a likeness is among likely matches as among other
candidate pairs (Fellegi and Sunter's weight). What is likely is what the model learnt from the answers, so
the same likeness tells more where a field matters.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from samekind.algorithms.records.prior import levels_of, told_by
from samekind.algorithms.records.scores import View, chance_of
from samekind.points import CandidatePairs

__all__ = ["FieldEvidence", "explain"]

MOST_PAIRS = 2**16  # that are looked at


class FieldEvidence(NamedTuple):
    """What one field says of two records."""

    field: str
    alike: float | None
    """From 0 to 1, equal; None where one of them has no value."""
    weight: float
    """The log-odds that it tells: positive for one entity, negative for two."""


def explain(candidates: CandidatePairs, view: View, number: int) -> list[FieldEvidence]:
    """Return what each field says of a candidate pair."""
    step = max(1, len(candidates.pairs) // MOST_PAIRS)
    chances = chance_of(view.odds[::step])
    own = levels_of(candidates.comparisons[number : number + 1])[0]
    every = levels_of(candidates.comparisons[::step])
    found = []
    for place, name in enumerate(candidates.fields):
        alike = float(candidates.comparisons[number, place])
        is_known = bool(np.isfinite(alike))
        told = told_by(every[:, place], chances)[own[place]] if is_known else 0.0
        found.append(FieldEvidence(name, alike if is_known else None, float(told)))
    return found
