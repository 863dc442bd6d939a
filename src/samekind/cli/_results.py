"""The files that a run leaves, and what it says about them."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from rich.console import Console
from rich.text import Text

from samekind._validation import is_dask
from samekind.cli._errors import UserError
from samekind.cli._places import Place
from samekind.cli._rows_file import MANY, write_csv, write_full_csv, write_parquet
from samekind.clusters import Clusters
from samekind.engine import Session
from samekind.report import Comparison, write_report

if TYPE_CHECKING:
    from samekind.cli._job import Job

REPORT, CENTERS, SAVED, PROJECT = "report.html", "centers.csv", "clusters.npz", "project.db"
ROWS, ROWS_PARQUET, ROWS_FOLDER = "clusters.csv", "clusters.parquet", "clusters"


def prepare_folder(out: Path, keep: Path | None = None, files: Sequence[Path] = ()) -> None:
    """Make the folder before anything is asked; refuse to write over the file to keep, or beside `files`."""
    if out.exists() and not out.is_dir():
        raise UserError(f"--out must be a folder, but {out} is a file. Name another one.")
    out.mkdir(parents=True, exist_ok=True)
    if not os.access(out, os.W_OK):
        raise UserError(f"there is no permission to write in {out}. Name another folder: --out DIR")
    places = [file.parent.resolve() for file in files]
    within = keep is not None and keep.is_dir() and out.resolve().is_relative_to(keep.resolve())
    if out.resolve() in places or within:  # would be read with them the next time
        raise UserError(
            f"the results would lie among the data, in {out}. Name another folder: --out DIR"
        )
    for name in (REPORT, ROWS, CENTERS, SAVED, ROWS_PARQUET):
        path = out / name
        if keep is not None and keep.exists() and path.exists() and path.samefile(keep):
            raise UserError(
                f"the results would replace the data, {keep}. Name another folder: --out DIR"
            )


def write_results(
    job: Job, session: Session, clusters: Clusters, truth: Comparison | None
) -> list[tuple[Place, str]]:
    """Write all files; return each with what it holds. `truth` is how clusters compare with the labels."""
    items, names = job.items, job.items.feature_names
    centers = clusters.centers_frame(names)
    if items.is_standardized:
        centers.iloc[:, -len(names) :] = items.in_file_units(clusters.all_centers_)
        names = [f"{name}, standardised" for name in names]
    active = session.ledger.active()
    rows = job.out / ROWS
    if is_dask(clusters.labels_):
        from samekind.cli._on_dask import write_on_workers

        rows = job.out / ROWS_FOLDER
        write_on_workers(rows, clusters, items.labels)
    elif items.is_streamed and clusters.n_rows_ > MANY:
        rows = job.out / ROWS_PARQUET
        replace_file(rows, lambda path: write_parquet(path, clusters, items.labels))
    elif items.is_streamed:
        replace_file(rows, lambda path: write_csv(path, clusters, items.labels))
    else:
        frame = items.shown_frame(with_labels=True)
        replace_file(rows, lambda path: write_full_csv(path, clusters, items, session, frame))
    replace_file(job.out / CENTERS, lambda path: centers.to_csv(path, index=False))
    saved = clusters if rows.name == ROWS else clusters.without_labels()
    replace_file(job.out / SAVED, saved.save)
    write_report(
        job.out / REPORT,
        clusters,
        session.points,
        pairs=np.column_stack([active["a"], active["b"]]),
        answers=active["answer"],
        frame=items.shown_frame(with_labels=not job.person),
        images=items.images,
        truth=truth,
        title=job.title,
        feature_names=names,
        by_neighbors=True,
    )
    but = "" if rows.name == ROWS else "the rest "
    written: list[tuple[Place, str]] = [
        (job.out / REPORT, "plots and examples: open it in a browser"),
        (rows, "the kind of every row, known or predicted, and how sure that is"),
        (job.out / CENTERS, "every centre, in the units of the data"),
        (job.out / SAVED, f"all {but}of it, for samekind.Clusters.load"),
    ]
    if job.project is not None:
        written.append((job.project, "the answers"))
    return written


def print_results(
    job: Job, clusters: Clusters, written: list[tuple[Place, str]], truth: Comparison | None
) -> None:
    """Print the summary and where everything is."""
    out = Console()
    table = clusters.summary()
    if truth is not None:
        table.add_row("kinds in the labels", f"{len(truth.classes):,}")
        table.add_row("adjusted Rand index", f"{truth.agreement:.3f}")
    out.print(table)
    width = max(len(str(path)) for path, _ in written)
    lines = [f"{path!s:<{width}}  {what}" for path, what in written]
    for line in ["", *lines, *(["", *job.next_steps] if job.next_steps else [])]:
        out.print(Text(line), soft_wrap=True)


def replace_file(path: Path, write: Callable[[Path], object]) -> None:
    """Write beside the file and put it in its place, so that no half-written one is ever there."""
    beside = path.with_name(path.name + ".part")
    try:
        write(beside)
        os.replace(beside, path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
