"""Answers and their failures in words."""

from __future__ import annotations

from samekind.flow import DIFFERENT, SAME, UNSURE
from samekind.ledger import LedgerLine

__all__ = ["SPOKEN", "WORDS", "DeskError", "Stale", "deed_in_words", "left_in_words"]

WORDS = {"same": SAME, "different": DIFFERENT, "unsure": UNSURE}
SPOKEN = {number: word for word, number in WORDS.items()}


class DeskError(ValueError):
    """What was asked of the desk makes no sense; the message says why."""


class Stale(DeskError):  # noqa: N818
    """The question is not open any more."""


def deed_in_words(entries: list[LedgerLine]) -> str:
    """Say what somebody said at once."""
    first = entries[0]
    if len(entries) > 1:
        rows = sorted({row for entry in entries for row in (entry.a, entry.b)})
        return f"{len(entries)} answers about rows {', '.join(map(str, rows[:4]))}" + (
            " and others" if len(rows) > 4 else ""
        )
    said = {SAME: "the same", DIFFERENT: "different", UNSURE: "not sure"}[first.answer]
    if first.answer == UNSURE and not first.asked:
        said = "skipped"
    return f"rows {first.a} and {first.b}: {said}"


def left_in_words(next_kind: float | None, done: bool) -> str:
    """Say how much is left to do."""
    if done:
        return ""
    if next_kind is None:
        return "too early to say how many more kinds there are"
    if next_kind > 2000:
        return "hardly a new kind to be expected"
    return f"about {max(1, round(next_kind)):,} more questions for the next kind"
