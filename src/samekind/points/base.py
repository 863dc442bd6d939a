"""The data as algorithms see them: n rows of d numbers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from samekind.points import kernels
from samekind.points.arrays import Floats, Matrix, Rows
from samekind.points.bounds import Bounds
from samekind.points.costs import Costs
from samekind.points.labels import LabelMap, RowLabels
from samekind.points.sampler import Sampler
from samekind.points.space import WorkingSpace

__all__ = ["LabelBlock", "Points"]

LabelBlock: TypeAlias = Callable[[Matrix], Rows]
"""Returns a label for each of some rows."""


class Points(ABC):
    """n rows of d finite numbers, in this process, in a file or on a Dask cluster.

    Algorithms draw the same rows and find the same labels wherever the rows are.
    """

    n: int
    d: int
    dtype: np.dtype[np.floating]
    """Of the numbers as they are kept: float32 or float64."""
    bounds: Bounds
    is_remote = False
    """Whether the rows are in other processes."""
    weights: Floats | None = None
    """How much each row counts, such as by its copies; None: all the same."""
    reduced_from: tuple[Points, WorkingSpace] | None = None
    """Of coordinates in a space: the rows as they were given, and the space."""

    @abstractmethod
    def rows(self, index: Rows) -> Floats:
        """Return the rows with these numbers, (m, d)."""

    @abstractmethod
    def fingerprint(self) -> str:
        """Return a text that changes when the data change."""

    @abstractmethod
    def costs(self) -> Costs:
        """Return the costs of all rows without a centre yet."""

    @abstractmethod
    def lower_costs(
        self, costs: NDArray[np.float32], centers: Floats, per_cost: float, start: int = 0
    ) -> None:
        """Lower costs, of the rows from `start` on, to the squared distances to more centres."""

    @abstractmethod
    def label_rows(self, label: LabelBlock, known_rows: Rows, known_labels: Rows) -> RowLabels:
        """Return the label of every row: the known one, or what a function says of its block."""

    @abstractmethod
    def sums_by_label(
        self, labels: RowLabels, n_labels: int, origin: Floats
    ) -> tuple[Floats, Rows]:
        """Return the sums of the rows with each label, less an origin, and how many they are."""

    @abstractmethod
    def rows_above(self, column: int, value: float) -> Rows:
        """Return the rows that exceed a value in a column."""

    @abstractmethod
    def _in_space(self, space: WorkingSpace) -> Points:
        """Return the coordinates of all rows in a space."""

    def row(self, row: int) -> Floats:
        """Return one row, (d,)."""
        x: Floats = self.rows(np.array([row]))[0]
        return x

    def sampler(self) -> Sampler:
        """Return a new D²-sampler without a centre: it draws uniformly."""
        return Sampler(self)

    def label_by_nearest(self, centers: Floats, labels: LabelMap | None = None) -> RowLabels:
        """Return the label of every row: that of the nearest centre, by default its number.

        Each row is compared with all centres: up to some thousand of them that is quicker than a search.
        """
        labels = labels or LabelMap.identity(len(centers))
        label = partial(_label_by_nearest, np.ascontiguousarray(centers.T), labels.of_centers)
        return self.label_rows(label, labels.known_rows, labels.known_labels)

    def means_by_label(self, labels: RowLabels, n_labels: int) -> tuple[Floats, Rows]:
        """Return the mean of the rows with each label 0, 1, …, n_labels - 1, and how many they are.

        The mean of no rows is the middle of the data.
        """
        middle = self.bounds.low + (self.bounds.high - self.bounds.low) / 2
        sums, counts = self.sums_by_label(labels, n_labels, middle)
        return middle + sums / np.maximum(counts, 1)[:, None], counts

    def distribute(self, labels: Rows) -> RowLabels:
        """Return labels of all rows in the form that `label_rows` gives them."""
        return labels

    def gather(self, labels: RowLabels) -> Rows:
        """Return some of these labels as a NumPy array."""
        return np.asarray(labels)

    def in_space(self, space: WorkingSpace) -> Points:
        """Return the coordinates of all rows in a space as points, where the rows are."""
        reduced = self._in_space(space)
        reduced.reduced_from, reduced.weights = (self, space), self.weights
        return reduced

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


def _label_by_nearest(columns: Floats, labels: Rows, X: Matrix) -> Rows:
    found = np.empty(len(X), dtype=np.intp)
    kernels.nearest(X, columns, found)
    of_rows: Rows = labels[found]
    return of_rows
