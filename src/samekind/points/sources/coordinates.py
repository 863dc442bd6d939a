"""The coordinates of all rows in a working space, where the rows are in this process or in files."""

from __future__ import annotations

import tempfile

import numpy as np

from samekind.points.arrays import Matrix
from samekind.points.base import Points
from samekind.points.calls import call
from samekind.points.partition import Partition
from samekind.points.space import WorkingSpace

__all__ = ["coordinates_of"]

IN_MEMORY = 2**30  # bytes of coordinates; more are written to a file that nobody else sees


def coordinates_of(points: Points, space: WorkingSpace) -> Matrix:
    """Return the coordinates of all rows, in one pass over them."""
    executor, first = points.executor, points.executor.first_rows
    out = _empty(points.n, space.n_coordinates, space.dtype_of(points.dtype))
    executor.run(
        {
            part: call(Partition.write_coordinates, space, out[first[part] : first[part + 1]])
            for part in range(first.size - 1)
        }
    )
    return out


def _empty(n: int, d: int, dtype: np.dtype[np.floating]) -> Matrix:
    """Return room for a matrix: in memory or, where it is large, in a file that goes with it."""
    if n * d * dtype.itemsize <= IN_MEMORY:
        return np.empty((n, d), dtype=dtype)
    with tempfile.TemporaryFile(prefix="samekind-") as file:
        return np.memmap(file, dtype=dtype, mode="w+", shape=(n, d))
