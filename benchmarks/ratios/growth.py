"""How the time grows with the number of rows."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median
from time import perf_counter

import samekind
from benchmarks.ratios import MANY, Ratio, Setting
from benchmarks.ratios.clock import compile_all, synthetic
from samekind.points import ArrayPoints

__all__ = ["growth", "solve"]


def solve(n: int, questions: int) -> tuple[float, float]:
    """Return the seconds until `focused` asks its first question, and those after that."""
    X, y = synthetic(n, "float32")
    oracle = samekind.LabelOracle(y)
    started = perf_counter()
    points = ArrayPoints(X)
    with samekind.Session(points, budget=1, random_state=0, batch="auto") as session:
        session.pending()
    opened = perf_counter() - started
    started = perf_counter()
    found = samekind.solve(points, oracle, budget=questions, epsilon=None, random_state=0)
    assert len(found.labels_) == n
    return opened, perf_counter() - started - opened


def growth(setting: Setting) -> Iterator[Ratio]:
    compile_all("float32")
    questions = setting.questions(2_000)
    sizes = [setting.rows(n, MANY) for n in (10**5, 10**6, 10**7)]
    rest = []
    shown = []
    for n in sizes:
        runs = [solve(n, questions) for _ in range(3)]
        opened, after = (median(each) for each in zip(*runs, strict=True))
        rest.append(opened + after)
        shown.append(f"{n:,}: {opened:.2f} + {after:.2f} s")
    yield Ratio(
        f"focused, {questions:,} questions and all labels, {sizes[-1]:,} rows / {sizes[0]:,}",
        "; ".join(shown),
        rest[-1] / rest[0],
        30.0,
    )
