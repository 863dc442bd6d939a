"""Labels of rows by the centre that each is nearest to, and by what is known of some."""

from __future__ import annotations

from typing import NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from samekind.points.arrays import Rows

__all__ = ["LabelMap", "LazyArray", "RowLabels"]


class LazyArray(Protocol):
    """What is used here of a Dask array."""

    def __getitem__(self, rows: Rows) -> LazyArray:
        """Return some rows."""
        ...

    def compute(self) -> Rows:
        """Return the values."""
        ...


RowLabels: TypeAlias = Rows | LazyArray
"""A label for every row: a NumPy array, or a Dask array where the rows are on a Dask cluster."""


class LabelMap(NamedTuple):
    """The label that each centre gives to its rows, and rows whose label is known without.

    Examples
    --------
    >>> labels = LabelMap(np.array([7, 8]), known_rows=np.array([2]), known_labels=np.array([9]))
    >>> labels.of_rows(np.array([0, 1, 1, 0]))
    array([7, 8, 9, 7])
    """

    of_centers: Rows
    """(centres,) by their numbers. The last one is also for the number -1, no centre."""
    known_rows: Rows
    known_labels: Rows

    @classmethod
    def identity(cls, n_centers: int) -> LabelMap:
        """Return a map in which labels are the numbers of the centres."""
        nothing = np.empty(0, dtype=np.intp)
        return cls(np.arange(n_centers), nothing, nothing)

    def of_rows(self, nearest: NDArray[np.integer]) -> Rows:
        """Return the label of every row, given the number of its nearest centre."""
        labels: Rows = self.of_centers[nearest]
        labels[self.known_rows] = self.known_labels
        return labels
