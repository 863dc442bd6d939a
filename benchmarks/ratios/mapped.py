"""Data in a file, larger than one would like to have in memory."""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.ratios import MANY, Ratio, Setting, SkippedError
from benchmarks.ratios.process import ours, run_watched

__all__ = ["mapped", "write_mixture"]

LIMIT = 3_600.0  # seconds
TARGET = 50  # clusters to recover, of CLUSTERS
CLUSTERS = 100
PIECE = 10**6  # rows that are made at once
GB = 1e9


def mapped(setting: Setting) -> Iterator[Ratio]:
    """10^8 x 10 float32 in a file of 4 GB, of which the run has a memory map.

    Memory is what no file stands behind. The labels that answer for an expert, a byte a row, are a map of a
    file, too, so they are not in it; a person's answers need none.
    """
    n = setting.rows(10**8, MANY)
    needed = n * 41
    if shutil.disk_usage(setting.scratch).free < 1.1 * needed:
        raise SkippedError(f"{setting.scratch} has less than {1.1 * needed / GB:.1f} GB left")
    with tempfile.TemporaryDirectory(dir=setting.scratch, prefix="samekind-") as folder:
        write_mixture(Path(folder), n)
        run_watched(ours(__name__, folder, MANY), LIMIT)  # compiles
        outcome = run_watched(ours(__name__, folder, n), LIMIT)
    if outcome.complaint or outcome.unfinished or not outcome.lines:
        raise SkippedError(outcome.complaint or f"unfinished after {LIMIT:g} s")
    found = outcome.lines[-1]
    tens = found["recovered"] / 10
    yield Ratio(
        f"focused, {n:,} x 10 float32 in a file, to {found['recovered']} recovered clusters"
        " / reading it once for every ten",
        f"{found['solve']:.1f} s, {found['questions']:,} questions / {tens:g} x {found['sum']:.2f} s"
        f" (X.sum() of the map; plain read {found['read']:.2f} s)",
        found["solve"] / (tens * found["sum"]) if tens else float("inf"),
        6.0,
    )
    yield Ratio(
        "peak anonymous memory of that run, without labels (in a file) / 2 GB",
        f"{outcome.anonymous / GB:.2f} GB",
        outcome.anonymous / (2 * GB),
        1.0,
    )


def write_mixture(folder: Path, n: int) -> None:
    """Write data like `make_synthetic`'s, X (float32) and y (int8), piece by piece."""
    rng = np.random.default_rng(0)
    centers = rng.uniform(0.0, 5.0, (CLUSTERS, 10)).astype(np.float32)
    shares = np.arange(1, CLUSTERS + 1) ** -2.5
    edges = np.cumsum(shares / shares.sum())
    with Path(folder, "X.f32").open("wb") as xs, Path(folder, "y.i8").open("wb") as ys:
        for first in range(0, n, PIECE):
            size = min(PIECE, n - first)
            y = np.minimum(edges.searchsorted(rng.random(size), side="right"), CLUSTERS - 1)
            X = rng.standard_normal((size, 10), dtype=np.float32)
            X *= np.float32(0.3)
            X += centers[y]
            xs.write(X.data)
            ys.write(y.astype(np.int8).data)


class FileOracle:
    """Answers from labels in a file, which stay there."""

    batch = "auto"
    name = "labels"

    def __init__(self, labels: NDArray[Any]) -> None:
        self._labels = labels

    def __call__(self, pairs: NDArray[np.intp]) -> NDArray[np.int8]:
        same: NDArray[np.bool_] = self._labels[pairs[:, 0]] == self._labels[pairs[:, 1]]
        return same.view(np.int8)


def main(folder: str, n: str) -> None:
    """Read the file twice, plainly and as a map; solve few rows, which loads all code, and then the whole."""
    import samekind

    file, rows = Path(folder, "X.f32"), int(n)
    spent = {"read": min(_read(file, rows * 40) for _ in range(2))}
    X = np.memmap(file, dtype=np.float32, mode="r", shape=(rows, 10))
    started = perf_counter()
    X.sum()
    spent["sum"] = perf_counter() - started
    oracle = FileOracle(np.memmap(Path(folder, "y.i8"), dtype=np.int8, mode="r", shape=(rows,)))
    few = np.memmap(file, dtype=np.float32, mode="r", shape=(MANY, 10))
    samekind.solve(few, oracle, budget=500, epsilon=None, random_state=0)
    X = np.memmap(file, dtype=np.float32, mode="r", shape=(rows, 10))
    started = perf_counter()
    clusters = samekind.solve(X, oracle, target=TARGET, epsilon=None, random_state=0)
    spent["solve"] = perf_counter() - started
    found = {"questions": clusters.n_questions_, "recovered": clusters.n_recovered_}
    print(json.dumps(spent | found))


def _read(file: Path, size: int) -> float:
    """Read a file once; return the seconds."""
    buffer = bytearray(2**24)
    started = perf_counter()
    with file.open("rb", buffering=0) as opened:
        while size > 0 and (got := opened.readinto(buffer)):
            size -= got
    return perf_counter() - started


if __name__ == "__main__":
    main(*sys.argv[1:])
