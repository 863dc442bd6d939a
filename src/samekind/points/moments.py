"""The number of rows, the mean and the spread of groups of rows, from integer sums."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from samekind.points.arrays import Floats, Rows
from samekind.points.units import KernelUnits

__all__ = ["GroupMoments"]


class GroupMoments(NamedTuple):
    """What is known of the rows of each group."""

    counts: Rows
    means: Floats
    """(groups, d); the origin of the units for a group without rows."""
    spreads: Floats
    """(groups,) the mean squared distance of the rows to their mean."""

    @classmethod
    def of_sums(cls, sums: NDArray[np.int64], units: KernelUnits) -> GroupMoments:
        """Return the moments of groups with these sums, (groups, d + 2): coordinates, squares, ones."""
        counts = sums[:, -1]
        some = np.maximum(counts, 1)
        means = sums[:, :-2] / some[:, None] / units.per_coordinate
        squares = sums[:, -2] / some / units.per_square
        spreads = np.maximum(squares - (means**2).sum(axis=1), 0.0)
        return cls(counts, means + units.origin, spreads)
