"""A centre that every row is measured to."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from benchmarks.ratios import Ratio, Setting
from benchmarks.ratios.clock import compile_all, in_turns, seconds, synthetic
from samekind.points import ArrayPoints

__all__ = ["full_pass"]

TIMES = 9


def full_pass(setting: Setting) -> Iterator[Ratio]:
    """The first centre, and a later one.

    The promise is against NumPy's own sum, which is one thread; a read by as many threads as the pass has is
    shown beside it.
    """
    compile_all("float32")
    X, _ = synthetic(setting.rows(10**7), "float32")
    points = ArrayPoints(X)
    middle = X[: 10**4].mean(axis=0, dtype=np.float64)[None]
    away = middle + 1e3 * (X.max() - X.min())

    def later() -> float:
        sampler = points.sampler()
        sampler.add(away)
        return seconds(lambda: sampler.add(middle))

    with ThreadPoolExecutor(points.threads) as pool:
        pieces = np.array_split(X, points.threads)
        readings = [
            (
                *in_turns(1, X.sum, lambda: list(pool.map(np.sum, pieces))),
                seconds(lambda: points.sampler().add(middle)),
                later(),
            )
            for _ in range(TIMES)
        ]
    alone, together, first, second = np.median(readings, axis=0).tolist()
    for what, took in (("the first centre's pass", first), ("a full pass for a later one", second)):
        for name, read, most in (
            ("X.sum()", alone, 1.3),
            (f"a read by {points.threads} threads", together, None),
        ):
            measured = f"{took * 1e3:.1f} ms / {read * 1e3:.1f} ms"
            yield Ratio(f"{what}, {len(X):,} x 10 float32 / {name}", measured, took / read, most)
