"""Opening a project, and saying what is in it."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from samekind.cli._console import Passes, chat, plural
from samekind.cli._errors import needs, users_values
from samekind.cli._places import Place
from samekind.project import Project, counted, open_project
from samekind.terminal import printable

MOST_KINDS = 12  # in the summary


@contextmanager
def opened(project: Place, console: Console, *, read_only: bool = True) -> Iterator[Project]:
    """Open a project, for reading unless told otherwise, with the items that it knows."""
    with needs(), users_values(project), Passes(console) as passes:
        known = open_project(project, progress=passes, read_only=read_only)
    with closing(known):
        yield known


def print_found(project: Project) -> None:
    """Print what was found: how much, the kinds, and what is certain of it."""
    out = Console()
    found, now = project.kinds.clusters(), project.status()
    out.print()
    if not now.questions:
        out.print("Nothing is answered yet.")
        return
    kinds, presses = plural(now.clusters, "kind"), counted(now.presses, "press", "presses")
    questions = plural(now.questions, "question")
    out.print(Text(f"{kinds} found with {presses} ({questions}); {now.stop_text}."))
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    copies, has_copies = project.kinds.copies(), project.items.copies is not None
    for heading in ("kind", "name", "rows", "known", *["copies"] * has_copies):
        table.add_column(heading, justify="left" if heading == "name" else "right")
    sizes = np.bincount(found.labels_[found.labels_ >= 0], minlength=found.n_discovered_)
    order = np.argsort(-sizes, kind="stable").tolist()
    refs = project.kinds.refs()
    for cluster in order[:MOST_KINDS]:
        ref = refs[cluster]
        name = printable(ref.name or ref.proposed_name, 50)
        name.stylize("" if ref.name else "italic dim")
        numbers = sizes[cluster], len(found.members_[cluster]), *[copies[cluster]] * has_copies
        table.add_row(str(ref.number), name, *(f"{number:,}" for number in numbers))
    if len(order) > MOST_KINDS:
        table.add_row("", f"and {len(order) - MOST_KINDS:,} more")
    out.print(table)
    if any(ref.name is None for ref in refs):
        out.print(Text("Names in italics are proposed.", style="italic dim"))
    out.print(Text(project.standing.advice().text))
    if found.certificate_ is not None:
        out.print(Text(found.certificate_.in_words("kind")))
    for note in found.notes_:
        out.print(printable(f"Note: {note}", lines=True))
    if now.contradictions:
        out.print(f"[red]{plural(now.contradictions, 'answer')} contradict others.[/red]")


def print_next(project: Place) -> None:
    """Print where the answers are, and what to do next."""
    name = shlex.quote(str(project))
    commands = {
        f"samekind label {name}": "go on",
        f"samekind export {name}": "tables and a report",
        f"samekind classify {name} NEW": "new things",
    }
    width = max(map(len, commands))
    lines = [f"  {command:<{width}}  {what}" for command, what in commands.items()]
    chat(Console(), "\n".join([f"\nThe answers are in {project}. Next:", *lines]))


def replace_file(path: Path, write: Callable[[Path], object]) -> None:
    """Write beside the file and put it in its place, so that no half-written one is ever there."""
    beside = path.with_name(path.name + ".part")
    try:
        write(beside)
        os.replace(beside, path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
