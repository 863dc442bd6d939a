"""A data set with its true clusters."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment

from samekind import Clusters, LabelOracle
from samekind.measures import adjusted_rand_index
from samekind.points import ArrayPoints

ROUNDING = 1e-9  # relative: a centre that is no farther from its cluster's one place lies on it


class Instance:
    """A data set in memory, shared by the algorithms that run on it.

    Attributes
    ----------
    codes : (n,) array
        The true cluster of every row, numbered from 0.
    sizes : (k,) array
        Rows of each true cluster.

    Examples
    --------
    >>> data = Instance(np.array([[0.0], [2.0], [7.0], [9.0]]), np.array(["a", "a", "b", "b"]))
    >>> data.centroid_errors([[8.0], [1.5]], [1, 0])
    array([0.  , 0.25])
    """

    def __init__(self, X: NDArray[Any], y: NDArray[Any]) -> None:
        self.X, self.y = X, y
        self.points = ArrayPoints(X, threads=1)
        self.oracle = LabelOracle(y)
        _, self._first, codes = np.unique(y, return_index=True, return_inverse=True)
        self.codes: NDArray[np.intp] = codes
        self.sizes = np.bincount(self.codes)

    @property
    def n_clusters(self) -> int:
        """How many true clusters there are."""
        return len(self.sizes)

    def centroid_errors(self, centers: ArrayLike, codes: ArrayLike) -> NDArray[np.float64]:
        """Return the error of each centre of a true cluster, as `samekind.measures.centroid_errors` does.

        That computes all centroids at every call; here they are computed once.
        """
        chosen = np.asarray(codes, dtype=np.intp)
        centroids, costs = self._centroids_and_costs
        true, cost = centroids[chosen], costs[chosen]
        missed = ((np.asarray(centers).reshape(true.shape) - true) ** 2).sum(axis=1)
        at_rest = missed <= (ROUNDING * np.abs(true).max(axis=1, initial=0.0)) ** 2
        in_one_place = cost == 0.0
        errors = self.sizes[chosen] * missed / np.where(in_one_place, 1.0, cost)
        return np.where(in_one_place, np.where(at_rest, 0.0, np.inf), errors)

    @cached_property
    def _centroids_and_costs(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        # Sums are taken from a member of the cluster, column by column: exact for copies of one row, and
        # without a second copy of the data.
        centroids = self.X[self._first].astype(np.float64)
        costs = np.zeros(self.n_clusters)
        for j, column in enumerate(self.X.T):
            origin = centroids[:, j].copy()
            centroids[:, j] += np.bincount(self.codes, column - origin[self.codes]) / self.sizes
            costs += np.bincount(self.codes, (column - centroids[self.codes, j]) ** 2)
        return centroids, costs

    def true_clusters(self, clusters: Clusters) -> NDArray[np.intp]:
        """Return of which true cluster the first member of each cluster is."""
        return self.codes[np.array([members[0] for members in clusters.members_], dtype=np.intp)]

    def matched_accuracy(self, labels: ArrayLike) -> float:
        """Return the share of rows that are right when labels and clusters are matched one to one."""
        _, given = np.unique(np.asarray(labels), return_inverse=True)
        shared = np.zeros((self.n_clusters, given.max() + 1))
        np.add.at(shared, (self.codes, given), 1)
        return round(float(shared[linear_sum_assignment(-shared)].sum()) / len(given), 6)

    def agreement(self, labels: ArrayLike, rows: NDArray[np.intp] | None = None) -> float:
        """Return the adjusted Rand index of labels, of all rows or of some."""
        given, chosen = np.asarray(labels), slice(None) if rows is None else rows
        return round(adjusted_rand_index(self.codes[chosen], given[chosen]), 6)
