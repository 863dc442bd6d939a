"""How well what was expected of questions fits their answers: a reliability table, from the answers alone."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from samekind.algorithms import DEFAULT, Folding, find_algorithm
from samekind.flow import UNSURE
from samekind.ledger import Ledger, ProjectPlace
from samekind.project.files import SETTINGS, kept_in

__all__ = ["ExpectedShare", "expectations_of"]

BINS = 10


class ExpectedShare(NamedTuple):
    """Questions that were expected to be answered "same" with about the same probability."""

    low: float
    high: float
    """Between which that was,"""
    questions: int
    expected: float
    """on average,"""
    same: float
    """and the share that was answered so."""


def expectations_of(path: ProjectPlace) -> list[ExpectedShare]:
    """Return by tenths how likely "same" was expected, and how often it was answered.

    Without tenths in which nothing was asked; none at all where the algorithm expects nothing.
    """
    with Ledger(path, read_only=True) as ledger:
        algorithm = find_algorithm(kept_in(ledger, SETTINGS).get("algorithm", DEFAULT))
        if not issubclass(algorithm, Folding):
            return []
        lines = ledger.active()
    expected = lines["expected"][:, algorithm.n_features - 1].astype(np.float64)
    counts = ~np.isnan(expected) & (lines["answer"] != UNSURE)
    same = algorithm.came_true(lines["answer"], lines["expected"])[counts]
    expected = expected[counts]
    place = np.clip((expected * BINS).astype(int), 0, BINS - 1)
    return [
        ExpectedShare(
            low=k / BINS,
            high=(k + 1) / BINS,
            questions=int((place == k).sum()),
            expected=float(expected[place == k].mean()),
            same=float(same[place == k].mean()),
        )
        for k in np.unique(place).tolist()
    ]
