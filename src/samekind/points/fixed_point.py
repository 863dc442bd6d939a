"""The frame of the data: what all its parts must agree on."""

from __future__ import annotations

from math import frexp, isinf
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Extent", "Frame", "Units"]

FINE = 45  # bits between the width of the data and the unit of distances, well within a float32
STEPS = 44  # bits of a summand: some hundred of them are summed exactly as float64, too
LARGEST = 1e150  # the square of a larger value is no longer a float64


class Extent(NamedTuple):
    """How many rows there are, and the smallest and largest value of each column."""

    n: int
    low: NDArray[np.float64]
    high: NDArray[np.float64]

    def join(self, other: Extent) -> Extent:
        """Return the extent of both."""
        return Extent(
            self.n + other.n, np.minimum(self.low, other.low), np.maximum(self.high, other.high)
        )


class Units(NamedTuple):
    """The units of a frame, as compiled loops need them."""

    shrink: float
    """Units of distances in 1."""
    per_unit: float
    """Units of squared distances in 1."""
    origin: NDArray[np.float64]
    per_step: float
    """Steps of a sum of coordinates, taken from the origin, in 1."""
    per_square: float
    """Steps of a sum of squares in 1."""


class Frame(NamedTuple):
    """Number of rows, and the units in which distances and sums are kept.

    Units are powers of two, so that no value is rounded by them. Sums of coordinates, taken from `origin`,
    are integers in steps so small that the sum over all rows just fits.
    """

    n: int
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    root: float
    """The unit of distances; their squares are kept in units of root²."""

    @classmethod
    def around(cls, extent: Extent) -> Frame:
        """Return a frame for data of this extent."""
        width = float((extent.high - extent.low).max())
        root = 2.0 ** max(frexp(width)[1] - FINE, -500) if width > 0 else 1.0
        return cls(*extent, root)

    @property
    def d(self) -> int:
        """Return the number of columns."""
        return self.low.size

    @property
    def origin(self) -> NDArray[np.float64]:
        """Return the middle of the data."""
        return self.low + (self.high - self.low) / 2

    @property
    def unit(self) -> float:
        """Return the unit of squared distances."""
        return self.root**2

    @property
    def units(self) -> Units:
        """Return all units."""
        return Units(1.0 / self.root, 1.0 / self.unit, self.origin, self.per_step, self.per_square)

    def highest(self, x: NDArray[np.float64]) -> float:
        """Return what no squared distance of a row to x exceeds, in units."""
        widest = np.maximum(np.abs(self.low - x), np.abs(self.high - x))
        return float((widest**2).sum() / self.unit)

    @property
    def per_step(self) -> float:
        """Return how many steps of a sum of coordinates there are in 1."""
        return float(2.0 ** (min(STEPS, 61 - self.n.bit_length()) - FINE)) / self.root

    @property
    def per_square(self) -> float:
        """Return how many steps of a sum of squares there are in 1."""
        bits = min(STEPS, 61 - self.n.bit_length()) - self.d.bit_length()
        return float(2.0 ** (bits - 2 * FINE)) / self.unit


def unusable(value: float, row: int, column: object, place: str = "") -> ValueError:
    """Return an error that says what is wrong with a value of X, and what to do.

    The column has a number or a name; `place` says where the row stands.
    """
    where = f"in row {row}{f' ({place})' if place else ''}, column {column!r}"
    if np.isnan(value):
        return ValueError(f"X has NaN {where}. Fill or drop missing values first.")
    if isinf(value):
        return ValueError(f"X has infinity {where}. Replace it by a finite value first.")
    return ValueError(
        f"X has {value:g} {where}, and values beyond {LARGEST:g} cannot be squared. "
        "Scale the data first, for instance with sklearn's StandardScaler."
    )
