"""Tasks over processes: one task is a data set in memory and all algorithms that run on it."""

from __future__ import annotations

import gc
import os
import signal
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import get_context, parent_process
from multiprocessing.synchronize import Event
from pathlib import Path

from samekind.errors import DataError
from samekind.experiments.errors import BenchError
from samekind.experiments.follow import FocusedSetup, follow
from samekind.experiments.noisy_run import NoisySetup, follow_noisy
from samekind.experiments.one_run import Instance, Setup, draws_seed, run_once
from samekind.experiments.scenes import SCENES
from samekind.experiments.store import RunStore

__all__ = ["AnySetup", "Outcome", "Task", "do_task", "spread"]

AnySetup = Setup | FocusedSetup | NoisySetup


@dataclass(frozen=True)
class Task:
    """A run of some algorithms on one instance of a data set; its results go to the store."""

    scene: str
    run: int
    setups: dict[str, AnySetup]
    store: Path


@dataclass(frozen=True)
class Outcome:
    """What became of a task; `missing` says why there is no data."""

    task: Task
    missing: str = ""


GO_ON = "All finished runs are kept: run the same command again, with fewer --jobs if it was the memory."


class StopError(Exception):
    """The bench was stopped from outside."""


_stop: Event | None = None
_kept: dict[str, Instance] = {}  # the last data set that is the same in every run


def spread(tasks: Sequence[Task], jobs: int, done: Callable[[Outcome], None]) -> None:
    """Do all tasks in `jobs` processes, or in this one if it is one; report each when it is done."""
    if jobs == 1:
        try:
            for task in tasks:
                done(do_task(task))
        finally:
            _kept.clear()
        return
    context = get_context("spawn")  # a fork would copy this process's threads half-way
    stop = context.Event()
    with ProcessPoolExecutor(
        jobs, mp_context=context, initializer=_start_worker, initargs=(stop,)
    ) as pool:
        try:
            for future in as_completed([pool.submit(do_task, task) for task in tasks]):
                done(future.result())
        except BrokenProcessPool as error:
            raise BenchError(
                "a worker process was ended from outside, most often because memory ran out. "
                + GO_ON
            ) from error
        except BaseException:
            stop.set()
            pool.shutdown(cancel_futures=True)
            raise


def do_task(task: Task) -> Outcome:
    """Run the algorithms of a task on its data, and save each run when it is finished."""
    _check()
    try:
        return _run_all(task)
    except DataError as error:
        return Outcome(task, missing=str(error))
    except MemoryError as error:
        raise BenchError("the memory does not suffice. " + GO_ON) from error


def _run_all(task: Task) -> Outcome:
    data = _instance(task)
    store = RunStore(task.store)
    seed = draws_seed(task.run)
    for name, setup in task.setups.items():
        if isinstance(setup, FocusedSetup):
            measured = follow(data, seed, setup, _check)
        elif isinstance(setup, NoisySetup):
            measured = follow_noisy(data, seed, setup, _check)
        else:
            measured = run_once(data, name, seed, setup, _check)
        store.append(
            {
                "data": task.scene,
                "run": task.run,
                "algorithm": name,
                "setup": setup.as_dict(),
                **measured,
            }
        )
    return Outcome(task)


def _instance(task: Task) -> Instance:
    scene = SCENES[task.scene]
    if scene.made:
        _kept.clear()
        n = next(iter(task.setups.values())).n
        return Instance(*scene.load(task.run, n))
    if scene.name not in _kept:
        _kept.clear()  # first, so that two large sets are never in memory together
        gc.collect()
        _kept[scene.name] = Instance(*scene.load(task.run, None))
    return _kept[scene.name]


def _check() -> None:
    if _stop is not None and _stop.is_set():
        raise StopError


def _start_worker(stop: Event) -> None:
    global _stop
    _stop = stop
    signal.signal(
        signal.SIGINT, signal.SIG_IGN
    )  # Ctrl-C reaches the whole group; the parent decides
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """End when the parent does, however it ends: nobody would take the results."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
