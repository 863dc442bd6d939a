"""Answers and their failures in words."""

from __future__ import annotations

from dataclasses import replace
from math import floor

from samekind.algorithms import Certificate, percent_at_most
from samekind.flow import DIFFERENT, SAME, UNSURE
from samekind.ledger import ANSWER, Event
from samekind.project.records import ClusterRef, ItemView, UndoneAct

__all__ = [
    "ANSWERS",
    "LONGEST_NAME",
    "NO_KIND",
    "NO_NAME",
    "ROWS",
    "WORDS",
    "KeyReused",
    "ProjectError",
    "QuestionClosed",
    "advice_in_words",
    "check_name",
    "counted",
    "levels_of",
    "name_in_table",
    "numbered",
    "plain",
    "plain_item",
    "safe_cell",
    "text_of",
    "title_of",
    "undone",
]

ANSWERS = {"same": SAME, "different": DIFFERENT, "unsure": UNSURE}
WORDS = {number: word for word, number in ANSWERS.items()}
LONGEST_NAME = 200
SMALL = 1000  # rows of a pile in which they are counted one by one

FORMULA = ("=", "+", "-", "@", "\t", "\r")  # how a formula begins
NO_KIND, NO_NAME = -1, "no kind"  # of rows that are in none
ROWS = "rows"  # in `settings`: where items are in the file, if some rows are copies


class ProjectError(ValueError):
    """What was asked of the project makes no sense; the message says why."""


class KeyReused(ProjectError):  # noqa: N818
    """A key that belongs to another request."""


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


def text_of(item: ItemView) -> str:
    """Return all that is written about an item, to be searched."""
    return " ".join([item.title, item.text or "", *(value for _, value in item.fields)])


def name_in_table(ref: ClusterRef) -> str:
    """Return what to call a cluster in any case."""
    return ref.name or ref.proposed_name


def title_of(ref: ClusterRef) -> str:
    """Return a cluster's name and number, on one line, and say if the name is only proposed."""
    if ref.name is None and ref.proposed_name == numbered(ref.number):
        return ref.proposed_name
    return f"{name_in_table(ref)} ({ref.number}{', proposed' * (ref.name is None)})"


def levels_of(name: str | None) -> list[str]:
    """Return the parts of a name with a path: "card / lost" is the kind "lost" among those of "card"."""
    return [part.strip() for part in (name or "").split(" / ")]


def numbered(number: int) -> str:
    """Return what a cluster is called that has no other name."""
    return f"kind {number}"


def check_name(name: str, what: str = "A name") -> str:
    """Return a name, or what else is on one line, or raise an error if it cannot be one."""
    text = " ".join(name.split())
    if len(text) > LONGEST_NAME:
        raise ProjectError(f"{what} has at most {LONGEST_NAME} characters, this has {len(text)}.")
    if not text.isprintable():
        raise ProjectError(f"{what} has only characters that can be seen.")
    return text


def undone(act: list[Event]) -> UndoneAct:
    """Return what somebody did at once, as it is told when it is taken back."""
    said = {(event.a, event.b): event for event in act if event.answer is not None}
    given = (str(event.payload) for event in act if event.answer is None and event.payload)
    name, _, definition = next(given, "").partition("\n")
    if not said:
        text = (
            f"the name {name!r}" if name else "a definition" if definition else "no name any more"
        )
        return UndoneAct(text, "name", 0, [row for row in (act[0].a,) if row is not None], name)
    pairs = [{row for row in pair if row is not None} for pair in said]
    first = next(iter(said.values()))
    shared = set.intersection(*pairs)
    rows = [*(shared if len(pairs) > 1 else ()), *sorted(set.union(*pairs) - shared)]
    if len(pairs) > 1:
        if len(shared) == 1 and all(event.answer == DIFFERENT for event in said.values()):
            return UndoneAct(
                f"row {rows[0]}: none of {len(pairs)} kinds", "none", len(pairs), rows[:1], name
            )
        listed = sorted(rows)
        text = f"{len(pairs)} answers about rows {', '.join(map(str, listed[:4]))}"
        return UndoneAct(
            text + " and others" * (len(rows) > 4), "several", len(pairs), rows[:4], name
        )
    is_skip = first.answer == UNSURE and first.kind == ANSWER and not first.charged
    rows = [row for row in (first.a, first.b) if row is not None]
    word = {SAME: "same", DIFFERENT: "different"}.get(first.answer or DIFFERENT, "unsure")
    told = {"same": "the same", "different": "different", "unsure": "not sure"}[word]
    text = f"rows {first.a} and {first.b}: {'skipped' if is_skip else told}"
    return UndoneAct(text, "skip" if is_skip else word, 1, rows, name)  # type: ignore[arg-type]


def advice_in_words(
    certificate: Certificate | None, is_safe: bool, unknown: int, n_rows: int
) -> str:
    """Say whether it is safe to stop, given how many rows are not known."""
    if unknown == 0:
        return "Safe to stop: every item that anybody could tell is known."
    wrong = 1.0 if certificate is None else certificate.wrong
    most = min(unknown, round(wrong * n_rows))  # in a small pile, few can be wrong
    if is_safe:
        text = f"Safe to stop: at least {floor(100 * (1 - most / n_rows) + 1e-9)} % of the labels are right"
    elif certificate is None or (not certificate.n_audited and most == unknown):
        text = f"Not safe to stop yet: no label was checked, and {counted(unknown, 'item')} have no answer"
    else:
        text = f"Not safe to stop yet: up to {percent_at_most(most / n_rows)} of the labels may be wrong"
        if n_rows <= SMALL:
            text += f", {most:,} of the {counted(unknown, 'item')} without an answer"
    return f"{text}."


def counted(number: int, one: str, many: str | None = None) -> str:
    """Return a number with its noun: "1 press", "2,000 presses"."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def safe_cell(text: str) -> str:
    """Return what somebody typed so that no spreadsheet takes it for a formula."""
    return f"'{text}" if text.startswith(FORMULA) else text
