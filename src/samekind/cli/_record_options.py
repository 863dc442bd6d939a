"""The options of commands about records that may be duplicates."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from samekind.cli._options import TABLES, _ask, _data
from samekind.cli._places import Place, place_of

_records = _data(
    None,
    "Rows are records that may be duplicates (of people, firms, papers …), or are not. "
    "[default: if the table looks like it]",
    "--records/--no-records",
)
AutoRecords = Annotated[bool | None, _records]
_only_records = _data(
    None, "Rows are records that may be duplicates: of people, firms, papers …", "--records"
)
Records = Annotated[bool, _only_records]
_compare = _data(
    "FIELDS",
    "Fields of records to compare and what they hold, such as surname:name,birth:date. Known are name, "
    "address, code, date, number, set, text, category. [default: all, as they look]",
)
Compare = Annotated[str | None, _compare]
_block = _data(
    "COLUMNS",
    "Compare only records that agree in these columns; commas: in one of them, surname+birth: in both.",
)
Block = Annotated[str | None, _block]
_question = _ask(
    "TEXT",
    'What is asked, such as "Are these the same person?"; kept, as --criterion is.',
    "--question",
)
Question = Annotated[str | None, _question]
_other = _data("FILE", "A second file of records to link with the first.", "--other")
Other = Annotated[Path | None, _other]
_first = typer.Argument(
    metavar="FIRST",
    help=TABLES + "without duplicates of its own; or a project.",
    show_default=False,
    parser=place_of,
)
First = Annotated[Place, _first]
_second = typer.Argument(metavar="[SECOND]", help="The table to link it with.", show_default=False)
Second = Annotated[Path | None, _second]
_same_columns = _data(
    "A=B", "Columns that hold the same: FIRST's name = SECOND's; commas between.", "--columns"
)
SameColumns = Annotated[list[str] | None, _same_columns]
