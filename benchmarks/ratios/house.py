"""Memory, the engine, the ledger and the import."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

import numpy as np

import samekind
from benchmarks.ratios import Ratio, Setting
from benchmarks.ratios.clock import compile_all, in_turns, seconds, synthetic

if TYPE_CHECKING:
    from samekind.algorithms import FlowAlgorithm, Params
    from samekind.flow import Flow

__all__ = ["importing", "memory", "session", "sqlite"]

MEMORY = """
import sys, threading, psutil, numpy as np, samekind
X, y = np.load(sys.argv[1]), np.load(sys.argv[2])
oracle = samekind.LabelOracle(y)
small = samekind.LabelOracle(y[:2_000])
samekind.solve(X[:2_000].copy(), small, algorithm="batched", budget=2_000, random_state=0)
process, peak, done = psutil.Process(), [0], threading.Event()
def watch():
    while not done.wait(0.002):
        peak[0] = max(peak[0], process.memory_info().rss)
before = process.memory_info().rss
watcher = threading.Thread(target=watch); watcher.start()
samekind.solve(X, oracle, algorithm="batched", budget=int(sys.argv[3]), epsilon=None, random_state=0)
done.set(); watcher.join()
print((max(peak[0], before) - before) / X.nbytes)
"""


def memory(setting: Setting) -> Iterator[Ratio]:
    compile_all()
    X, y = synthetic(setting.rows(10**6))
    budget = setting.questions(200_000)
    with tempfile.TemporaryDirectory(dir=setting.scratch) as folder:
        files = [str(Path(folder, name)) for name in ("X.npy", "y.npy")]
        np.save(files[0], X)
        np.save(files[1], y)
        command = [sys.executable, "-c", MEMORY, *files, str(budget)]
        out = subprocess.run(command, check=True, capture_output=True, text=True)
    what = f"peak memory of batched, {budget:,} questions, above the array / array"
    yield Ratio(what, f"{X.nbytes / 1e6:.0f} MB", float(out.stdout), 1.5)


def ask_only() -> type[FlowAlgorithm[Params]]:
    """Return an algorithm that only asks: each row its wrong and then its right cluster."""
    from samekind import algorithms

    class AskOnly(algorithms.FlowAlgorithm[algorithms.Params]):
        name = "ask-only"
        Params = algorithms.Params

        def run(self) -> Flow[str]:
            for start in range(1_000, self.points.n, 5_000):
                rows = np.arange(start, min(start + 5_000, self.points.n))
                for shift in (1, 0):
                    yield np.column_stack([rows, (rows + shift) % 100])
            return "exhausted"

    return AskOnly


def session(setting: Setting) -> Iterator[Ratio]:
    """Every question goes through a session and a ledger; the reference is 2 s of overhead."""
    from samekind.algorithms import ALGORITHMS

    n = setting.rows(500_000)
    labels = np.arange(n + 1_000) % 100
    X = labels[:, None].astype(np.float64)
    ALGORITHMS["ask-only"] = ask_only()
    oracle = samekind.LabelOracle(labels)
    try:
        took = median(
            seconds(
                lambda: samekind.solve(X, oracle, algorithm="ask-only", batch=1, random_state=0)
            )
            for _ in range(3)
        )
    finally:
        del ALGORITHMS["ask-only"]
    limit = 2.0 * n / 500_000
    what = f"{2 * n:,} questions, session and ledger in memory / {limit:g} s"
    yield Ratio(what, f"{took:.2f} s", took / limit, 1.0)


def sqlite(setting: Setting) -> Iterator[Ratio]:
    rng = np.random.default_rng(0)
    waves = [
        np.column_stack([np.arange(5_000) + 5_000 * w + 100, rng.integers(0, 100, 5_000)])
        for w in range(setting.rows(200_000) // 5_000 + 1)
    ]
    answers = np.zeros(5_000, dtype=np.int8)
    with (
        tempfile.TemporaryDirectory(dir=setting.scratch) as folder,
        samekind.Ledger(Path(folder, "bench.db")) as ledger,
    ):

        def record() -> None:
            for wave in waves:
                ledger.record(wave, answers)

        took = seconds(record)
    rate = 5_000 * len(waves) / took
    what = "50,000 answers a second / SQLite ledger, in waves"
    yield Ratio(what, f"{rate:,.0f}/s", 50_000 / rate, 1.0)


def importing(setting: Setting) -> Iterator[Ratio]:
    def work(code: str) -> Callable[[], object]:
        return lambda: subprocess.run([sys.executable, "-c", code], check=True)

    theirs = "import sklearn.cluster"
    for ours, most in (("import samekind", 1.5), ("from samekind import solve", None)):
        works = work(ours), work(theirs)
        in_turns(1, *works)
        took, reference = in_turns(5, *works)
        measured = f"{took:.2f} s / {reference:.2f} s"
        yield Ratio(f"{ours} / {theirs}", measured, took / reference, most)
