"""How far a bench is: a bar on a terminal, now and then a line elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

__all__ = ["Meter", "meter"]

SECONDS_BETWEEN_LINES = 60.0


class Meter:
    """Counts finished runs; the time left follows from how long runs are known to take."""

    def __init__(self, console: Console, bar: Progress, runs: int, seconds: float) -> None:
        self._console = console
        self._bar = bar
        self._runs = runs
        self._weight = seconds
        self._done = 0
        self._weight_done = 0.0
        self._started = self._spoke = perf_counter()
        self._task = bar.add_task("", total=seconds, done="0", runs=f"{runs:,}", now="")

    def add(self, runs: int, seconds: float, now: str) -> None:
        """Note that so many runs, which were thought to take so long, are done."""
        self._done += runs
        self._weight_done += seconds
        self._bar.update(self._task, completed=self._weight_done, done=f"{self._done:,}", now=now)
        clock = perf_counter()
        if not self._console.is_terminal and clock - self._spoke >= SECONDS_BETWEEN_LINES:
            self._spoke = clock
            left = (clock - self._started) * (self._weight / self._weight_done - 1) / 60
            self._console.print(
                f"{self._done:,} of {self._runs:,} runs, about {left:.0f} min left ({now})",
                highlight=False,
            )


@contextmanager
def meter(console: Console, runs: int, seconds: float) -> Iterator[Meter]:
    """Show how far the bench is."""
    columns = (
        TextColumn("{task.fields[done]} of {task.fields[runs]} runs"),
        BarColumn(bar_width=None),
        TextColumn("{task.fields[now]}"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Progress(
        *columns,
        console=console,
        disable=not console.is_terminal,
        speed_estimate_period=3_600,  # tasks take many seconds, and differ
    ) as bar:
        yield Meter(console, bar, runs, seconds)
