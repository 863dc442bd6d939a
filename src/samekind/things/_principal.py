"""The few directions in which rows differ most, learnt from a sample of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

SEED = 0
SAMPLE = 20_000


def sample_rows(n: int) -> NDArray[np.intp]:
    """Return the rows to learn from: all, or as many as are enough, always the same."""
    if n <= SAMPLE:
        return np.arange(n)
    return np.sort(np.random.default_rng(SEED).choice(n, SAMPLE, replace=False))


def sparse_axes(rows: Any, most: int) -> NDArray[np.float32]:
    """Return at most so many axes of sparse rows, a row for each axis."""
    from sklearn.utils.extmath import randomized_svd

    k = min(most, *rows.shape)
    _, _, axes = randomized_svd(rows, k, n_iter=3, random_state=SEED)
    return np.ascontiguousarray(axes, dtype=np.float32)


def dense_axes(rows: NDArray[np.float32], most: int) -> NDArray[np.float32]:
    """Return at most so many axes of rows with few columns, exactly."""
    k = min(most, *rows.shape)
    if rows.shape[0] < rows.shape[1]:
        axes = np.linalg.svd(rows.astype(np.float64), full_matrices=False)[2][:k]
    else:
        axes = np.linalg.eigh((rows.T @ rows).astype(np.float64))[1][:, ::-1][:, :k].T
    largest = axes[np.arange(k), np.abs(axes).argmax(axis=1)]
    return np.ascontiguousarray(axes * np.sign(largest)[:, None], dtype=np.float32)
