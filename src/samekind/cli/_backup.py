"""``samekind backup``."""

from __future__ import annotations

from samekind.cli import _options as options
from samekind.cli import _project_options as own
from samekind.cli._errors import explained

EXAMPLES = """[bold]Examples[/bold]

samekind backup messages.samekind.db messages-monday.db

samekind backup 'postgresql+psycopg://ann@db.example/kinds?project=messages' messages-monday.db
"""


@explained
def backup(project: options.ProjectFile, file: own.BackupFile) -> int:
    """Copy a project to a file while people answer: all of it, as it is at one moment.

    The copy is a project itself, looked through as samekind check does. The data are not in it.
    """
    from rich.console import Console

    from samekind.cli._projects import plural
    from samekind.cli._words import chat
    from samekind.ledger import back_up_project

    answers = back_up_project(project, file)
    chat(Console(), f"{plural(answers, 'answer')} and all else are in {file}.")
    return 0
