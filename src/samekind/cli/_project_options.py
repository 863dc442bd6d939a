"""The options of commands about a project as a whole: export, import, check, forget, move."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from samekind.cli._options import _data, _plain
from samekind.cli._places import Place, place_of

_take_in = _plain(
    None, "Take in what has changed in the data: answers stay with their things.", "--take-in"
)
TakeIn = Annotated[bool, _take_in]
_any_data = _data(
    None, "Take in the data even if hardly a thing of the project is in them.", "--any-data"
)
AnyData = Annotated[bool, _any_data]
_ANSWERS = "A CSV file, Splink's table of labels (CSV), or dedupe's training file (JSON)."
AnswersFile = Annotated[
    Path,
    typer.Argument(metavar="ANSWERS", help=_ANSWERS, exists=True, dir_okay=False, readable=True),
]
_id_column = _plain("COLUMN", "The column of the data whose values the file names.", "--id")
IdColumn = Annotated[str | None, _id_column]
ForgetWho = Annotated[
    str, _plain("NAME", 'Whose answers to erase; "" for those without a name.', "--who")
]
Yes = Annotated[bool, _plain(None, "Do not ask whether you mean it.", "--yes", "-y")]
_target = typer.Argument(
    metavar="TARGET",
    help="A file or a database's URL where there is no project yet.",
    parser=place_of,
)
Target = Annotated[Place, _target]
_copy = typer.Argument(metavar="FILE", help="Where to put the copy: a file that is not there yet.")
BackupFile = Annotated[Path, _copy]
