"""Clusters of one row, which a wrong answer may have founded: shown as part of the likeliest other one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from samekind.algorithms.base import Snapshot
from samekind.flow import IntArray
from samekind.points import LabelMap

__all__ = ["fold", "fold_predictions"]


def _fold_numbers(clusters: IntArray, into: dict[int, int]) -> IntArray:
    """Return the numbers of clusters, each that is folded into another replaced by that."""
    found = clusters.copy()
    for gone, keep in into.items():
        found[clusters == gone] = keep
    return found


def fold_predictions(
    clusters_of: Callable[[IntArray], IntArray], into: dict[int, int]
) -> Callable[[IntArray], IntArray]:
    """Return a function that predicts the clusters of rows as another does, folded."""
    return lambda rows: _fold_numbers(clusters_of(rows), into)


def fold(snapshot: Snapshot, into: dict[int, int]) -> Snapshot:
    """Return what is known with some clusters as parts of others; the run goes on with them as they are."""
    prediction = snapshot.prediction
    if not into or prediction is None:
        return snapshot
    members = [list(rows) for rows in snapshot.members]
    for gone, keep in into.items():
        members[keep] += members[gone]
        members[gone] = []

    def labels(known: LabelMap) -> object:
        return prediction.labels(
            known.of_subset(_fold_numbers(np.arange(known.of_centers.size), into))
        )

    def is_there(a: int, b: int) -> bool:
        return a not in into and b not in into

    return replace(
        snapshot,
        members=members,
        recovered=[cluster for cluster in snapshot.recovered if cluster not in into],
        prediction=replace(
            prediction,
            labels=labels,
            unproven=[pair for pair in prediction.unproven if is_there(*pair)],
            confused=[pair for pair in prediction.confused if is_there(*pair)],
            mergers=[one for one in prediction.mergers if is_there(*one[:2])],
        ),
    )
