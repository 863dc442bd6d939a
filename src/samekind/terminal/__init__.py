"""A person at the prompt.

What stands in the data is only ever shown, never obeyed.
"""

from __future__ import annotations

from samekind.terminal.asking import answer_in_terminal, user_name
from samekind.terminal.cards import Cards
from samekind.terminal.classifying import classify_in_terminal
from samekind.terminal.keys import Keys, Lines, Presses, keys_at_hand
from samekind.terminal.text import printable

__all__ = [
    "Cards",
    "Keys",
    "Lines",
    "Presses",
    "answer_in_terminal",
    "classify_in_terminal",
    "keys_at_hand",
    "printable",
    "user_name",
]
