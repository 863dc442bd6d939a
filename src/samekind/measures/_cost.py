"""The paper's cost Φ and ε-reducibility (Definitions 1 and 2)."""

from __future__ import annotations

from collections.abc import Collection, Set

import numpy as np
from numpy.typing import ArrayLike

from samekind.measures._grouped import (
    Matrix,
    check_bound,
    check_centers,
    check_clusters,
    check_points,
    check_same_length,
    nearest_costs,
    squared_diameter,
)

__all__ = ["cost", "is_reducible", "reducibility"]


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
    points = check_points("X", X)
    C = check_centers(centers, points)
    if len(points) == 0:
        return 0.0
    if len(C) == 0:
        return len(points) * squared_diameter(points)
    return float(nearest_costs(points, C).sum())


def reducibility(
    X: ArrayLike, y: ArrayLike, recovered: Collection[object], centers: ArrayLike | None = None
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
    points, clusters = check_clusters(X, y)
    chosen = clusters.find("recovered", recovered)
    if len(np.unique(chosen)) < len(chosen):
        raise ValueError(f"recovered must name every cluster once, got {recovered!r}.")
    if centers is None:
        C: Matrix = clusters.centroids(points)[chosen]
    else:
        if isinstance(recovered, Set):
            raise ValueError(f"recovered must have an order when centers has, got {recovered!r}.")
        C = check_centers(centers, points)
        check_same_length("centers", C, "recovered", chosen)
    is_recovered = np.zeros(clusters.count, dtype=bool)
    is_recovered[chosen] = True
    others = np.flatnonzero(~is_recovered)
    if len(others) == 0:
        return 0.0

    if len(chosen) == 0:
        covered_at = 0.0
        worst = max(
            (members := points[clusters.number == other]).shape[0] * squared_diameter(members)
            for other in others
        )
    else:
        own = np.zeros((clusters.count, points.shape[1]))
        own[chosen] = C
        inside = is_recovered[clusters.number]
        covered_at = float(clusters.costs(points, own)[chosen].sum())
        outside_cost = nearest_costs(points[~inside], C)
        worst = float(np.bincount(clusters.number[~inside], weights=outside_cost).max())
    if worst == 0.0:
        return 0.0
    return worst / covered_at if covered_at > 0.0 else float("inf")


def is_reducible(
    X: ArrayLike,
    y: ArrayLike,
    recovered: Collection[object],
    epsilon: float,
    centers: ArrayLike | None = None,
) -> bool:
    """Tell whether the clusters are ε-reducible with respect to the recovered ones.

    That is, whether Φ(X_l, {μ_i : i in I}) ≤ ε·Σ Φ(X_i, μ_i) for every l not in I. With none recovered
    it is not, unless every cluster consists of copies of one point.

    Parameters
    ----------
    X, y, recovered, centers
        As for :func:`reducibility`.
    epsilon : float
        The paper's ε, at least 0.

    Examples
    --------
    >>> from samekind.measures import is_reducible
    >>> X, y = [[0.0], [2.0], [10.0], [12.0], [1.5]], ["a", "a", "b", "b", "c"]
    >>> is_reducible(X, y, recovered=["a", "b"], epsilon=0.1)
    True
    >>> is_reducible(X, y, recovered=["a"], epsilon=0.1)
    False
    """
    epsilon = check_bound("epsilon", epsilon)
    return reducibility(X, y, recovered, centers) <= epsilon
