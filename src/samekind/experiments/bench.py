"""Run the paper's experiments."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from samekind._validation import check_choice, check_positive_int
from samekind.algorithms import ALGORITHMS
from samekind.experiments.errors import BenchError
from samekind.experiments.files import write_json, write_text
from samekind.experiments.page import page_of
from samekind.experiments.plan import Plan, Saved, make_setup
from samekind.experiments.pool import Outcome, Task, spread
from samekind.experiments.progress import meter
from samekind.experiments.scenes import SCENES, scenes_of
from samekind.experiments.store import RunStore
from samekind.experiments.summary import environment, summarize_scene
from samekind.points._threads import available_threads

__all__ = ["PRACTICAL", "run_bench"]

PRACTICAL = ("uniform", "basic", "batched")
ENOUGH_REWEIGHTED = 20
SEEDS = "run i of every data set: made data has seed i, the draws have seed 1,000,000 + i"


def run_bench(
    what: str | Sequence[str] = "all",
    *,
    runs: int = 100,
    runs_reweighted: int | None = None,
    jobs: int | None = None,
    algorithms: Sequence[str] = PRACTICAL,
    points: Iterable[int] | None = None,
    n: int | None = None,
    batch: int | str = "auto",
    out: str | Path = "samekind-bench",
    json_file: str | Path | None = None,
    console: Console | None = None,
) -> dict[str, Any]:
    """Run the experiments of the paper's Section 5 and return the tables.

    Every finished run is saved at once in ``runs.jsonl`` of the folder `out`. Called again with the same
    settings, the bench does only what is not there. The tables go to ``results.json`` and, with the
    figures, to ``results.html``.

    Parameters
    ----------
    what : str or sequence of str
        "synthetic", "shuttle", "kdd", "digits", "banking77" or "all", or single data sets such as
        "synthetic-p0.1" or "kdd10".
    runs : int
        Runs of every algorithm on every data set.
    runs_reweighted : int or None
        Runs on the reweighted KDD, where one takes long; by default `runs`, but at most 20.
    jobs : int or None
        Processes; None takes one for each core. The numbers do not depend on it (times do). With more
        than one, a script must call this under ``if __name__ == "__main__":``.
    algorithms : sequence of str
        Names of algorithms.
    points : iterable of int or None
        Budgets to count recovered clusters at, instead of the paper's.
    n : int or None
        Rows of the synthetic data, instead of the paper's 1,000,000; there is then nothing of the paper's
        to compare with.
    batch : int or "auto"
        Rows asked about at once. "auto" starts with one and grows; a recovered cluster is then noticed at
        the end of its batch.
    out : str or Path
        The folder for all files.
    json_file : str or Path or None
        Where else to write the tables.
    console : rich.console.Console or None
        Shows the progress; by default nothing is shown.

    Returns
    -------
    dict
        What is in ``results.json``; :mod:`samekind.experiments.summary` describes it.

    Examples
    --------
    >>> results = run_bench("shuttle", runs=3, jobs=1)  # doctest: +SKIP
    >>> results["datasets"]["shuttle"]["tables"]["fixed_budget"]["rows"]["batched"]  # doctest: +SKIP
    """
    names = [what] if isinstance(what, str) else what
    scenes = list(dict.fromkeys(scene for name in names for scene in scenes_of(name)))
    check_positive_int("runs", runs)
    some = min(runs, ENOUGH_REWEIGHTED) if runs_reweighted is None else runs_reweighted
    check_positive_int("runs_reweighted", some)
    for name in algorithms:
        check_choice("algorithms", name, tuple(ALGORITHMS))
    budgets = None if points is None else sorted({check_positive_int("points", p) for p in points})
    if n is not None:
        check_positive_int("n", n, minimum=100)
    if batch != "auto":
        check_positive_int("batch", batch)
    plan = Plan(
        scenes,
        algorithms,
        {scene.name: some if scene.name == "kdd10-reweighted" else runs for scene in scenes},
        {scene.name: make_setup(scene, budgets, n, batch) for scene in scenes},
    )
    workers = available_threads() if jobs is None else check_positive_int("jobs", jobs)
    chat = Console(quiet=True) if console is None else console

    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    store = RunStore(folder / "runs.jsonl")
    store.mend()
    saved = plan.among(store.read())
    if store.n_damaged:
        chat.print(f"Torn lines in {store.path}, passed over: {store.n_damaged}", soft_wrap=True)
    tasks = plan.tasks(saved, store.path)
    if saved:
        left = sum(len(task.algorithms) for task in tasks)
        chat.print(f"{len(saved):,} runs are there from before, {left:,} are to be done.")
    missing = _do(tasks, workers, chat)
    for title, why in missing.items():
        chat.print(f"{title} is left out: {why}", soft_wrap=True, markup=False)

    results = _results(plan, plan.among(store.read()), missing, budgets)
    if not results["datasets"]:
        raise BenchError("there is no data to run on. " + " ".join(missing.values()))
    write_json(folder / "results.json", results)
    if json_file is not None:
        write_json(Path(json_file), results)
    write_text(folder / "results.html", page_of(results))
    return results


def _do(tasks: list[Task], jobs: int, chat: Console) -> dict[str, str]:
    """Do the tasks; return why data sets are missing."""
    missing: dict[str, str] = {}
    if not tasks:
        return missing

    def seconds(task: Task) -> float:
        return SCENES[task.scene].seconds * len(task.algorithms)

    with meter(chat, sum(len(t.algorithms) for t in tasks), sum(map(seconds, tasks))) as shown:

        def done(outcome: Outcome) -> None:
            task = outcome.task
            title = SCENES[task.scene].title
            if outcome.missing:
                missing[title] = outcome.missing
            shown.add(len(task.algorithms), seconds(task), title)

        spread(tasks, min(jobs, len(tasks)), done)
    return missing


def _results(
    plan: Plan, found: Saved, missing: Iterable[str], budgets: list[int] | None
) -> dict[str, Any]:
    datasets = {}
    for scene in plan.scenes:
        records = [record for (data, _, _), record in found.items() if data == scene.name]
        if records:
            datasets[scene.name] = summarize_scene(scene, records, plan.algorithms, budgets)
    return {
        "format": 1,
        **environment(),
        "seeds": SEEDS,
        "algorithms": list(plan.algorithms),
        "skipped": dict.fromkeys(missing, "its data could not be loaded"),
        "datasets": datasets,
    }
