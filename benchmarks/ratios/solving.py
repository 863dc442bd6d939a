"""Whole runs against scikit-learn's k-means++ seeding of 100 centres."""

from __future__ import annotations

from collections.abc import Iterator

import samekind
from benchmarks.ratios import MANY, Ratio, Setting
from benchmarks.ratios.clock import compile_all, in_turns, synthetic

__all__ = ["batched", "focused"]


def against_kmeans_plusplus(
    setting: Setting, algorithm: str, budget: int, times: int, most: float
) -> Ratio:
    from sklearn.cluster import kmeans_plusplus

    compile_all()
    X, y = synthetic(setting.rows(10**6, MANY))
    oracle, budget = samekind.LabelOracle(y), setting.questions(budget)

    def solve() -> None:
        samekind.solve(X, oracle, algorithm=algorithm, budget=budget, epsilon=None, random_state=0)

    def kmeans() -> None:
        kmeans_plusplus(X, 100, n_local_trials=1, random_state=0)

    ours, theirs = in_turns(times, solve, kmeans)
    return Ratio(
        f"{algorithm}, {budget:,} questions, {len(X):,} x 10 / kmeans_plusplus(X, 100)",
        f"{ours:.2f} s / {theirs:.2f} s",
        ours / theirs,
        most,
    )


def batched(setting: Setting) -> Iterator[Ratio]:
    yield against_kmeans_plusplus(setting, "batched", 200_000, 5, 1.0)


def focused(setting: Setting) -> Iterator[Ratio]:
    yield against_kmeans_plusplus(setting, "focused", 10_000, 3, 1.0)
