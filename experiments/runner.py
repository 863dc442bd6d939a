"""Do the runs of an experiment that are not there yet, and show how far it is."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from experiments.benchmark_data import DATA
from experiments.pool import ExperimentError, Finished, Task, run_tasks
from experiments.store import Record, RunStore
from experiments.trace import Setup

SECONDS_BETWEEN_LINES = 60.0
GO_ON = "All finished runs are kept: run the same command again, with fewer --jobs if it was the memory."


@dataclass(frozen=True)
class Case:
    """Runs 0, 1, … of one algorithm (or variant, or peer) on one data set.

    `seconds` is about how long one takes; with a `limit` it is ended after so many.
    """

    data: str
    algorithm: str
    setup: Setup
    runs: int
    seconds: float = 1.0
    limit: float | None = None


@dataclass(frozen=True)
class Runs:
    """The records of all runs of an experiment, in the order of its cases, and why data are missing."""

    records: list[Record]
    missing: dict[str, str]


def available_cores() -> int:
    """Return how many cores this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on macOS and Windows
        return os.cpu_count() or 1


def do_runs(cases: Sequence[Case], folder: Path, jobs: int, console: Console) -> Runs:
    """Return all runs of these cases, those of before and new ones.

    Every finished run is saved at once in ``runs.jsonl`` of the folder. Runs of other setups in it are left
    alone.
    """
    folder.mkdir(parents=True, exist_ok=True)
    store = RunStore(folder / "runs.jsonl")
    saved = _select(cases, store.read())
    if store.n_damaged:
        _say(console, f"Torn lines in {store.path}, passed over: {store.n_damaged}")
    tasks = _tasks(cases, saved)
    if saved:
        left = sum(len(task.setups) for task in tasks)
        _say(console, f"{len(saved):,} runs are there from before, {left:,} are to be done.")
    missing: dict[str, str] = {}
    seconds = {(case.data, case.algorithm): case.seconds for case in cases}
    weights = [seconds[task.data, algorithm] for task in tasks for algorithm in task.setups]
    with (
        _meter(console, weights) as add,
        closing(run_tasks(tasks, min(jobs, max(1, len(tasks))))) as pool,
    ):
        for finished in pool:
            record, task = _record_of(finished), finished.task
            if record is not None:
                store.append(record)
                add(seconds[task.data, record["algorithm"]], DATA[task.data].title)
            elif finished.missing:
                missing[DATA[task.data].title] = finished.missing
    for title, why in missing.items():
        _say(console, f"{title} is left out: {why}")
    found = _select(cases, store.read())
    keys = ((c.data, c.algorithm, run) for c in cases for run in range(c.runs))
    return Runs([found[key] for key in keys if key in found], missing)


def _select(cases: Sequence[Case], records: Sequence[Record]) -> dict[tuple[str, str, int], Record]:
    """Return the first record of every run that a case asks for."""
    wanted = {(case.data, case.algorithm): case for case in cases}
    setups = {key: case.setup.as_record() for key, case in wanted.items()}
    found: dict[tuple[str, str, int], Record] = {}
    for record in records:
        key = (record.get("data", ""), record.get("algorithm", ""))
        run, case = record.get("run"), wanted.get(key)
        if case is not None and record.get("setup") == setups[key] and isinstance(run, int):
            found.setdefault((*key, run), record)
    return {key: record for key, record in found.items() if key[2] < wanted[key[:2]].runs}


def _tasks(cases: Sequence[Case], saved: dict[tuple[str, str, int], Record]) -> list[Task]:
    """Return what is still to be done: a task for each instance of data, or for each run with a limit."""
    tasks: dict[tuple[object, ...], Task] = {}
    for data in dict.fromkeys(case.data for case in cases):
        here = [case for case in cases if case.data == data]
        for run in range(max(case.runs for case in here)):
            for case in here:
                if run < case.runs and (data, case.algorithm, run) not in saved:
                    key = (data, run, case.algorithm if case.limit is not None else None)
                    task = tasks.setdefault(key, Task(data, run, {}, case.limit))
                    task.setups[case.algorithm] = case.setup
    return list(tasks.values())


def _record_of(finished: Finished) -> Record | None:
    """Return the record of a finished run, also of one that was ended if it had a time limit."""
    task = finished.task
    if not finished.ended:
        return finished.record
    if task.limit is None:
        raise ExperimentError(
            f"a worker process was ended from outside ({finished.ended}), most often because memory ran "
            f"out. {GO_ON}"
        )
    [(algorithm, setup)] = task.setups.items()
    return {
        "data": task.data,
        "run": task.run,
        "algorithm": algorithm,
        "setup": setup.as_record(),
        "reached": finished.emitted,
        "problem": finished.ended,
    }


@contextmanager
def _meter(console: Console, seconds: Sequence[float]) -> Iterator[Callable[[float, str], None]]:
    """Show a bar on a terminal, and now and then a line elsewhere; yields what takes each finished run.

    The time left follows from how long runs are known to take.
    """
    columns = (
        TextColumn("{task.fields[done]:,} of {task.fields[runs]:,} runs"),
        BarColumn(bar_width=None),
        TextColumn("{task.fields[now]}", markup=False),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    # Runs take many seconds, and differ: the speed is that of the last hour.
    hidden = not console.is_terminal or not seconds
    with Progress(*columns, console=console, disable=hidden, speed_estimate_period=3_600) as bar:
        total, done = sum(seconds), 0
        task = bar.add_task("", total=total, done=0, runs=len(seconds), now="")
        started = spoke = perf_counter()

        def add(weight: float, now: str) -> None:
            nonlocal done, spoke
            done += 1
            bar.update(task, advance=weight, done=done, now=now)
            clock, share = perf_counter(), bar.tasks[0].completed / total
            if not console.is_terminal and clock - spoke >= SECONDS_BETWEEN_LINES:
                spoke, left = clock, (clock - started) * (1 / share - 1) / 60
                text = f"{done:,} of {len(seconds):,} runs, about {left:.0f} min left ({now})"
                _say(console, text)

        yield add


def _say(console: Console, text: str) -> None:
    console.print(text, markup=False, highlight=False, soft_wrap=True)
