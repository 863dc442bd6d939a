"""The options that several commands share: their names, limits and help, and what is made of them."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from samekind.cli._errors import READ, SET, UserError
from samekind.cli._places import Place, place_of
from samekind.errors import did_you_mean

SPACE = ("metric", "reduce")  # parameters of a session, not of its algorithm
FEATURE_FILES = (".npy", ".npz", ".parquet")
YES_OR_NO = ("header", "standardize", "stream")
TRUTH = {"yes": True, "true": True, "no": False, "false": False}


def names_in(given: list[str] | None) -> list[str] | None:
    """Return the columns of an option that has them with commas between; quotes keep a comma."""
    if not given:
        return None
    parsed = [name.strip() for line in csv.reader(given, skipinitialspace=True) for name in line]
    return [name for name in parsed if name] or None


def loading_options(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of `samekind.load` among the options that the user gave."""
    names = ("labels", "text", "image", "features", "records", "compare", "block")
    wanted = {name: given.get(name) for name in names}
    if Path(str(wanted["features"])).suffix.lower() in FEATURE_FILES:
        wanted["embeddings"] = wanted.pop("features")
    wanted["other"] = given["link"] or None
    wanted |= {name: names_in(given[name]) for name in ("columns", "exclude", "show")}
    wanted |= _named("--read", given["read"], READ)
    if (shape := wanted.get("image_shape")) is not None:
        wanted["image_shape"] = _shape(shape)
    return {name: value for name, value in wanted.items() if value is not None}


def algorithm_options(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of what asks, among the options that the user gave."""
    wanted = _named("--set", given["settings"], SET)
    if given["tolerance"] is not None:
        wanted |= {"tolerance": given["tolerance"], "stop": "certified"}
    rate = given["error_rate"]
    if rate is not None:
        wanted["error_rate"] = rate if rate == "estimate" else _value(rate)
        if isinstance(wanted["error_rate"], str | bool) and rate != "estimate":
            raise UserError(f"--error-rate must be a number or estimate, got {rate!r}.")
    return wanted


def _named(option: str, given: list[str] | None, known: tuple[str, ...]) -> dict[str, Any]:
    """Return the values of an option that is NAME=VALUE."""
    found: dict[str, Any] = {}
    for one in given or ():
        name, sign, text = one.partition("=")
        if name not in known or not sign:
            raise UserError(
                f"{option} must be NAME=VALUE with one of the names {', '.join(known)}, got {one!r}."
                f"{did_you_mean(name, known)}"
            )
        found[name] = text if name in ("sheet", "image_shape") else _value(text)
        if name in YES_OR_NO and not isinstance(found[name], bool):
            raise UserError(f"{option} {name} must be yes or no, got {text!r}.")
    return found


def _value(text: str) -> bool | int | float | str | None:
    """Return a number, yes or no, or none where a text is one of these."""
    plain = text.strip().lower()
    if plain == "none":
        return None
    if plain in TRUTH:
        return TRUTH[plain]
    for number in (int, float):
        try:
            return number(plain)
        except ValueError:
            pass
    return text


def _shape(given: str) -> tuple[int, int]:
    try:
        height, width = map(int, given.lower().replace("×", "x").split("x"))
        if min(height, width) < 1:
            raise ValueError
    except ValueError:
        raise UserError(
            f"--read image_shape must be height x width, such as 8x8, got {given!r}."
        ) from None
    return height, width


def option(panel: str | None, metavar: str | None, text: str, *names: str, **limits: Any) -> Any:
    """Return an option."""
    return typer.Option(*names, metavar=metavar, rich_help_panel=panel, help=text, **limits)


_data, _answer, _ask, _model, _page, plain = (
    partial(option, panel)
    for panel in ("The data", "Who answers", "How to ask", "A model", "The page", None)
)
_TABLES = "A table (CSV, TSV, JSON, JSON lines, Excel, Parquet), "

File = Annotated[
    Path,
    typer.Argument(
        metavar="DATA",
        help=_TABLES
        + "a folder of Parquet files or a pattern in quotes, such as 'folder/*.parquet', an array "
        "(.npy, .npz), or a folder of pictures.",
    ),
]
Pile = Annotated[
    Place | None,
    typer.Argument(
        metavar="DATA",
        help=_TABLES
        + "a folder of pictures or of Parquet files, an array (.npy, .npz), demo:digits, or a project "
        "(.db or a database's URL).",
        show_default=False,
        parser=place_of,
    ),
]
ProjectFile = Annotated[
    Place,
    typer.Argument(
        metavar="PROJECT",
        help="A project that samekind label made: a file, or a database's URL.",
        parser=place_of,
    ),
]

Text = Annotated[str | None, _data("COLUMN", "The column of texts to compare.")]
Image = Annotated[
    str | None,
    _data("COLUMN|DIR", "The column that names a picture for each row, or the folder they are in."),
]
Features = Annotated[
    str | None,
    _data(
        "NAME|FILE",
        "What to compare by: words (texts), hog (pictures), plain, sentence-transformers:NAME, or a file "
        "of embeddings (.npy, .npz, .parquet) with a row for each item.",
    ),
]
Records = Annotated[
    bool | None,
    _data(
        None,
        "Rows are records that may be duplicates: of people, firms, papers. label recognises most.",
        "--records/--no-records",
    ),
]
Link = Annotated[
    list[Path] | None,
    _data("FILE", "A further file of records; may be repeated. No file has duplicates of its own."),
]
Compare = Annotated[
    str | None,
    _data(
        "FIELDS",
        "Fields of records to compare and what they hold, such as surname:name,birth:date. Known are name, "
        "address, code, date, number, set, text, category.",
    ),
]
Block = Annotated[
    str | None,
    _data("COLUMNS", "Compare only records that agree in one of these; a+b: in both."),
]
Columns = Annotated[
    list[str] | None,
    _data("COLUMNS", "Compare by these columns only, separated by commas. With --link: A=B."),
]
Exclude = Annotated[list[str] | None, _data("COLUMNS", "Columns to show, but not to compare by.")]
Show = Annotated[
    list[str] | None,
    _data("COLUMNS|FILE", "Columns to show; all by default. For an array: a table."),
]
Read = Annotated[
    list[str] | None,
    _data(
        "NAME=VALUE",
        "How to read the data: header=no, sheet=NAME (Excel), standardize=no, image_shape=8x8. May be "
        "repeated.",
    ),
]

Labels = Annotated[
    str | None,
    _answer(
        "COLUMN",
        "The column that answers: rows with equal labels are of one kind. If somebody else answers, it is "
        "hidden from them and compared with at the end.",
    ),
]
Oracle = Annotated[
    str,
    _answer(
        "WHO",
        "labels; terminal: you, at the prompt; chat:NAME@URL: a model at an API that speaks OpenAI's chat "
        "completions; command:PROGRAM: a program that reads pairs as lines of JSON.",
    ),
]
RunProject = Annotated[
    Place | None,
    _answer(
        "FILE.db|URL",
        "Keeps the answers, so that the same command can continue. Unless labels answer: project.db in the "
        "folder of the results.",
        parser=place_of,
    ),
]
LabelProject = Annotated[
    Place | None,
    _answer(
        "FILE.db|URL",
        "Keeps the answers; by default DATA's name with .samekind.db, in this folder.",
        parser=place_of,
    ),
]
Terminal = Annotated[bool, _answer(None, "Ask at the prompt instead of on a page.", "--terminal")]
Who = Annotated[
    str | None, _answer("NAME", "Your name beside your answers at the prompt; your user name.")
]

Algorithm = Annotated[
    str | None,
    _ask(
        "NAME",
        "focused, which asks the fewest questions; batched, basic, uniform, basic-exact, improved-exact or "
        "noisy-exact, the paper's; records.  [dim]\\[default: focused][/dim]",
    ),
]
Budget = Annotated[
    int | None,
    _ask("N", "The most questions to ask. 0: a guess from the data alone.", min=0),
]
Presses = Annotated[
    int | None,
    _ask("N", "The most presses of a key; one press may answer several questions.", min=1),
]
Tolerance = Annotated[
    float | None,
    _ask(
        "SHARE",
        "Stop when, with 95 % confidence, at most this share of the items is in a wrong kind, and at most "
        "this share in kinds not found.",
    ),
]
ErrorRate = Annotated[
    str | None,
    _ask("SHARE|estimate", "How many of the answers may be wrong, such as 0.1.", "--error-rate"),
]
Settings = Annotated[
    list[str] | None,
    _ask(
        "NAME=VALUE",
        "Other parameters of the algorithm, such as batch=1, metric=cosine, reduce=none. May be repeated.",
        "--set",
    ),
]
Criterion = Annotated[
    str | None,
    _ask("TEXT", "When two items are of one kind, in a sentence. Shown to whoever answers."),
]
Overlap = Annotated[
    float | None,
    _ask(
        "N|SHARE",
        "How many people answer each question, blind to each other, or of which share of them two; kept.",
    ),
]
Seed = Annotated[int, _ask("N", "Fixes the draws.", min=0)]

Model = Annotated[
    str | None,
    _model(
        "NAME@URL",
        "A model that answers first, such as llama@http://127.0.0.1:8000/v1; any API that speaks OpenAI's "
        "chat completions. You are asked what is doubtful, and a blind sample. The key is read from "
        "SAMEKIND_CHAT_KEY.",
    ),
]
ModelBudget = Annotated[int | None, _model("N", "The most questions to the model.", min=0)]
Price = Annotated[
    str | None, _model("READ,WRITTEN", "Money for a million tokens that it reads, and writes.")
]
Cap = Annotated[float | None, _model("MONEY", "The most that the model may cost.", min=0)]
DryRun = Annotated[bool, _model(None, "Say what the model would cost, and stop.", "--dry-run")]

Out = Annotated[Path, option("Results", "DIR", "Folder for the results.")]
Port = Annotated[
    int | None, _page("N", "The port; by default 8720, or a free one.", min=0, max=65535)
]
NoBrowser = Annotated[bool, _page(None, "Do not open the page.", "--no-browser")]
