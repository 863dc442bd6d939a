"""How far every row is from every cluster."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from samekind.algorithms.focused import _kernels
from samekind.flow import FloatArray, IntArray

__all__ = ["ClusterDistances"]


class ClusterDistances:
    """Squared distances of all rows to the nearest member of each cluster, kept up to date with each member.

    A column of its own for each cluster, in single precision: rows times clusters is what takes most memory.
    """

    def __init__(self, X: NDArray[np.floating]) -> None:
        self._X = X
        self._columns: list[NDArray[np.float32]] = []

    def add(self, x: FloatArray, cluster: int) -> None:
        """Add a member x to a cluster."""
        while cluster >= len(self._columns):
            self._columns.append(_far(len(self._X)))
        _kernels.lower_distances(self._X, x, self._columns[cluster])

    def reset(self, cluster: int, members: Iterable[int]) -> None:
        """Make these rows the only members of a cluster."""
        self._columns[cluster][:] = np.inf
        for member in members:
            self.add(self._row(member), cluster)

    def add_row(self, row: int, cluster: int) -> None:
        """Add a row to a cluster."""
        self.add(self._row(row), cluster)

    def remove(self, rows: list[int], cluster: int, members: Iterable[int]) -> None:
        """Take rows out of a cluster that has these members left."""
        distances, from_them = self._columns[cluster], _far(len(self._X))
        for row in rows:
            _kernels.lower_distances(self._X, self._row(row), from_them)
        nearest = np.flatnonzero(from_them <= distances)  # one of them was
        found, near = _far(nearest.size), np.ascontiguousarray(self._X[nearest])
        for member in members:
            _kernels.lower_distances(near, self._row(member), found)
        distances[nearest] = found

    def merge(self, keep: int, gone: int) -> None:
        """Make one cluster part of another."""
        np.minimum(self._columns[keep], self._columns[gone], out=self._columns[keep])
        self._columns[gone][:] = np.inf

    def of(self, rows: IntArray, n_clusters: int) -> FloatArray:
        """Return those of some rows to the first clusters, (rows, clusters)."""
        found = np.full((rows.size, n_clusters), np.inf)
        for cluster, column in enumerate(self._columns[:n_clusters]):
            found[:, cluster] = column[rows]
        return found

    def _row(self, row: int) -> FloatArray:
        x: FloatArray = self._X[row].astype(np.float64)
        return x


def _far(n: int) -> NDArray[np.float32]:
    return np.full(n, np.inf, dtype=np.float32)
