"""Rows that came after the clusters were found."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from samekind.algorithms import UNKNOWN, Classified, ClusterState, PaperParams, classify
from samekind.flow import IntArray, Oracle, drive
from samekind.oracles import LabelOracle
from samekind.points import Points

__all__ = ["check_labels_of_new_rows", "classify_rows", "numbers_of_new_rows"]


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
        flow = classify(
            numbers[some],
            points.rows(some),
            state,
            order=params.order,
            patience=params.patience,
            grow=False,
        )
        n_asked[some] = drive(flow, oracle).n_asked
    return Classified(state.cluster_of(numbers), n_asked)
