"""From saved runs to tables: the content of ``results.json``.

Its structure, in which every `cell` is a mean over runs with its 95 % interval::

    format       1
    made_by      versions of samekind, Python, NumPy, SciPy, scikit-learn and Numba
    machine      cores and operating system
    seeds        how the seeds of run i follow from i
    algorithms   names, in the order of the rows
    skipped      {data set: why it was left out}
    datasets     {name: data set}

    data set     title, note, n (rows, if not the paper's own choice), setup (what a run depends on), and
      tables     {"fixed_budget" | "fixed_recovery" | "centroid_error" | "rounds" | "sampling_time": table}
      per_point  {algorithm: {"shares": three cells, "mean": cell, "in_none": cell, "after": cell}}
      curves     {algorithm: {"questions", "mean", "low", "high": lists}}, clusters recovered

    table        title, what (its columns count), unit, better ("higher", "lower" or null), paper (caption and
                 label of the paper's table, or null), columns, rows {algorithm: list of cells}
    cell         mean, low, high, median, runs; null where it is infinite or cannot be said. In tables also
                 column, paper (the paper's number), mark ("better", "within", "worse", "open" or null); and
                 where runs may fall short reached (runs that got that far: mean, low, high and median are
                 theirs) and at_least (what the mean of all runs cannot be below)
"""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import numpy as np

from samekind import __version__
from samekind.experiments.paper import paper_table
from samekind.experiments.scenes import Scene
from samekind.experiments.statistics import Cell, band, compare, summarize

__all__ = ["MEASURES", "environment", "summarize_scene"]

Record = dict[str, Any]
GRID = 120  # points of a curve


@dataclass(frozen=True)
class Measure:
    """A table: its columns are budgets, or numbers of recovered clusters."""

    name: str
    title: str
    unit: str
    better: str | None
    value: Callable[[Record, int], float]
    what: str = "clusters"


def _median_error(record: Record, m: int) -> float:
    errors = [np.inf if error is None else error for error in record["errors"][:m]]
    return 100 * float(np.median(errors))


MEASURES = (
    Measure(
        "fixed_budget",
        "Clusters recovered with so many questions",
        "clusters",
        "higher",
        lambda record, budget: float(np.searchsorted(record["recovered_at"], budget, "right")),
        what="questions",
    ),
    Measure(
        "fixed_recovery",
        "Questions per recovered cluster, when so many are recovered",
        "questions",
        "lower",
        lambda record, m: record["recovered_at"][m - 1] / m,
    ),
    Measure(
        "centroid_error",
        "Median error of the recovered centres, when so many are recovered",
        "%",
        "lower",
        _median_error,
    ),
    Measure(
        "rounds",
        "Rounds, when so many are recovered",
        "rounds",
        None,
        lambda record, m: float(record["rounds_at"][m - 1]),
    ),
    Measure(
        "sampling_time",
        "Sampling time on one core, when so many are recovered",
        "seconds",
        None,
        lambda record, m: float(record["sampling_at"][m - 1]),
    ),
)


def summarize_scene(
    scene: Scene,
    records: Sequence[Record],
    algorithms: Sequence[str],
    points: Sequence[int] | None = None,
) -> dict[str, Any]:
    """Return all tables, histograms and curves of a data set.

    Parameters
    ----------
    scene : Scene
        The data set.
    records : sequence of dict
        Its runs, all with the same setup.
    algorithms : sequence of str
        The rows of the tables.
    points : sequence of int or None
        Budgets to use as columns instead of the paper's.
    """
    by_algorithm = {
        name: sorted((r for r in records if r["algorithm"] == name), key=lambda r: int(r["run"]))
        for name in algorithms
    }
    setup = records[0]["setup"]
    # Data of another size is another experiment: the paper's numbers say nothing about it.
    paper = scene.paper if setup["n"] is None else None
    tables = {}
    for measure in MEASURES:
        chosen = points if points is not None and measure.name == "fixed_budget" else None
        columns = tuple(chosen or scene.columns(measure.name))
        source = paper_table(measure.name, paper)
        tables[measure.name] = {
            "title": measure.title,
            "what": measure.what,
            "unit": measure.unit,
            "better": measure.better,
            "paper": source and {"caption": source.caption, "label": source.label},
            "columns": list(columns),
            "rows": {
                name: [
                    _cell(measure, runs, column, source.value(name, column) if source else None)
                    for column in columns
                ]
                for name, runs in by_algorithm.items()
            },
        }
    return {
        "title": scene.title,
        "note": scene.note,
        "n": setup["n"],
        "setup": setup,
        "tables": tables,
        "per_point": {name: _per_point(runs) for name, runs in by_algorithm.items() if runs},
        "curves": {
            name: _curve(runs, int(setup["budget"])) for name, runs in by_algorithm.items() if runs
        },
    }


def environment() -> dict[str, Any]:
    """Return what the numbers may depend on: versions and cores, nothing that names the machine."""
    packages = ("numpy", "scipy", "scikit-learn", "numba")
    return {
        "made_by": {
            "samekind": __version__,
            "python": platform.python_version(),
            **{name: version(name) for name in packages},
        },
        "machine": {"cores": os.cpu_count(), "system": platform.system()},
    }


def _cell(measure: Measure, runs: Sequence[Record], column: int, paper: float | None) -> Cell:
    by_clusters = measure.what == "clusters"
    reached = [r for r in runs if not by_clusters or len(r["recovered_at"]) >= column]
    cell: Cell = {"column": column, "paper": paper}
    cell |= summarize([measure.value(record, column) for record in reached])
    if by_clusters:
        cell |= {"runs": len(runs), "reached": len(reached)}
    if measure.name == "fixed_recovery" and len(reached) < len(runs):
        cell["at_least"] = float(np.mean([_asked_for(record, column) for record in runs])) / column
    cell["mark"] = compare(cell, paper, measure.better)
    return cell


def _asked_for(record: Record, m: int) -> int:
    """Return the questions until m clusters were recovered, or all of them if they never were."""
    found = record["recovered_at"]
    return int(found[m - 1] if len(found) >= m else record["questions"])


def _per_point(runs: Sequence[Record]) -> dict[str, Any]:
    counted = [record["per_point"] for record in runs]
    return {
        "shares": [summarize([c["shares"][i] for c in counted]) for i in range(3)],
        **{key: summarize([c[key] for c in counted]) for key in ("mean", "in_none", "after")},
    }


def _curve(runs: Sequence[Record], last: int) -> dict[str, Any]:
    even = np.linspace(0, last, GRID // 2)
    early = np.geomspace(max(1, last / 1000), last, GRID // 2)
    grid = np.unique(np.concatenate([even, early]).astype(np.int64))
    counts = [np.searchsorted(record["recovered_at"], grid, "right") for record in runs]
    ends = band(np.column_stack(counts))
    return {"questions": grid.tolist()} | {
        name: [None if np.isnan(v) else round(float(v), 4) for v in values]
        for name, values in zip(("mean", "low", "high"), ends, strict=True)
    }
