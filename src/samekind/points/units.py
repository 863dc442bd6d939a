"""The units in which distances and sums are kept: all partitions of the data must agree on them."""

from __future__ import annotations

from math import frexp
from typing import NamedTuple

import numpy as np

from samekind.points.arrays import Floats
from samekind.points.bounds import Bounds

__all__ = ["KernelUnits", "Units"]

FINE = 45  # bits between the width of the data and the unit of distances, well within a float32
SUMMAND = 44  # bits of a summand: some hundred of them are summed exactly as float64, too


class KernelUnits(NamedTuple):
    """How many units there are in 1, as compiled loops need it."""

    per_length: float
    """Of distances."""
    per_cost: float
    """Of squared distances."""
    origin: Floats
    """From which coordinates are taken in sums."""
    per_coordinate: float
    """Of sums of coordinates."""
    per_square: float
    """Of sums of squares."""


class Units(NamedTuple):
    """Units for data within some bounds: powers of two, so that no value is rounded by them.

    Costs are squared distances. Sums of coordinates, taken from `origin`, are integers in units so small that
    the sum over all rows just fits into 64 bits.
    """

    bounds: Bounds
    length: float
    """The unit of distances."""

    @classmethod
    def within(cls, bounds: Bounds) -> Units:
        """Return the units for data within these bounds."""
        width = float((bounds.high - bounds.low).max())
        return cls(bounds, 2.0 ** max(frexp(width)[1] - FINE, -500) if width > 0 else 1.0)

    @property
    def n(self) -> int:
        """Return the number of rows."""
        return self.bounds.n

    @property
    def d(self) -> int:
        """Return the number of columns."""
        return self.bounds.low.size

    @property
    def cost(self) -> float:
        """Return the unit of squared distances."""
        return self.length**2

    @property
    def for_kernels(self) -> KernelUnits:
        """Return what compiled loops need."""
        low, high = self.bounds.low, self.bounds.high
        bits = min(SUMMAND, 61 - self.n.bit_length())
        return KernelUnits(
            per_length=1.0 / self.length,
            per_cost=1.0 / self.cost,
            origin=low + (high - low) / 2,
            per_coordinate=2.0 ** (bits - FINE) / self.length,
            per_square=2.0 ** (bits - self.d.bit_length() - 2 * FINE) / self.cost,
        )

    def largest_cost(self, x: Floats) -> float:
        """Return what no squared distance of a row to x exceeds, in units."""
        widest = np.maximum(np.abs(self.bounds.low - x), np.abs(self.bounds.high - x))
        return float((widest**2).sum() / self.cost)
