"""The data as algorithms see them: n rows of d numbers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator

import numpy as np

from samekind.points.arrays import Floats, Matrix, Rows
from samekind.points.calls import call
from samekind.points.executor import Executor, rows_by_partition
from samekind.points.labels import LabelMap, RowLabels
from samekind.points.moments import GroupMoments
from samekind.points.partition import Partition
from samekind.points.sampler import Sampler
from samekind.points.space import WorkingSpace
from samekind.points.voronoi import VoronoiCells

__all__ = ["Points"]

BLOCK_ROWS = 2**16  # small enough to stay in cache between two uses, large enough for two threads


class Points(ABC):
    """n rows of d finite numbers, in this process, in files or on a Dask cluster.

    What an algorithm draws and measures is the same wherever the rows are, bit for bit.
    """

    n: int
    d: int
    dtype: np.dtype[np.floating]
    """Of the numbers as they are kept: float32 or float64."""
    is_remote = False
    """Whether the rows are in other processes."""
    threads = 1
    """Threads for passes over all rows in this process. Results do not depend on it."""
    reduced_from: tuple[Points, WorkingSpace] | None = None
    """Of coordinates in a space: the rows as they were given, and the space."""

    @property
    @abstractmethod
    def executor(self) -> Executor:
        """Runs what is to be done with the partitions of the rows, where they are."""

    def rows(self, index: Rows) -> Floats:
        """Return the rows with these numbers, (m, d)."""
        cache = self.executor.cache
        return self.fetch(index) if cache is None else cache.rows(np.asarray(index), self.fetch)

    @abstractmethod
    def fingerprint(self) -> str:
        """Return a text that changes when the data change."""

    def row(self, row: int) -> Floats:
        """Return one row, (d,)."""
        x: Floats = self.rows(np.array([row]))[0]
        return x

    def fetch(self, index: Rows) -> Floats:
        """Return the rows with these numbers, (m, d), from the partitions that hold them."""
        places = rows_by_partition(index, self.executor.first_rows)
        found = self.executor.run(
            {part: call(Partition.rows, local) for part, (_, local) in places.items()}
        )
        X = np.empty((index.size, self.d))
        for part, (at, _) in places.items():
            X[at] = found[part]
        return X

    def blocks(self, first: int = 0) -> Iterator[tuple[int, Matrix]]:
        """Yield all rows from `first` on, block by block: the number of each block's first row, and its rows.

        The sizes of the blocks depend on nothing but the number of rows. Where rows are in files or in
        other processes, each block is fetched.
        """
        for start in range(first, self.n, BLOCK_ROWS):
            yield start, self.fetch(np.arange(start, min(start + BLOCK_ROWS, self.n)))

    def sampler(self) -> Sampler:
        """Return a new D²-sampler without a centre: it draws uniformly."""
        return Sampler(self, self.executor)

    def voronoi(self) -> VoronoiCells:
        """Return new Voronoi cells without a site."""
        return VoronoiCells(self, self.executor)

    def label_by_nearest(self, centers: Floats, labels: LabelMap | None = None) -> RowLabels:
        """Return the label of every row: that of the nearest centre, by default its number."""
        labels = labels or LabelMap.identity(len(centers))
        return self.executor.label(labels, None, Partition.labels_by_nearest, centers)

    def distribute(self, labels: Rows) -> RowLabels:
        """Return labels of all rows in the form that `label_by_nearest` gives them."""
        return labels

    def gather(self, labels: RowLabels) -> Rows:
        """Return some of these labels as a NumPy array."""
        return np.asarray(labels)

    def in_space(self, space: WorkingSpace) -> Points:
        """Return the coordinates of all rows in a space as points, where the rows are."""
        reduced = self._in_space(space)
        reduced.reduced_from = self, space
        return reduced

    @abstractmethod
    def _in_space(self, space: WorkingSpace) -> Points:
        """Return the coordinates of all rows in a space."""

    def full_rows(self, index: Rows) -> Floats:
        """Return rows with all columns that they were given with, as they are compared, (m, columns).

        Their lengths are 1 where only directions count.
        """
        if self.reduced_from is None:
            return self.rows(index)
        given, space = self.reduced_from
        X = given.rows(index)
        if space.unit:
            X = WorkingSpace(space.d, unit=True).coordinates(X).astype(np.float64, copy=False)
        return X

    def moments_by_label(self, labels: RowLabels, n_labels: int) -> GroupMoments:
        """Return the moments of the rows with each label 0, 1, …, n_labels - 1."""
        executor, every = self.executor, self.gather(labels)
        first = executor.first_rows
        found = executor.run(
            {
                part: call(Partition.sums_by_label, every[first[part] : first[part + 1]], n_labels)
                for part in range(first.size - 1)
            }
        )
        return GroupMoments.of_sums(
            np.sum(list(found.values()), axis=0), executor.units.for_kernels
        )
