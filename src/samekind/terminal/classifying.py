"""New items, put into clusters that are known by the person at the prompt."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.text import Text

from samekind.data import Items
from samekind.engine import ClassifySession
from samekind.project import ANSWERS, ItemView, Project
from samekind.terminal.keys import Keys
from samekind.terminal.prompt import PAIR, Conversation
from samekind.terminal.text import printable

__all__ = ["classify_in_terminal"]

MORE = 3  # further members of a cluster beside a question
PROMPT = "S same  D different  space not sure  B undo  M more  Q quit  ? help"
HELP = """\
  S or ←        the same kind            space or U    not sure
  D or →        different kinds          B, Backspace  undo, as often as you like
  M             more: every field, long texts whole, pictures large
  Q             quit: every answer is kept; rows not asked about are predicted
"""


def classify_in_terminal(
    session: ClassifySession,
    project: Project,
    new: Items,
    *,
    who: str,
    console: Console,
    keys: Keys,
) -> None:
    """Ask in which known cluster each new item is until all are decided or the person quits.

    `session` is about the clusters of `project` and the rows of `new`. Every answer is in its ledger before
    the next question is shown.
    """
    with keys as typed:
        conversation = _Classifying(session, project, new, who, console, typed)
        while not session.done and conversation.ask_one():
            pass


class _Classifying(Conversation):
    help = HELP

    def __init__(
        self,
        session: ClassifySession,
        project: Project,
        new: Items,
        who: str,
        screen: Console,
        keys: Keys,
    ) -> None:
        super().__init__(who, screen, keys, self._image)
        self._session = session
        self._project = project
        self._new = new
        self._n = project.items.n
        self._fields = {name for name, _ in project.item(0).fields}

    def ask_one(self) -> bool:
        """Ask the first pending question; return whether to go on."""
        row, member = self._session.pending()[0].tolist()
        self._keys.forget()
        self._screen.print()
        line = Text(f"New thing {row - self._n + 1:,} of {self._new.n:,}.", style="bold")
        self._screen.print(line.append("  Of the kind on the right?", style="not bold"))
        self._show(row, member, full=False)
        while True:
            wanted = self._ask(PROMPT, PAIR)
            if wanted in ANSWERS:
                self._session.tell([[row, member]], [ANSWERS[wanted]], who=self._who)
                return True
            if wanted == "more":
                self._show(row, member, full=True)
            elif wanted != "undo":
                return False
            elif self._undo():
                return True

    def _undo(self) -> bool:
        taken = self._session.take_back(who=self._who)
        if not taken:
            self._screen.print("There is nothing to take back.")
            return False
        number = taken[0].a - self._n + 1
        self._screen.print(printable(f"Taken back: the answer about new thing {number:,}."))
        return True

    def _show(self, row: int, member: int, *, full: bool) -> None:
        members = self._session.members_of(member)
        more = [self._item(other) for other in members if other != member][:MORE]
        known = [other for other in members if other < self._n]
        ref = (
            self._project.kinds.ref(known) if known else None
        )  # None: a new kind, of new rows alone
        item, b = self._item(row), self._item(member)
        self._screen.print(self._cards.pair(item, b, ref=ref, more=more, full=full))

    def _item(self, row: int) -> ItemView:
        """Return an item; a new one with the fields that the old ones have, too."""
        if row < self._n:
            return self._project.item(row)
        item = self._new.show(row - self._n)
        fields = [field for field in item.fields if field[0] in self._fields]
        return replace(item, row=row, title=f"new: {item.title}", fields=fields)

    def _image(self, row: int) -> NDArray[np.uint8] | None:
        if row < self._n:
            return self._project.image(row)
        return None if self._new.images is None else self._new.images[row - self._n]
