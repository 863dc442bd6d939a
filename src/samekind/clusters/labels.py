"""The labels of rows: of all, of those that people spoke of, and of those that came later."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import cdist

from samekind.algorithms import UNKNOWN, Classified, ClusterState, PaperParams, classify
from samekind.flow import DIFFERENT, SAME, Answers, FloatArray, IntArray, Oracle, Pairs, drive
from samekind.oracles import LabelOracle
from samekind.points import LabelMap, Points

__all__ = [
    "NO_ROWS",
    "check_labels_of_new_rows",
    "classify_rows",
    "label_by_nearest_center",
    "label_map",
    "likely_clusters",
    "numbers_of_new_rows",
    "volunteered_labels",
]

NO_ROWS = np.empty(0, dtype=np.intp)
PAIRS_AT_ONCE = 2**20  # that are looked up, or compared


def label_map(of: IntArray, members: list[IntArray], given_up: IntArray) -> LabelMap:
    """Return labels by predictions, but for rows that are known to be in clusters, or given up."""
    sizes = [len(rows) for rows in members]
    return LabelMap(
        of,
        np.concatenate([*members, given_up]).astype(np.intp),
        np.repeat([*range(len(members)), -1], [*sizes, len(given_up)]),
    )


def label_by_nearest_center(
    points: Points, centers: FloatArray, members: list[IntArray], given_up: IntArray
) -> Any:
    """Return the cluster of each point: the known one, or that of the nearest centre; -1 if there is none."""
    if not len(centers):
        nowhere = np.zeros((1, points.d))
        return points.label_by_nearest(nowhere, label_map(np.array([-1]), [], NO_ROWS))
    return points.label_by_nearest(centers, label_map(np.arange(len(centers)), members, given_up))


def likely_clusters(X: FloatArray, places: FloatArray, of: IntArray, most: int) -> IntArray:
    """Return for each row up to so many clusters, those first that have the nearest of these places.

    `of` are the clusters of the places.
    """
    order = np.argsort(of, kind="stable")
    clusters, starts = np.unique(of[order], return_index=True)
    found = np.empty((len(X), min(most, clusters.size)), dtype=np.intp)
    step = max(1, PAIRS_AT_ONCE // len(places))
    for start in range(0, len(X), step):
        some = slice(start, start + step)
        nearest = np.minimum.reduceat(cdist(X[some], places[order], "sqeuclidean"), starts, axis=1)
        first = np.argsort(nearest, axis=1, kind="stable")
        found[some] = clusters[first[:, : found.shape[1]]]
    return found


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
    found, k = predicted.copy(), first_members.size
    step = max(1, PAIRS_AT_ONCE // k)
    for start in range(0, rows.size, step):
        some = slice(start, start + step)
        m = rows[some].size
        pairs = np.column_stack([np.repeat(rows[some], k), np.tile(first_members, m)])
        said = lookup(pairs).reshape(m, k)
        own = found[some]
        is_out = (own >= 0) & (said[np.arange(m), own] == DIFFERENT)
        for place in np.flatnonzero(is_out).tolist():
            distances = ((centers - X[start + place]) ** 2).sum(axis=1)
            distances[said[place] == DIFFERENT] = np.inf
            own[place] = int(distances.argmin()) if np.isfinite(distances).any() else -1
        known = (said == SAME).any(axis=1)
        own[known] = (said[known] == SAME).argmax(axis=1)
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
    points: Points,
    numbers: IntArray,
    state: ClusterState,
    oracle: Oracle,
    params: PaperParams,
    rank: Callable[[FloatArray], IntArray | None],
) -> Classified:
    """Ask in which known cluster each row is, `batch` rows at a time; a repeated row is asked once.

    `rank` returns the clusters that each row asks, None for all.
    """
    n_asked = np.zeros(points.n, dtype=np.intp)
    first = np.sort(np.unique(numbers, return_index=True)[1])
    unknown = first[state.cluster_of(numbers[first]) == UNKNOWN]
    size = params.batch_size(points.n)
    for start in range(0, unknown.size, size):
        some = unknown[start : start + size]
        X = points.rows(some)
        flow = classify(numbers[some], X, state, params, grow=False, likely=rank(X))
        n_asked[some] = drive(flow, oracle).n_asked
    return Classified(state.cluster_of(numbers), n_asked)
