"""What a person types: single presses at a terminal, lines from elsewhere."""

from __future__ import annotations

import codecs
import contextlib
import os
import re
import sys
from collections.abc import Callable
from threading import Event
from typing import Self

if sys.platform == "win32":
    import click
else:
    import select
    import termios
    import tty

__all__ = ["Keys", "Lines", "Presses", "keys_at_hand"]

Reader = Callable[[], str]
Waiting = Callable[[Reader], Reader]

SEQUENCE = re.compile(r"\x1b(?:\[[0-9;]*[A-Za-z~]|O[A-Z]|)|[\x00\xe0](?=[KM])[KM]|.", re.DOTALL)
NAMES = {
    **dict.fromkeys(("\x1b[D", "\x1bOD", "\x00K", "\xe0K"), "left"),  # the last two on Windows
    **dict.fromkeys(("\x1b[C", "\x1bOC", "\x00M", "\xe0M"), "right"),
    **dict.fromkeys(("\x7f", "\x08"), "backspace"),
    **dict.fromkeys(("\r", "\n"), "enter"),
    " ": "space",
}
END = "\x04"  # Ctrl-D
PAUSE = 0.2  # seconds between looks for something to answer
PATIENCE = 0.05  # seconds in which the rest of an arrow key comes


def _at_once(read: Reader) -> Reader:
    return read


class Lines:
    """Reads words, each with Enter, from what `read` returns; raises EOFError at the end."""

    presses = False

    def __init__(self, read: Reader = input, waiting: Waiting = _at_once) -> None:
        self._read = read
        self.pause = waiting(lambda: str(Event().wait(PAUSE)))  # for something to answer

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        pass

    def key(self) -> str:
        """Return the next word."""
        line = self._read()
        return line.strip().lower() or ("space" if " " in line else "enter")

    def line(self) -> str:
        """Return the next line."""
        return self._read()

    def forget(self) -> None:
        """Nothing is typed too early."""


class Presses(Lines):
    """Reads single keys, without Enter; `waiting` makes a function that reads interruptible."""

    presses = True

    def __init__(self, waiting: Waiting = _at_once) -> None:
        super().__init__(waiting(input), waiting)
        self._key = waiting(self._next)
        self._typed = ""
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._restore: Callable[[], None] = lambda: None

    def __enter__(self) -> Self:
        if sys.platform != "win32":
            before = termios.tcgetattr(sys.stdin)

            def restore() -> None:
                with contextlib.suppress(termios.error):
                    termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)

            self._restore = restore
            self._listen()
        return self

    def __exit__(self, *exc: object) -> None:
        self._restore()

    def key(self) -> str:
        """Return the next key: a letter, a digit, a sign, or the name of another key."""
        return self._key()

    def line(self) -> str:
        """Return a whole line."""
        self._restore()
        try:
            return self._read()
        finally:
            self._listen()

    def forget(self) -> None:
        """Forget what was typed before there was anything to answer."""
        self._typed = ""
        if sys.platform != "win32":
            with contextlib.suppress(termios.error):
                termios.tcflush(sys.stdin, termios.TCIFLUSH)

    def _next(self) -> str:
        if not self._typed:
            self._typed = self._read_some()
        found = SEQUENCE.match(self._typed)
        assert found is not None
        self._typed = self._typed[found.end() :]
        pressed = found.group()
        if pressed == END:
            raise EOFError
        return NAMES.get(pressed, pressed.lower())

    def _read_some(self) -> str:
        if sys.platform == "win32":
            return click.getchar()
        # click.getchar throws away what was typed before it is called, echoes what is typed between two
        # calls, and takes Ctrl-Z for a key: not for who answers a question a second.
        self._listen()  # again: the terminal may have been somebody else's since
        text = ""
        while not text or (text == "\x1b" and select.select([sys.stdin], [], [], PATIENCE)[0]):
            some = os.read(sys.stdin.fileno(), 1024)
            if not some:
                raise EOFError
            text += self._decoder.decode(some)
        return text

    def _listen(self) -> None:
        if sys.platform != "win32":
            tty.setcbreak(sys.stdin, termios.TCSANOW)  # Ctrl-C and Ctrl-Z stay what they are


Keys = Lines  # of either sort


def keys_at_hand(waiting: Waiting = _at_once) -> Keys:
    """Return single keys if a person sits at a terminal, else lines."""
    try:
        alive = sys.stdin.isatty()
    except (AttributeError, ValueError):  # there is no input at all
        alive = False
    return Presses(waiting) if alive else Lines(waiting(input), waiting)
