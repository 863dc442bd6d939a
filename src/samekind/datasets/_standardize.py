"""Mean 0 and variance 1 for every feature, whatever its range, in little memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from samekind.points.scaling import Scaling

Floats: TypeAlias = NDArray[np.floating[Any]]

CHUNK_ELEMENTS = 1 << 20  # what is converted to float64 at a time: 8 MiB


def row_chunks(n_rows: int, n_columns: int) -> Iterator[slice]:
    """Cut the rows into slices of about CHUNK_ELEMENTS elements."""
    step = max(1, CHUNK_ELEMENTS // max(1, n_columns))
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))


def standardize_columns(
    X: NDArray[Any], out: Floats, blocks: NDArray[np.intp] | None = None
) -> Scaling:
    """Write the standardised X into `out`, which may be X; return the way back.

    Constant columns become zero. Columns with the same number in `blocks` (the one-hot columns of
    one text column) are centred and divided by one number, so that their variances add up to 1 and
    the text column weighs as much as a numeric one.

    Every column is first mapped onto [-1, 1], so neither a huge offset nor values near the limits
    of float64 harm the moments, and a constant column is found exactly.
    """
    n_rows, n_columns = X.shape
    # Halves are taken before the difference: hi - lo may exceed the largest float64.
    lo = X.min(axis=0).astype(np.float64) / 2
    hi = X.max(axis=0).astype(np.float64) / 2
    middle, half = lo + hi, hi - lo
    constant: NDArray[np.bool_] = half == 0
    unit = np.where(constant, 1.0, half)

    chunks = list(row_chunks(n_rows, n_columns))
    mean = np.zeros(n_columns)
    for rows in chunks:
        mean += ((X[rows].astype(np.float64) - middle) / unit).sum(axis=0)
    mean /= n_rows
    variance = np.zeros(n_columns)
    for rows in chunks:
        variance += (((X[rows].astype(np.float64) - middle) / unit - mean) ** 2).sum(axis=0)
    variance /= n_rows

    if blocks is not None:
        # A one-hot column has unit 1/2 (or is constant), so variances within a block compare.
        in_block = np.bincount(blocks, weights=np.where(constant, 0.0, variance))
        variance = in_block[blocks].astype(np.float64)
    scale = np.sqrt(np.where(constant | (variance == 0), 1.0, variance))
    for rows in chunks:
        Z = ((X[rows].astype(np.float64) - middle) / unit - mean) / scale
        Z[:, constant] = 0.0
        out[rows] = Z
    return Scaling(mean * unit + middle, scale * unit, constant)
