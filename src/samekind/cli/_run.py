"""``samekind run``."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from samekind.cli import _options as options
from samekind.cli._errors import UserError, explained, users_values
from samekind.cli._streaming import Choice, is_streamed, run_streamed
from samekind.cli._words import in_options

if TYPE_CHECKING:
    import pandas as pd

    from samekind.datasets import Table

__all__ = ["EXAMPLES", "error_rate_of", "run"]

MOST_COPIED = 2**24  # numbers of an array that are turned back into its units to be shown

EXAMPLES = """[bold]Examples[/bold]

samekind run flowers.csv --labels species

samekind run flowers.csv --oracle terminal --exclude id --budget 300

samekind run digits.npz --labels y --images 8x8 --project digits.db

samekind run 'readings/*.parquet' --labels device --columns voltage,current
"""


@explained
def run(
    data: options.File,
    labels: options.Labels = None,
    oracle: options.Oracle = options.Answerer.labels,
    who: options.Who = None,
    project: options.Project = None,
    columns: options.Columns = None,
    exclude: options.Exclude = None,
    raw: options.Raw = False,
    headless: options.Headless = False,
    stream: options.Stream = None,
    dask: options.Dask = None,
    images: options.Images = None,
    algorithm: options.Algorithm = None,
    budget: options.Budget = None,
    target: options.Target = None,
    epsilon: options.Epsilon = None,
    heavy: options.Heavy = None,
    certify: options.Certify = None,
    tolerance: options.Tolerance = None,
    error_rate: options.ErrorRate = None,
    batch: options.Batch = None,
    seed: options.Seed = 0,
    out: options.Out = Path("samekind-run"),
    quiet: options.Quiet = False,
) -> int:
    """Find the kinds in your own data.

    Writes report.html, clusters.csv, centers.csv and clusters.npz into a folder.

    Large files, and folders of Parquet files, are not loaded whole.

    Ctrl-C stops, and writes what is known so far.
    """
    person = oracle is options.Answerer.terminal
    if labels is None and not person:
        raise UserError(
            "nobody is there to answer. Name the column of the labels, --labels COLUMN, or answer "
            "yourself, --oracle terminal."
        )
    shape = _shape(images)
    standardize = not raw and shape is None
    given = {
        "target": target,
        "epsilon": epsilon,
        "heavy": heavy,
        "certify": certify,
        "tolerance": tolerance,
        "stop": None if tolerance is None else "certified",
        "error_rate": error_rate_of(error_rate),
    }
    settings: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    settings["batch"] = _batch(batch, person)

    from rich.console import Console

    from samekind.algorithms import DEFAULT, find_algorithm
    from samekind.cli._job import Job, run_job
    from samekind.cli._results import PROJECT, prepare_folder
    from samekind.datasets import read_points

    with users_values():
        chosen = find_algorithm(algorithm or DEFAULT)
        chosen.Params.make(chosen.name, settings)  # complain before a long file is read
        alone = None if shape is None else "--images"
        kept = is_streamed(data, True if dask is not None else stream, only_in_memory=alone)
    job = Job(
        X=None,
        feature_names=[],
        out=out,
        title=data.name,
        settings=settings
        | {"algorithm": algorithm or DEFAULT, "budget": budget, "random_state": seed},
        person=person,
        who=who,
        project=out / PROJECT if person and project is None else project,
        quiet=quiet,
    )
    choice = Choice(labels, options.names_in(columns), options.names_in(exclude) or [], standardize)
    if dask is not None:
        from samekind.cli._on_dask import run_on_dask

        return run_on_dask(job, data, choice, dask)
    if kept:
        return run_streamed(job, data, choice)
    with users_values():
        table = read_points(data, **choice._asdict(), header=not headless)
    pictures = None if shape is None else _pictures(table, shape)
    prepare_folder(out, keep=data)
    if not quiet:
        text = in_options(table.summary())
        Console(stderr=True).print(text, markup=False, highlight=False, soft_wrap=True)
    frame = _rows_to_show(table)
    if person and labels is not None and frame is not None:
        frame = frame.drop(columns=[labels], errors="ignore")
    return run_job(
        replace(
            job,
            X=table.X,
            feature_names=table.feature_names,
            labels=table.labels,
            frame=frame,
            images=pictures,
            in_file_units=table.in_file_units if standardize else None,
        )
    )


def error_rate_of(given: str | None) -> float | str | None:
    if given is None or given == "estimate":
        return given
    try:
        return float(given)
    except ValueError:
        raise UserError(f"--error-rate must be a number or estimate, got {given!r}.") from None


def _batch(given: str | None, person: bool) -> int | str:
    if given is None:
        return 1 if person else "auto"
    if given == "auto":
        return given
    try:
        return int(given)
    except ValueError:
        raise UserError(f"--batch must be a number or auto, got {given!r}.") from None


def _shape(given: str | None) -> tuple[int, int] | None:
    if given is None:
        return None
    match = re.fullmatch(r"([1-9]\d*)[x×]([1-9]\d*)", given, flags=re.ASCII)
    if match is None:
        raise UserError(f"--images must be height x width, such as 8x8, got {given!r}.")
    return int(match[1]), int(match[2])


def _rows_to_show(table: Table) -> pd.DataFrame | None:
    """Return the rows as they stand in the file; None for a large array: its numbers must do."""
    import pandas as pd

    if table.frame is not None or table.scaling is None or table.X.size > MOST_COPIED:
        return table.frame
    return pd.DataFrame(table.in_file_units(table.X), columns=table.feature_names)


def _pictures(table: Table, shape: tuple[int, int]) -> Any:
    height, width = shape
    if table.X.shape[1] != height * width:
        raise UserError(
            f"pictures of {height} x {width} have {height * width} columns, but {table.source} has "
            f"{table.X.shape[1]}. Leave others out with --exclude COLUMN."
        )
    return table.X.reshape(-1, height, width)
