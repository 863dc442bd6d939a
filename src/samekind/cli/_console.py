"""What commands print while they work, and a Ctrl-C that waits. Nothing slow is imported here."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter
from types import FrameType
from typing import TYPE_CHECKING, Any

from samekind.terminal import printable

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

STAGES = {"reading": "Reading", "features": "Computing features"}
SHORT = 0.5  # seconds that a pass may take before it is spoken of


def chat(console: Console, text: str, *, wrap: bool = False) -> None:
    """Print a text that may hold anything that the user or the data gave.

    Sentences wrap between words; what may hold a path or a command does not, so that it can be copied.
    """
    console.print(printable(text, lines=True), soft_wrap=not wrap)


def plural(n: int, noun: str) -> str:
    """Return a number with its noun."""
    return f"{n:,} {noun}{'s' * (n != 1)}"


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


class Interrupts:
    """Holds the first Ctrl-C back until `check`, or until a person is being waited for.

    The second one interrupts at once, for those who mean it.
    """

    def __init__(self) -> None:
        self.count = 0
        self._waiting = False
        self._before: Any = None

    def __enter__(self) -> Interrupts:
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._take)
        return self

    def __exit__(self, *exc: object) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    def check(self, *_: object) -> None:
        """Raise KeyboardInterrupt if there was a Ctrl-C."""
        if self.count:
            raise KeyboardInterrupt

    def while_reading(self, read: Callable[[], str]) -> Callable[[], str]:
        """Return `read`, interruptible at once."""

        def interruptible() -> str:
            self._waiting = True
            try:
                self.check()
                return read()
            except KeyboardInterrupt:  # some terminals raise it themselves
                self.count = max(1, self.count)
                raise
            finally:
                self._waiting = False

        return interruptible

    def _take(self, number: int, frame: FrameType | None) -> None:
        self.count += 1
        if self._waiting or self.count > 1:
            raise KeyboardInterrupt
