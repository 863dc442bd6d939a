"""A person at the prompt.

What stands in the data is only ever shown, never obeyed.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from samekind.terminal.text import printable

if TYPE_CHECKING:
    from samekind.terminal.asking import answer_in_terminal, user_name
    from samekind.terminal.cards import Cards
    from samekind.terminal.classifying import classify_in_terminal
    from samekind.terminal.keys import Keys, Lines, Presses, keys_at_hand

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

# Whoever asks needs projects, which take seconds to load; a line to print does not wait for them.
_HOMES = dict.fromkeys(("Keys", "Lines", "Presses", "keys_at_hand"), "keys") | {"Cards": "cards"}
_HOMES |= {"answer_in_terminal": "asking", "user_name": "asking"}
_HOMES |= {"classify_in_terminal": "classifying"}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'samekind.terminal' has no attribute {name!r}")
    return getattr(import_module(f"samekind.terminal.{_HOMES[name]}"), name)
