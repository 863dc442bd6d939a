"""Rows on the workers of a Dask cluster."""

from __future__ import annotations

import os
import signal
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import samekind
from benchmarks.ratios import MANY, Ratio, Setting, SkippedError
from benchmarks.ratios.clock import compile_all, synthetic

__all__ = ["from_file", "local_cluster", "on_workers"]

PARTITIONS = 20
TIMES = 3


class Run(NamedTuple):
    """What a run found and asked, and how long it took."""

    seconds: float
    labels: NDArray[np.intp]
    questions: NDArray[np.intp]

    def differs_from(self, other: Run) -> bool:
        same_questions = np.array_equal(self.questions, other.questions)
        return not (same_questions and np.array_equal(self.labels, other.labels))


class Listening:
    """Answers from labels, and keeps what was asked."""

    batch = "auto"
    name = "labels"

    def __init__(self, y: NDArray[Any]) -> None:
        self._answer = samekind.LabelOracle(y)
        self.asked: list[NDArray[np.intp]] = []

    def __call__(self, pairs: NDArray[np.intp]) -> NDArray[np.int8]:
        self.asked.append(pairs.copy())
        return self._answer(pairs)


@contextmanager
def local_cluster(workers: int) -> Iterator[Any]:
    """Have a cluster of processes of one thread each."""
    try:
        from distributed import Client, LocalCluster

        from samekind.points import DaskPoints as _  # noqa: F401
    except ImportError as error:
        raise SkippedError(str(error)) from None
    with (
        LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            processes=True,
            memory_limit=0,
            dashboard_address=":0",
            silence_logs="CRITICAL",
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


def from_file(file: Path, partitions: int) -> Any:
    """Return the rows of a .npy file as a Dask array, of which every worker reads its own."""
    import dask
    import dask.array as da

    whole = np.load(file, mmap_mode="r")
    n, d = whole.shape
    edges = [n * part // partitions for part in range(partitions + 1)]
    read = dask.delayed(_read, pure=False)
    return da.concatenate(
        [
            da.from_delayed(read(str(file), first, last), (last - first, d), whole.dtype)
            for first, last in pairwise(edges)
        ]
    )


def _read(file: str, first: int, last: int) -> NDArray[Any]:
    return np.array(np.load(file, mmap_mode="r")[first:last])


def on_workers(setting: Setting) -> Iterator[Ratio]:
    """`focused` on two workers against one array and two threads; then with a worker killed midway.

    Both from rows that lie in memory to the result. The cluster is there already and has its compiled code.
    """
    from samekind.points import ArrayPoints

    compile_all("float32")
    n, questions = setting.rows(10**7, MANY), setting.questions(2_000)
    X, y = synthetic(n, "float32")
    with (
        tempfile.TemporaryDirectory(dir=setting.scratch, prefix="samekind-") as folder,
        local_cluster(2) as client,
    ):
        from distributed import wait

        from samekind.points import DaskPoints

        file = Path(folder, "X.npy")
        np.save(file, X)

        def on_cluster(kill: bool = False) -> Run:
            rows = from_file(file, PARTITIONS).persist()
            wait(rows)
            return solve(lambda: DaskPoints(rows, client=client), kill)

        def solve(make: Callable[[], Any], kill: bool = False) -> Run:
            victim = next(iter(client.run(os.getpid).values())) if kill else 0
            oracle = Listening(y)

            def end(progress: Any) -> None:
                nonlocal victim
                if victim and progress.questions >= questions / 2:
                    os.kill(victim, signal.SIGKILL)
                    victim = 0

            started = perf_counter()
            points = make()
            found = samekind.solve(
                points, oracle, budget=questions, epsilon=None, random_state=0, on_progress=end
            )
            labels = points.gather(found.labels_)
            took = perf_counter() - started
            assert not victim
            return Run(took, labels, np.concatenate(oracle.asked))

        small = Path(folder, "small.npy")
        np.save(small, X[:MANY])
        for _ in range(2):  # loads compiled code on the workers
            points = DaskPoints(from_file(small, 4), client=client)
            few = samekind.LabelOracle(y[:MANY])
            samekind.solve(points, few, budget=200, epsilon=None, random_state=0)
        runs = [(on_cluster(), solve(lambda: ArrayPoints(X))) for _ in range(TIMES)]
        spread, whole = (median(run.seconds for run in each) for each in zip(*runs, strict=True))
        yield Ratio(
            f"focused, {questions:,} questions, {n:,} x 10 float32, {PARTITIONS} partitions on 2 workers"
            " / one array",
            f"{spread:.2f} s / {whole:.2f} s",
            spread / whole,
            2.5,
        )
        killed = on_cluster(kill=True)
        differing = sum(run.differs_from(runs[0][1]) for run in [runs[0][0], killed])
        yield Ratio(
            "results that differ from the array's: on workers, and with one killed midway",
            f"{differing} of 2; {killed.seconds:.2f} s with the killed one",
            float(differing),
            0.0,
        )
