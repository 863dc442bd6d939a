"""Points in an array or a memory map."""

from __future__ import annotations

import hashlib
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from samekind._validation import check_int
from samekind.points import _kernels
from samekind.points._threads import available_threads, split
from samekind.points.cells import ArrayCells

__all__ = ["ArrayPoints", "ArraySampler"]

LARGEST = 1e150  # the square of a larger value is no longer a float64
SMALL = 2**18  # numbers in an array that one thread passes sooner than two can start
HASHED = 2**28  # bytes hashed for a fingerprint; of larger data, evenly spaced pieces


class ArrayPoints:
    """Rows of a float32 or float64 array, or of a memory map, which is not loaded.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Finite numbers. Other numeric types, and arrays that are not C-contiguous, are copied once
        to float64.
    threads : int or None
        Threads for passes over all rows; None takes every core. Results do not depend on it.

    Examples
    --------
    >>> points = ArrayPoints([[0.0, 0.0], [0.0, 1.0], [9.0, 9.0]])
    >>> points.n, points.d
    (3, 2)
    >>> sampler = points.sampler()
    >>> sampler.add([[0.0, 0.0]])
    >>> sampler.total
    163.0
    >>> sampler.draw(np.array([0.0, 0.5]))
    array([1, 2])
    """

    def __init__(self, X: ArrayLike, *, threads: int | None = None) -> None:
        self.X = as_matrix(X)
        self.n, self.d = self.X.shape
        wanted = check_int("threads", threads, none="use every core")
        self.threads = available_threads() if wanted is None else wanted
        if self.X.size < SMALL:
            self.threads = 1
        self._check_values()

    def __repr__(self) -> str:
        return f"ArrayPoints({self.n:,} rows x {self.d} columns, {self.X.dtype})"

    def rows(self, index: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the rows with these numbers, (m, d)."""
        return self.X[index].astype(np.float64, copy=False)

    def sampler(self) -> ArraySampler:
        """Return a new sampler with no centre: it draws uniformly."""
        return ArraySampler(self)

    def cells(self) -> ArrayCells:
        """Return new cells without a site."""
        return ArrayCells(self)

    def nearest(self, centers: NDArray[np.float64]) -> NDArray[np.intp]:
        """Return for every row the number of its nearest centre."""
        labels = np.empty(self.n, dtype=np.intp)
        split(
            self.n,
            self.threads,
            lambda first, last: _kernels.nearest(self.X, centers, labels, first, last),
        )
        return labels

    def fingerprint(self) -> str:
        """Return a hash of the shape, the type and the values.

        Of more than 256 MiB, 1,024 evenly spaced pieces of that much in all are hashed.
        """
        digest = hashlib.blake2b(digest_size=16)
        digest.update(f"{self.n} x {self.d} {self.X.dtype.newbyteorder('=')}".encode())
        flat = self.X.reshape(-1)
        if self.X.nbytes <= HASHED:
            digest.update(flat.data)
        else:
            piece = HASHED // 1024 // flat.itemsize
            for start in np.linspace(0, flat.size - piece, 1024).astype(np.intp):
                digest.update(flat[start : start + piece].data)
        return digest.hexdigest()

    def _check_values(self) -> None:
        found = split(
            self.n,
            self.threads,
            lambda first, last: int(_kernels.first_unusable(self.X, LARGEST, first, last)),
        )
        position = next((p for p in found if p >= 0), -1)
        if position >= 0:
            row, column = divmod(position, self.d)
            value = self.X[row, column]
            where = f"in row {row}, column {column}"
            if np.isnan(value):
                raise ValueError(f"X has NaN {where}. Fill or drop missing values first.")
            if np.isinf(value):
                raise ValueError(f"X has infinity {where}. Replace it by a finite value first.")
            raise ValueError(
                f"X has {value:g} {where}, and values beyond {LARGEST:g} cannot be squared. "
                "Scale the data first, for instance with sklearn's StandardScaler."
            )


class ArraySampler:
    """D²-sampling from an array: one fused pass for new centres, draws in O(log n)."""

    def __init__(self, points: ArrayPoints) -> None:
        self._points = points
        self._costs: NDArray[np.float64] | None = None  # Φ({x}, C) of every row
        blocks = -(-points.n // _kernels.BLOCK)
        self._sums = np.empty(blocks)
        self._prefix = np.empty(blocks)
        self.seconds = 0.0

    @property
    def total(self) -> float:
        """Φ(X, C); infinite while there is no centre."""
        return np.inf if self._costs is None else float(self._prefix[-1])

    def add(self, centers: ArrayLike) -> None:
        """Add centres (m, d) to C, in one pass over the data."""
        started = perf_counter()
        new = np.atleast_2d(np.ascontiguousarray(centers, dtype=np.float64))
        if new.shape[1] != self._points.d:
            raise ValueError(f"centres have {new.shape[1]} columns, the points {self._points.d}.")
        if new.shape[0] == 0:
            return
        if self._costs is None:
            self._costs = np.full(self._points.n, np.inf)
        X, costs, sums = self._points.X, self._costs, self._sums
        split(
            sums.size,
            self._points.threads,
            lambda first, last: _kernels.cover(X, new, costs, sums, first, last),
        )
        _kernels.accumulate(sums, self._prefix)
        self.seconds += perf_counter() - started

    def draw(self, uniforms: NDArray[np.float64]) -> NDArray[np.intp]:
        """Return a row for each uniform in [0, 1), row x with probability Φ({x}, C) / Φ(X, C)."""
        started = perf_counter()
        rows: NDArray[np.intp]
        if self._costs is None:
            rows = np.minimum((uniforms * self._points.n).astype(np.intp), self._points.n - 1)
        elif self._prefix[-1] == 0.0:
            raise ValueError("every row lies on a centre: there is nothing to draw.")
        else:
            rows = np.empty(uniforms.size, dtype=np.intp)
            _kernels.draw(self._prefix, self._costs, uniforms, rows)
        self.seconds += perf_counter() - started
        return rows

    def cost(self, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return Φ({x}, C) of each row; 1 while there is no centre, where draws are uniform."""
        if self._costs is None:
            return np.ones(len(rows))
        costs: NDArray[np.float64] = self._costs[rows]
        return costs


def as_matrix(X: Any) -> NDArray[Any]:
    """Return X as a C-contiguous float32 or float64 matrix, copied only where it must be."""
    if hasattr(X, "toarray") and hasattr(X, "nnz"):
        raise ValueError(
            "X is a sparse matrix, and distances need a dense array. Pass X.toarray(), or reduce "
            "it first with sklearn.decomposition.TruncatedSVD."
        )
    if np.ma.isMaskedArray(X):
        raise ValueError("X is a masked array. Fill its gaps first, for instance with X.filled(0).")
    array = np.asarray(X)
    if array.ndim != 2:
        advice = " Use X.reshape(-1, 1) for one column." if array.ndim == 1 else ""
        raise ValueError(f"X must be 2-D (rows x columns), got shape {array.shape}.{advice}")
    if 0 in array.shape:
        raise ValueError(f"X must have at least one row and one column, got shape {array.shape}.")
    if array.dtype == object:
        array = _from_objects(array)
    if array.dtype.kind not in "biufc":
        raise ValueError(
            f"X must hold numbers, got {array.dtype}. samekind.datasets.read_points turns the "
            "columns of a file into numbers."
        )
    if np.issubdtype(array.dtype, np.complexfloating):
        raise ValueError(f"X must hold real numbers, got {array.dtype}.")
    if array.dtype not in (np.float32, np.float64) or not array.dtype.isnative:
        array = array.astype(np.float32 if array.dtype == np.float16 else np.float64)
    return np.ascontiguousarray(array)


def _from_objects(array: NDArray[Any]) -> NDArray[np.float64]:
    try:
        return array.astype(np.float64)
    except (TypeError, ValueError):
        for (row, column), value in np.ndenumerate(array):
            try:
                float(value)
            except (TypeError, ValueError):
                raise ValueError(
                    f"X must hold numbers, got {value!r} in row {row}, column {column}."
                ) from None
        raise
