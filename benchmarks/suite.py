"""What the suites of asv share: their data, and how large they are."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

__all__ = ["mixture", "rows"]


def rows(n: int) -> int:
    """Return a number of rows or questions, or a small part of it where only a look is wanted."""
    return max(n // int(os.environ.get("SAMEKIND_BENCH_SHRINK", "1")), min(n, 120))


def mixture(
    n: int, n_clusters: int = 100, alpha: float = 2.5, dtype: str = "float64"
) -> tuple[Any, Any]:
    """Return the paper's synthetic data."""
    from samekind.datasets import make_synthetic

    n = rows(n)
    return make_synthetic(
        n, n_clusters=min(n_clusters, n // 10), alpha=alpha, dtype=np.dtype(dtype), random_state=0
    )
