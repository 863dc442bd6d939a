"""From a Dask collection to blocks of rows: what is read, and what cannot be."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from samekind.points.fixed_point import LARGEST, Extent, unusable
from samekind.points.kernels import search as _search
from samekind.points.sources.array import as_matrix

__all__ = ["Collection", "Scanned", "as_block", "collection", "join", "scan_block"]


class Collection(NamedTuple):
    """The partitions of a collection, and what their rows become."""

    partitions: list[Any]
    """Delayed objects."""
    d: int
    dtype: np.dtype[Any]
    names: list[Any]
    """Of the columns."""


class Scanned(NamedTuple):
    """What was seen in a block."""

    n: int
    extent: Extent | None
    """None if it has no rows, or one that is unusable."""
    bad: tuple[int, int, float] | None
    """Row, column and value of the first that is unusable."""


def collection(X: Any) -> Collection:
    """Return the partitions of a Dask array or dataframe; raise if it cannot hold rows of numbers."""
    kind = type(X).__name__
    if hasattr(X, "chunks"):
        return _from_array(X)
    if kind == "DataFrame":
        return _from_frame(X)
    if kind in ("Series", "Index"):
        raise ValueError(
            f"X must be 2-D (rows x columns), got a Dask {kind}. Use X.to_frame() for one column."
        )
    raise TypeError(f"X must be a Dask array or dataframe, got a Dask {kind}.")


def _from_array(X: Any) -> Collection:
    if X.ndim != 2:
        advice = " Use X.reshape(-1, 1) for one column." if X.ndim == 1 else ""
        raise ValueError(f"X must be 2-D (rows x columns), got shape {X.shape}.{advice}")
    if np.isnan(X.shape[1]):
        raise ValueError(
            "X does not know how many columns it has. Call X.compute_chunk_sizes() first."
        )
    if 0 in X.shape:
        raise ValueError(f"X must have at least one row and one column, got shape {X.shape}.")
    dtype = _dtype_for(X.dtype)
    if X.numblocks[1] > 1:
        X = X.rechunk({1: -1})
    d = int(X.shape[1])
    return Collection(list(X.to_delayed().ravel()), d, dtype, list(range(d)))


def _from_frame(X: Any) -> Collection:
    import pandas as pd

    names = list(X.columns)
    if not names:
        raise ValueError("X must have at least one row and one column, got a dataframe without.")
    dtypes = []
    for name, dtype in zip(names, X.dtypes, strict=True):
        plain = getattr(dtype, "numpy_dtype", dtype)
        if not pd.api.types.is_numeric_dtype(dtype) or not isinstance(plain, np.dtype):
            raise ValueError(
                f"X must hold numbers, got {dtype} in column {name!r}. Choose columns of numbers, for "
                "instance with X.select_dtypes('number'), or turn it into numbers first."
            )
        dtypes.append(plain)
    mixed = {dtype.kind == "b" for dtype in dtypes} == {True, False}  # pandas makes objects of them
    dtype = _dtype_for(np.dtype(np.float64) if mixed else np.result_type(*dtypes))
    return Collection(list(X.to_delayed()), len(names), dtype, names)


def _dtype_for(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the type in which numbers of this type are kept: the same as on the array."""
    if dtype.kind == "O":
        raise ValueError("X must hold numbers, got object. Convert it first: X.astype(float).")
    return as_matrix(np.zeros((1, 1), dtype=dtype)).dtype


def as_block(partition: Any, d: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return a partition as a C-contiguous matrix in memory."""
    if hasattr(partition, "to_numpy"):
        extended = any(not isinstance(kind, np.dtype) for kind in partition.dtypes)
        gaps = {"na_value": np.nan} if extended else {}
        partition = partition.to_numpy(dtype=dtype, **gaps)
    if not len(partition):
        return np.empty((0, d), dtype=dtype)
    block = as_matrix(partition)
    if block.shape[1] != d:
        raise ValueError(
            f"a partition of X has {block.shape[1]} columns, but X says that it has {d}."
        )
    # compiled loops take one sort of array only: those that can be written to
    return np.require(block, dtype=dtype, requirements=["C", "W", "E"])


def scan_block(block: NDArray[Any]) -> Scanned:
    """Return the extent of a block, or where it is unusable."""
    n, d = block.shape
    if not n:
        return Scanned(0, None, None)
    low, high = np.empty(d), np.empty(d)
    bad = int(_search.scan(block, LARGEST, low, high, 0, n))
    if bad >= 0:
        row, column = divmod(bad, d)
        return Scanned(n, None, (row, column, float(block[row, column])))
    return Scanned(n, Extent(n, low, high), None)


def join(scanned: list[Scanned], X: Collection) -> Extent:
    """Return the extent of all blocks; raise if a value is unusable, or if there is no row."""
    first, found = 0, None
    for block in scanned:
        if block.bad is not None:
            row, column, value = block.bad
            raise unusable(value, first + row, X.names[column])
        if block.extent is not None:
            found = block.extent if found is None else found.join(block.extent)
        first += block.n
    if found is None:
        raise ValueError(f"X must have at least one row and one column, got shape (0, {X.d}).")
    return found
