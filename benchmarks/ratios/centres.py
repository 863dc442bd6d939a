"""K-means++ seeding, which is D²-sampling one centre at a time."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from benchmarks.ratios import Ratio, Setting
from benchmarks.ratios.clock import compile_all, in_turns, synthetic
from samekind.points import ArrayPoints

__all__ = ["hundred", "sample_centres"]


def sample_centres(X: Any, size: int, seed: int = 0) -> list[int]:
    """Draw centres one by one, from the bare array; return their rows."""
    rng = np.random.default_rng(seed)
    sampler = ArrayPoints(X).sampler()
    rows = []
    for _ in range(size):
        (row,) = sampler.draw_by_rejection(rng, 1)
        sampler.add_lazily(X[row])
        rows.append(row)
    return rows


def hundred(setting: Setting) -> Iterator[Ratio]:
    """A hundred centres of 10^6 rows, everything included."""
    from sklearn.cluster import kmeans_plusplus

    for dtype in ("float32", "float64"):
        compile_all(dtype)
        X, _ = synthetic(setting.rows(10**6), dtype)
        ours, theirs = in_turns(
            5,
            partial(sample_centres, X, 100),
            partial(kmeans_plusplus, X, 100, n_local_trials=1, random_state=0),
        )
        yield Ratio(
            f"100 centres of {len(X):,} x 10 {dtype} / kmeans_plusplus(X, 100)",
            f"{ours:.3f} s / {theirs:.3f} s: {theirs / ours:.1f} x faster",
            ours / theirs,
            1 / 30,
        )
