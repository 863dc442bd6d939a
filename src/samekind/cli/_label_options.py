"""The options of ``samekind label``, ``classify`` and ``export``: their names, limits and help."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from samekind.cli._options import DATA, HOW, WHO, option

PAGE = "The page"

Pile = Annotated[
    Path | None,
    typer.Argument(
        metavar="DATA",
        help="A table (CSV, TSV, JSON, JSON lines, Excel, Parquet), a folder of pictures or of Parquet "
        "files, an array (.npy, .npz), or a project (.db) to go on with.",
        show_default=False,
    ),
]
Title = Annotated[str | None, option(DATA, "What the pile is called.", metavar="TEXT")]
Demo = Annotated[bool, option(DATA, "Handwritten digits, instead of DATA.", "--demo")]
Project = Annotated[
    Path | None,
    option(
        WHO,
        "Keeps the answers; by default DATA's name with .samekind.db, in this folder.",
        metavar="FILE.db",
    ),
]
Who = Annotated[
    str | None,
    option(
        WHO,
        "Your name beside your answers at the prompt; by default your user name.",
        metavar="NAME",
    ),
]
Terminal = Annotated[bool, option(WHO, "Ask here, at the prompt; no page.", "--terminal")]
Budget = Annotated[
    int | None, option(HOW, "The most questions to ask; by default no limit.", metavar="N", min=1)
]
ErrorRate = Annotated[
    str | None,
    option(
        HOW,
        "How many of your answers may be wrong, such as 0.1, or estimate: then some things are asked "
        "about more than once.",
        "--error-rate",
        metavar="SHARE|estimate",
    ),
]
Tolerance = Annotated[
    float | None,
    option(
        HOW,
        "Stop when, with 95 % confidence, at most this share of the things is in a wrong kind, and at "
        "most this share in kinds not found.",
        metavar="SHARE",
    ),
]
NoLineup = Annotated[bool, option(HOW, "Only ever ask about two things at a time.", "--no-lineup")]
Seed = Annotated[int | None, option(HOW, "Fixes the draws.", metavar="N", min=0)]
Host = Annotated[
    str,
    option(PAGE, "The address to listen at; others than this need --token.", metavar="ADDRESS"),
]
Port = Annotated[
    int | None,
    option(
        PAGE,
        "The port; by default 8720, or a free one if that is taken.",
        metavar="N",
        min=0,
        max=65535,
    ),
]
Token = Annotated[
    str | None,
    option(PAGE, "A secret that browsers must know; it is part of the address.", metavar="TEXT"),
]
NoBrowser = Annotated[bool, option(PAGE, "Do not open the page.", "--no-browser")]

ProjectFile = Annotated[
    Path, typer.Argument(metavar="PROJECT", help="A project that samekind label made.")
]
New = Annotated[
    Path,
    typer.Argument(metavar="NEW", help="New things, of the same form as those of the project."),
]
Predict = Annotated[
    bool, typer.Option("--predict", help="Ask nothing: each row is of the kind that is nearest.")
]
KindNames = Annotated[
    str | None,
    typer.Option(
        "--labels",
        metavar="COLUMN",
        help="The column of NEW with the names of the kinds answers, in your place.",
    ),
]
NewEmbeddings = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE.npy", help="Features of the new things, if the project was made with such."
    ),
]
OutFile = Annotated[
    Path | None,
    typer.Option(
        "--out",
        "-o",
        metavar="FILE.csv",
        help="Where the kinds of the new rows go; by default NEW's name with .kinds.csv, in this folder.",
    ),
]
OutPlace = Annotated[
    Path,
    typer.Option(
        "--out",
        "-o",
        metavar="DIR|FILE",
        help="A folder for all files, or one file, such as kinds.csv, kinds.parquet or report.html.",
    ),
]
Formats = Annotated[
    list[str] | None,
    typer.Option(
        "--format",
        "-f",
        metavar="NAME",
        help="Only this: csv, parquet, json, answers, report or npz; give it once for each.",
    ),
]
