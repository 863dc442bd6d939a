"""The true clusters, which centres and labels are held against."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from samekind.measures._grouped import ROUNDING, check_clusters

__all__ = ["Truth"]


class Truth:
    """The true cluster of every row, as a number; centroids and costs are computed once.

    Examples
    --------
    >>> truth = Truth([[0.0], [2.0], [7.0], [9.0]], ["a", "a", "b", "b"])
    >>> truth.errors([[8.0], [1.5]], [1, 0])
    array([0.  , 0.25])
    """

    def __init__(self, X: ArrayLike, y: ArrayLike) -> None:
        points, clusters = check_clusters(X, y)
        self.codes: NDArray[np.intp] = clusters.number
        self.count = clusters.count
        self.sizes: NDArray[Any] = np.bincount(clusters.number, minlength=clusters.count)
        self._centroids = clusters.centroids(points)
        self._costs = clusters.costs(points, self._centroids)

    def errors(self, centers: ArrayLike, codes: ArrayLike) -> NDArray[np.float64]:
        """Return the error of each centre of a true cluster, as `measures.centroid_errors` does."""
        chosen = np.asarray(codes, dtype=np.intp)
        true = self._centroids[chosen]
        missed = ((np.asarray(centers).reshape(true.shape) - true) ** 2).sum(axis=1)
        at_rest = missed <= (ROUNDING * np.abs(true).max(axis=1, initial=0.0)) ** 2
        spread = self._costs[chosen]
        one_place = spread == 0.0
        errors = self.sizes[chosen] * missed / np.where(one_place, 1.0, spread)
        return np.where(one_place, np.where(at_rest, 0.0, np.inf), errors)
