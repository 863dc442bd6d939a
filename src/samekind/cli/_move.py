"""``samekind move``."""

from __future__ import annotations

from samekind.cli import _options as options
from samekind.cli import _project_options as own
from samekind.cli._errors import explained

EXAMPLES = """[bold]Examples[/bold]

samekind move messages.samekind.db 'postgresql+psycopg://ann@db.example/kinds?project=messages'

samekind move 'postgresql+psycopg://ann@db.example/kinds?project=messages' messages.db
"""


@explained
def move(project: options.ProjectFile, target: own.Target) -> int:
    """Move a project to another file or database, between SQLite and PostgreSQL either way.

    All of it is copied and compared, row by row. The project stays where it was, to be read; whoever goes on
    there is told where it went.
    """
    import shlex

    from rich.console import Console

    from samekind.cli._projects import plural
    from samekind.cli._words import chat
    from samekind.ledger import move_project

    answers = move_project(project, target)
    where = shlex.quote(str(target))
    chat(
        Console(),
        f"{plural(answers, 'answer')} and all else are in {target}, compared row by row.\n"
        f"{project} can only be read from now on; delete it when you need it no more.\n\n"
        f"To go on: samekind label {where}",
    )
    return 0
