"""Commands that look after a project: check, forget, backup and move."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from samekind.cli import _options as options
from samekind.cli._console import Passes, chat, plural
from samekind.cli._errors import UserError, explained, needs, users_values
from samekind.cli._places import Place, place_of

if TYPE_CHECKING:
    from rich.console import Console

    from samekind.ledger import Erased


PROBLEMS = 1
MOST_SHOWN = 20
COPIES = ("*.answers.db", "*.backup-*")  # beside a project, after its name
CHECK = """[bold]Examples[/bold]

samekind check messages.samekind.db

samekind check messages.samekind.db --take-in
"""
FORGET = """[bold]Examples[/bold]

samekind forget messages.samekind.db --who ann
"""
BACKUP = """[bold]Examples[/bold]

samekind backup messages.samekind.db messages-monday.db

samekind backup 'postgresql+psycopg://ann@db.example/kinds?project=messages' messages-monday.db
"""
MOVE = """[bold]Examples[/bold]

samekind move messages.samekind.db 'postgresql+psycopg://ann@db.example/kinds?project=messages'

samekind move 'postgresql+psycopg://ann@db.example/kinds?project=messages' messages.db
"""

TakeIn = Annotated[
    bool, options.plain(None, "Take in what has changed in the data; answers stay.", "--take-in")
]
AnyData = Annotated[
    bool, options.plain(None, "With --take-in: even if hardly an item is left.", "--any-data")
]
ForgetWho = Annotated[
    str, options.plain("NAME", 'Whose answers to erase; "" for those without a name.', "--who")
]
Yes = Annotated[bool, options.plain(None, "Do not ask for confirmation.", "--yes", "-y")]
Target = Annotated[
    Place,
    typer.Argument(
        metavar="TARGET",
        help="A file or a database's URL where there is no project yet.",
        parser=place_of,
    ),
]
BackupFile = Annotated[
    Path,
    typer.Argument(metavar="FILE", help="Where to put the copy: a file that is not there yet."),
]


@explained
def check(project: options.ProjectFile, take_in: TakeIn = False, any_data: AnyData = False) -> int:
    """Look for damage in a project, and for changes of its data since.

    --take-in takes in what has changed in the data. Without it the command only reads, also while others
    answer. A damaged project is never changed: put a backup in its place.

    Exit code 0: all is right. 1: something is wrong.
    """
    from rich.console import Console

    from samekind.ledger import check_project

    out = Console()
    found = check_project(project)
    if found.is_fine:
        chat(out, f"Nothing is wrong with {project}: {plural(found.answers, 'answer')}.")
        _say_expected(project, out)
        return _take_in(project, out, any_data) if take_in else _compare_data(project, out)
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


def _take_in(project: Place, out: Console, any_data: bool) -> int:
    """Open the project as `samekind label` does, and say what changed."""
    from contextlib import closing

    from samekind.project import open_project

    with needs(), users_values(project), Passes(out) as passes:
        opened = open_project(project, progress=passes, any_data=any_data)
    with closing(opened):
        told = opened.notices or ["Its data are as they were; nothing was changed."]
        chat(out, "\n".join(told), wrap=True)
    return 0


def _list(out: Console, heading: str, lines: list[str]) -> None:
    more = [f"  and {len(lines) - MOST_SHOWN:,} more"] if len(lines) > MOST_SHOWN else []
    chat(out, "\n".join([heading, *(f"  {line}" for line in lines[:MOST_SHOWN]), *more]))


@explained
def forget(project: options.ProjectFile, who: ForgetWho, yes: Yes = False) -> int:
    """Erase all that somebody answered or named in a project, for good.

    Nothing of it is left in the file, and there is no undo.

    Answers of others that theirs had replaced count again. What is theirs in parts of the project goes, too.
    """
    from rich.console import Console

    from samekind.ledger import forget as erase
    from samekind.project import with_parts

    screen, out = Console(stderr=True), Console()
    own, missing = [], None
    for place, _ in with_parts(project, project):
        try:
            own.append((place, erase(place, who, dry=True)))
        except ValueError as error:
            missing = missing or error
    if not own:
        raise UserError(str(missing)) from missing
    for place, there in own:
        code = _forget(place, there, who, yes, screen, out)
    return code


def _forget(
    project: Place, there: Erased, who: str, yes: bool, screen: Console, out: Console
) -> int:
    from samekind.ledger import forget as erase

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


@explained
def backup(project: options.ProjectFile, file: BackupFile) -> int:
    """Copy a project to a file while people answer: all of it, as it is at one moment.

    The copy is a project itself, looked through as samekind check does. Parts of the project are copied, too,
    to files beside it. The data are not in it.
    """
    from rich.console import Console

    from samekind.ledger import back_up_project
    from samekind.project import with_parts

    for source, target in with_parts(project, file):
        assert isinstance(target, Path)
        answers = back_up_project(source, target)
        chat(Console(), f"{plural(answers, 'answer')} and all else are in {target}.")
    return 0


@explained
def move(project: options.ProjectFile, target: Target) -> int:
    """Move a project to another file or database, between SQLite and PostgreSQL either way.

    All of it is copied and compared, row by row. The project stays where it was, to be read; whoever goes on
    there is told where it went. Parts of the project move along.
    """
    from rich.console import Console

    from samekind.ledger import move_project
    from samekind.project import with_parts

    for source, there in reversed(with_parts(project, target)):  # its parts first
        answers = move_project(source, there)
        chat(
            Console(),
            f"{plural(answers, 'answer')} and all else are in {there}, compared row by row.\n"
            f"{source} can only be read from now on; delete it when you need it no more.\n",
        )
    chat(Console(), f"To go on: samekind label {shlex.quote(str(target))}")
    return 0
