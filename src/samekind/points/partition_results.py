"""What a partition answers; a cluster's workers put the answers of their partitions together."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from samekind.points.arrays import Floats, Rows

__all__ = ["DrawnRows", "NearRows", "OwnedRows", "Reassignment", "nearest_of_all", "sum_of_all"]


class Reassignment(NamedTuple):
    """What changes when new centres own the rows that are closest to them."""

    weight: int
    """Of all rows."""
    centers: Rows
    """Those whose rows change."""
    sums: NDArray[np.int64]
    """(these, d + 2) by how much: sums of coordinates, of squares, of ones."""
    n_distances: int


class DrawnRows(NamedTuple):
    """Rows that were drawn by their weights, their values, and their costs."""

    rows: Rows
    X: Floats
    costs: NDArray[np.float32]


class OwnedRows(NamedTuple):
    """Rows of some centres; and their values, where they were asked for."""

    rows: Rows
    X: Floats | None


class NearRows(NamedTuple):
    """Rows near a point, nearest first; and their values, where they were asked for."""

    distances: Floats
    rows: Rows
    X: Floats | None


def sum_of_all(found: dict[int, Reassignment]) -> dict[int, Reassignment]:
    """Give the sums of several partitions to the first of them, so that less travels."""
    changes = list(found.values())
    centers, at = np.unique(np.concatenate([one.centers for one in changes]), return_inverse=True)
    sums = np.zeros((centers.size, changes[0].sums.shape[1]), dtype=np.int64)
    np.add.at(sums, at, np.concatenate([one.sums for one in changes]))
    summed = [one._replace(centers=centers[:0], sums=sums[:0]) for one in changes]
    summed[0] = changes[0]._replace(centers=centers, sums=sums)
    return dict(zip(found, summed, strict=True))


def nearest_of_all(found: dict[int, NearRows], size: int) -> dict[int, NearRows]:
    """Leave out rows that are not among the `size` nearest of several partitions."""
    distances = np.concatenate([one.distances for one in found.values()])
    if distances.size <= size:
        return found
    limit = np.partition(distances, size - 1)[size - 1]
    kept = {}
    for part, one in found.items():
        n_near = int(one.distances.searchsorted(limit, side="right"))  # they are in order
        X = None if one.X is None else one.X[:n_near]
        kept[part] = NearRows(one.distances[:n_near], one.rows[:n_near], X)
    return kept
