"""Points in an array or a memory map."""

from __future__ import annotations

import hashlib
import tempfile
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from samekind._validation import refuse_dask, to_numpy
from samekind.points import kernels
from samekind.points.arrays import Floats, Matrix, Rows
from samekind.points.base import LabelBlock, Points
from samekind.points.bounds import UnusableValue, scan, unusable_value
from samekind.points.costs import ArrayCosts
from samekind.points.labels import RowLabels
from samekind.points.space import WorkingSpace
from samekind.points.threads import check_threads, run_in_threads

__all__ = ["ArrayPoints", "as_matrix", "hash_of", "room_for", "sums_of"]

SMALL = 2**18  # numbers in an array that one thread passes sooner than two can start
BLOCK_ROWS = 2**16  # that are labelled together
IN_MEMORY = 2**30  # bytes of coordinates; more are written to a file
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

    def __init__(self, X: ArrayLike, *, threads: int | None = None) -> None:
        self.X = as_matrix(X)
        self.n, self.d = self.X.shape
        self.dtype = self.X.dtype
        self._wanted_threads = check_threads(threads)
        self.threads = self._wanted_threads if self.X.size >= SMALL else 1
        found = scan(self.X, self.threads)
        if isinstance(found, UnusableValue):
            raise unusable_value(found)
        self.bounds = found

    def __repr__(self) -> str:
        return f"ArrayPoints({self.n:,} rows x {self.d} columns, {self.X.dtype})"

    def rows(self, index: Rows) -> Floats:
        """Return the rows with these numbers, (m, d)."""
        return self.X[index].astype(np.float64, copy=False)

    def row(self, row: int) -> Floats:
        """Return one row, (d,)."""
        x: Floats = self.X[row].astype(np.float64)
        return x

    def fingerprint(self) -> str:
        """Return a hash of the shape, the type and the values.

        Of more than 256 MiB, 1,024 evenly spaced pieces of that much in all are hashed.
        """
        return hash_of(self.X)

    def costs(self) -> ArrayCosts:
        """Return the costs of all rows without a centre yet."""
        return ArrayCosts(self.X, self.bounds, self.threads)

    def lower_costs(
        self, costs: NDArray[np.float32], centers: Floats, per_cost: float, start: int = 0
    ) -> None:
        """Lower costs, of the rows from `start` on, to the squared distances to more centres."""
        given = self.X[start:], centers, per_cost, costs, False, 1.0, kernels.NO_WEIGHTS
        run_in_threads(
            -(-costs.size // kernels.BLOCK), self.threads, partial(kernels.lower_costs, *given)
        )

    def label_rows(self, label: LabelBlock, known_rows: Rows, known_labels: Rows) -> Rows:
        """Return the label of every row: the known one, or what a function says of its block."""
        found = np.empty(self.n, dtype=np.intp)

        def work(first: int, last: int) -> None:
            for start in range(first, last, BLOCK_ROWS):
                rows = slice(start, min(start + BLOCK_ROWS, last))
                found[rows] = label(self.X[rows])

        run_in_threads(self.n, self.threads, work)
        found[known_rows] = known_labels
        return found

    def sums_by_label(
        self, labels: RowLabels, n_labels: int, origin: Floats
    ) -> tuple[Floats, Rows]:
        """Return the sums of the rows with each label, less an origin, and how many they are."""
        return sums_of(self.X, np.asarray(labels), n_labels, origin)

    def rows_above(self, column: int, value: float) -> Rows:
        """Return the rows that exceed a value in a column."""
        return np.flatnonzero(self.X[:, column] > value)

    def _in_space(self, space: WorkingSpace) -> ArrayPoints:
        """Return the coordinates of all rows in a space: in memory or, if they are large, in a file."""
        out = room_for(self.n, space.n_coordinates, space.dtype_of(self.dtype))
        space.write(self.X, out, self.threads)
        return ArrayPoints(out, threads=self._wanted_threads)


def sums_of(X: Matrix, labels: Rows, n_labels: int, origin: Floats) -> tuple[Floats, Rows]:
    """Return the sums of the rows with each label, less an origin, and how many they are.

    One thread adds them, so that the order of additions is always the same.
    """
    sums, counts = np.zeros((n_labels, X.shape[1])), np.zeros(n_labels, dtype=np.intp)
    kernels.add_by_label(X, labels, origin, sums, counts)
    return sums, counts


def room_for(n: int, d: int, dtype: np.dtype[np.floating]) -> Matrix:
    """Return room for a matrix: in memory or, where it is large, in a file that goes with it."""
    if n * d * dtype.itemsize <= IN_MEMORY:
        return np.empty((n, d), dtype=dtype)
    with tempfile.TemporaryFile(prefix="samekind-") as file:
        return np.memmap(file, dtype=dtype, mode="w+", shape=(n, d))


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
