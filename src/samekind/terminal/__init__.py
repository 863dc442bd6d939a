"""A person at the prompt.

What stands in the data is only ever shown, never obeyed.
"""

from __future__ import annotations

from samekind.terminal.asking import answer_in_terminal, user_name
from samekind.terminal.cards import Cards
from samekind.terminal.keys import Keys, Lines, Presses, at_hand
from samekind.terminal.newcomers import NOT_ASKED, Sorted, sort_in_terminal
from samekind.terminal.prompt import PAIR, Prompt
from samekind.terminal.shelf import Stacked
from samekind.terminal.text import printable

__all__ = [
    "NOT_ASKED",
    "PAIR",
    "Cards",
    "Keys",
    "Lines",
    "Presses",
    "Prompt",
    "Sorted",
    "Stacked",
    "answer_in_terminal",
    "at_hand",
    "printable",
    "sort_in_terminal",
    "user_name",
]
