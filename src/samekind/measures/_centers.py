"""How far centres are from the centroids of the true clusters."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from samekind.measures._grouped import (
    ROUNDING,
    Floats,
    check_bound,
    check_centers,
    check_clusters,
    check_points,
    check_same_length,
)

__all__ = ["centroid_error", "centroid_errors", "recovery_count"]


def centroid_error(X: ArrayLike, center: ArrayLike) -> float:
    """Return by how much a centre covers a cluster worse than the cluster's centroid does.

    That is (Φ(X, c) - Φ(X, μ)) / Φ(X, μ), the paper's error of a centre c, computed as
    ``|X|·‖c - μ‖² / Φ(X, μ)``, which is the same but does not subtract nearly equal numbers.

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
    points = check_points("X", X)
    if len(points) == 0:
        raise ValueError("X must hold at least one point: no points have no centroid.")
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

    Examples
    --------
    >>> from samekind.measures import centroid_errors
    >>> X, y = [[0.0], [2.0], [7.0], [9.0]], ["a", "a", "b", "b"]
    >>> centroid_errors(X, y, centers=[[8.0], [1.5]], labels=["b", "a"])
    array([0.  , 0.25])
    """
    points, clusters = check_clusters(X, y)
    C = check_centers(centers, points)
    chosen = clusters.find("labels", np.asarray(labels))
    check_same_length("centers", C, "labels", chosen)
    if len(C) == 0:
        return np.zeros(0)
    centroids = clusters.centroids(points)
    spread = clusters.costs(points, centroids)[chosen]
    missed = ((C - centroids[chosen]) ** 2).sum(axis=1)
    size = np.bincount(clusters.number, minlength=clusters.count)[chosen]
    magnitude = np.abs(centroids[chosen]).max(axis=1)
    at_rest = missed <= (ROUNDING * magnitude) ** 2
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
    X, y, centers, labels
        As for :func:`centroid_errors`; several centres may stand for one cluster.
    tolerance : float, default=0.1
        The largest :func:`centroid_error` that counts as recovered.

    Examples
    --------
    >>> from samekind.measures import recovery_count
    >>> X, y = [[0.0], [2.0], [7.0], [9.0]], ["a", "a", "b", "b"]
    >>> recovery_count(X, y, centers=[[8.0], [8.1], [1.5]], labels=["b", "b", "a"])
    1
    """
    tolerance = check_bound("tolerance", tolerance)
    good = centroid_errors(X, y, centers, labels) <= tolerance
    return len(np.unique(np.asarray(labels)[good]))
