"""``samekind check``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from samekind.cli import _options as options
from samekind.cli._errors import explained

if TYPE_CHECKING:
    from rich.console import Console

PROBLEMS = 1
MOST_SHOWN = 20
EXAMPLES = """[bold]Examples[/bold]

samekind check messages.samekind.db

samekind check messages.samekind.db --repair
"""


@explained
def check(project: options.ProjectFile, repair: options.Repair = False) -> int:
    """Look for damage in a project; --repair drops what cannot be right and keeps a copy.

    Without --repair it only reads, also while others answer.

    Exit code 0: all is right, or repaired. 1: something is wrong.
    """
    import shlex

    from rich.console import Console

    from samekind.cli._projects import chat, plural
    from samekind.ledger import LedgerDamaged, check_file
    from samekind.project import repair_project

    out = Console()
    if repair:
        try:
            repaired = repair_project(project)
        except LedgerDamaged as error:
            chat(out, str(error))
            return PROBLEMS
        if repaired is None:
            chat(out, f"Nothing is wrong with {project}; nothing was changed.")
            return 0
        _list(out, "Dropped:", repaired.dropped)
        chat(out, f"{project} is repaired. As it was, it is kept in {repaired.backup}.")
        return 0
    found = check_file(project)
    if found.is_fine:
        chat(out, f"Nothing is wrong with {project}: {plural(found.answers, 'answer')}.")
        return 0
    if found.hopeless:
        chat(out, f"{found.hopeless} It cannot be repaired: put a copy from before in its place.")
        return PROBLEMS
    _list(out, f"{project} is damaged:", [*found.torn, *map(str, found.faults)])
    name = shlex.quote(str(project))
    chat(out, f"To drop what cannot be right, and keep a copy: samekind check {name} --repair")
    return PROBLEMS


def _list(out: Console, heading: str, lines: list[str]) -> None:
    from samekind.cli._projects import chat

    more = [f"  and {len(lines) - MOST_SHOWN:,} more"] if len(lines) > MOST_SHOWN else []
    chat(out, "\n".join([heading, *(f"  {line}" for line in lines[:MOST_SHOWN]), *more]))
