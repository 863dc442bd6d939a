"""``samekind import``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from samekind.cli import _options as options
from samekind.cli._errors import UserError, explained, needs, users_values

EXAMPLES = """[bold]Examples[/bold]

samekind import messages.samekind.db answers.csv

samekind import orders.samekind.db known.csv --id order_number

samekind import people.samekind.db training.json
"""


Answers = Annotated[
    Path,
    typer.Argument(
        metavar="ANSWERS",
        help="A CSV file, Splink's table of labels (CSV), or dedupe's training file (JSON).",
        exists=True,
        dir_okay=False,
        readable=True,
    ),
]
IdColumn = Annotated[
    str | None,
    options.plain("COLUMN", "The column of the data whose values the file names.", "--id"),
]


@explained
def import_(
    project: options.ProjectFile,
    answers: Answers,
    id_column: IdColumn = None,
    who: options.Who = None,
) -> int:
    """Take answers from a file into a project: from a CSV file, from Splink or from dedupe.

    A CSV file has the columns a, b and answer. The answer is same, different or unsure; a and b are row
    numbers, from 0, or values of a column of the data that has each only once: that which --id names, which
    the file names (order_a, order_b), or which fits.
    """
    from contextlib import closing

    from rich.console import Console

    from samekind.cli._console import Passes, chat, plural
    from samekind.project import ProjectError, open_project
    from samekind.terminal import user_name

    try:
        text = answers.read_text("utf-8-sig")
    except UnicodeDecodeError:
        raise UserError(f"{answers} is not UTF-8. Save it as CSV in UTF-8.") from None
    with needs(), users_values(project), Passes(Console(stderr=True)) as passes:
        opened = open_project(project, progress=passes)
    out = Console()
    with closing(opened):
        if opened.notices:
            chat(out, "\n".join(opened.notices), wrap=True)
        try:
            name = user_name() if who is None else who
            imported = opened.answers.take_in(
                opened.answers.read(text, id_column=id_column), who=name
            )
        except ProjectError as error:
            raise UserError(f"{answers}: {error}") from error
        chat(out, f"{plural(imported.news, 'answer')} of {answers} taken into {project}.")
        if imported.contradictory:
            pairs = plural(imported.contradictory, "pair")
            chat(out, f"Answered both ways in it: {pairs}. The last answer counts.", wrap=True)
        wrong = opened.status().contradictions
        if wrong:
            chat(out, f"{plural(wrong, 'answer')} contradict others: look at Review on the page.")
    return 0
