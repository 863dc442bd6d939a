"""The nearest rows of each row, by all columns that they were given with."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree
from threadpoolctl import threadpool_limits

from samekind.algorithms.focused import _kernels
from samekind.algorithms.focused import constants as const
from samekind.flow import FloatArray, IntArray
from samekind.points import Points

__all__ = ["nearest_neighbors"]


def nearest_neighbors(points: Points, rows: IntArray, k: int) -> tuple[FloatArray, IntArray]:
    """Return for each of some rows the distances to the nearest others, and which these are, (m, k) both.

    The latter are places in `rows`. Where rows are coordinates in a smaller space, the nearest ones there
    are ranked by the distances that they have with all columns.
    """
    X = points.rows(rows).astype(np.float64)
    is_reduced = points.reduced_from is not None and points.reduced_from[0].d > points.d
    n_found = min(k * const.CANDIDATES, rows.size - 1) if is_reduced else k
    search = _by_tree if points.d <= const.TREE_COLUMNS else _by_products
    distances, found = search(X, n_found)
    return _rank_by_all_columns(points, rows, found, k) if is_reduced else (distances, found)


def _by_tree(X: FloatArray, k: int) -> tuple[FloatArray, IntArray]:
    """Return the same by a tree, which looks at few rows of few columns."""
    distances, found = cKDTree(X).query(X, k + 1)
    own = found == np.arange(len(X))[:, None]
    own[~own.any(axis=1), -1] = True  # among rows that are all alike, a row may not find itself
    shape = len(X), k
    return distances[~own].reshape(shape), found[~own].reshape(shape)


def _by_products(X: FloatArray, k: int) -> tuple[FloatArray, IntArray]:
    """Return the same by all products of rows, some at a time."""
    n = len(X)
    squares = np.einsum("ij,ij->i", X, X)
    distances, found = np.empty((n, k)), np.empty((n, k), dtype=np.intp)
    step = max(1, const.PRODUCTS_AT_ONCE // n)
    with threadpool_limits(1):  # their last bits would depend on threads
        for start in range(0, n, step):
            products = X[start : start + step] @ X.T
            _kernels.nearest_by_products(products, squares, start, distances, found)
    return np.sqrt(distances), found


def _rank_by_all_columns(
    points: Points, rows: IntArray, candidates: IntArray, k: int
) -> tuple[FloatArray, IntArray]:
    X = _all_columns(points, rows)
    squares = np.empty(candidates.shape)
    _kernels.distances_to_candidates(X, candidates, squares)
    order = np.argsort(squares, axis=1, kind="stable")[:, :k]
    distances: FloatArray = np.sqrt(np.take_along_axis(squares, order, axis=1))
    return distances, np.take_along_axis(candidates, order, axis=1)


def _all_columns(points: Points, rows: IntArray) -> NDArray[np.float32]:
    """Return rows with all columns; from files, each part of them is read once."""
    parts = np.split(rows, range(const.FETCHED_ROWS, rows.size, const.FETCHED_ROWS))
    first = points.full_rows(parts[0]).astype(np.float32)
    X = np.empty((rows.size, first.shape[1]), dtype=np.float32)
    X[: len(first)] = first
    for number, part in enumerate(parts[1:], 1):
        start = number * const.FETCHED_ROWS
        X[start : start + part.size] = points.full_rows(part)
    return X
