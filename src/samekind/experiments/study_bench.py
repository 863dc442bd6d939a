"""Run the studies of `focused`.

The structure of ``ablation.json`` and ``focused.json``; cells and grids are those of ``results.json``::

    format, made_by, machine, skipped   as in results.json
    seeds          how the seeds of run i follow from i
    runs           runs of each variant
    datasets       {name: grid}, of ablation: a row for each variant, a column for each figure
    requirements   a list, of what is required: data, name (of the variant), figure, at, text (all that in
                   words), unit, better, required, cell, met
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from samekind._validation import check_choice, check_positive_int
from samekind.experiments.grids import Asked, make_grid
from samekind.experiments.plan import make_focused_setup
from samekind.experiments.pool import AnySetup
from samekind.experiments.readings import READINGS
from samekind.experiments.scenes import SCENES, Scene
from samekind.experiments.studies import ABLATION, VARIANTS, requirements
from samekind.experiments.study_parts import Found, choose, do_runs, hold, write_study

__all__ = ["run_ablation", "run_focused"]

Cases = dict[tuple[str, str], list[Asked]]
"""What is to be known of which variant (the second) on which data set (the first)."""


def run_ablation(
    *,
    runs: int = 10,
    jobs: int | None = None,
    data: Sequence[str] | None = None,
    variants: Sequence[str] = tuple(VARIANTS),
    n: int | None = None,
    out: str | Path = "samekind-bench",
    json_file: str | Path | None = None,
    console: Console | None = None,
) -> dict[str, Any]:
    """Run "focused" with each of its parts switched off, and return the tables.

    Parameters
    ----------
    runs : int
        Runs of each variant on each data set.
    jobs : int or None
        Processes; None takes one for each core.
    data : sequence of str or None
        Data sets; by default "digits", "mixture-1", "mixture-2", "shuttle", "banking77" and "synthetic-p0".
    variants : sequence of str
        "focused" itself, "focused, without=explore" and so on, "focused, certify=full".
    n : int or None
        Rows of made data, instead of the usual number.
    out, json_file, console
        As for `run_bench`; the files are ``ablation.json`` and ``ablation.html``.

    Returns
    -------
    dict
        What is in ``ablation.json``; :mod:`samekind.experiments.study_bench` describes it.
    """
    for name in variants:
        check_choice("variants", name, tuple(VARIANTS))
    chosen = choose(data, ABLATION)
    cases = {(one, name): list(ABLATION[one]) for one in chosen for name in variants}
    found, study = _run(cases, runs, jobs, n, out, console)
    study["datasets"] = {
        one: make_grid(
            SCENES[one].title,
            "variant",
            ABLATION[one],
            [(name, found[one, name]) for name in variants],
        )
        for one in chosen
        if any(found[one, name] for name in variants)
    }
    return write_study(study, "ablation", out, json_file)


def run_focused(
    *,
    runs: int = 10,
    jobs: int | None = None,
    data: Sequence[str] | None = None,
    n: int | None = None,
    out: str | Path = "samekind-bench",
    json_file: str | Path | None = None,
    console: Console | None = None,
) -> dict[str, Any]:
    """Run "focused" as far as it takes to see whether it does what it must.

    Parameters
    ----------
    runs, jobs, n
        As for `run_ablation`.
    data : sequence of str or None
        Data sets; by default all of which something is required in ``required.toml``.
    out, json_file, console
        As for `run_bench`; the files are ``focused.json`` and ``focused.html``.

    Returns
    -------
    dict
        What is in ``focused.json``; :mod:`samekind.experiments.study_bench` describes it.
    """
    chosen = choose(data, dict.fromkeys(one.data for one in requirements()))
    wanted = [one for one in requirements() if one.data in chosen]
    cases: Cases = {}
    for one in wanted:
        cases.setdefault((one.data, one.name), []).append((one.figure, one.at))
    found, study = _run(cases, runs, jobs, n, out, console)
    study["requirements"] = []
    for one in wanted:
        cell = one.reading.cell(found[one.data, one.name], one.at)
        if cell["runs"]:
            figure = one.reading.text(one.at)
            study["requirements"].append(hold(one, one.name, figure, cell))
    return write_study(study, "focused", out, json_file)


def _run(
    cases: Cases,
    runs: int,
    jobs: int | None,
    n: int | None,
    out: str | Path,
    console: Console | None,
) -> tuple[Found, dict[str, Any]]:
    if n is not None:
        check_positive_int("n", n, minimum=100)
    setups: dict[str, dict[str, AnySetup]] = {}
    for (data, name), asked in cases.items():
        scene = SCENES[data]
        setup = make_focused_setup(scene, _marks(scene, asked), n, VARIANTS[name])
        setups.setdefault(data, {})[name] = setup
    return do_runs(setups, runs, jobs, out, console)


def _marks(scene: Scene, asked: Iterable[Asked]) -> list[int]:
    """Return when to look, so that all that is asked for can be said, and no question more."""
    ends = [scene.marks[-1] if READINGS[name].counts else int(at) for name, at in asked]
    return sorted({*ends, *(mark for mark in scene.marks if mark < max(ends))})
