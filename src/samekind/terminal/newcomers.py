"""New things, sorted by a person into the kinds that are known."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.text import Text

from samekind.desk import Desk
from samekind.flow import DIFFERENT, SAME, UNSURE, Answers, Pairs
from samekind.ledger import UNANSWERED, Ledger
from samekind.points import ArrayPoints
from samekind.terminal.cards import Cards
from samekind.terminal.keys import Keys
from samekind.terminal.prompt import PAIR, Prompt
from samekind.terminal.shelf import Stacked
from samekind.terminal.text import printable
from samekind.things import Things

__all__ = ["NOT_ASKED", "Sorted", "sort_in_terminal"]

NOT_ASKED = -3

ANSWERS = {"same": SAME, "different": DIFFERENT, "unsure": UNSURE}
PROMPT = "S same  D different  space not sure  B undo  M more  Q quit  ? help"
HELP = """\
  S or ←        the same kind            space or U    not sure
  D or →        different kinds          B, Backspace  undo, as often as you like
  M             more: every field, long texts whole, pictures large
  Q             quit: every answer is kept; rows not asked about are predicted
"""


class Sorted(NamedTuple):
    """The cluster of each new row (-1 if it is of none, -2 if nobody knows), and the questions it took.

    Rows that nobody was asked about have `NOT_ASKED`.
    """

    clusters: NDArray[np.intp]
    questions: NDArray[np.intp]


class _QuitError(Exception):
    pass


class _TakenBackError(Exception):
    def __init__(self, row: int) -> None:
        self.row = row


def sort_in_terminal(
    desk: Desk, new: Things, ledger: Ledger, *, who: str, console: Console, keys: Keys
) -> Sorted:
    """Ask of which known kind each new thing is, the likeliest kind first.

    Answers are kept in `ledger`, where new rows are numbered after those of the desk; what is there is not
    asked again. A ValueError says that it is about other things.
    """
    _bind(ledger, new)
    found = desk.clusters()
    sorting = _Sorting(desk, new, ledger, who, console, keys)
    clusters = np.full(new.n, NOT_ASKED, dtype=np.intp)
    questions = np.zeros(new.n, dtype=np.intp)
    row = 0
    with keys:
        while row < new.n:
            try:
                one = found.classify(new.X[row : row + 1], sorting, rows=[found.n_rows_ + row])
            except _TakenBackError as back:
                clusters[back.row :] = NOT_ASKED
                row = back.row
            except (_QuitError, KeyboardInterrupt):
                break
            else:
                clusters[row], questions[row] = one.labels[0], one.n_asked[0]
                row += 1
    return Sorted(clusters, questions)


def _bind(ledger: Ledger, new: Things) -> None:
    fingerprint = ArrayPoints(new.X).fingerprint()
    known = ledger.meta.get("fingerprint")
    if known is None:
        ledger.set_meta("fingerprint", fingerprint)
    elif known != fingerprint:
        raise ValueError(
            f"the answers kept about {new.source} are about other rows: it has changed since."
        )


class _Sorting:
    """Answers from the ledger, or from the person."""

    def __init__(
        self, desk: Desk, new: Things, ledger: Ledger, who: str, screen: Console, keys: Keys
    ) -> None:
        self._desk = desk
        self._new = new
        self._ledger = ledger
        self._who = who
        self._screen = screen
        self._keys = keys
        self._n = desk.things.n
        self._cards = Cards(Stacked(desk.things, new))
        self._prompt = Prompt(screen, keys, HELP)
        self._cluster = np.full(self._n, -1)
        for cluster, members in enumerate(desk.clusters().members_):
            self._cluster[members] = cluster

    def __call__(self, pairs: Pairs) -> Answers:
        return np.array(
            [self._answer(row, member) for row, member in pairs.tolist()], dtype=np.int8
        )

    def _answer(self, row: int, member: int) -> int:
        known = self._known(row, member)
        if known != UNANSWERED:
            return known
        said = self._ask(row, member)
        self._ledger.record([[row, member]], [said], who=self._who)
        return said

    def _known(self, row: int, member: int) -> int:
        """Return what follows for the kind of a member from what was said of any of them."""
        active = self._ledger.active()
        own = active[active["a"] == row]
        kinds = self._cluster[np.minimum(own["b"], self._n - 1)]
        wanted = self._cluster[member]
        for kind, answer in zip(kinds.tolist(), own["answer"].tolist(), strict=True):
            if answer == SAME:
                return SAME if kind == wanted else DIFFERENT
            if answer == DIFFERENT and kind == wanted:
                return DIFFERENT
        return int(self._ledger.lookup(np.array([[row, member]]), infer=False)[0])

    def _ask(self, row: int, member: int) -> int:
        self._keys.forget()
        self._screen.print()
        line = Text(f"New thing {row - self._n + 1:,} of {self._new.n:,}.", style="bold")
        self._screen.print(line.append("  Of the kind on the right?", style="not bold"))
        self._show(row, member, full=False)
        while True:
            wanted = self._prompt.ask(PROMPT, PAIR)
            if wanted in ANSWERS:
                return ANSWERS[wanted]
            if wanted == "more":
                self._show(row, member, full=True)
            elif wanted == "undo":
                self._undo()
            else:
                raise _QuitError

    def _show(self, row: int, member: int, *, full: bool) -> None:
        members = self._desk.clusters().members_[self._cluster[member]].tolist()
        more = [other for other in members if other != member][:3]
        name = self._desk.name_of(members)
        self._screen.print(self._cards.pair(row, member, name=name, more=more, full=full))

    def _undo(self) -> None:
        taken = self._ledger.retract(who=self._who)
        if not taken:
            self._screen.print("There is nothing to take back.")
            return
        row = taken[0].a - self._n
        self._screen.print(printable(f"Taken back: the answer about new thing {row + 1:,}."))
        raise _TakenBackError(row)
