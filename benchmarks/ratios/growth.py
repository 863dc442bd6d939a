"""How the time grows with the number of rows, once they were passed over for the first time."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median
from time import perf_counter

import samekind
from benchmarks.ratios import MANY, Ratio, Setting
from benchmarks.ratios.clock import compile_all, synthetic
from benchmarks.ratios.watched import WatchedPoints

__all__ = ["after_first_pass", "growth"]


def after_first_pass(n: int, questions: int) -> tuple[float, float]:
    """Return the seconds of a run of `focused` up to the first distances, and those after them."""
    X, y = synthetic(n, "float32")
    oracle = samekind.LabelOracle(y)
    started = perf_counter()
    points = WatchedPoints(X)
    samekind.solve(points, oracle, budget=questions, epsilon=None, random_state=0)
    took = perf_counter() - started
    first = points.scanning + points.executor.first_pass
    return first, took - first


def growth(setting: Setting) -> Iterator[Ratio]:
    compile_all("float32")
    questions = setting.questions(2_000)
    sizes = [setting.rows(n, MANY) for n in (10**5, 10**6, 10**7)]
    rest = []
    shown = []
    for n in sizes:
        runs = [after_first_pass(n, questions) for _ in range(3)]
        first, after = (median(each) for each in zip(*runs, strict=True))
        rest.append(after)
        shown.append(f"{n:,}: {first:.2f} + {after:.2f} s")
    yield Ratio(
        f"focused, {questions:,} questions, after the first pass, {sizes[-1]:,} rows / {sizes[0]:,}",
        "; ".join(shown),
        rest[-1] / rest[0],
        30.0,
    )
