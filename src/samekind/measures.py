"""How good a clustering is: the paper's cost and reducibility, errors of centres, agreement.

Distances are sums of squared differences in float64, never expanded into dot products, which lose
all digits where points lie far from the origin and close together.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Set
from numbers import Real
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import cdist

__all__ = [
    "adjusted_rand_index",
    "centroid_error",
    "centroid_errors",
    "cost",
    "is_reducible",
    "recovery_count",
    "reducibility",
]

Floats: TypeAlias = NDArray[np.float64]

_LARGEST = 1e140  # squares of larger coordinates, summed over a large data set, might overflow
_CHUNK_ELEMENTS = 1 << 20
_ROUNDING = 1e-9  # relative slack where two computations of one number are compared


def cost(X: ArrayLike, centers: ArrayLike) -> float:
    """Return Φ(X, C): the sum over the points of the squared distance to the nearest centre.

    Without centres it is, by the paper's Definition 1, the number of points times the largest
    squared distance between two of them.

    Parameters
    ----------
    X : array-like of shape (n, d)
        The points. The cost of no points is 0.
    centers : array-like of shape (k, d)
        The centres; ``[]`` for none.

    Returns
    -------
    cost : float
        Φ(X, C).

    Notes
    -----
    Without centres the result is exact and takes O(n²·d) time at worst. Pairs that a bound excludes
    are skipped, which in few dimensions leaves little to do; in many it helps less.

    Examples
    --------
    >>> from samekind.measures import cost
    >>> cost([[0.0], [1.0], [4.0]], centers=[[0.0], [5.0]])
    2.0
    >>> cost([[0.0], [1.0], [4.0]], centers=[])
    48.0
    """
    points = _check_points("X", X)
    C = _check_points("centers", centers)
    if len(points) == 0:
        return 0.0
    if len(C) == 0:
        return len(points) * _squared_diameter(points)
    _check_same_width(points, C, "centers")
    return float(_nearest_costs(points, C).sum())


def reducibility(
    X: ArrayLike, y: ArrayLike, recovered: Collection[Any], centers: ArrayLike | None = None
) -> float:
    """Return the smallest ε for which the clusters are ε-reducible to the recovered ones.

    That is, the largest cost Φ(X_l, {μ_i : i in I}) of a cluster l that was not recovered, divided
    by the total cost Σ Φ(X_i, μ_i) of the recovered ones (the paper's Definition 2).

    Parameters
    ----------
    X : array-like of shape (n, d)
        The points.
    y : array-like of shape (n,)
        The true cluster of each point.
    recovered : collection of labels
        The clusters that were recovered, the paper's I.
    centers : array-like of shape (len(recovered), d), default=None
        The centres to use for μ_i on both sides, in the order of `recovered`. By default the true
        centroids, as in the definition.

    Returns
    -------
    epsilon : float
        0.0 if every cluster was recovered (or costs nothing); ``inf`` if nothing that was recovered
        has any cost but something else has, as when nothing was recovered.

    Examples
    --------
    >>> from samekind.measures import reducibility
    >>> X = [[0.0], [2.0], [10.0], [12.0], [1.5]]
    >>> y = ["a", "a", "b", "b", "c"]
    >>> reducibility(X, y, recovered={"a", "b"})  # 0.5² over 2 + 2
    0.0625
    >>> reducibility(X, y, recovered=["a"])  # 9² + 11² over 2
    101.0
    """
    points, clusters = _check_clusters(X, y)
    chosen = clusters.find("recovered", recovered)
    if len(np.unique(chosen)) < len(chosen):
        raise ValueError(f"recovered must name every cluster once, got {recovered!r}.")
    if centers is None:
        C = clusters.centroids(points)[chosen]
    else:
        if isinstance(recovered, Set):
            raise ValueError(f"recovered must have an order when centers has, got {recovered!r}.")
        C = _check_points("centers", centers)
        _check_same_length("centers", C, "recovered", chosen)
        if len(C):
            _check_same_width(points, C, "centers")
    is_recovered = np.zeros(clusters.count, dtype=bool)
    is_recovered[chosen] = True
    others = np.flatnonzero(~is_recovered)
    if len(others) == 0:
        return 0.0

    if len(chosen) == 0:
        covered_at = 0.0
        worst = max(
            (members := points[clusters.number == other]).shape[0] * _squared_diameter(members)
            for other in others
        )
    else:
        own = np.zeros((clusters.count, points.shape[1]))
        own[chosen] = C
        inside = is_recovered[clusters.number]
        covered_at = float(clusters.costs(points, own)[chosen].sum())
        outside_cost = _nearest_costs(points[~inside], C)
        worst = float(np.bincount(clusters.number[~inside], weights=outside_cost).max())
    if worst == 0.0:
        return 0.0
    return worst / covered_at if covered_at > 0.0 else float("inf")


def is_reducible(
    X: ArrayLike,
    y: ArrayLike,
    recovered: Collection[Any],
    epsilon: float,
    centers: ArrayLike | None = None,
) -> bool:
    """Tell whether the clusters are ε-reducible with respect to the recovered ones.

    Parameters
    ----------
    X : array-like of shape (n, d)
        The points.
    y : array-like of shape (n,)
        The true cluster of each point.
    recovered : collection of labels
        The clusters that were recovered, the paper's I. With none, the answer is no, unless every
        cluster consists of copies of one point.
    epsilon : float
        The paper's ε, at least 0.
    centers : array-like of shape (len(recovered), d), default=None
        Centres to use instead of the true centroids; see :func:`reducibility`.

    Returns
    -------
    reducible : bool
        Whether Φ(X_l, {μ_i : i in I}) ≤ ε·Σ Φ(X_i, μ_i) for every l not in I.

    Examples
    --------
    >>> from samekind.measures import is_reducible
    >>> X, y = [[0.0], [2.0], [10.0], [12.0], [1.5]], ["a", "a", "b", "b", "c"]
    >>> is_reducible(X, y, recovered=["a", "b"], epsilon=0.1)
    True
    >>> is_reducible(X, y, recovered=["a"], epsilon=0.1)
    False
    """
    epsilon = _check_bound("epsilon", epsilon)
    return reducibility(X, y, recovered, centers) <= epsilon


def centroid_error(X: ArrayLike, center: ArrayLike) -> float:
    """Return by how much a centre covers a cluster worse than the cluster's centroid does.

    That is (Φ(X, c) - Φ(X, μ)) / Φ(X, μ), the paper's error of a centre c, computed as
    |X|·‖c - μ‖² / Φ(X, μ), which is the same but does not subtract nearly equal numbers.

    Parameters
    ----------
    X : array-like of shape (n, d)
        All points of one cluster, at least one.
    center : array-like of shape (d,)
        The centre.

    Returns
    -------
    error : float
        0.0 for the centroid itself. For a cluster of copies of one point, 0.0 if the centre is
        that point up to rounding, otherwise ``inf``.

    Examples
    --------
    >>> from samekind.measures import centroid_error
    >>> centroid_error([[0.0], [2.0]], center=[1.5])  # Φ is 2.5 instead of 2
    0.25
    """
    c = np.asarray(center)
    if c.ndim != 1:
        raise ValueError(f"center must be one point of shape (d,), got shape {c.shape}.")
    points = _check_points("X", X)
    if len(points) == 0:
        raise ValueError(
            "X must hold at least one point: a cluster without points has no centroid."
        )
    errors = centroid_errors(points, np.zeros(len(points), dtype=np.intp), c[np.newaxis], [0])
    return float(errors[0])


def centroid_errors(X: ArrayLike, y: ArrayLike, centers: ArrayLike, labels: ArrayLike) -> Floats:
    """Return the error of each centre; see :func:`centroid_error`.

    Parameters
    ----------
    X : array-like of shape (n, d)
        The points.
    y : array-like of shape (n,)
        The true cluster of each point.
    centers : array-like of shape (k, d)
        The centres.
    labels : array-like of shape (k,)
        The true cluster that each centre stands for.

    Returns
    -------
    errors : ndarray of shape (k,)
        The error of each centre.

    Examples
    --------
    >>> from samekind.measures import centroid_errors
    >>> X, y = [[0.0], [2.0], [7.0], [9.0]], ["a", "a", "b", "b"]
    >>> centroid_errors(X, y, centers=[[8.0], [1.5]], labels=["b", "a"])
    array([0.  , 0.25])
    """
    points, clusters = _check_clusters(X, y)
    C = _check_points("centers", centers)
    chosen = clusters.find("labels", np.asarray(labels))
    _check_same_length("centers", C, "labels", chosen)
    if len(C) == 0:
        return np.zeros(0)
    _check_same_width(points, C, "centers")
    centroids = clusters.centroids(points)
    spread = clusters.costs(points, centroids)[chosen]
    missed = ((C - centroids[chosen]) ** 2).sum(axis=1)
    size = np.bincount(clusters.number, minlength=clusters.count)[chosen]
    magnitude = np.abs(centroids[chosen]).max(axis=1)
    at_rest = missed <= (_ROUNDING * magnitude) ** 2
    one_place = spread == 0.0
    with np.errstate(over="ignore"):
        errors = size * missed / np.where(one_place, 1.0, spread)
    errors[one_place] = np.where(at_rest[one_place], 0.0, np.inf)
    return np.asarray(errors, dtype=np.float64)


def recovery_count(
    X: ArrayLike, y: ArrayLike, centers: ArrayLike, labels: ArrayLike, tolerance: float = 0.1
) -> int:
    """Count the true clusters that have a centre whose error is at most `tolerance`.

    Parameters
    ----------
    X : array-like of shape (n, d)
        The points.
    y : array-like of shape (n,)
        The true cluster of each point.
    centers : array-like of shape (k, d)
        The centres.
    labels : array-like of shape (k,)
        The true cluster that each centre stands for; several may stand for one.
    tolerance : float, default=0.1
        The largest :func:`centroid_error` that counts as recovered.

    Returns
    -------
    count : int
        The number of clusters.

    Examples
    --------
    >>> from samekind.measures import recovery_count
    >>> X, y = [[0.0], [2.0], [7.0], [9.0]], ["a", "a", "b", "b"]
    >>> recovery_count(X, y, centers=[[8.0], [8.1], [1.5]], labels=["b", "b", "a"])
    1
    """
    tolerance = _check_bound("tolerance", tolerance)
    good = centroid_errors(X, y, centers, labels) <= tolerance
    return len(np.unique(np.asarray(labels)[good]))


def adjusted_rand_index(labels_true: ArrayLike, labels_pred: ArrayLike) -> float:
    """Return how well two clusterings agree: 1 if entirely, about 0 if no more than by chance.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n,)
        The cluster of each point in either clustering; the names do not matter.

    Returns
    -------
    index : float
        The adjusted Rand index, as scikit-learn computes it.

    Examples
    --------
    >>> from samekind.measures import adjusted_rand_index
    >>> adjusted_rand_index([0, 0, 1, 1], ["b", "b", "a", "a"])
    1.0
    """
    from sklearn.metrics import adjusted_rand_score

    true, pred = _Clusters("labels_true", labels_true), _Clusters("labels_pred", labels_pred)
    _check_same_length("labels_true", true.number, "labels_pred", pred.number)
    return float(adjusted_rand_score(true.number, pred.number))


class _Clusters:
    """Labels as numbers from 0, and what is computed cluster by cluster."""

    def __init__(self, name: str, labels: ArrayLike) -> None:
        given = np.asarray(labels)
        if given.ndim != 1:
            raise ValueError(
                f"{name} must be one label for each point, of shape (n,), got shape {given.shape}."
            )
        try:
            self.names, self.first, number = np.unique(
                given, return_index=True, return_inverse=True
            )
        except TypeError as error:
            raise ValueError(
                f"{name} must be labels of one type, all texts or all numbers ({error})."
            ) from error
        self.number: NDArray[np.intp] = number
        self.count = len(self.names)

    def find(self, parameter: str, labels: Any) -> NDArray[np.intp]:
        """Return the number of each label."""
        numbers = {name: number for number, name in enumerate(self.names.tolist())}
        wanted = list(labels.tolist() if isinstance(labels, np.ndarray) else labels)
        for label in wanted:
            if label not in numbers:
                raise ValueError(f"{parameter} must name clusters that y has, got {label!r}.")
        return np.array([numbers[label] for label in wanted], dtype=np.intp)

    def centroids(self, points: NDArray[Any]) -> Floats:
        """Return the mean of each cluster, exact for copies of one point."""
        # Sums are taken from a member of the cluster, so that they stay small and exact.
        origin = points[self.first].astype(np.float64)
        total = np.zeros_like(origin)
        for rows in _row_chunks(*points.shape):
            number = self.number[rows]
            shifted = points[rows] - origin[number]
            for j in range(points.shape[1]):
                total[:, j] += np.bincount(number, shifted[:, j], self.count)
        size = np.bincount(self.number, minlength=self.count)
        return np.asarray(origin + total / size[:, np.newaxis], dtype=np.float64)

    def costs(self, points: NDArray[Any], centers: Floats) -> Floats:
        """Return Φ(X_i, c_i) for each cluster i."""
        total = np.zeros(self.count)
        for rows in _row_chunks(*points.shape):
            number = self.number[rows]
            squared = ((points[rows] - centers[number]) ** 2).sum(axis=1)
            total += np.bincount(number, squared, self.count)
        return total


def _nearest_costs(points: NDArray[Any], centers: Floats) -> Floats:
    """Return the squared distance of each point to its nearest centre."""
    costs = np.empty(len(points))
    for rows in _row_chunks(len(points), max(len(centers), points.shape[1])):
        costs[rows] = cdist(points[rows], centers, "sqeuclidean").min(axis=1)
    return costs


def _squared_diameter(points: NDArray[Any]) -> float:
    """Return the largest squared distance between two points, exactly.

    Two points at distances r and s from any one place are at most r + s apart. With the points
    sorted by that distance, those that cannot beat the best pair so far are a tail to skip.
    """
    X = np.asarray(points, dtype=np.float64)
    radius = np.sqrt(_nearest_costs(X, X.mean(axis=0)[np.newaxis]))
    order = np.argsort(-radius, kind="stable")
    X, radius = X[order], radius[order] * (1 + _ROUNDING)
    farthest = X[_nearest_costs(X, X[:1]).argmax()]
    best = float(_nearest_costs(X, farthest[np.newaxis]).max())
    start = 0
    while start < len(X) and 2 * radius[start] > np.sqrt(best):
        rivals = int(np.searchsorted(-radius, radius[start] - np.sqrt(best)))
        stop = start + max(1, _CHUNK_ELEMENTS // max(1, rivals - start))
        if rivals > start:
            best = max(best, float(cdist(X[start:stop], X[start:rivals], "sqeuclidean").max()))
        start = stop
    return best


def _row_chunks(n_rows: int, width: int) -> Iterator[slice]:
    step = max(1, _CHUNK_ELEMENTS // max(1, width))
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))


def _check_bound(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, Real) or not float(value) >= 0:
        raise ValueError(f"{name} must be a number of at least 0, got {value!r}.")
    return float(value)


def _check_points(name: str, points: ArrayLike) -> NDArray[Any]:
    array = np.asarray(points)
    if array.shape == (0,):
        return np.zeros((0, 0))
    if array.dtype.kind not in "fiub" or array.ndim != 2:
        raise ValueError(
            f"{name} must be numbers of shape (n, d), got shape {array.shape} of {array.dtype}."
        )
    if array.dtype not in (np.float32, np.float64):
        array = array.astype(np.float64)
    # One comparison refuses NaN too.
    if array.size and not (-_LARGEST <= float(array.min()) <= float(array.max()) <= _LARGEST):
        raise ValueError(
            f"{name} must be finite numbers up to {_LARGEST:g}, got a value that is NaN, infinite "
            "or too large to be squared. Remove it or rescale."
        )
    return array


def _check_clusters(X: ArrayLike, y: ArrayLike) -> tuple[NDArray[Any], _Clusters]:
    points = _check_points("X", X)
    clusters = _Clusters("y", y)
    _check_same_length("X", points, "y", clusters.number)
    return points, clusters


def _check_same_length(name: str, a: NDArray[Any], other: str, b: NDArray[Any]) -> None:
    if len(a) != len(b):
        raise ValueError(f"{name} and {other} must be equally many, got {len(a)} and {len(b)}.")


def _check_same_width(points: NDArray[Any], centers: NDArray[Any], name: str) -> None:
    if points.shape[1] != centers.shape[1]:
        raise ValueError(
            f"{name} must have as many columns as X, got {centers.shape[1]} and {points.shape[1]}."
        )
