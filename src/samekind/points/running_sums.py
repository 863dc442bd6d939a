"""Where a target falls among the running sums of weights."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from samekind.points.arrays import Floats, Rows

__all__ = ["BigIntegers", "RunningSums"]

INT64 = 2**62  # up to here, sums are surely an int64
BigIntegers: TypeAlias = NDArray[Any]
"""Of type int64, or Python integers where these are too small."""


class RunningSums:
    """Running sums of integer weights.

    Examples
    --------
    >>> sums = RunningSums([3, 0, 7])
    >>> sums.total
    10
    >>> targets = sums.targets(np.array([0.0, 0.29, 0.3, 0.99]))
    >>> targets
    array([0, 2, 3, 9])
    >>> sums.find(targets)
    (array([0, 0, 2, 2]), array([0, 2, 0, 6]))
    """

    def __init__(self, weights: Sequence[int]) -> None:
        sums = [0, *accumulate(weights)]
        self.total = sums[-1]
        self._sums = np.array(sums, dtype=np.int64 if self.total < INT64 else object)

    def targets(self, uniforms: Floats) -> BigIntegers:
        """Return an integer below the total for each uniform in [0, 1)."""
        reals = uniforms * float(self.total)
        if self._sums.dtype == object:
            return np.array([min(int(real), self.total - 1) for real in reals], dtype=object)
        return np.minimum(reals.astype(np.int64), self.total - 1)

    def find(self, targets: BigIntegers) -> tuple[Rows, BigIntegers]:
        """Return which weight each target falls on, and how far beyond the sum before it."""
        wanted = targets.astype(self._sums.dtype, copy=False)
        at = self._sums[1:].searchsorted(wanted, side="right")
        return at, wanted - self._sums[at]
