"""Points in an array or a memory map."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from samekind._validation import refuse_dask, to_numpy
from samekind.points.arrays import Floats, Matrix, Rows
from samekind.points.base import BLOCK_ROWS, Points
from samekind.points.bounds import bounds_of
from samekind.points.executor import LocalExecutor
from samekind.points.partition import Partition
from samekind.points.sources.coordinates import coordinates_of
from samekind.points.space import WorkingSpace
from samekind.points.threads import ReportProgress, check_threads
from samekind.points.units import Units

__all__ = ["ArrayPoints"]

SMALL = 2**18  # numbers in an array that one thread passes sooner than two can start
HASHED = 2**28  # bytes hashed for a fingerprint; of larger data, evenly spaced pieces


class ArrayPoints(Points):
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

    def __init__(
        self, X: ArrayLike, *, threads: int | None = None, report: ReportProgress | None = None
    ) -> None:
        self.X = as_matrix(X)
        self.n, self.d = self.X.shape
        self.dtype = self.X.dtype
        self._wanted_threads = check_threads(threads)
        self.threads = self._wanted_threads if self.X.size >= SMALL else 1
        self._report = report
        self._units = Units.within(bounds_of(self.X, self.threads, report=report))

    def __repr__(self) -> str:
        return f"ArrayPoints({self.n:,} rows x {self.d} columns, {self.X.dtype})"

    @cached_property
    def executor(self) -> LocalExecutor:
        """Runs calls on the one partition, of all rows."""
        X = self.X  # not self, whom it would keep alive
        partition = Partition(
            lambda: X,
            self.n,
            self._units,
            threads=self.threads,
            resident=not _is_mapped(self.X),
            report=self._report,
        )
        return LocalExecutor([partition], self._units, np.array([0, self.n]))

    def rows(self, index: Rows) -> Floats:
        """Return the rows with these numbers, (m, d)."""
        return self.X[index].astype(np.float64, copy=False)

    def row(self, row: int) -> Floats:
        """Return one row, (d,)."""
        x: Floats = self.X[row].astype(np.float64)
        return x

    def blocks(self, first: int = 0) -> Iterator[tuple[int, Matrix]]:
        """Yield all rows from `first` on, block by block, as views."""
        for start in range(first, self.n, BLOCK_ROWS):
            yield start, self.X[start : start + BLOCK_ROWS]

    def fingerprint(self) -> str:
        """Return a hash of the shape, the type and the values.

        Of more than 256 MiB, 1,024 evenly spaced pieces of that much in all are hashed.
        """
        return hash_of(self.X)

    def _in_space(self, space: WorkingSpace) -> ArrayPoints:
        """Return the coordinates of all rows in a space."""
        X = coordinates_of(self, space)
        return ArrayPoints(X, threads=self._wanted_threads, report=self._report)


def hash_of(X: Matrix) -> str:
    """Return a hash of the shape, the type and the values of a C-contiguous matrix."""
    digest = hashlib.blake2b(digest_size=16)
    digest.update(f"{len(X)} x {X.shape[1]} {X.dtype.newbyteorder('=')}".encode())
    flat = X.reshape(-1)
    if X.nbytes <= HASHED:
        digest.update(flat.data)
    else:
        piece = HASHED // 1024 // flat.itemsize
        for start in np.linspace(0, flat.size - piece, 1024).astype(np.intp):
            digest.update(flat[start : start + piece].data)
    return digest.hexdigest()


def _is_mapped(X: Matrix) -> bool:
    """Return whether an array lies in a file: it may be larger than memory."""
    base: object = X
    while isinstance(base, np.ndarray):
        if isinstance(base, np.memmap):
            return True
        base = base.base
    return False


def as_matrix(X: ArrayLike) -> Matrix:
    """Return X as a C-contiguous float32 or float64 matrix, copied only where it must be."""
    refuse_dask("X", X)
    if hasattr(X, "toarray") and hasattr(X, "nnz"):
        raise ValueError(
            "X is a sparse matrix, and distances need a dense array. Pass X.toarray(), or reduce "
            "it first with sklearn.decomposition.TruncatedSVD."
        )
    if np.ma.isMaskedArray(X):
        raise ValueError("X is a masked array. Fill its gaps first, for instance with X.filled(0).")
    array = to_numpy("X", X)
    if array.ndim != 2:
        advice = " Use X.reshape(-1, 1) for one column." if array.ndim == 1 else ""
        if array.dtype.kind in "UT":
            advice = " Turn new texts to numbers first: samekind.embed(texts, fit_on=first_texts)."
        raise ValueError(f"X must be 2-D (rows x columns), got shape {array.shape}.{advice}")
    if 0 in array.shape:
        raise ValueError(f"X must have at least one row and one column, got shape {array.shape}.")
    if array.dtype == object:
        array = _from_objects(array)
    if array.dtype.kind not in "biufc":
        raise ValueError(
            f"X must hold numbers, got {array.dtype}. samekind.load turns the columns of a "
            "file into numbers."
        )
    if np.issubdtype(array.dtype, np.complexfloating):
        raise ValueError(f"X must hold real numbers, got {array.dtype}.")
    if array.dtype not in (np.float32, np.float64) or not array.dtype.isnative:
        array = array.astype(np.float32 if array.dtype == np.float16 else np.float64)
    return np.ascontiguousarray(array)


def _from_objects(array: NDArray[np.object_]) -> Floats:
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
