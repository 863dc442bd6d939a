"""Where people answer: questions one by one, what was found so far, and what they do to it."""

from __future__ import annotations

from samekind.desk.desk import Desk
from samekind.desk.exports import EXPORTS
from samekind.desk.project import cache_of, make_desk, open_desk
from samekind.desk.shapes import (
    Answered,
    Disagreement,
    Kind,
    KindPage,
    LineUp,
    Option,
    Outline,
    Pair,
    Promise,
    Question,
    Saying,
    Standing,
)
from samekind.desk.words import DeskError, Stale

__all__ = [
    "EXPORTS",
    "Answered",
    "Desk",
    "DeskError",
    "Disagreement",
    "Kind",
    "KindPage",
    "LineUp",
    "Option",
    "Outline",
    "Pair",
    "Promise",
    "Question",
    "Saying",
    "Stale",
    "Standing",
    "cache_of",
    "make_desk",
    "open_desk",
]
