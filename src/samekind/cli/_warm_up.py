"""``samekind warm-up``, and compiling ahead for other commands."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from samekind.cli._errors import explained

if TYPE_CHECKING:
    from samekind.warm_up import WarmUp

EXAMPLES = """[bold]Examples[/bold]

samekind warm-up
"""
ABOUT = "Compiling, once"


@explained
def warm_up() -> int:
    """Compile everything now, so that nothing is waited for later; about 20 seconds, once.

    Other commands compile what they need by themselves.
    """
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeElapsedColumn

    from samekind.warm_up import WarmUp, is_warm

    screen = Console(stderr=True)
    if is_warm():
        screen.print("Everything is compiled already.")
        return 0
    columns = ("{task.description}", BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=screen) as bar:
        task = bar.add_task(ABOUT, total=None)
        work = WarmUp(lambda done, total: bar.update(task, completed=done, total=total))
        try:
            fine = work.finish()
        finally:
            work.stop()
    screen.print(
        "Compiled." if fine else "Not all of it could be compiled; that is done when needed."
    )
    return 0


@contextmanager
def compiling(say: Callable[[str, float], object]) -> Iterator[WarmUp | None]:
    """Compile what people would wait for, in other processes, if that was not done before.

    It goes on in the background; leaving ends it. `say` is told how much is done.
    """
    from samekind.warm_up import WarmUp, is_warm

    if is_warm():
        yield None
        return
    work = WarmUp(lambda done, total: say(f"{ABOUT}, about 15 seconds", done / max(1, total)))
    try:
        yield work
    finally:
        work.stop()
