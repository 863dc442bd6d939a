"""The files that a run leaves, and what it says about them."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from samekind.cli._errors import UserError
from samekind.cli._places import Place
from samekind.clusters import Clusters
from samekind.project import Project, find_export
from samekind.project.exports import tables
from samekind.report import Comparison

if TYPE_CHECKING:
    from samekind.cli._job import Job

PROJECT = "project.db"


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
    for name in ("report", "csv", "parquet", "centers", "npz"):
        path = out / find_export(name).file
        if keep is not None and keep.exists() and path.exists() and path.samefile(keep):
            raise UserError(
                f"the results would replace the data, {keep}. Name another folder: --out DIR"
            )


def write_results(job: Job, project: Project) -> list[tuple[Place, str]]:
    """Write all files; return each with what it holds."""
    found = project.clusters()
    is_large = project.items.is_streamed and found.n_rows_ > tables.MANY
    names = ["report", "parquet" if is_large else "csv", "centers", "npz"]
    written: list[tuple[Place, str]] = []
    for export in map(find_export, names):
        path = job.out / export.file
        replace_file(path, lambda beside, export=export: project.export(export.name, beside))  # type: ignore[misc]
        written.append((path, export.about))
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
