"""Run `focused` with wrong answers.

The structure of ``noisy.json``; cells and grids are those of ``results.json``, requirements those of
``focused.json``::

    format, made_by, machine, skipped   as in results.json
    seeds          how the seeds of run i follow from i
    runs           runs of each variant
    errors         the shares of wrong answers
    questions      {name: questions of the run without errors}
    datasets       {name: grid}, a row for "focused" without errors and one for each share of wrong answers
    requirements   a list, of what is required; `at` is the share of wrong answers
"""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from pathlib import Path
from typing import Any

from rich.console import Console

from samekind import __version__
from samekind._validation import check_positive_int
from samekind.experiments.grids import column
from samekind.experiments.noisy_readings import COLUMNS, NOISY_READINGS
from samekind.experiments.noisy_run import NoisySetup
from samekind.experiments.pool import AnySetup
from samekind.experiments.scenes import SCENES
from samekind.experiments.studies import name_of, requirements
from samekind.experiments.study_parts import Found, choose, do_runs, hold, write_study

__all__ = ["ERRORS", "QUESTIONS", "budget_of", "run_noisy"]

ERRORS = (0.0, 0.05, 0.1, 0.2, 0.3, 0.4)
QUESTIONS = {"digits": 300, "mixture-1": 130}
"""For each data set the questions of the run without errors."""
CAP = 5  # times those, for runs that have not reached the goal by then
REFERENCE = name_of({})
SEEDED = "; which answers are wrong has that seed, too"


def run_noisy(
    *,
    runs: int = 10,
    jobs: int | None = None,
    data: Sequence[str] | None = None,
    errors: Sequence[float] = ERRORS,
    n: int | None = None,
    out: str | Path = "samekind-bench",
    json_file: str | Path | None = None,
    console: Console | None = None,
) -> dict[str, Any]:
    """Run "focused" with wrong answers, and without, and return the tables.

    Parameters
    ----------
    runs, jobs, n
        As for `run_ablation`.
    data : sequence of str or None
        Data sets; by default "digits" and "mixture-1".
    errors : sequence of float
        Shares of wrong answers, from 0 to below 0.5.
    out, json_file, console
        As for `run_bench`; the files are ``noisy.json`` and ``noisy.html``.

    Returns
    -------
    dict
        What is in ``noisy.json``; :mod:`samekind.experiments.noisy_bench` describes it.
    """
    chosen = choose(data, QUESTIONS)
    shares = sorted({_check_error(error) for error in errors})
    if not shares:
        raise ValueError("errors names no share of wrong answers. Pass some, such as [0, 0.1].")
    if n is not None:
        check_positive_int("n", n, minimum=100)
    setups = {one: _setups(one, shares, n) for one in chosen}
    found, study = do_runs(setups, runs, jobs, out, console)
    _refer(found)
    study["seeds"] += SEEDED
    study["errors"] = shares
    study["questions"] = {one: QUESTIONS[one] for one in chosen}
    study["datasets"] = {one: _grid(one, shares, found) for one in chosen if found[one, REFERENCE]}
    study["requirements"] = []
    for one in requirements("noisy"):
        records = found.get((one.data, _name(one.at)))
        if records:
            cell = one.reading.cell(records, one.at)
            study["requirements"].append(hold(one, _name(one.at), one.reading.title, cell))
    return write_study(study, "noisy", out, json_file)


def budget_of(error: float, questions: int) -> int:
    """Return how many questions a run with errors has, given those of the run without.

    Examples
    --------
    >>> [budget_of(error, 100) for error in ERRORS]
    [500, 500, 500, 1000, 1500, 1500]
    """
    return questions * (5 if error <= 0.1 else 10 if error <= 0.2 else 15)


def _check_error(error: Any) -> float:
    if isinstance(error, bool) or not isinstance(error, Real) or not 0 <= float(error) < 0.5:
        raise ValueError(
            f"errors must be numbers from 0 to below 0.5, got {error!r}. 0.1 is one answer in ten."
        )
    return float(error)


def _name(error: float) -> str:
    return name_of({"p": f"{error:g}"})


def _setups(data: str, errors: Sequence[float], n: int | None) -> dict[str, AnySetup]:
    rows = n if SCENES[data].made else None
    questions = QUESTIONS[data]
    setups: dict[str, AnySetup] = {
        REFERENCE: NoisySetup(__version__, rows, None, questions, CAP * questions)
    }
    for error in errors:
        budget = budget_of(error, questions)
        setups[_name(error)] = NoisySetup(__version__, rows, error, budget, budget)
    return setups


def _refer(found: Found) -> None:
    """Put beside each run the one without errors."""
    references = {
        (data, record["run"]): record
        for (data, name), records in found.items()
        if name == REFERENCE
        for record in records
    }
    for (data, _), records in found.items():
        records[:] = [record | {"reference": references[data, record["run"]]} for record in records]


def _grid(data: str, errors: Sequence[float], found: Found) -> dict[str, Any]:
    readings = [NOISY_READINGS[name] for name in COLUMNS]
    rows = {REFERENCE: None} | {_name(error): error for error in errors}
    return {
        "title": SCENES[data].title,
        "what": "variant",
        "columns": [column(reading, reading.title) for reading in readings],
        "rows": {
            name: [
                reading.cell(found[data, name] if _is_shown(reading.name, error) else [], 0.0)
                for reading in readings
            ]
            for name, error in rows.items()
        },
    }


def _is_shown(figure: str, error: float | None) -> bool:
    """Return whether a figure says something of runs with such a share of wrong answers."""
    if figure == "times_to_goal":
        return error == 0
    return error is not None or figure not in ("found_without", "estimated_error")
