"""Do what a plan asks for and is not there yet."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from samekind.experiments.plan import Plan, Saved
from samekind.experiments.pool import Outcome, Task, spread
from samekind.experiments.progress import meter
from samekind.experiments.scenes import SCENES
from samekind.experiments.store import RunStore

__all__ = ["carry_out"]


def carry_out(
    plan: Plan, folder: Path, jobs: int, console: Console
) -> tuple[Saved, dict[str, str]]:
    """Return all runs of a plan, those of before and new ones, and why data sets are missing.

    Finished runs are kept in ``runs.jsonl`` of the folder.
    """
    folder.mkdir(parents=True, exist_ok=True)
    store = RunStore(folder / "runs.jsonl")
    store.mend()
    saved = plan.among(store.read())
    if store.n_damaged:
        console.print(f"Torn lines in {store.path}, passed over: {store.n_damaged}", soft_wrap=True)
    tasks = plan.tasks(saved, store.path)
    if saved:
        left = sum(len(task.setups) for task in tasks)
        console.print(f"{len(saved):,} runs are there from before, {left:,} are to be done.")
    missing = _do(plan, tasks, jobs, console) if tasks else {}
    for title, why in missing.items():
        console.print(f"{title} is left out: {why}", soft_wrap=True, markup=False)
    return plan.among(store.read()), missing


def _do(plan: Plan, tasks: list[Task], jobs: int, console: Console) -> dict[str, str]:
    missing: dict[str, str] = {}
    runs = sum(len(task.setups) for task in tasks)
    with meter(console, runs, sum(map(plan.seconds, tasks))) as shown:

        def done(outcome: Outcome) -> None:
            task = outcome.task
            title = SCENES[task.scene].title
            if outcome.missing:
                missing[title] = outcome.missing
            shown.add(len(task.setups), plan.seconds(task), title)

        spread(tasks, min(jobs, len(tasks)), done)
    return missing
