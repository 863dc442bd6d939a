"""From a Dask array or dataframe to blocks of rows: what is read, and what cannot be."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np

from samekind.points.arrays import Matrix
from samekind.points.bounds import Bounds, UnusableValue, unusable_value
from samekind.points.sources.array import as_matrix

__all__ = ["DaskRows", "as_block", "bounds_of_all", "partitions_of"]


class DaskRows(NamedTuple):
    """The partitions of a Dask collection, and what their rows become."""

    partitions: list[Any]
    """Delayed objects."""
    d: int
    dtype: np.dtype[np.floating]
    names: list[Hashable]
    """Of the columns."""


def partitions_of(X: Any) -> DaskRows:
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


def _from_array(X: Any) -> DaskRows:
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
    return DaskRows(list(X.to_delayed().ravel()), d, dtype, list(range(d)))


def _from_frame(X: Any) -> DaskRows:
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
    return DaskRows(list(X.to_delayed()), len(names), dtype, names)


def _dtype_for(dtype: np.dtype[Any]) -> np.dtype[np.floating]:
    """Return the type in which numbers of this type are kept: the same as on the array."""
    if dtype.kind == "O":
        raise ValueError("X must hold numbers, got object. Convert it first: X.astype(float).")
    return as_matrix(np.zeros((1, 1), dtype=dtype)).dtype


def as_block(partition: Any, d: int, dtype: np.dtype[np.floating]) -> Matrix:
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


def bounds_of_all(scanned: list[Bounds | UnusableValue], X: DaskRows) -> Bounds:
    """Return the bounds of all blocks; raise if a value is unusable, or if there is no row."""
    bounds = Bounds.of_nothing(X.d)
    for found in scanned:
        if isinstance(found, UnusableValue):
            row, column, value = found
            raise unusable_value(value, bounds.n + row, X.names[column])
        bounds = bounds.union(found)
    if not bounds.n:
        raise ValueError(f"X must have at least one row and one column, got shape (0, {X.d}).")
    return bounds
