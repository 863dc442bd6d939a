"""What the measures share: checked input, clusters as numbers, costs in bounded memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sized
from numbers import Real
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import cdist

from samekind._validation import refuse_dask, to_numpy

Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.intp]
Matrix: TypeAlias = NDArray[np.float32 | np.float64]

LARGEST = 1e140  # squares of larger coordinates, summed over a large data set, might overflow
CHUNK_ELEMENTS = 1 << 20
ROUNDING = 1e-9  # relative slack where two computations of one number are compared


class Grouping:
    """Labels as numbers from 0, and what is computed cluster by cluster."""

    def __init__(self, name: str, labels: ArrayLike) -> None:
        refuse_dask(name, labels)
        given = to_numpy(name, labels)
        if given.ndim != 1:
            raise ValueError(
                f"{name} must be one label for each point, of shape (n,), got shape {given.shape}."
            )
        try:
            found = np.unique(given, return_index=True, return_inverse=True)
        except TypeError as error:
            raise ValueError(
                f"{name} must be labels of one type, all texts or all numbers ({error})."
            ) from error
        self.names, self.first, self.number = found
        self.count = len(self.names)

    def find(self, parameter: str, labels: Iterable[object]) -> NDArray[np.intp]:
        """Return the number of each label."""
        numbers = {name: number for number, name in enumerate(self.names.tolist())}
        wanted = list(labels.tolist() if isinstance(labels, np.ndarray) else labels)
        for label in wanted:
            if label not in numbers:
                raise ValueError(f"{parameter} must name clusters that y has, got {label!r}.")
        return np.array([numbers[label] for label in wanted], dtype=np.intp)

    def centroids(self, points: Matrix) -> Floats:
        """Return the mean of each cluster, exact for copies of one point."""
        # Sums are taken from a member of the cluster, so that they stay small and exact.
        origin = points[self.first].astype(np.float64)
        total = np.zeros_like(origin)
        for rows in row_chunks(*points.shape):
            number = self.number[rows]
            shifted = points[rows] - origin[number]
            for j in range(points.shape[1]):
                total[:, j] += np.bincount(number, shifted[:, j], self.count)
        size = np.bincount(self.number, minlength=self.count)
        return np.asarray(origin + total / size[:, np.newaxis], dtype=np.float64)

    def costs(self, points: Matrix, centers: Floats) -> Floats:
        """Return Φ(X_i, c_i) for each cluster i."""
        total = np.zeros(self.count)
        for rows in row_chunks(*points.shape):
            number = self.number[rows]
            squared = ((points[rows] - centers[number]) ** 2).sum(axis=1)
            total += np.bincount(number, squared, self.count)
        return total


def nearest_costs(points: Matrix, centers: Matrix) -> Floats:
    """Return the squared distance of each point to its nearest centre."""
    costs = np.empty(len(points))
    for rows in row_chunks(len(points), max(len(centers), points.shape[1])):
        costs[rows] = cdist(points[rows], centers, "sqeuclidean").min(axis=1)
    return costs


def squared_diameter(points: Matrix) -> float:
    """Return the largest squared distance between two points, exactly.

    Two points at distances r and s from any one place are at most r + s apart. With the points
    sorted by that distance, those that cannot beat the best pair so far are a tail to skip.
    """
    X = np.asarray(points, dtype=np.float64)
    radius = np.sqrt(nearest_costs(X, X.mean(axis=0)[np.newaxis]))
    order = np.argsort(-radius, kind="stable")
    X, radius = X[order], radius[order] * (1 + ROUNDING)
    farthest = X[nearest_costs(X, X[:1]).argmax()]
    best = float(nearest_costs(X, farthest[np.newaxis]).max())
    start = 0
    while start < len(X) and 2 * radius[start] > np.sqrt(best):
        rivals = int(np.searchsorted(-radius, radius[start] - np.sqrt(best)))
        stop = start + max(1, CHUNK_ELEMENTS // max(1, rivals - start))
        if rivals > start:
            best = max(best, float(cdist(X[start:stop], X[start:rivals], "sqeuclidean").max()))
        start = stop
    return best


def row_chunks(n_rows: int, width: int) -> Iterator[slice]:
    """Yield slices of rows that hold about a million numbers each."""
    step = max(1, CHUNK_ELEMENTS // max(1, width))
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))


def check_bound(name: str, value: object) -> float:
    """Return value as a float of at least 0."""
    if isinstance(value, bool) or not isinstance(value, Real) or not float(value) >= 0:
        raise ValueError(f"{name} must be a number of at least 0, got {value!r}.")
    return float(value)


def check_points(name: str, points: ArrayLike) -> Matrix:
    """Return points as a matrix of finite float32 or float64."""
    refuse_dask(name, points)
    array = to_numpy(name, points)
    if array.shape == (0,):
        return np.zeros((0, 0))
    if array.dtype.kind not in "fiub" or array.ndim != 2:
        raise ValueError(
            f"{name} must be numbers of shape (n, d), got shape {array.shape} of {array.dtype}."
        )
    if array.dtype not in (np.float32, np.float64):
        array = array.astype(np.float64)
    # One comparison refuses NaN too.
    if array.size and not (-LARGEST <= float(array.min()) <= float(array.max()) <= LARGEST):
        raise ValueError(
            f"{name} must be finite numbers up to {LARGEST:g}, got a value that is NaN, infinite "
            "or too large to be squared. Remove it or rescale."
        )
    return array


def check_clusters(X: ArrayLike, y: ArrayLike) -> tuple[Matrix, Grouping]:
    """Return points and their clusters, equally many."""
    points = check_points("X", X)
    clusters = Grouping("y", y)
    check_same_length("X", points, "y", clusters.number)
    return points, clusters


def check_same_length(name: str, a: Sized, other: str, b: Sized) -> None:
    """Refuse arrays of different lengths."""
    if len(a) != len(b):
        raise ValueError(f"{name} and {other} must be equally many, got {len(a)} and {len(b)}.")


def check_centers(centers: ArrayLike, points: Matrix) -> Matrix:
    """Return centres as a matrix, with as many columns as the points if there are any of both."""
    C = check_points("centers", centers)
    if len(C) and len(points) and C.shape[1] != points.shape[1]:
        raise ValueError(
            f"centers must have as many columns as X, got {C.shape[1]} and {points.shape[1]}."
        )
    return C
