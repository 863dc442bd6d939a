"""The options of ``samekind run``, and those about data, which ``label`` has too."""

from __future__ import annotations

import csv
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

__all__ = ["Answerer", "loading_options", "names_in", "option"]

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


def loading_options(
    *,
    columns: list[str] | None,
    exclude: list[str] | None,
    show: list[str] | None,
    headless: bool,
    raw: bool,
    **others: object,
) -> dict[str, Any]:
    """Return the arguments of `samekind.load` that the user gave."""
    given = others | {
        "columns": names_in(columns),
        "exclude": names_in(exclude),
        "show": names_in(show),
        "header": False if headless else None,
        "standardize": False if raw else None,
    }
    return {name: value for name, value in given.items() if value is not None}


def _default(text: str) -> str:
    """Say what holds without the option, as Typer does where it knows."""
    return f"  [dim]\\[default: {text}][/dim]"


File = Annotated[
    Path,
    typer.Argument(
        metavar="DATA",
        help="A table (CSV, TSV, JSON, JSON lines, Excel, Parquet), a folder of Parquet files or a pattern "
        "in quotes, such as 'folder/*.parquet', an array (.npy, .npz), or a folder of pictures; a row is a "
        "thing.",
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

Text = Annotated[str | None, option(DATA, "The column of texts to compare.", metavar="COLUMN")]
Image = Annotated[
    str | None,
    option(
        DATA,
        "The column that names a picture for each row, or the folder in which those pictures are.",
        metavar="COLUMN|DIR",
    ),
]
Embeddings = Annotated[
    Path | None,
    option(DATA, "Features to compare by instead, a row for each thing.", metavar="FILE.npy"),
]
Columns = Annotated[
    list[str] | None,
    option(DATA, "Compare by these columns and no others; commas between.", metavar="COLUMNS"),
]
Exclude = Annotated[
    list[str] | None,
    option(DATA, "Columns to show, but not to compare by; commas between.", metavar="COLUMNS"),
]
Show = Annotated[
    list[str] | None,
    option(
        DATA,
        "Columns to show, with commas between; all by default. Beside an array: a table.",
        metavar="COLUMNS|FILE",
    ),
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
        DATA, "The first line of a table is a row, not the names of the columns.", "--no-header"
    ),
]
Sheet = Annotated[
    str | None,
    option(DATA, "The sheet of an Excel file; the first by default.", metavar="NAME"),
]
Stream = Annotated[
    bool | None,
    option(
        DATA,
        "Read .npy and Parquet files as needed, or load them into memory."
        + _default("as needed from 1 GiB or two files on"),
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
