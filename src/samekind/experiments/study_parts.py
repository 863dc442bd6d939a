"""What the studies of `focused` share: how runs are done, held against what is required, and written."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from samekind._validation import check_choice, check_positive_int
from samekind.experiments.errors import BenchError
from samekind.experiments.files import write_json, write_text
from samekind.experiments.plan import Plan
from samekind.experiments.pool import AnySetup
from samekind.experiments.runner import carry_out
from samekind.experiments.scenes import SCENES
from samekind.experiments.statistics import Cell
from samekind.experiments.studies import Requirement
from samekind.experiments.study_page import study_page
from samekind.experiments.summary import SEEDS, environment
from samekind.points.threads import available_threads

__all__ = ["Found", "choose", "do_runs", "hold", "write_study"]

Record = dict[str, Any]
Found = dict[tuple[str, str], list[Record]]
"""The runs of each variant (the second) on each data set (the first)."""


def choose(data: Sequence[str] | None, known: Iterable[str]) -> list[str]:
    """Return the data sets that the user chose, by default all."""
    names = list(known)
    if data is None:
        return names
    for name in data:
        check_choice("data", name, tuple(names))
    return list(dict.fromkeys(data))


def do_runs(
    setups: dict[str, dict[str, AnySetup]],
    runs: int,
    jobs: int | None,
    out: str | Path,
    console: Console | None,
) -> tuple[Found, dict[str, Any]]:
    """Do what is not done yet; return the runs of each case, and the frame of the results."""
    check_positive_int("runs", runs)
    workers = available_threads() if jobs is None else check_positive_int("jobs", jobs)
    plan = Plan(dict.fromkeys(setups, runs), setups)
    chat = Console(quiet=True) if console is None else console
    saved, missing = carry_out(plan, Path(out), workers, chat)
    if not saved:
        raise BenchError("there is no data to run on. " + " ".join(missing.values()))
    found = {
        (data, name): [saved[data, run, name] for run in range(runs) if (data, run, name) in saved]
        for data, variants in setups.items()
        for name in variants
    }
    skipped = dict.fromkeys(missing, "its data could not be loaded")
    frame = {"format": 1, **environment(), "seeds": SEEDS, "runs": runs, "skipped": skipped}
    return found, frame


def hold(one: Requirement, name: str, figure: str, cell: Cell) -> dict[str, Any]:
    """Return what is required of a variant, what came out, and whether that is enough."""
    return {
        "data": one.data,
        "name": name,
        "figure": one.figure,
        "at": one.at,
        "text": f"{SCENES[one.data].title}: {figure}",
        "unit": one.reading.unit,
        "better": one.reading.better,
        "required": one.required,
        "cell": cell,
        "met": cell["reached"] == cell["runs"] and one.is_met(cell["mean"]),
    }


def write_study(
    study: dict[str, Any], name: str, out: str | Path, json_file: str | Path | None
) -> dict[str, Any]:
    """Write a study's files, and return it."""
    write_json(Path(out) / f"{name}.json", study)
    if json_file is not None:
        write_json(Path(json_file), study)
    write_text(Path(out) / f"{name}.html", study_page(study))
    return study
