"""``samekind run`` on data that stay in their files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from samekind.cli._errors import UserError, users_values
from samekind.cli._words import in_options

if TYPE_CHECKING:
    from samekind.cli._job import Job

__all__ = ["Choice", "is_streamed", "run_streamed"]

STREAMABLE = (".npy", ".parquet", ".parq", ".pq")


class Choice(NamedTuple):
    """Which columns are used, and how."""

    labels: str | None
    columns: list[str] | None
    exclude: list[str]
    standardize: bool


def is_streamed(data: Path, wanted: bool | None, *, only_in_memory: str | None = None) -> bool:
    """Decide whether data stay in their files.

    `wanted` is what the user said, if anything; `only_in_memory` an option that needs all of them at hand.
    """
    from samekind.datasets._streamed import is_large, is_many

    many = is_many(data.expanduser())
    if many and wanted is False:
        raise UserError(
            f"{data} is not a single file, and what is read from several stays in them. Leave out "
            "--no-stream."
        )
    can = many or data.suffix.lower() in STREAMABLE
    if wanted and not can:
        raise UserError(
            f"--stream is for .npy and Parquet files, and {data} is neither. Write it as Parquet "
            "first, for instance with pandas.DataFrame.to_parquet."
        )
    needed = many or wanted
    if needed and only_in_memory is not None:
        raise UserError(f"{only_in_memory} is for data that are loaded into memory.")
    if needed or wanted is False or only_in_memory is not None:
        return bool(needed)
    return can and is_large(data.expanduser())


def run_streamed(job: Job, data: Path, choice: Choice) -> int:
    """Run a job on data that stay in their files."""
    from rich.console import Console

    from samekind.cli._job import run_job
    from samekind.cli._passes import Passes
    from samekind.cli._results import prepare_folder
    from samekind.datasets._streamed import is_many, open_points

    files: list[Path] = []
    if is_many(data.expanduser()):
        from samekind.points.sources.parquet_files import find_files

        files = find_files(data)
    prepare_folder(job.out, keep=data, files=files)
    chat = Console(stderr=True, quiet=job.quiet)
    with Passes(chat) as passes:
        with users_values():
            table = open_points(data, **choice._asdict(), report=passes)
        chat.print(in_options(table.summary()), markup=False, highlight=False, soft_wrap=True)
        in_file_units = getattr(table.points, "in_file_units", None)
        return run_job(
            replace(
                job,
                X=table.points,
                feature_names=table.feature_names,
                labels=table.labels,
                in_file_units=in_file_units if choice.standardize else None,
                passes=passes,
            )
        )
