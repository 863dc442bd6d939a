"""Where a run stands, and a bar that shows it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["Progress", "progress_bar"]

SECONDS_BETWEEN = 0.1


@dataclass(frozen=True)
class Progress:
    """Where a run stands."""

    questions: int
    samples: int
    discovered: int
    recovered: int
    rounds: int
    seconds: float
    budget: int | None
    target: int | None


@contextmanager
def progress_bar(console: Console | None = None) -> Iterator[Callable[[Progress], None]]:
    """Show a bar with questions, samples, clusters and rate; yields what takes each `Progress`.

    The bar fills with the budget, or with the target if there is no budget; "3 of 5 kinds" are those
    recovered and those discovered. On a stream that is not a terminal only the last state is printed.
    """
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("{task.fields[asked]} asked"),
        BarColumn(bar_width=None),
        TextColumn("{task.fields[text]}"),
        TimeElapsedColumn(),
    )
    with Bar(*columns, console=console, transient=False) as bar:
        task = bar.add_task("", total=None, asked="0", text="")
        shown = -SECONDS_BETWEEN

        def draw(now: Progress) -> None:
            total = now.budget if now.budget is not None else now.target
            done = now.questions if now.budget is not None else now.recovered
            asked = f"{now.questions:,}"
            if now.budget is not None:
                asked += f"/{now.budget:,}"
            rate = now.questions / now.seconds if now.seconds > 0 else 0.0
            text = f"{now.recovered:,} of {now.discovered:,} kinds  {now.samples:,} drawn  {rate:,.0f}/s"
            bar.update(task, total=total, completed=done, asked=asked, text=text)

        last: Progress | None = None

        def show(now: Progress) -> None:
            nonlocal shown, last
            last = now
            if perf_counter() - shown >= SECONDS_BETWEEN:
                shown = perf_counter()
                draw(now)

        try:
            yield show
        finally:
            if last is not None:
                draw(last)
