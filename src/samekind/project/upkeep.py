"""Somebody is forgotten."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from samekind.ledger import Ledger, ProjectPlace, SqlLedger
from samekind.project.words import ProjectError

__all__ = ["Forgotten", "answers_by_annotator", "forget_annotator"]


class Forgotten(NamedTuple):
    """What was erased of somebody.

    Attributes
    ----------
    answers, names : int
        How many answers, taken back or not, and names of clusters.
    restored : int
        Answers of others that stand again, as theirs had replaced them.
    traceless : bool
        Whether the file holds no trace of them; not so while another program reads it.
    """

    answers: int
    names: int
    restored: int
    traceless: bool


def answers_by_annotator(ledger: Ledger) -> dict[str, tuple[int, int]]:
    """Return for everyone how many answers they gave, taken back or not, and how many names."""
    answers = Counter(line.who for line in ledger.lines())
    names = Counter(name.who for name in ledger.names.values())
    return {who: (answers[who], names[who]) for who in {**answers, **names}}


def forget_annotator(path: ProjectPlace, who: str) -> Forgotten:
    """Erase all that somebody answered or named in a project.

    What the others answered counts on.
    """
    with SqlLedger(path) as ledger:
        with ledger.transaction():
            erased = ledger.forget(who)
        traceless = ledger.scrub()
        if not (erased.answers or erased.names):
            people = (
                ", ".join(repr(name) for name in sorted(answers_by_annotator(ledger))) or "nobody"
            )
            raise ProjectError(f"{who!r} gave no answer in {path}. Those who did: {people}.")
    return Forgotten(erased.answers, erased.names, erased.restored, traceless)
