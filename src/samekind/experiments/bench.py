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
from samekind.experiments.plan import Plan, Saved, make_focused_setup, make_setup
from samekind.experiments.runner import carry_out
from samekind.experiments.scenes import Scene, scenes_of
from samekind.experiments.summary import SEEDS, environment, summarize_scene
from samekind.points.threads import available_threads

__all__ = ["PRACTICAL", "run_bench"]

PRACTICAL = ("uniform", "basic", "batched", "focused")
ENOUGH_REWEIGHTED = 20


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
        Budgets to count recovered clusters at, instead of the paper's and those of "focused", which asks
        no more than its usual ones in any case.
    n : int or None
        Rows of the synthetic data, instead of the paper's 1,000,000; there is then nothing of the paper's
        to compare with.
    batch : int or "auto"
        Rows asked about at once. "auto" starts with one and grows; a recovered cluster is then noticed at
        the end of its batch. "focused" asks about one row at a time.
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
    chosen = [what] if isinstance(what, str) else what
    scenes = list(dict.fromkeys(scene for name in chosen for scene in scenes_of(name)))
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
    names = list(dict.fromkeys(algorithms))
    plan = Plan(
        {scene.name: some if scene.name == "kdd10-reweighted" else runs for scene in scenes},
        {
            scene.name: {
                name: make_focused_setup(scene, budgets, n, per_point=True)
                if name == "focused"
                else make_setup(scene, budgets, n, batch)
                for name in names
            }
            for scene in scenes
        },
    )
    workers = available_threads() if jobs is None else check_positive_int("jobs", jobs)
    chat = Console(quiet=True) if console is None else console
    folder = Path(out)
    found, missing = carry_out(plan, folder, workers, chat)

    results = _results(scenes, names, found, missing, budgets)
    if not results["datasets"]:
        raise BenchError("there is no data to run on. " + " ".join(missing.values()))
    write_json(folder / "results.json", results)
    if json_file is not None:
        write_json(Path(json_file), results)
    write_text(folder / "results.html", page_of(results))
    return results


def _results(
    scenes: Sequence[Scene],
    algorithms: Sequence[str],
    found: Saved,
    missing: Iterable[str],
    budgets: list[int] | None,
) -> dict[str, Any]:
    datasets = {}
    for scene in scenes:
        records = [record for (data, _, _), record in found.items() if data == scene.name]
        if records:
            datasets[scene.name] = summarize_scene(scene, records, algorithms, budgets)
    return {
        "format": 2,
        **environment(),
        "seeds": SEEDS,
        "algorithms": list(algorithms),
        "skipped": dict.fromkeys(missing, "its data could not be loaded"),
        "datasets": datasets,
    }
