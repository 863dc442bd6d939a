"""Bars for what takes long: loading data, and passes over data that stay in their files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

STAGES = {"reading": "Reading", "features": "Computing features"}
SHORT = 0.5  # seconds that a pass may take before it is spoken of


class Passes:
    """Is told what is done, how much of it, and of how much; shows a bar for what takes long."""

    def __init__(self, console: Console) -> None:
        self.check: Callable[[], object] = lambda: None
        self._console = console
        self._what = ""
        self._began = 0.0
        self._bar: Progress | None = None
        self._silent = False

    def __call__(self, what: str, done: float, total: float = 1.0) -> None:
        if self._silent:
            return
        self.check()
        what, share = STAGES.get(what, what), done / total if total else 1.0
        if what != self._what:
            self._end()
            self._what, self._began = what, perf_counter()
        elif self._bar is None and perf_counter() - self._began > SHORT and share < 1:
            self._begin()
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[0], completed=share)
        if share >= 1:
            self._end()

    def __enter__(self) -> Passes:
        return self

    def __exit__(self, *exc: object) -> None:
        self._end()

    @contextmanager
    def silent(self) -> Iterator[None]:
        """Say nothing, and check nothing: somebody else draws a bar, and must not be cut off in a pass."""
        self._end()
        before, self._silent = self._silent, True
        try:
            yield
        finally:
            self._silent = before

    def _begin(self) -> None:
        from rich import progress as rich

        columns = (
            rich.BarColumn(bar_width=None),
            rich.TaskProgressColumn(),
            rich.TimeElapsedColumn(),
        )
        self._bar = rich.Progress("{task.description:<20}", *columns, console=self._console)
        self._bar.add_task(self._what, total=1.0)
        self._bar.start()

    def _end(self) -> None:
        self._what = ""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None
