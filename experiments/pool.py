"""One pool of processes for all experiments: a task is a data set in memory and the runs to be done on it.

A worker sends what it finds as it finds it, so nothing but the current run is lost when one is ended: by the
time limit of its task, from outside, or because this process stops.
"""

from __future__ import annotations

import gc
import os
import signal
import threading
import traceback
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait
from time import monotonic

from experiments.benchmark_data import DATA
from experiments.store import Record
from experiments.trace import Emit, Setup
from experiments.truth import Instance
from samekind.errors import DataError

CONTEXT = get_context("spawn")  # a fork would copy this process's threads half-way
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
SOON = 3600.0  # seconds to wait for a worker before looking again


class ExperimentError(Exception):
    """An experiment could not go on; the message says what to do. What was finished is kept."""


@dataclass(frozen=True)
class Task:
    """Runs with the same number on the same data, by algorithm.

    With a `limit`, in seconds, it has a process and a thread of its own, and is ended when the time is over.
    """

    data: str
    run: int
    setups: dict[str, Setup]
    limit: float | None = None


@dataclass(frozen=True)
class Finished:
    """A run of a task is over, or, if there is no `record`, the task.

    `missing` says why its data could not be loaded, `ended` why its process ended before it was done; then
    `emitted` has what the current run had told.
    """

    task: Task
    algorithm: str = ""
    record: Record | None = None
    missing: str = ""
    ended: str = ""
    emitted: list[Record] = field(default_factory=list)


def run_tasks(tasks: Sequence[Task], jobs: int) -> Generator[Finished]:
    """Do all tasks in `jobs` processes, or in this one if that is one and there is no time limit."""
    if jobs == 1 and all(task.limit is None for task in tasks):
        instances = _Instances()
        for task in tasks:
            yield from _do(task, instances, lambda _: None)
        return
    waiting, workers = deque(tasks), list[_Worker]()
    try:
        while waiting or workers:
            while waiting and len(workers) < jobs:
                workers.append(_Worker(waiting.popleft()))
            wait([worker.pipe for worker in workers], min(w.seconds_left for w in workers))
            for worker in list(workers):
                yield from worker.receive()
                if worker.is_reusable and waiting and waiting[0].limit is None:
                    worker.give(waiting.popleft())
                elif worker.is_idle:
                    workers.remove(worker)
                    worker.end()
    finally:
        for worker in workers:
            worker.end()


class _Worker:
    """A process that does tasks, as this process sees it."""

    def __init__(self, task: Task) -> None:
        self.pipe, theirs = CONTEXT.Pipe()
        self._process = CONTEXT.Process(target=_serve, args=(theirs,), daemon=True)
        with _one_thread() if task.limit is not None else nullcontext():
            self._process.start()
        theirs.close()
        self.give(task)

    def give(self, task: Task) -> None:
        """Send it a task."""
        self._task, self._emitted, self.is_idle = task, list[Record](), False
        self._deadline = None if task.limit is None else monotonic() + task.limit
        self.pipe.send(task)

    @property
    def seconds_left(self) -> float:
        """Time until it is to be ended."""
        return SOON if self._deadline is None else max(0.0, self._deadline - monotonic())

    @property
    def is_reusable(self) -> bool:
        """Whether it waits for another task."""
        return self.is_idle and self._deadline is None and self._process.is_alive()

    def receive(self) -> Iterator[Finished]:
        """Take in all that it sent, and say when it ended or its time is over."""
        try:
            while not self.is_idle and self.pipe.poll():
                message: Finished | Record | BaseException = self.pipe.recv()
                if isinstance(message, BaseException):
                    raise message
                if isinstance(message, Finished):
                    self._emitted.clear()
                    self.is_idle = message.record is None
                    yield message
                else:
                    self._emitted.append(message)
        except (EOFError, ConnectionResetError):
            self._process.join()
            yield self._stop(f"ended with code {self._process.exitcode}")
        if not self.is_idle and not self.seconds_left:
            yield self._stop(f"unfinished after {self._task.limit:g} s")

    def _stop(self, why: str) -> Finished:
        self.is_idle = True
        self._process.kill()
        return Finished(self._task, ended=why, emitted=self._emitted)

    def end(self) -> None:
        """End the process, whatever it does."""
        self._process.kill()
        self._process.join()
        self.pipe.close()


def _serve(pipe: Connection) -> None:
    """Do tasks until there are no more: the life of a worker."""
    signal.signal(
        signal.SIGINT, signal.SIG_IGN
    )  # Ctrl-C reaches the whole group; the parent decides
    threading.Thread(target=_end_with_parent, daemon=True).start()
    instances = _Instances()
    while True:
        task: Task = pipe.recv()
        try:
            for finished in _do(task, instances, pipe.send):
                pipe.send(finished)
        except BaseException as error:
            error.add_note("In a worker process:\n" + "".join(traceback.format_exception(error)))
            pipe.send(error)


def _end_with_parent() -> None:
    """End when the parent does, however it ends: nobody would take the results."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _do(task: Task, instances: _Instances, emit: Emit) -> Iterator[Finished]:
    try:
        data = instances.load(task)
        for algorithm, setup in task.setups.items():
            measured = setup.trace(algorithm, data, task.run, emit)
            yield Finished(
                task,
                algorithm,
                {
                    "data": task.data,
                    "run": task.run,
                    "algorithm": algorithm,
                    "setup": setup.as_record(),
                    **measured,
                },
            )
    except DataError as error:
        yield Finished(task, missing=str(error))
    except MemoryError as error:
        raise ExperimentError("the memory does not suffice. Run with fewer --jobs.") from error
    else:
        yield Finished(task)


class _Instances:
    """Keeps the last data set that is the same in every run."""

    def __init__(self) -> None:
        self._kept: dict[str, Instance] = {}

    def load(self, task: Task) -> Instance:
        data = DATA[task.data]
        if data.name not in self._kept:
            self._kept.clear()  # first, so that two large sets are never in memory together
            gc.collect()
            n = next(iter(task.setups.values())).n
            instance = Instance(*data.load(task.run, n))
            if data.generated:
                return instance
            self._kept[data.name] = instance
        return self._kept[data.name]


@contextmanager
def _one_thread() -> Iterator[None]:
    """Let processes that are started meanwhile compute in one thread."""
    before = {name: os.environ.get(name) for name in THREADS}
    os.environ.update(dict.fromkeys(THREADS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
