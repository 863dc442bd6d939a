"""``samekind forget``."""

from __future__ import annotations

from pathlib import Path

from samekind.cli import _options as options
from samekind.cli import _project_options as own
from samekind.cli._errors import UserError, explained
from samekind.cli._places import Place

EXAMPLES = """[bold]Examples[/bold]

samekind forget messages.samekind.db --who ann
"""
COPIES = ("*.answers.db", "*.backup-*", "*.rescue-*")  # beside a project, after its name


@explained
def forget(project: options.ProjectFile, who: own.ForgetWho, yes: own.Yes = False) -> int:
    """Erase all that somebody answered or named in a project, for good.

    Nothing of it is left in the file, and there is no undo.

    Answers of others that theirs had replaced count again.
    """
    from rich.console import Console

    from samekind.cli._projects import plural
    from samekind.cli._words import chat
    from samekind.ledger import forget as erase

    screen, out = Console(stderr=True), Console()
    try:
        there = erase(project, who, dry=True)
    except ValueError as error:
        raise UserError(str(error)) from error
    counts = [plural(there.answers, "answer"), plural(there.names, "name")]
    if there.opinions:
        counts.insert(1, plural(there.opinions, "opinion"))
    what = f"{', '.join(counts[:-1])} and {counts[-1]} of {who!r}"
    if not yes:
        chat(screen, f"{what} will be erased from {project}. There is no undo.")
        if not _confirmed():
            chat(screen, "Nothing was changed.")
            return 0
    gone = erase(project, who)
    chat(out, f"{what} are erased.")
    if gone.restored:
        chat(
            out,
            f"{plural(gone.restored, 'answer')} of others, which theirs had replaced, count again.",
        )
    if not gone.traceless:
        chat(
            out,
            "Another program has the project open: traces stay in the file until you stop it and run this "
            "command again.",
        )
    copies = _copies(project)
    if copies:
        listed = "\n".join(f"  {path}" for path in copies)
        chat(out, f"These files beside it may hold answers of {who!r}, too:\n{listed}")
    return 0


def _confirmed() -> bool:
    import sys

    import typer

    if not sys.stdin.isatty():
        raise UserError("nobody is there to confirm that. Say so: --yes")
    return typer.confirm("Erase them?", err=True)


def _copies(project: Place) -> list[Path]:
    """Return the files beside a project that have answers of it or about new things."""
    from samekind.project import cache_of

    beside = cache_of(project).absolute()
    folder, stem = beside.parent, beside.name
    return sorted(
        {path for pattern in COPIES for path in folder.glob(pattern) if path.name.startswith(stem)}
    )
