"""Rows of hundreds of columns, which are worked on in a reduced space."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

import samekind
from benchmarks.ratios import MANY, Ratio, Setting
from benchmarks.ratios.clock import compile_all, in_turns, seconds
from samekind.points import ArrayPoints, find_space

__all__ = ["embeddings", "reduced"]

SIZES = ((20_000, 384), (100_000, 768))
KEPT = 64
PASSES = 2  # over a sample, to find the components; over all rows, for their coordinates
MEMORY = """
import sys, threading, psutil, numpy as np, samekind
X, y = np.load(sys.argv[1]), np.load(sys.argv[2])
few = np.linspace(0, len(X) - 1, 2_000).astype(int)
samekind.solve(X[few], samekind.LabelOracle(y[few]), goal="labels", budget=200, random_state=0)
process, peak, done = psutil.Process(), [0], threading.Event()
def watch():
    while not done.wait(0.002):
        peak[0] = max(peak[0], process.memory_info().rss)
before = process.memory_info().rss
watcher = threading.Thread(target=watch); watcher.start()
questions = int(sys.argv[3])
if questions:
    oracle = samekind.LabelOracle(y)
    found = samekind.solve(X, oracle, goal="labels", budget=questions, random_state=0)
    found.labels_, found.all_centers_
else:
    from samekind.points import ArrayPoints, find_space
    found = find_space(ArrayPoints(X), metric="auto", reduce=64, seed=0)
done.set(); watcher.join()
print((max(peak[0], before) - before) / X.nbytes)
"""


def embeddings(n: int, d: int, n_clusters: int = 80, seed: int = 0) -> tuple[Any, Any]:
    """Return rows of length 1, float32, in overlapping clusters; their spectrum falls slowly."""
    rng = np.random.default_rng(seed)
    turn = np.linalg.qr(rng.standard_normal((d, d)))[0].astype(np.float32)
    width = (np.arange(1, d + 1) ** -0.4).astype(np.float32)
    y = rng.integers(0, n_clusters, n)
    X = rng.standard_normal((n, d), dtype=np.float32) * width
    X += (0.7 * rng.standard_normal((n_clusters, d)).astype(np.float32) * width)[y]
    X = X @ turn
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    return X, y


def reduced(setting: Setting) -> Iterator[Ratio]:
    compile_all("float32")
    questions = setting.questions(1_000)
    for rows, d in SIZES:
        X, y = embeddings(setting.rows(rows), d)
        shape = f"{len(X):,} x {d} float32"
        points = ArrayPoints(X)
        A = np.linalg.qr(np.random.default_rng(0).standard_normal((d, KEPT)))[0].astype(np.float32)
        find_space(points, metric="auto", reduce=KEPT, seed=0)  # compiles
        found, product = in_turns(
            7,
            partial(find_space, points, metric="auto", reduce=KEPT, seed=0),
            partial(np.matmul, X, A),
        )
        yield Ratio(
            f"to reduce {shape}, in {PASSES} passes / X @ A, {KEPT} columns, for each of them",
            f"{found * 1e3:.0f} ms / {PASSES} x {product * 1e3:.0f} ms",
            found / product / PASSES,
            3.0,
        )
        yield _questions(X, y, questions, shape)
        yield _memory(X, y, 0, f"the space of {shape}", setting)
        yield _memory(X, y, min(questions, 300), f"focused, {shape}", setting)
    yield _one_by_one(X, y, questions, shape)


def _questions(X: Any, y: Any, questions: int, shape: str) -> Ratio:
    """Compare a run with one on the first principal components, given as X."""
    from sklearn.decomposition import PCA

    Z = np.ascontiguousarray(PCA(KEPT, random_state=0).fit_transform(X))

    def solve(rows: Any) -> None:
        oracle = samekind.LabelOracle(y)
        found = samekind.solve(rows, oracle, budget=questions, random_state=0)
        assert len(found.labels_) == len(y)

    times = 3 if len(X) >= MANY else 1
    ours, theirs = in_turns(times, lambda: solve(X), lambda: solve(Z))
    return Ratio(
        f"focused, {questions:,} questions, {shape} / their first {KEPT} principal components",
        f"{ours:.1f} s / {theirs:.1f} s",
        ours / theirs,
        2.0,
    )


def _memory(X: Any, y: Any, questions: int, what: str, setting: Setting) -> Ratio:
    """Return the memory that a run takes; without questions, that of the reduction alone."""
    with tempfile.TemporaryDirectory(dir=setting.scratch) as folder:
        files = [str(Path(folder, name)) for name in ("X.npy", "y.npy")]
        np.save(files[0], X)
        np.save(files[1], y)
        command = [sys.executable, "-c", MEMORY, *files, str(questions)]
        out = subprocess.run(command, check=True, capture_output=True, text=True)
    measured = f"{X.nbytes / 1e6:.0f} MB"
    return Ratio(
        f"peak memory of {what}, above the array / array", measured, float(out.stdout), 1.5
    )


def _one_by_one(X: Any, y: Any, questions: int, shape: str) -> Ratio:
    """Time from an answer to the next question, as a person meets it."""
    oracle = samekind.LabelOracle(y)
    times = []
    started = perf_counter()
    with samekind.Session(X, batch=1, budget=questions, random_state=0) as session:
        opened = perf_counter() - started
        while not session.done:
            pairs = session.pending()
            answers = oracle(pairs)
            times.append(seconds(partial(session.tell, pairs, answers)))
    slow = float(np.quantile(times, 0.95))
    return Ratio(
        f"focused, {shape}, one by one: 95 % of {len(times):,} next questions within / 100 ms",
        f"{slow * 1e3:.1f} ms; median {np.median(times) * 1e3:.1f} ms, slowest {max(times) * 1e3:.0f} ms; "
        f"the first after {opened:.1f} s",
        slow / 0.1,
        1.0,
    )
