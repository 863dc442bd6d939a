"""Answers and their failures in words."""

from __future__ import annotations

from dataclasses import replace

from samekind.flow import DIFFERENT, SAME, UNSURE
from samekind.ledger import Ledger, LedgerLine
from samekind.project.records import ItemView

__all__ = [
    "ANSWERS",
    "LONGEST_NAME",
    "WORDS",
    "ProjectError",
    "QuestionClosed",
    "act_in_words",
    "check_name",
    "left_in_words",
    "name_of",
    "plain",
    "plain_item",
]

ANSWERS = {"same": SAME, "different": DIFFERENT, "unsure": UNSURE}
WORDS = {number: word for word, number in ANSWERS.items()}
LONGEST_NAME = 200


class ProjectError(ValueError):
    """What was asked of the project makes no sense; the message says why."""


class QuestionClosed(ProjectError):  # noqa: N818
    """The question is not open any more."""


def plain(text: str) -> str:
    """Make what cannot be sent as UTF-8 (half a pair of surrogates, from a file's name) a question mark."""
    return text.encode("utf-8", "replace").decode("utf-8")


def plain_item(item: ItemView) -> ItemView:
    """Return an item whose texts can all be sent as UTF-8."""
    return replace(
        item,
        title=plain(item.title),
        text=None if item.text is None else plain(item.text),
        fields=[(plain(name), plain(value)) for name, value in item.fields],
    )


def name_of(members: list[int], ledger: Ledger) -> str | None:
    """Return what a cluster is called: the newest name that was given to any of its members.

    Names are given to rows, so they outlive clusters that merge, split or change.
    """
    named = ledger.names.keys() & members if ledger.names else ()
    return max(ledger.names[row] for row in named).text or None if named else None


def check_name(name: str, what: str = "A name") -> str:
    """Return a name, or what else is on one line, or raise an error if it cannot be one."""
    text = " ".join(name.split())
    if len(text) > LONGEST_NAME:
        raise ProjectError(f"{what} has at most {LONGEST_NAME} characters, this has {len(text)}.")
    if not text.isprintable():
        raise ProjectError(f"{what} has only characters that can be seen.")
    return text


def act_in_words(lines: list[LedgerLine]) -> str:
    """Say what somebody answered at once."""
    first = lines[0]
    if len(lines) > 1:
        common = set.intersection(*({line.a, line.b} for line in lines))
        if len(common) == 1 and all(line.answer == DIFFERENT for line in lines):
            return f"row {common.pop()}: none of {len(lines)} kinds"
        rows = sorted({row for line in lines for row in (line.a, line.b)})
        return f"{len(lines)} answers about rows {', '.join(map(str, rows[:4]))}" + (
            " and others" if len(rows) > 4 else ""
        )
    unsure = "not sure" if first.asked else "skipped"
    said = {SAME: "the same", DIFFERENT: "different", UNSURE: unsure}[first.answer]
    return f"rows {first.a} and {first.b}: {said}"


def left_in_words(questions_to_next: float | None, done: bool) -> str:
    """Say how much is left to do."""
    if done:
        return ""
    if questions_to_next is None:
        return "too early to say how many more kinds there are"
    if questions_to_next > 2000:
        return "hardly a new kind to be expected"
    return f"about {max(1, round(questions_to_next)):,} more questions for the next kind"
