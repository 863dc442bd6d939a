"""What rows cost one core."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from time import perf_counter
from typing import Any

import numpy as np

import samekind
from benchmarks.ratios.clock import seconds
from benchmarks.ratios.watched import WatchedExecutor, WatchedPoints
from benchmarks.scale.constants import Bytes, Passes

__all__ = ["NoteExecutor", "NotePoints", "measure_rows"]


class NoteExecutor(WatchedExecutor):
    """Notes of every pass its seconds, sites and visited rows."""

    def __init__(self, executor: Any) -> None:
        super().__init__(executor)
        self.passes: list[tuple[float, int, int]] = []

    def run(
        self, calls: Mapping[int, Any], combine: Callable[..., Any] | None = None
    ) -> dict[int, Any]:
        started = perf_counter()
        found = super().run(calls, combine)
        if calls[0].name == "add_centers":
            took = perf_counter() - started
            visited = sum(change.n_distances for change in found.values())
            self.passes.append((took, len(calls[0].args[1]), visited))
        return found


class NotePoints(WatchedPoints):
    """Points with one thread, and such an executor."""

    executor_class = NoteExecutor

    def __init__(self, X: Any) -> None:
        super().__init__(X, threads=1)


def measure_rows(n: int, questions: int, n_clusters: int = 100) -> tuple[Passes, Bytes]:
    """Measure passes on n rows of 10 columns, alone and in a run of so many questions."""
    from samekind.datasets import make_synthetic
    from samekind.points.kernels.leaves import LEAF

    X, y = make_synthetic(n, n_clusters=n_clusters, dtype=np.float32, random_state=0)
    oracle = samekind.LabelOracle(y)
    few = X[: max(2_000, n // 100)]
    _first_passes(few)  # compiles
    samekind.solve(NotePoints(few), samekind.LabelOracle(y[: len(few)]), budget=50, random_state=0)
    taken, kept = zip(*[_first_passes(X) for _ in range(3)], strict=True)
    scan, group, first_of_cells = np.median(taken, axis=0) / n
    points = NotePoints(X)
    samekind.solve(points, oracle, budget=questions, epsilon=None, random_state=0)
    took, sites, visited = np.array(points.executor.passes).T
    per_leaf = _in_vain(X) / (n / LEAF)
    per_visit = max(took.sum() - sites.sum() * per_leaf * n / LEAF, 0.0) / visited.sum()
    passes = Passes(
        rows=n,
        columns=X.shape[1],
        scan=float(scan),
        group=float(group),
        first_of_cells=float(first_of_cells),
        per_leaf=float(per_leaf),
        per_visit=float(per_visit),
        share=float(visited.sum() / sites.sum() / n),
    )
    return passes, kept[0]


def _in_vain(X: Any) -> float:
    """Return the seconds of a site's pass that looks at all leaves and visits no row."""
    sampler = NotePoints(X).sampler()
    sampler.add(X[:1])
    before = sampler.n_distances
    away = np.full((16, X.shape[1]), 1e3 * float(np.abs(X[:1000]).max()))
    took = min(seconds(lambda: sampler.add(away)) for _ in range(3))
    assert sampler.n_distances == before
    return took / len(away)


def _first_passes(X: Any) -> tuple[list[float], Bytes]:
    """Return the seconds of the first passes one by one, and the bytes that are kept for a row."""
    points = NotePoints(X)
    (part,) = points.executor.partitions
    group = seconds(lambda: part._leaves)
    cells = points.voronoi()
    first_of_cells = seconds(lambda: cells.add(0))
    (table,) = part.tables.values()
    groups, kept = (
        sum(array.nbytes for array in arrays if isinstance(array, np.ndarray))
        for arrays in (part._leaves, table.state)
    )
    took = [points.scanning, group, first_of_cells]
    return took, Bytes(groups / len(X), kept / len(X))
