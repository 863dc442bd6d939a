"""What a call to workers costs, and how many calls a run takes."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any, NamedTuple

import numpy as np

import samekind
from benchmarks.ratios.clock import seconds
from benchmarks.ratios.workers import from_file, local_cluster
from benchmarks.scale.constants import Rounds, Work

__all__ = ["measure_rounds"]

# What is asked of those that hold some rows; all other calls are to all.
TO_FEW = ("rows_at_weights", "rows", "costs_and_owners")
CALLS = 100
ONCE = 1_000  # rows; so many are looked at only once, in the beginning


class Round(NamedTuple):
    """A call: to all or to few, for so many rows, with so many bytes for each worker."""

    to_all: bool
    rows: int
    bytes: float


class Wire:
    """Notes what goes to the workers of some points, and comes back."""

    def __init__(self, points: Any) -> None:
        self.rounds: list[Round] = []
        self.sites = 0  # that took their rows
        self._bytes: list[int] = []
        self._blocks = blocks = points._blocks
        self._request, self._send = blocks._request, blocks._send
        blocks._request, blocks._send = self.request, self.send

    def request(self, calls: Mapping[int, Any], *args: Any, **options: Any) -> Any:
        self._bytes = []
        found = self._request(calls, *args, **options)
        one, last = next(iter(calls.values())), self._blocks._log[-1]
        ranked = one is not None and one.name == "owned_rows" and one.args[4] is not None
        to_all = one is None or not (one.name in TO_FEW or ranked)
        if one is None and last.call.name == "add_centers":
            self.sites += len(last.call.args[1])
        rows = 0
        if not to_all:
            rows = sum(len(each.args[4 if ranked else -1]) for each in calls.values())
        self.rounds.append(Round(to_all, rows, float(np.mean(self._bytes))))
        return found

    async def send(self, worker: str, operation: str, **message: Any) -> Any:
        reply = await self._send(worker, operation, **message)
        if "request" in message:
            self._bytes.append(len(message["request"]) + len(reply))
        return reply

    def count(self, to_all: bool) -> int:
        return sum(each.to_all == to_all for each in self.rounds)


def measure_rounds(
    workers: tuple[int, ...] = (1, 2, 4),
    partitions: tuple[int, ...] = (4, 16, 64),
    n: int = 10**6,
    runs: tuple[tuple[int, int], ...] = ((30, 500), (30, 1_500), (100, 500), (100, 2_000)),
) -> tuple[Rounds, Work]:
    """Measure calls on clusters of so many workers and partitions; runs of (clusters, questions)."""
    with tempfile.TemporaryDirectory(prefix="samekind-") as folder:
        calls = []
        for size in workers:
            with local_cluster(size) as client:
                calls += _calls(client, Path(folder), size, partitions)
        with local_cluster(2) as client:
            noted = [
                _run(client, Path(folder), n, clusters, questions) for clusters, questions in runs
            ]
    calls.sort()  # the first is one of one worker and one part
    _, per_worker, per_part = _fit(np.array([row[:3] for row in calls]), [r[4] for r in calls])
    needed = np.array(runs, dtype=float)[:, ::-1]  # questions, clusters
    wires = [wire for wire, _ in noted]
    every = [each for wire in wires for each in wire.rounds]
    per_site = _fit(needed, [wire.sites for wire in wires])

    def typical(name: str, to_all: bool) -> float:
        found = [
            getattr(each, name) for each in every if each.to_all == to_all and each.rows < ONCE
        ]
        return float(np.mean(found))

    rounds = Rounds(
        base=calls[0][3],
        per_worker=per_worker,
        per_part=per_part,
        bytes_all=typical("bytes", True),
        bytes_few=typical("bytes", False),
    )
    work = Work(
        *_fit(needed, [wire.count(True) for wire in wires]),
        *_fit(needed, [wire.count(False) for wire in wires]),
        few_rows=typical("rows", False),
        sites_per_question=per_site[0],
        sites_per_cluster=per_site[1],
        questions_per_cluster=median(each for _, each in noted),
    )
    return rounds, work


def _fit(needed: Any, found: list[float]) -> tuple[float, ...]:
    """Return what each of the needed things costs; nothing costs less than nothing."""
    from scipy.optimize import nnls

    return tuple(float(value) for value in nnls(needed, np.array(found, dtype=float))[0])


def _calls(
    client: Any, folder: Path, workers: int, partitions: tuple[int, ...]
) -> list[tuple[float, ...]]:
    """Return for calls that do hardly anything (1, workers, parts, seconds, seconds of this process).

    The scheduler is in this process, too.
    """
    from samekind.points import DaskPoints
    from samekind.points.calls import call
    from samekind.points.partition import Partition

    file = Path(folder, "few.npy")
    np.save(file, np.random.default_rng(0).random((8_192, 10), dtype=np.float32))
    found = []
    for size in partitions:
        with DaskPoints(from_file(file, size), client=client) as points:
            one = np.array([0])
            for parts in sorted({1, size}):
                asked = dict.fromkeys(range(parts), call(Partition.rows, one))
                points.executor.run(asked)
                computed = process_time()
                times = [
                    seconds(lambda asked=asked, executor=points.executor: executor.run(asked))
                    for _ in range(CALLS)
                ]
                computed = (process_time() - computed) / CALLS
                reached = float(min(workers, parts))
                found.append((1.0, reached, float(parts), median(times), computed))
    return found


def _run(client: Any, folder: Path, n: int, clusters: int, questions: int) -> tuple[Wire, float]:
    """Return what a run sent, and its questions for each cluster until half were recovered."""
    from samekind.datasets import make_synthetic
    from samekind.points import DaskPoints

    X, y = make_synthetic(n, n_clusters=clusters, dtype=np.float32, random_state=0)
    file = Path(folder, f"{clusters}.npy")
    np.save(file, X)
    with DaskPoints(from_file(file, 4), client=client) as points:
        wire = Wire(points)
        oracle = samekind.LabelOracle(y)
        found = samekind.solve(points, oracle, budget=questions, epsilon=None, random_state=0)
    recovered = np.asarray(found.history_["recovered"])
    enough = np.flatnonzero(recovered >= clusters / 2)
    if not enough.size:
        return wire, float(questions / max(1, recovered[-1]))
    asked = np.asarray(found.history_["questions"])[enough[0]]
    return wire, float(asked / recovered[enough[0]])
