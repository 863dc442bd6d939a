"""``samekind split``."""

from __future__ import annotations

import shlex
from contextlib import closing
from typing import Annotated

import typer

from samekind.cli import _options as options
from samekind.cli._console import Passes, chat
from samekind.cli._errors import UserError, explained, needs, users_values

EXAMPLES = """[bold]Examples[/bold]

samekind split messages.samekind.db card --criterion "Does the customer want the same done?"

samekind label messages.kind-3.samekind.db
"""

Kind = Annotated[str, typer.Argument(metavar="KIND", help="The kind: its name, or its number.")]


@explained
def split(project: options.ProjectFile, kind: Kind, criterion: options.Criterion = None) -> int:
    """Sort the items of a kind further, in a part: a project of its own.

    Exports of the project join both: "card / lost". Run again, it takes in which items the kind has now.
    """
    from rich.console import Console

    from samekind.project import ProjectError, name_in_table, open_project, place_of_part

    screen = Console(stderr=True)
    with needs(), users_values(project), Passes(screen) as passes:
        opened = open_project(project, progress=passes)
    with closing(opened):
        fits = [ref for ref in opened.kinds.refs() if kind in (ref.name, str(ref.number))]
        if len(fits) != 1:
            names = ", ".join(repr(name_in_table(ref)) for ref in opened.kinds.refs()[:10])
            raise UserError(
                f"KIND must be the name or number of one kind, got {kind!r}. Kinds: {names}"
            )
        try:
            number = opened.parts.split(fits[0].cluster, criterion or "")
        except ProjectError as error:
            raise UserError(str(error)) from error
        status = opened.parts.open(number).status()
    place = place_of_part(project, number)
    chat(Console(), f"{status.title}: {status.n_rows:,} items, in {place}.")
    chat(Console(), f"To sort them: samekind label {shlex.quote(str(place))}")
    return 0
