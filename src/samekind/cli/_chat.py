"""Saying something at the prompt; quick to load, so that the first words come at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from samekind.terminal import printable

if TYPE_CHECKING:
    from rich.console import Console


def chat(console: Console, text: str, *, wrap: bool = False) -> None:
    """Say something that may hold anything that the user or the data gave.

    Sentences wrap between words; what may hold a path or a command does not, so that it can be copied.
    """
    console.print(printable(text, lines=True), soft_wrap=not wrap)
