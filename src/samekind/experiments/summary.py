"""From saved runs to tables: the content of ``results.json``.

Its structure, in which every `cell` is a mean over runs with its 95 % interval::

    format       2
    made_by      versions of samekind, Python, NumPy, SciPy, scikit-learn and Numba
    machine      cores and operating system
    seeds        how the seeds of run i follow from i
    algorithms   names, in the order of the rows
    skipped      {data set: why it was left out}
    datasets     {name: data set}

    data set     title, note, n (rows, if not the paper's own choice), setups (what a run of each algorithm
                 depends on), and
      tables     {"fixed_budget" | "fixed_recovery" | "centroid_error" | "rounds" | "sampling_time": table}
      focused    grids with a row for each mark of "focused"
      per_point  {algorithm: {"shares": three cells, "mean": cell, "in_none": cell, "after": cell}}
      curves     {algorithm: {"questions", "mean", "low", "high": lists}}, clusters recovered

    table        title, what (its columns count), unit, better ("higher", "lower" or null), paper (caption and
                 label of the paper's table, or null), remark (a footnote), columns, rows {algorithm: list of
                 cells}
    grid         title, what (the rows are), columns (figures: title, unit), rows {name: list of cells}
    cell         mean, low, high, median, runs; null where it is infinite or cannot be said. In tables also
                 column, paper (the paper's number), mark ("better", "within", "worse", "open" or null); and
                 where runs may fall short reached (runs that got that far: mean, low, high and median are
                 theirs) and at_least (what the mean of all runs cannot be below); asked, if "focused" asked
                 fewer questions than the column says: the cell has what it had at its end. Of "noisy" also
                 deviation, the standard deviation of the runs
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
from samekind.experiments.grids import focused_grids
from samekind.experiments.paper import paper_table
from samekind.experiments.scenes import Scene
from samekind.experiments.statistics import Cell, band, compare, summarize

__all__ = ["MEASURES", "SEEDS", "environment", "summarize_scene"]

Record = dict[str, Any]
GRID = 120  # points of a curve
SEEDS = "run i of every data set: made data has seed i, the draws have seed 1,000,000 + i"


@dataclass(frozen=True)
class Measure:
    """A table: its columns are budgets, or numbers of recovered clusters."""

    name: str
    title: str
    unit: str
    better: str | None
    value: Callable[[Record, int], float]
    what: str = "clusters"


def _recovered(record: Record, budget: int) -> float:
    if "looks" not in record:
        return float(np.searchsorted(record["recovered_at"], budget, "right"))
    looks = [look for look in record["looks"] if look["at"] <= budget]
    return float(looks[-1]["recovered"]) if looks else 0.0


def _median_error(record: Record, m: int) -> float:
    if "median_error_at" in record:  # centres of "focused" change after the recovery
        error = record["median_error_at"][m - 1]
        return np.inf if error is None else 100 * float(error)
    errors = [np.inf if error is None else error for error in record["errors"][:m]]
    return 100 * float(np.median(errors))


MEASURES = (
    Measure(
        "fixed_budget",
        "Clusters recovered with so many questions",
        "clusters",
        "higher",
        _recovered,
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
        lambda record, m: float(
            record["seconds_at" if "looks" in record else "sampling_at"][m - 1]
        ),
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
    setups = {name: runs[0]["setup"] for name, runs in by_algorithm.items() if runs}
    n = records[0]["setup"]["n"]
    # Data of another size is another experiment: the paper's numbers say nothing about it.
    paper = scene.paper if n is None else None
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
            "remark": _remark(measure, columns, setups.get("focused")),
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
        "n": n,
        "setups": setups,
        "tables": tables,
        "focused": focused_grids(by_algorithm["focused"]) if "focused" in setups else [],
        "per_point": {name: _per_point(by_algorithm[name]) for name in setups},
        "curves": {
            name: _curve(by_algorithm[name], setup.get("budget") or setup["marks"][-1])
            for name, setup in setups.items()
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
    elif runs and "looks" in runs[0] and column > (last := runs[0]["setup"]["marks"][-1]):
        cell["asked"] = last
    if measure.name == "fixed_recovery" and len(reached) < len(runs):
        cell["at_least"] = float(np.mean([_asked_for(record, column) for record in runs])) / column
    cell["mark"] = compare(cell, paper, measure.better)
    return cell


def _remark(measure: Measure, columns: Sequence[int], focused: dict[str, Any] | None) -> str:
    if focused is None:
        return ""
    last = focused["marks"][-1]
    if measure.name == "fixed_budget" and columns[-1] > last:
        return f"* focused asked {last:,} questions only, and has so many then."
    if measure.name == "sampling_time":
        return "focused: all of its time on one core, not only that for sampling."
    return ""


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
