"""The range of the values of each column, the units of distances that follow from it, and unusable values."""

from __future__ import annotations

from math import frexp, isinf
from typing import NamedTuple

import numpy as np

from samekind.points import kernels
from samekind.points.arrays import Floats, Matrix
from samekind.points.threads import run_in_threads

__all__ = ["Bounds", "UnusableValue", "scan", "unusable_value"]

LARGEST = 1e150  # the square of a larger value is no longer a float64
FINE = 45  # bits between the width of the data and the unit of distances: costs fit into a float32


class Bounds(NamedTuple):
    """The number of rows, and the smallest and largest value of each column."""

    n: int
    low: Floats
    high: Floats

    @classmethod
    def of_nothing(cls, d: int) -> Bounds:
        """Return the bounds of no rows."""
        return cls(0, np.full(d, np.inf), np.full(d, -np.inf))

    def union(self, other: Bounds) -> Bounds:
        """Return the bounds of both."""
        return Bounds(
            self.n + other.n, np.minimum(self.low, other.low), np.maximum(self.high, other.high)
        )

    @property
    def width(self) -> float:
        """The width of the widest column."""
        return float((self.high - self.low).max())

    @property
    def cost_unit(self) -> float:
        """The unit of squared distances: a power of two, so that it rounds nothing."""
        exponent = max(frexp(self.width)[1] - FINE, -500) if self.width > 0 else 0
        return float(4.0**exponent)

    def largest_cost(self, x: Floats) -> float:
        """Return what no squared distance of a row to x exceeds, in units."""
        widest = np.maximum(np.abs(self.low - x), np.abs(self.high - x))
        return float((widest**2).sum() / self.cost_unit)


class UnusableValue(NamedTuple):
    """A value that is not finite, or too large, and where it is."""

    row: int
    column: int
    value: float


def scan(X: Matrix, threads: int = 1) -> Bounds | UnusableValue:
    """Return the bounds of some rows, or their first value that is unusable."""

    def scan_range(first: int, last: int) -> tuple[int, Bounds]:
        low, high = np.empty(X.shape[1]), np.empty(X.shape[1])
        bad = int(kernels.scan(X, LARGEST, low, high, first, last))
        return bad, Bounds(last - first, low, high)

    found = Bounds.of_nothing(X.shape[1])
    for bad, bounds in run_in_threads(len(X), threads, scan_range):
        if bad >= 0:
            row, column = divmod(bad, X.shape[1])
            return UnusableValue(row, column, float(X[row, column]))
        found = found.union(bounds)
    return found


def unusable_value(found: UnusableValue, column: object = None, place: str = "") -> ValueError:
    """Return the error that says what is wrong with a value of X, and what to do.

    `column` is its name, by default its number; `place` says where the row stands in a file.
    """
    row, number, value = found
    column = number if column is None else column
    where = f"in row {row}{f' ({place})' if place else ''}, column {column!r}"
    if np.isnan(value):
        return ValueError(f"X has NaN {where}. Fill or drop missing values first.")
    if isinf(value):
        return ValueError(f"X has infinity {where}. Replace it by a finite value first.")
    return ValueError(
        f"X has {value:g} {where}, and values beyond {LARGEST:g} cannot be squared. "
        "Scale the data first, for instance with sklearn's StandardScaler."
    )
