"""``samekind check``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from samekind.cli import _options as options
from samekind.cli import _project_options as own
from samekind.cli._errors import explained, needs, users_values
from samekind.cli._places import Place
from samekind.cli._words import chat

if TYPE_CHECKING:
    from rich.console import Console

PROBLEMS = 1
MOST_SHOWN = 20
EXAMPLES = """[bold]Examples[/bold]

samekind check messages.samekind.db

samekind check messages.samekind.db --take-in
"""


@explained
def check(project: options.ProjectFile, take_in: own.TakeIn = False) -> int:
    """Look for damage in a project, and for changes of its data since.

    --take-in takes in what has changed in the data. Without it the command only reads, also while others
    answer. A damaged project is never changed: put a backup in its place.

    Exit code 0: all is right. 1: something is wrong.
    """
    from rich.console import Console

    from samekind.cli._projects import plural
    from samekind.ledger import check_project

    out = Console()
    found = check_project(project)
    if found.is_fine:
        chat(out, f"Nothing is wrong with {project}: {plural(found.answers, 'answer')}.")
        _say_expected(project, out)
        return _take_in(project, out) if take_in else _compare_data(project, out)
    _list(out, f"{project} is damaged:", found.faults)
    chat(out, "Nothing was changed. Put a backup in its place.")
    return PROBLEMS


def _say_expected(project: Place, out: Console) -> None:
    """Show how likely "same" was expected of questions, and how often it was answered."""
    from rich.table import Table

    from samekind.project import expectations_of

    found = expectations_of(project)
    if not found:
        return
    table = Table("P(same)", "questions", "expected", "answered same", title="What was expected")
    for low, high, questions, expected, same in found:
        table.add_row(f"{low:.1f}-{high:.1f}", f"{questions:,}", f"{expected:.0%}", f"{same:.0%}")
    out.print(table)


def _compare_data(project: Place, out: Console) -> int:
    """Say whether the data are as the project knows them; it is no damage if they are not."""
    import shlex

    from samekind.project import changes_of_data

    name = shlex.quote(str(project))
    with users_values(project), out.status("Looking at the data …"):
        try:
            found = changes_of_data(project)
        except FileNotFoundError as error:
            chat(out, f"Its data are not where they were: {str(error).partition('. ')[0]}.")
            return 0
    if found is None:
        return 0
    source, change, left_out = found
    if left_out:
        _list(out, "Left out, as they cannot be read:", [f"{n}: {why}" for n, why in left_out])
    if change.is_same:
        chat(out, f"Its data, {source}, are as they were.")
    elif change.is_other_data:
        chat(out, f"{source} holds hardly any of its things any more: {change}.", wrap=True)
    else:
        chat(out, f"{source} has changed since: {change}.", wrap=True)
        if change.answered:
            kept = f"{change.answered_kept:,} of the {change.answered:,} things answered about"
            chat(out, f"{kept} are still there; answers stay with them.")
        chat(out, f"To take that in: samekind check {name} --take-in")
    return 0


def _take_in(project: Place, out: Console) -> int:
    """Open the project as `samekind label` does, and say what changed."""
    from contextlib import closing

    from samekind.cli._passes import Passes
    from samekind.project import open_project

    with needs(), users_values(project), Passes(out) as passes:
        opened = open_project(project, progress=passes)
    with closing(opened):
        told = opened.notices or ["Its data are as they were; nothing was changed."]
        chat(out, "\n".join(told), wrap=True)
    return 0


def _list(out: Console, heading: str, lines: list[str]) -> None:
    more = [f"  and {len(lines) - MOST_SHOWN:,} more"] if len(lines) > MOST_SHOWN else []
    chat(out, "\n".join([heading, *(f"  {line}" for line in lines[:MOST_SHOWN]), *more]))
