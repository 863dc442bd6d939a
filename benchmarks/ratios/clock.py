"""Times, taken in turns: machines are shared, and what is slow now is slow for both."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

import samekind
from samekind.datasets import make_synthetic

__all__ = ["compile_all", "in_turns", "seconds", "synthetic"]


def seconds(work: Callable[[], object]) -> float:
    started = perf_counter()
    work()
    return perf_counter() - started


def in_turns(times: int, *works: Callable[[], object]) -> list[float]:
    """Return the median time of each, run in turns."""
    taken = [[seconds(work) for work in works] for _ in range(times)]
    return [median(each) for each in zip(*taken, strict=True)]


@lru_cache(maxsize=1)
def synthetic(n: int, dtype: str = "float64") -> tuple[Any, Any]:
    """Return the paper's synthetic data, 100 clusters, and their labels."""
    X, y = make_synthetic(n, dtype=np.dtype(dtype), random_state=0)
    return X, y


@cache
def compile_all(dtype: str = "float64") -> None:
    """Compile what is not compiled yet."""
    for n in (2_000, 40_000):  # few rows are treated in another way
        X, y = make_synthetic(n, n_clusters=10, dtype=np.dtype(dtype), random_state=0)
        for algorithm in ("batched", "focused"):
            oracle = samekind.LabelOracle(y)
            found = samekind.solve(
                X, oracle, algorithm=algorithm, budget=300, epsilon=None, random_state=0
            )
            assert len(found.labels_) == n
