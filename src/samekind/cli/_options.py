"""The options of all commands: their names, limits and help."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from samekind.cli._errors import UserError
from samekind.cli._places import Place, place_of

T = TypeVar("T")
TABLES = "A table (CSV, TSV, JSON, JSON lines, Excel, Parquet), "


class Distance(StrEnum):
    """How rows are compared."""

    auto = "auto"
    euclidean = "euclidean"
    cosine = "cosine"


def names_in(given: list[str] | None) -> list[str] | None:
    """Return the columns of an option that has them with commas between; quotes keep a comma."""
    if not given:
        return None
    parsed = [name.strip() for line in csv.reader(given, skipinitialspace=True) for name in line]
    return [name for name in parsed if name] or None


def loading_options(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of `samekind.load` among the options that the user gave."""
    names = ("labels", "text", "image", "embeddings", "sheet", "stream", "features")
    wanted = {name: given.get(name) for name in (*names, "compare", "block", "other")}
    wanted |= {name: names_in(given[name]) for name in ("columns", "exclude", "show")}
    wanted["records"] = given.get("records") or None
    wanted["header"] = False if given["headless"] else None
    wanted["standardize"] = False if given.get("raw") else None
    return {name: value for name, value in wanted.items() if value is not None}


def algorithm_options(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of the algorithm among the options that the user gave."""
    names = ("target", "epsilon", "heavy", "tolerance")
    wanted = {name: given.get(name) for name in names}
    wanted["stop"] = None if given["tolerance"] is None else "certified"
    wanted["error_rate"] = number_or("estimate", "--error-rate", given["error_rate"], float)
    return {name: value for name, value in wanted.items() if value is not None}


def space_options(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return how rows are compared, among the options that the user gave."""
    wanted: dict[str, Any] = {}
    if given.get("metric") is not None:
        wanted["metric"] = given["metric"].value
    reduce: str | None = given.get("reduce")
    if reduce in ("auto", "none"):
        wanted["reduce"] = None if reduce == "none" else reduce
    elif reduce is not None:
        if not reduce.isdecimal() or int(reduce) < 1:
            raise UserError(f"--reduce must be a positive number, auto or none, got {reduce!r}.")
        wanted["reduce"] = int(reduce)
    return wanted


def number_or(
    word: str, option: str, given: str | None, number: Callable[[str], T]
) -> T | str | None:
    """Return the value of an option that is a number or a word."""
    if given is None or given == word:
        return given
    try:
        return number(given)
    except ValueError:
        raise UserError(f"{option} must be a number or {word}, got {given!r}.") from None


def _option(panel: str | None, metavar: str | None, text: str, *names: str, **limits: Any) -> Any:
    return typer.Option(*names, metavar=metavar, rich_help_panel=panel, help=text, **limits)


def _default(text: str) -> str:
    """Say what holds without the option, as Typer does where it knows."""
    return f"  [dim]\\[default: {text}][/dim]"


_data, _answer, _ask, _result, _page, _plain = (
    partial(_option, panel)
    for panel in ("The data", "Who answers", "How to ask", "Results", "The page", None)
)

_run_data = typer.Argument(
    metavar="DATA",
    help=TABLES
    + "a folder of Parquet files or a pattern in quotes, such as 'folder/*.parquet', an array "
    "(.npy, .npz), or a folder of pictures; a row is a thing.",
)
File = Annotated[Path, _run_data]
_label_data = typer.Argument(
    metavar="DATA",
    help=TABLES
    + "a folder of pictures or of Parquet files, an array (.npy, .npz), or a project (.db or a "
    "database's URL) to go on with.",
    show_default=False,
    parser=place_of,
)
Pile = Annotated[Place | None, _label_data]
_project_file = typer.Argument(
    metavar="PROJECT",
    help="A project that samekind label made: a file, or a database's URL.",
    parser=place_of,
)
ProjectFile = Annotated[Place, _project_file]
New = Annotated[
    Path,
    typer.Argument(metavar="NEW", help="New things, of the same form as those of the project."),
]

_labels = _answer(
    "COLUMN",
    "The column that answers: rows with equal labels are of one kind. If you answer yourself, it is hidden "
    "from you and compared with at the end.",
)
Labels = Annotated[str | None, _labels]
_oracle = _answer(
    "labels|terminal|chat:URL|command:PROGRAM",
    "The labels; you at the prompt; a model at an API that speaks OpenAI's chat completions, such as "
    "chat:http://127.0.0.1:8000/v1; or a program that reads pairs as lines of JSON.",
)
Oracle = Annotated[str, _oracle]
_who = _answer("NAME", "Your name beside your answers at the prompt; by default your user name.")
Who = Annotated[str | None, _who]
_run_project = _answer(
    "FILE.db|URL",
    "Keeps the answers, so that the same command goes on where it stopped. If you answer yourself: "
    "project.db in the folder of the results, unless told otherwise.",
    parser=place_of,
)
RunProject = Annotated[Place | None, _run_project]
_label_project = _answer(
    "FILE.db|URL",
    "Keeps the answers; by default DATA's name with .samekind.db, in this folder.",
    parser=place_of,
)
LabelProject = Annotated[Place | None, _label_project]
Terminal = Annotated[bool, _answer(None, "Ask here, at the prompt; no page.", "--terminal")]

Title = Annotated[str | None, _data("TEXT", "What the pile is called.")]
Demo = Annotated[bool, _data(None, "Handwritten digits, instead of DATA.", "--demo")]
Text = Annotated[str | None, _data("COLUMN", "The column of texts to compare.")]
_image = _data(
    "COLUMN|DIR",
    "The column that names a picture for each row, or the folder in which those pictures are.",
)
Image = Annotated[str | None, _image]
_features = _data(
    "NAME",
    "What texts or pictures are compared by: words (texts), hog (pictures), plain, or a model, "
    "sentence-transformers:NAME_OR_FOLDER." + _default("auto"),
)
Features = Annotated[str | None, _features]
_embeddings = _data(
    "FILE", "Features to compare by instead (.npy, .npz, .parquet), a row for each thing."
)
Embeddings = Annotated[Path | None, _embeddings]
_columns = _data("COLUMNS", "Compare by these columns and no others; commas between.")
Columns = Annotated[list[str] | None, _columns]
_exclude = _data("COLUMNS", "Columns to show, but not to compare by; commas between.")
Exclude = Annotated[list[str] | None, _exclude]
_show = _data(
    "COLUMNS|FILE",
    "Columns to show, with commas between; all by default. Beside an array: a table.",
)
Show = Annotated[list[str] | None, _show]
_raw = _data(
    None,
    "Leave numbers as they are; otherwise columns get mean 0 and variance 1.",
    "--no-standardize",
)
Raw = Annotated[bool, _raw]
_headless = _data(
    None, "The first line of a table is a row, not the names of the columns.", "--no-header"
)
Headless = Annotated[bool, _headless]
Sheet = Annotated[str | None, _data("NAME", "The sheet of an Excel file; the first by default.")]
_stream = _data(
    None,
    "Keep features in a file that is read as needed, or in memory; of .npy and Parquet files."
    + _default("a file from 1 GiB or two files on"),
    "--stream/--no-stream",
)
Stream = Annotated[bool | None, _stream]
_images = _data(
    "HxW",
    "Rows are grey pictures of that height and width, line by line, and are shown as such; they are not "
    "standardised.",
)
Images = Annotated[str | None, _images]

_algorithm = _ask(
    "NAME",
    "focused, which asks the fewest questions; batched, basic or uniform, the paper's; basic-exact, "
    "improved-exact or noisy-exact, with the paper's constants; records, for records."
    + _default("focused"),
)
Algorithm = Annotated[str | None, _algorithm]
_budget = _ask(
    "N", "The most questions to ask; by default no limit. 0: a guess from the data alone.", min=0
)
Budget = Annotated[int | None, _budget]
_presses = _ask(
    "N",
    "The most presses of a key or button; one press may answer several questions. By default no limit.",
    min=1,
)
Presses = Annotated[int | None, _presses]
_target = _ask("K", "Stop when so many clusters are recovered.", min=1)
Target = Annotated[int | None, _target]
_epsilon = _ask(
    "E",
    "How small clusters may be that are not found when it stops by itself; above 0, at most 1."
    + _default("0.01; exact: 0.5"),
)
Epsilon = Annotated[float | None, _epsilon]
_heavy = _ask("N", "Samples that make a centre; not for focused." + _default("11"), min=1)
Heavy = Annotated[int | None, _heavy]
_tolerance = _ask(
    "SHARE",
    "Stop when, with 95 % confidence, at most this share of the things is in a wrong kind, and at most "
    "this share in kinds not found.",
)
Tolerance = Annotated[float | None, _tolerance]
_error_rate = _ask(
    "SHARE|estimate",
    "How many of the answers may be wrong, such as 0.1, or estimate: then some things are asked about "
    "more than once.",
    "--error-rate",
)
ErrorRate = Annotated[str | None, _error_rate]
_batch = _ask("N|auto", "Rows asked about at once." + _default("auto; 1 if you answer"))
Batch = Annotated[str | None, _batch]
_metric = _ask(
    None,
    "How rows are compared. cosine: by their direction alone, as embeddings are meant; euclidean: by their "
    "distance; auto: cosine for embeddings, and for rows of length 1." + _default("auto"),
)
Metric = Annotated[Distance | None, _metric]
_reduce = _ask(
    "N|auto|none",
    "Work in N dimensions, those in which the rows differ most; none: in all. auto: 64 for focused, if there "
    "are more. Centres are in the columns of the data all the same." + _default("auto"),
)
Reduced = Annotated[str | None, _reduce]
_no_lineup = _ask(None, "Only ever ask about two things at a time.", "--no-lineup")
NoLineup = Annotated[bool, _no_lineup]
_sheets = _ask(
    None,
    "Ask about many things at once where that saves answers, or never. [default: as before; at first, do]",
    "--sheets/--no-sheets",
)
Sheets = Annotated[bool | None, _sheets]
_criterion = _ask(
    "TEXT",
    "When two are of one kind, in a sentence; shown above every question, and kept.",
    "--criterion",
)
Criterion = Annotated[str | None, _criterion]
_overlap = _ask(
    "N|SHARE",
    "How many people are to answer each question, blind to each other, or of which share of them two; kept.",
    "--overlap",
)
Overlap = Annotated[float | None, _overlap]
Seed = Annotated[int | None, _ask("N", "Fixes the draws.", min=0)]

_host = _page(
    "ADDRESS",
    "The address to listen at; 0.0.0.0 is every one. The address that is printed has a token.",
)
Host = Annotated[str, _host]
_port = _page("N", "The port; by default 8720, or a free one if that is taken.", min=0, max=65535)
Port = Annotated[int | None, _port]
NoBrowser = Annotated[bool, _page(None, "Do not open the page.", "--no-browser")]

Out = Annotated[Path, _result("DIR", "Folder for the results.")]
Quiet = Annotated[bool, _result(None, "Print only errors.", "--quiet", "-q")]

_predict = _plain(None, "Ask nothing: each row is of the kind that is nearest.", "--predict")
Predict = Annotated[bool, _predict]
_kind_names = _plain(
    "COLUMN", "The column of NEW with the names of the kinds answers, in your place.", "--labels"
)
KindNames = Annotated[str | None, _kind_names]
_new_embeddings = _plain("FILE", "Features of the new things, if the project was made with such.")
NewEmbeddings = Annotated[Path | None, _new_embeddings]
_out_file = _plain(
    "FILE.csv",
    "Where the kinds of the new rows go; by default NEW's name with .kinds.csv, in this folder.",
    *("--out", "-o"),
)
OutFile = Annotated[Path | None, _out_file]
_out_place = _plain(
    "DIR|FILE",
    "A folder for all files, or one file, such as kinds.csv, kinds.parquet or report.html.",
    *("--out", "-o"),
)
OutPlace = Annotated[Path, _out_place]
_formats = _plain(
    "NAME",
    "Only this: csv, parquet, json, answers, report, npz; of records entities, golden, golden-sources, "
    "pairs, splink, dedupe; of a team annotators, agreement, opinions; for other tools dataset (Hugging "
    "Face, Argilla), label-studio, prodigy; of pictures zip, or folders (by kind); give it once for each.",
    *("--format", "-f"),
)
Formats = Annotated[list[str] | None, _formats]
_golden = _plain(
    "RULES",
    "How golden records are made, such as phone:newest:updated,*:longest. Rules: frequent, longest, "
    "newest:COLUMN, source:COLUMN=VALUE; * is all other columns. The project keeps them.",
    "--golden",
)
Golden = Annotated[str | None, _golden]
