"""The options of ``samekind run``: their names, limits and help."""

from __future__ import annotations

import csv
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

__all__ = ["Answerer", "names_in", "option"]

DATA, WHO, HOW, RESULTS = "The data", "Who answers", "How to ask", "Results"


class Answerer(StrEnum):
    """Who answers the questions."""

    labels = "labels"
    terminal = "terminal"


def option(panel: str, text: str, *names: str, metavar: str | None = None, **limits: Any) -> Any:
    return typer.Option(*names, metavar=metavar, rich_help_panel=panel, help=text, **limits)


def names_in(given: list[str] | None) -> list[str] | None:
    """Return the columns of an option that has them with commas between; quotes keep a comma."""
    if not given:
        return None
    parsed = [name.strip() for line in csv.reader(given, skipinitialspace=True) for name in line]
    return [name for name in parsed if name] or None


def _default(text: str) -> str:
    """Say what holds without the option, as Typer does where it knows."""
    return f"  [dim]\\[default: {text}][/dim]"


File = Annotated[
    Path,
    typer.Argument(
        metavar="DATA",
        help="CSV, TSV, JSON lines, Parquet, .npy or .npz; a row is a thing. Also a folder of Parquet "
        "files, or a pattern in quotes, such as 'folder/*.parquet'.",
    ),
]

Labels = Annotated[
    str | None,
    option(
        WHO,
        "The column that answers: rows with equal labels are of one kind. If you answer yourself, "
        "it is hidden from you and compared with at the end.",
        metavar="COLUMN",
    ),
]
Oracle = Annotated[Answerer, option(WHO, "The labels, or you at the prompt.")]
Who = Annotated[
    str | None,
    option(WHO, "Your name beside your answers; by default your user name.", metavar="NAME"),
]
Project = Annotated[
    Path | None,
    option(
        WHO,
        "Keeps the answers, so that the same command goes on where it stopped. If you answer "
        "yourself: project.db in the folder of the results, unless told otherwise.",
        metavar="FILE.db",
    ),
]

Columns = Annotated[
    list[str] | None,
    option(
        DATA,
        "Use these columns and no others; commas between.",
        "--columns",
        metavar="COLUMNS",
    ),
]
Exclude = Annotated[
    list[str] | None,
    option(DATA, "Do not use these columns; commas between.", metavar="COLUMNS"),
]
Raw = Annotated[
    bool,
    option(
        DATA,
        "Leave numbers as they are; otherwise columns get mean 0 and variance 1.",
        "--no-standardize",
    ),
]
Headless = Annotated[
    bool,
    option(
        DATA,
        "The first line of a CSV or TSV file is a row, not the names of the columns.",
        "--no-header",
    ),
]
Stream = Annotated[
    bool | None,
    option(
        DATA,
        "Read .npy and Parquet files as needed, and only columns of numbers; or load them into memory."
        + _default("as needed from 1 GiB on"),
        "--stream/--no-stream",
    ),
]
Dask = Annotated[
    str | None,
    option(
        DATA,
        "Read Parquet files on a Dask cluster: the one at this address, such as tcp://10.0.0.1:8786, or "
        "without an address one that is started here.",
        "--dask",
        metavar="[ADDRESS]",
    ),
]
Images = Annotated[
    str | None,
    option(
        DATA,
        "Rows are grey pictures of that height and width, line by line, and are shown as such; they "
        "are not standardised.",
        metavar="HxW",
    ),
]

Algorithm = Annotated[
    str | None,
    option(
        HOW,
        "focused, which asks the fewest questions; batched, basic or uniform, the paper's; basic-exact, "
        "improved-exact or noisy-exact, with the paper's constants." + _default("focused"),
        metavar="NAME",
    ),
]
Budget = Annotated[
    int | None,
    option(HOW, "The most questions to ask; by default no limit.", metavar="N", min=1),
]
Target = Annotated[
    int | None,
    option(HOW, "Stop when so many clusters are recovered.", metavar="K", min=1),
]
Epsilon = Annotated[
    float | None,
    option(
        HOW,
        "How small clusters may be that are not found when it stops by itself; above 0, at most 1."
        + _default("0.01; exact: 0.5"),
        metavar="E",
    ),
]
Heavy = Annotated[
    int | None,
    option(
        HOW, "Samples that make a centre; not for focused." + _default("10"), metavar="N", min=1
    ),
]
Certify = Annotated[
    str | None,
    option(
        HOW,
        "lazy: a row is new when the clusters that could hold it refused it; full: when all did. "
        "Only for focused." + _default("lazy"),
        metavar="HOW",
    ),
]
Tolerance = Annotated[
    float | None,
    option(
        HOW,
        "Stop when, with 95 % confidence, at most this share of the labels is wrong and of the rows in "
        "clusters not found. Only for focused.",
        metavar="SHARE",
    ),
]
ErrorRate = Annotated[
    str | None,
    option(
        HOW,
        "How many of the answers may be wrong, such as 0.1, or estimate. Only for focused and noisy-exact.",
        "--error-rate",
        metavar="SHARE|estimate",
    ),
]
Batch = Annotated[
    str | None,
    option(
        HOW,
        "Rows asked about at once." + _default("auto; 1 if you answer"),
        metavar="N|auto",
    ),
]
Seed = Annotated[int, option(HOW, "Fixes the draws.", metavar="N", min=0)]

Out = Annotated[Path, option(RESULTS, "Folder for the results.", metavar="DIR")]
Quiet = Annotated[bool, option(RESULTS, "Print only errors.", "--quiet", "-q")]
