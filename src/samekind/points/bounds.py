"""The number of rows and the range of their values; where a value is unusable, an error says so."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isinf
from typing import NamedTuple

import numpy as np

from samekind.points.arrays import Floats, Matrix
from samekind.points.kernels import search
from samekind.points.threads import ReportProgress, run_in_threads

__all__ = ["Bounds", "UnusableValue", "bounds_of", "scan", "unusable_value"]

LARGEST = 1e150  # the square of a larger value is no longer a float64


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


class UnusableValue(NamedTuple):
    """A value that is not finite, or too large, and where it is."""

    row: int
    column: int
    value: float


def scan(
    X: Matrix, threads: int = 1, report: ReportProgress | None = None
) -> Bounds | UnusableValue:
    """Return the bounds of some rows, or their first value that is unusable."""

    def scan_range(first: int, last: int) -> tuple[int, Bounds]:
        low, high = np.empty(X.shape[1]), np.empty(X.shape[1])
        bad = int(search.scan(X, LARGEST, low, high, first, last))
        return bad, Bounds(last - first, low, high)

    found = Bounds.of_nothing(X.shape[1])
    for bad, bounds in run_in_threads(len(X), threads, scan_range, report, "Reading the data"):
        if bad >= 0:
            row, column = divmod(bad, X.shape[1])
            return UnusableValue(row, column, float(X[row, column]))
        found = found.union(bounds)
    return found


def bounds_of(
    X: Matrix,
    threads: int = 1,
    first_row: int = 0,
    report: ReportProgress | None = None,
    *,
    names: Sequence[str] | None = None,
    place: Callable[[int], str] | None = None,
) -> Bounds:
    """Return the bounds of some rows, of which the first has this number; raise if a value is unusable.

    Where columns have names, or `place` says where a row stands, the message does, too.
    """
    found = scan(X, threads, report)
    if isinstance(found, Bounds):
        return found
    row = first_row + found.row
    column = found.column if names is None else names[found.column]
    raise unusable_value(found.value, row, column, "" if place is None else place(row))


def unusable_value(value: float, row: int, column: object, place: str = "") -> ValueError:
    """Return the error that says what is wrong with a value of X, and what to do.

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
