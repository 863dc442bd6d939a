"""Ctrl-C that waits for a moment at which nothing is half done."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any


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
