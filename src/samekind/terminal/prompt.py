"""What may be typed, and asking until something of it is."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from samekind.terminal.cards import Cards, ImageOf
from samekind.terminal.keys import Keys
from samekind.terminal.text import brief

__all__ = [
    "ANYWHERE",
    "HELP",
    "IN_A_PROJECT",
    "NONE",
    "PAIR",
    "SAY",
    "SHEET",
    "Conversation",
]

ANYWHERE = {
    **dict.fromkeys(("u", "space", "unsure", "not sure"), "unsure"),
    **dict.fromkeys(("b", "backspace", "back", "undo"), "undo"),
    **dict.fromkeys(("m", "more"), "more"),
    **dict.fromkeys(("q", "quit", "exit"), "quit"),
    **dict.fromkeys(("?", "h", "help"), "help"),
}
PAIR = ANYWHERE | {
    **dict.fromkeys(("s", "left", "same", "y", "yes"), "same"),
    **dict.fromkeys(("d", "right", "different", "n", "no"), "different"),
}
IN_A_PROJECT = {
    **dict.fromkeys(("k", "skip"), "skip"),
    **dict.fromkeys(("r", "rename", "name"), "name"),
    **dict.fromkeys(("c", "contradictions"), "contradictions"),
}
NONE = dict.fromkeys(("0", "n", "none"), "none")
SAY = dict.fromkeys(("f", "find", "say"), "say")
SHEET = {
    **dict.fromkeys(("s", "left", "same", "y", "yes", "all"), "all"),
    **dict.fromkeys(("o", "out", "some"), "some"),
}
SAID = {"unsure": "not sure", "none": "none of these", "skip": "skipped", "say": "find"}
HELP = """\
  S or ←        the same kind            1 to 9   in a line-up: of this kind
  D or →        different kinds          0 or N   in a line-up: of none of these
  F             find: say what it is, by name or by a word; or that it is new
  S, O          of many at once: all the same, or some do not belong
  space or U    not sure: you are not asked about it again
  K             skip: not counted, you can come back to it at the end
  B, Backspace  undo the last answer, as often as you like
  M             more: every field, long texts whole, pictures large
  R             give a name to the kind of the thing that you saw last
  C             show answers that contradict each other
  Q             quit: every answer is kept
"""


class Conversation:
    """Asks somebody for one of some actions until there is one; explains what may be typed."""

    help = HELP

    def __init__(self, who: str, screen: Console, keys: Keys, image_of: ImageOf) -> None:
        self._who = who
        self._screen = screen
        self._keys = keys
        self._cards = Cards(image_of)

    def _ask(self, prompt: str, actions: dict[str, str]) -> str:
        """Return what the person wants; "quit" at the end of the input."""
        while True:
            self._screen.print(Text(prompt, style="dim"))
            self._screen.print("> ", end="", markup=False)
            wanted = self._wanted(actions)
            if wanted == "help":
                self._screen.print(self.help, end="", markup=False, highlight=False)
            elif wanted is not None:
                return wanted

    def _wanted(self, actions: dict[str, str]) -> str | None:
        typed = "enter"
        while typed == "enter":
            try:
                typed = self._keys.key()
            except EOFError:
                self._screen.print()
                return "quit"
            if not self._keys.presses or "enter" in actions:
                break  # in lines, Enter alone is a slip of its own
        wanted, presses = actions.get(typed), self._keys.presses
        if presses:
            self._screen.print(SAID.get(wanted or "", wanted or brief(typed, 20)), markup=False)
        if wanted is None:
            how = "press one of the keys above" if presses else "type one of the above, and Enter"
            more = "; ? explains them" if "?" in actions else ""
            self._screen.print(f"Please {how}{more}.", highlight=False)
        return wanted
