"""Label propagation over a graph of nearest neighbours, kept up to date label by label."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from sklearn.neighbors import NearestNeighbors
from threadpoolctl import threadpool_limits

from samekind.algorithms.focused import _kernels
from samekind.algorithms.focused import constants as const

__all__ = ["LabelPropagation"]


class LabelPropagation:
    """For every row the cluster of the labelled row that a random walk from it meets first.

    The walk is on the graph of nearest neighbours, and ends with a probability of 1 % at each step without
    meeting any. The probabilities of the clusters follow each new label, visiting only rows that it changes.
    """

    def __init__(self, X: NDArray[np.float64]) -> None:
        n = len(X)
        k = min(const.N_NEIGHBORS, n - 1)
        nearest = NearestNeighbors(n_neighbors=k + 1).fit(X)
        with threadpool_limits(1):  # which of equally near rows are taken would depend on threads
            distances, neighbors = nearest.kneighbors(X)
        distances, neighbors = distances[:, 1:], neighbors[:, 1:]
        widths = distances[:, -1]
        products = widths[:, None] * widths[neighbors]
        affinity = np.exp(-np.divide(distances**2, products, where=products > 0, out=0 * products))
        one_way = coo_array(
            (affinity.ravel(), (np.repeat(np.arange(n), k), neighbors.ravel())), shape=(n, n)
        ).tocsr()
        graph = one_way.maximum(one_way.T).tocsr()
        graph.setdiag(0.0)
        graph.eliminate_zeros()
        total = np.asarray(graph.sum(axis=1)).ravel()
        steps = const.WALK_ON / np.where(total > 0, total, 1.0)
        self._first = graph.indptr.astype(np.int64)
        self._to = graph.indices.astype(np.int64)
        self._step = (graph.data * np.repeat(steps, np.diff(graph.indptr))).astype(np.float32)
        self._known = np.zeros(n, dtype=bool)
        self._waiting = np.zeros(n, dtype=bool)
        self._queue = np.empty(n, dtype=np.int64)
        self._probabilities = np.zeros((n, 16), dtype=np.float32)

    def probabilities(self, n_clusters: int) -> NDArray[np.float32]:
        """Return for every row the probability of each cluster, (n, clusters); the rest to 1 is for none."""
        while n_clusters > self._probabilities.shape[1]:
            self._probabilities = np.hstack(
                [self._probabilities, np.zeros_like(self._probabilities)]
            )
        return self._probabilities[:, :n_clusters]

    def learn(self, row: int, cluster: int) -> None:
        """Label a row."""
        self.probabilities(cluster + 1)
        self._known[row] = True
        self._probabilities[row] = 0.0
        self._probabilities[row, cluster] = 1.0
        _kernels.propagate(
            self._first,
            self._to,
            self._step,
            self._known,
            self._probabilities,
            row,
            self._waiting,
            self._queue,
            const.PROPAGATION_TOLERANCE,
            const.PROPAGATION_VISITS,
        )

    def merge(self, keep: int, gone: int) -> None:
        """Make one cluster part of another."""
        self.probabilities(max(keep, gone) + 1)
        self._probabilities[:, keep] += self._probabilities[:, gone]
        self._probabilities[:, gone] = 0.0

    def smooth(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the mean of each row's value and its neighbours'."""
        out = np.empty_like(values)
        _kernels.neighbor_means(self._first, self._to, self._step, const.WALK_ON, values, out)
        return out
