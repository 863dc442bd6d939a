"""The label of any row: that of its nearest representative."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from samekind.points import label_kernels as kernels
from samekind.points.arrays import Matrix, Rows
from samekind.points.label_kernels import Cells
from samekind.points.representatives import Representatives, pick_far

if TYPE_CHECKING:
    from samekind.points.base import Points

__all__ = ["NearestLabels"]

PIVOTS = 128  # fewer search more, more take longer to compare with; 64 to 256 are alike
PURE = 64  # members from which a group has one label; comparing fewer is cheaper than telling them apart


class NearestLabels:
    """Gives each row the label of its nearest representative, exactly.

    Parameters
    ----------
    representatives : Representatives
        Those of the data, in m rows.
    labels : array-like of shape (m,)
        Their labels, any integers.

    Distances are sums of squares in float64, column by column. Of representatives at equal distances the
    first one counts. A row of the data that is a representative has its own label.

    Most rows need no search. Each is compared with some 128 representatives, the pivots. If it is closer to a
    pivot than half the distance from there to the nearest representative with another label, the triangle
    inequality settles its label. The search for other rows skips groups of representatives that are too far
    away, and those that have the label in the lead already. With 30,000 representatives of 10 columns this
    took 1 µs a row where clusters are apart, and 31 µs where they overlap; comparing with all, 43 µs.

    Examples
    --------
    >>> from samekind.points import ArrayPoints
    >>> from samekind.points.representatives import choose_representatives
    >>> points = ArrayPoints([[0.0], [0.0], [5.0], [9.0]])
    >>> nearest = NearestLabels(choose_representatives(points, 0), [7, 7, 8, 9])
    >>> nearest.of_coordinates([[6.5], [7.5]])
    array([8, 9])
    >>> nearest.of_rows(points, [3, 1]), nearest.of_all(points)
    (array([9, 7]), array([7, 7, 8, 9]))
    """

    def __init__(self, representatives: Representatives, labels: ArrayLike) -> None:
        self.labels = np.asarray(labels)
        m = representatives.rows.size
        if self.labels.shape != (m,):
            raise ValueError(
                f"labels must have one label for each of {m} representatives, got shape {self.labels.shape}."
            )
        self.representatives = representatives
        self._names, numbers = np.unique(self.labels, return_inverse=True)
        self._cells = _cells(representatives, numbers)  # where labels are numbers of these names

    def of_coordinates(self, X: ArrayLike) -> NDArray[np.integer]:
        """Return the labels of rows that need not be among the data, (m, d)."""
        given = np.ascontiguousarray(X)
        if given.dtype not in (np.float32, np.float64):
            given = given.astype(np.float64)
        numbers = np.empty(len(given), dtype=np.intp)
        kernels.label_by_nearest(given, self._cells, numbers)
        found: NDArray[np.integer] = self._names[numbers]
        return found

    def of_rows(self, points: Points, rows: ArrayLike) -> NDArray[np.integer]:
        """Return the labels of some rows of the data. A representative has its own label."""
        index = np.asarray(rows, dtype=np.intp)
        found = self.of_coordinates(points.rows(index))
        order = np.argsort(self.representatives.rows)
        at = np.searchsorted(self.representatives.rows, index, sorter=order)
        at = order[np.minimum(at, order.size - 1)]
        return np.where(self.representatives.rows[at] == index, self.labels[at], found)

    def of_all(self, points: Points) -> Rows:
        """Return the labels of all rows of the data, in one pass over them."""
        known = self.representatives.rows, self.labels.astype(np.intp, copy=False)
        return points.gather(points.label_rows(self.of_block, *known))

    def of_block(self, X: Matrix) -> Rows:
        """Return the labels of a block of rows as integers of one type."""
        return self.of_coordinates(X).astype(np.intp, copy=False)


def _cells(representatives: Representatives, labels: Rows) -> Cells:
    """Put labelled representatives into groups around some of them, the pivots."""
    X, m = representatives.X, representatives.rows.size
    pivots = pick_far(X, representatives.weights, PIVOTS)
    columns = np.ascontiguousarray(X[pivots].T)
    squares, cells, safe = np.empty(m), np.empty(m, dtype=np.intp), np.empty(pivots.size)
    kernels.group_by_pivots(X, labels, columns, labels[pivots], squares, cells, safe)
    _, pair, count = np.unique(
        cells * (labels.max() + 1) + labels, return_inverse=True, return_counts=True
    )
    kinds = np.where(count[pair] < PURE, -1, labels)
    order = np.lexsort((squares, kinds, cells))
    begins = np.flatnonzero(np.diff(cells[order], prepend=-1) | np.diff(kinds[order], prepend=-2))
    gaps = np.sqrt(((X[pivots][:, None] - X[pivots]) ** 2).sum(axis=2))
    return Cells(
        pivots=columns,
        pivot_at=pivots,
        gaps=gaps,
        order=np.argsort(gaps, axis=1, kind="stable"),
        safe=safe,
        groups_of=np.searchsorted(cells[order][begins], np.arange(pivots.size + 1)),
        group_labels=kinds[order][begins],
        members_of=np.append(begins, m),
        members=np.ascontiguousarray(X[order].T),
        radii=np.sqrt(squares[order]),
        at=order,
        labels=labels,
    )
