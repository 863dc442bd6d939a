"""A person at the prompt: shows two rows, reads y or n, and tells the session.

What stands in the data is only ever shown, never obeyed: neither Rich's markup nor a terminal's escape
sequences get through.
"""

from __future__ import annotations

import getpass
import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console, Group, RenderableType
from rich.constrain import Constrain
from rich.table import Table
from rich.text import Text

from samekind.clusters import STOP_REASONS
from samekind.flow import DIFFERENT, SAME, UNSURE
from samekind.session import Session

__all__ = ["PictureView", "RowView", "View", "answer_in_terminal", "printable"]

View = Callable[[int, int, bool], RenderableType]
"""``view(a, b, full)`` shows rows a and b side by side; `full` leaves nothing out."""

ANSWERS = {
    **dict.fromkeys(("y", "yes", "s", "same"), SAME),
    **dict.fromkeys(("n", "no", "d", "different"), DIFFERENT),
    **dict.fromkeys(("u", "unsure"), UNSURE),
}
BACK = ("b", "back", "undo")
QUIT = ("q", "quit", "exit")
MORE = ("m", "more")
PROMPT = "same? [y]es [n]o [u]nsure [b]ack [m]ore [q]uit [?]help: "
HELP = """\
  y or s   yes, both are of the same kind
  n or d   no, they are different
  u        unsure: you will not be asked about this pair again
  b        back: take the last answer back, as often as you like
  m        more: show every field, and long texts whole
  q        quit: every answer is kept
"""
WIDEST = 100  # columns of the screen over which an eye still compares two texts
LONGEST = 300  # characters of a text, unless `full`
SHADES = " ░▒▓█"
UNPRINTABLE = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


def answer_in_terminal(
    session: Session,
    show: View,
    *,
    who: str | None = None,
    console: Console | None = None,
    read: Callable[[], str] = input,
) -> None:
    """Ask the person at the prompt until the session is over or they quit.

    Every answer is in the ledger before the next question is shown. The end of the input quits.

    Parameters
    ----------
    session : Session
        What to ask, and whom to tell.
    show : View
        Shows two rows; see `RowView` and `PictureView`.
    who : str or None
        Who is noted as having answered; by default the user's name on this computer.
    console : rich.console.Console or None
        Where to write; by default the standard error.
    read : callable
        Returns the next line, and raises EOFError at the end.

    Examples
    --------
    >>> import io
    >>> X = np.array([[0.0], [0.1], [5.0], [5.1]])
    >>> session = Session(X, algorithm="basic", budget=2, random_state=0)
    >>> lines = iter(["n", "y", ""])
    >>> answer_in_terminal(session, RowView(["x"], lambda row: X[row]), who="ann",
    ...                    console=Console(file=io.StringIO()), read=lambda: next(lines))
    >>> session.stop_reason
    'budget'
    """
    screen = console if console is not None else Console(stderr=True)
    name = who if who is not None else user_name()
    answered = False
    while True:
        if session.done:
            if not answered or not _goes_back(session, screen, read):
                return
            session.undo(who=name)
        a, b = session.pending()[0].tolist()
        screen.print(Group("", _standing(session), show(a, b, False)))
        said = _ask(session, screen, read, partial(show, a, b))
        if said is None:
            session.stop()
            return
        if said in BACK:
            if not session.undo(who=name):
                screen.print("None of these answers is yours to take back.", highlight=False)
        else:
            session.tell([[a, b]], [ANSWERS[said]], who=name)
            answered = True


def user_name() -> str:
    """Return the user's name on this computer, or "" where there is none."""
    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):  # a container's user without a name
        return ""


def _ask(
    session: Session,
    screen: Console,
    read: Callable[[], str],
    show: Callable[[bool], RenderableType],
) -> str | None:
    """Return a word of ANSWERS or BACK, or None to quit; explain until there is one."""
    while True:
        screen.print(PROMPT, end="", markup=False, highlight=False)
        try:
            said = read().strip().lower()
        except EOFError:
            screen.print()
            return None
        if said in QUIT:
            return None
        if said in ANSWERS or (said in BACK and len(session.ledger)):
            return said
        if said in BACK:
            screen.print("There is nothing to take back.")
        elif said in MORE:
            screen.print(show(True))
        elif said in ("?", "h", "help"):
            screen.print(HELP, end="", markup=False, highlight=False)
        else:
            screen.print("Please type y, n, u, b, m or q, and Enter; ? explains them.")


def _goes_back(session: Session, screen: Console, read: Callable[[], str]) -> bool:
    """After the last answer: ask whether to take it back rather than finish."""
    reason = STOP_REASONS.get(session.stop_reason, str(session.stop_reason))
    screen.print(f"\nThat was the last question: {reason}.", highlight=False)
    screen.print("Enter to finish, b to take the last answer back: ", end="", highlight=False)
    try:
        return read().strip().lower() in BACK
    except EOFError:
        screen.print()
        return False


def _standing(session: Session) -> Text:
    now = session.progress
    of = "" if now.budget is None else f" of {now.budget:,}"
    kinds = "kind" if now.discovered == 1 else "kinds"
    return Text(
        f"Question {now.questions + 1:,}{of}.  {now.discovered:,} {kinds} found, "
        f"{now.recovered:,} recovered.",
        style="bold",
    )


def printable(value: object, most: int | None = None) -> Text:
    """Return a value as a text that cannot steer the terminal, cut to `most` characters."""
    if isinstance(value, float | np.floating):
        return Text(f"{value:.6g}")
    text = str(value)
    left = 0 if most is None else len(text) - most
    if left > 0:
        text = text[:most]
    shown = Text(UNPRINTABLE.sub(_symbol, text))
    return shown.append(f" … {left:,} more characters", style="italic") if left > 0 else shown


def _symbol(match: re.Match[str]) -> str:
    code = ord(match.group())
    return chr(0x2400 + code) if code < 0x20 else "\N{REPLACEMENT CHARACTER}"  # ␛ for Escape


class RowView:
    """Shows two rows as a table with a line for each field; those that differ are marked.

    Parameters
    ----------
    names : sequence of str
        The fields.
    cells : callable
        ``cells(row)`` returns the values of a row, one for each field.
    most : int
        Fields shown unless the person asks for more.

    Examples
    --------
    >>> view = RowView(["colour", "size"], [("red", 1), ("red", 2)].__getitem__)
    >>> Console(width=40).print(view(0, 1, False))
              row 0   row 1
      colour  red     red
    ≠ size    1       2
    """

    def __init__(
        self, names: Sequence[str], cells: Callable[[int], Sequence[Any]], *, most: int = 24
    ) -> None:
        self._names = names
        self._cells = cells
        self._most = most

    def __call__(self, a: int, b: int, full: bool) -> RenderableType:
        """Show rows a and b side by side."""
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), expand=True)
        table.add_column("", width=1, style="yellow")
        table.add_column("", style="cyan", max_width=24, overflow="fold")
        table.add_column(f"row {a}", overflow="fold", ratio=1)
        table.add_column(f"row {b}", overflow="fold", ratio=1)
        most = None if full else LONGEST
        lines = zip(self._names, self._cells(a), self._cells(b), strict=True)
        for place, (name, left, right) in enumerate(lines):
            if place == self._most and not full:
                more = f"… {len(self._names) - place:,} more fields: type m to see them"
                return Group(Constrain(table, WIDEST), Text(more, style="italic"))
            cells = printable(left, most), printable(right, most)
            differ = str(left) != str(right)
            table.add_row(
                "≠" if differ else "", printable(name, 80), *cells, style="" if differ else "dim"
            )
        return Constrain(table, WIDEST)


class PictureView:
    """Shows two rows as pictures in block characters; brighter is denser.

    Parameters
    ----------
    images : array of shape (n, h, w)
        A grey picture for each row.
    most : int
        Characters that a picture may be wide.
    """

    def __init__(self, images: NDArray[Any], *, most: int = 36) -> None:
        self._images = images
        self._most = most

    def __call__(self, a: int, b: int, full: bool) -> RenderableType:
        """Show rows a and b side by side."""
        table = Table(box=None, pad_edge=False, padding=(0, 4, 0, 0))
        table.add_column(f"row {a}", no_wrap=True)
        table.add_column(f"row {b}", no_wrap=True)
        both = self._images[[a, b]].astype(np.float64)
        low, high = float(both.min()), float(both.max())
        shades = (both - low) / ((high - low) or 1.0)
        table.add_row(*(Text(self._blocks(picture)) for picture in shades))
        return table

    def _blocks(self, picture: NDArray[np.float64]) -> str:
        # A character is twice as high as it is wide: two of them make a square.
        step = -(-picture.shape[1] * 2 // self._most)
        picture = picture[::step, ::step]
        numbers = np.minimum((picture * len(SHADES)).astype(int), len(SHADES) - 1)
        return "\n".join(
            "".join(SHADES[number] * 2 for number in line) for line in numbers.tolist()
        )
