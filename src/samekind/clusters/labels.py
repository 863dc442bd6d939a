"""The labels of all rows: how they come about, and what people said of single rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from samekind.flow import DIFFERENT, SAME, Answers, FloatArray, IntArray, Pairs
from samekind.points import LabelMap

__all__ = ["Labels", "label_map", "volunteered_labels"]


@dataclass(eq=False)
class Labels:
    """The labels of all rows, or how to compute them; neither: by the nearest centre."""

    compute: Callable[[], Any] | None = None
    found: Any = None


def label_map(of: IntArray, members: list[IntArray], given_up: IntArray) -> LabelMap:
    """Return labels by predictions, but for rows that are known to be in clusters, or given up."""
    sizes = [len(rows) for rows in members]
    return LabelMap(
        of,
        np.concatenate([*members, given_up]).astype(np.intp),
        np.repeat([*range(len(members)), -1], [*sizes, len(given_up)]),
    )


def volunteered_labels(
    rows: IntArray,
    X: FloatArray,
    predicted: IntArray,
    first_members: IntArray,
    centers: FloatArray,
    lookup: Callable[[Pairs], Answers],
) -> IntArray:
    """Return the label of each of these rows, by what people said of it and a member of each cluster.

    A row is where somebody said it belongs. If it is ruled out where it was predicted to be, it is in the
    cluster with the nearest centre that nobody ruled out, or in none (-1).
    """
    found = predicted.copy()
    for place, row in enumerate(rows.tolist()):
        pairs = np.column_stack([np.full(first_members.size, row, dtype=np.intp), first_members])
        said = lookup(pairs)
        if (said == SAME).any():
            found[place] = int((said == SAME).argmax())
        elif found[place] >= 0 and said[found[place]] == DIFFERENT:
            distances = ((centers - X[place]) ** 2).sum(axis=1)
            distances[said == DIFFERENT] = np.inf
            found[place] = int(distances.argmin()) if np.isfinite(distances).any() else -1
    return found
