"""`make bench`: the speed and memory that are promised, as ratios taken in one run.

Machines differ and are shared, so every time is set against a reference that is measured beside it, in
turns, and the medians are compared. Exits with 1 if a promise is not kept.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from time import perf_counter

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.cluster import kmeans_plusplus

import samekind
from samekind.algorithms import ALGORITHMS
from samekind.datasets import make_synthetic
from samekind.session import Session

console = Console()


def seconds(work: Callable[[], object]) -> float:
    started = perf_counter()
    work()
    return perf_counter() - started


def in_turns(work: Callable[[], object], reference: Callable[[], object], times: int) -> tuple:
    """Return the median times of both, run in turns."""
    pairs = [(seconds(work), seconds(reference)) for _ in range(times)]
    return median(t for t, _ in pairs), median(t for _, t in pairs)


def against_kmeans_plusplus(
    X, oracle, algorithm: str, budget: int, most: float
) -> tuple[str, str, float, float]:
    def solve() -> None:
        samekind.solve(X, oracle, algorithm=algorithm, budget=budget, epsilon=None, random_state=0)

    def kmeans() -> None:
        kmeans_plusplus(X, 100, n_local_trials=1, random_state=0)

    ours, theirs = in_turns(solve, kmeans, 5 if algorithm == "batched" else 3)
    return (
        f"{algorithm}, {budget:,} questions / kmeans_plusplus(X, 100)",
        f"{ours:.2f} s / {theirs:.2f} s",
        ours / theirs,
        most,
    )


def pass_against_read(X) -> tuple[str, str, float, float]:
    sampler = samekind.ArrayPoints(X).sampler()
    sampler.add(X[:1])
    ours, read = in_turns(lambda: sampler.add(X[1:2]), lambda: X.sum(), 41)
    return (
        "a centre's pass / X.sum()",
        f"{ours * 1e3:.1f} ms / {read * 1e3:.1f} ms",
        ours / read,
        2.0,
    )


MEMORY = """
import sys, threading, psutil, numpy as np, samekind
X, y = np.load(sys.argv[1]), np.load(sys.argv[2])
oracle = samekind.LabelOracle(y)
small = samekind.LabelOracle(y[:20_000])
samekind.solve(X[:20_000].copy(), small, algorithm="batched", budget=2_000, random_state=0)
process, peak, done = psutil.Process(), [0], threading.Event()
def watch():
    while not done.wait(0.002):
        peak[0] = max(peak[0], process.memory_info().rss)
before = process.memory_info().rss
watcher = threading.Thread(target=watch); watcher.start()
samekind.solve(X, oracle, algorithm="batched", budget=200_000, epsilon=None, random_state=0)
done.set(); watcher.join()
print((peak[0] - before) / X.nbytes)
"""


def peak_memory(X, y) -> tuple[str, str, float, float]:
    with tempfile.TemporaryDirectory() as folder:
        files = [str(Path(folder, name)) for name in ("X.npy", "y.npy")]
        np.save(files[0], X)
        np.save(files[1], y)
        out = subprocess.run(
            [sys.executable, "-c", MEMORY, *files], check=True, capture_output=True, text=True
        )
    share = float(out.stdout)
    return "peak memory of that run above the array / array", f"{X.nbytes / 1e6:.0f} MB", share, 1.5


def questions_of_new_rows(points, kinds, rng, settings) -> Iterator:
    """A flow that only asks: a million questions, each row its wrong and then its right cluster."""
    kinds.sampler = points.sampler()
    for start in range(1_000, 501_000, 5_000):
        rows = np.arange(start, start + 5_000)
        for shift in (1, 0):
            yield np.column_stack([rows, (rows + shift) % 100])
    return "exhausted"


def session_overhead() -> tuple[str, str, float, float]:
    """Every question goes through a session and a ledger; the reference is 2 s of overhead."""
    labels = np.arange(501_000) % 100
    X = labels[:, None].astype(np.float64)
    ALGORITHMS["ask-only"] = questions_of_new_rows
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
    return "1,000,000 questions, session and ledger in memory / 2 s", f"{took:.2f} s", took / 2, 1.0


def sqlite_rate() -> tuple[str, str, float, float]:
    rng = np.random.default_rng(0)
    waves = [
        np.column_stack([np.arange(5_000) + 5_000 * w + 100, rng.integers(0, 100, 5_000)])
        for w in range(40)
    ]
    answers = np.zeros(5_000, dtype=np.int8)
    with (
        tempfile.TemporaryDirectory() as folder,
        samekind.SqlLedger(Path(folder, "bench.db")) as ledger,
    ):
        took = seconds(lambda: [ledger.record(wave, answers) for wave in waves])
    rate = 200_000 / took
    return "50,000 answers a second / SQLite ledger, in waves", f"{rate:,.0f}/s", 50_000 / rate, 1.0


def import_time() -> tuple[str, str, float, float]:
    def importing(module: str) -> Callable[[], object]:
        return lambda: subprocess.run([sys.executable, "-c", f"import {module}"], check=True)

    importing("samekind")()
    importing("sklearn.cluster")()
    ours, theirs = in_turns(importing("samekind"), importing("sklearn.cluster"), 5)
    return (
        "import samekind / import sklearn.cluster",
        f"{ours:.2f} s / {theirs:.2f} s",
        ours / theirs,
        1.5,
    )


def main() -> int:
    console.print("Making the synthetic data: 1,000,000 x 10, 100 clusters …")
    X, y = make_synthetic(random_state=0)
    oracle = samekind.LabelOracle(y)
    for algorithm in ("batched", "focused"):  # compiles what is not compiled yet
        samekind.solve(X, oracle, algorithm=algorithm, budget=2_000, random_state=0)
    Session(X[:100], random_state=0)
    measures = [
        lambda: against_kmeans_plusplus(X, oracle, "batched", 200_000, 1.0),
        lambda: against_kmeans_plusplus(X, oracle, "focused", 10_000, 3.0),
        lambda: pass_against_read(X),
        lambda: peak_memory(X, y),
        session_overhead,
        sqlite_rate,
        import_time,
    ]
    table = Table("what", "measured", "ratio", "at most", "")
    kept = True
    for measure in measures:
        what, measured, ratio, most = measure()
        kept &= ratio <= most
        verdict = "[green]ok" if ratio <= most else "[red]missed"
        table.add_row(what, measured, f"{ratio:.2f}", f"{most:g}", verdict)
        console.print(f"{what}: {ratio:.2f}")
    console.print(table)
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
