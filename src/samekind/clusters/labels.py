"""The labels of rows: of all, of those that people spoke of, and of those that came later."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from samekind.algorithms import UNKNOWN, Classified, ClusterState, PaperParams, classify
from samekind.flow import DIFFERENT, SAME, Answers, FloatArray, IntArray, Oracle, Pairs, drive
from samekind.oracles import LabelOracle
from samekind.points import LabelMap, Points

__all__ = [
    "NO_ROWS",
    "Labels",
    "check_labels_of_new_rows",
    "classify_rows",
    "label_map",
    "numbers_of_new_rows",
    "volunteered_labels",
]

NO_ROWS = np.empty(0, dtype=np.intp)


@dataclass(eq=False)
class Labels:
    """The labels of all rows, or how to compute them; neither: by the nearest centre."""

    compute: Callable[[], Any] | None = None
    found: Any = None

    def get(self, points: Points | None) -> Any:
        """Return the labels, which are where the rows are; None where nothing is known of them."""
        if self.found is None and self.compute is not None:
            self.found = self.compute()
            if points is not None and isinstance(self.found, np.ndarray):
                self.found = points.distribute(self.found)
        return self.found


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


def numbers_of_new_rows(size: int, n_rows: int, given: ArrayLike | None) -> IntArray:
    """Return the number of each new row: those given, or the next ones after `n_rows` old rows."""
    if given is None:
        return np.arange(size) + n_rows
    numbers = np.asarray(given)
    if numbers.shape != (size,):
        raise ValueError(f"rows must be {size} numbers, got shape {numbers.shape}.")
    if numbers.dtype.kind not in "iu" or numbers.min() < 0:
        raise ValueError("rows must be the numbers of rows, 0 or more, as the oracle knows them.")
    return numbers.astype(np.intp, copy=False)


def check_labels_of_new_rows(oracle: Oracle, numbers: IntArray, n_rows: int) -> None:
    """Raise an error if the oracle is a column of labels that lacks those of new rows."""
    if isinstance(oracle, LabelOracle) and numbers.max() >= len(oracle):
        raise ValueError(
            f"the oracle has {len(oracle)} labels, but rows up to {numbers.max()} are asked about: "
            f"new rows are numbered from {n_rows} on. Give it the labels of old and new rows "
            "together, or pass the numbers of rows it knows as rows."
        )


def classify_rows(
    points: Points, numbers: IntArray, state: ClusterState, oracle: Oracle, params: PaperParams
) -> Classified:
    """Ask in which known cluster each row is, `batch` rows at a time; a repeated row is asked once."""
    n_asked = np.zeros(points.n, dtype=np.intp)
    first = np.sort(np.unique(numbers, return_index=True)[1])
    unknown = first[state.cluster_of(numbers[first]) == UNKNOWN]
    size = params.batch_size(points.n)
    for start in range(0, unknown.size, size):
        some = unknown[start : start + size]
        flow = classify(numbers[some], points.rows(some), state, params, grow=False)
        n_asked[some] = drive(flow, oracle).n_asked
    return Classified(state.cluster_of(numbers), n_asked)
