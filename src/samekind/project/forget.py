"""Forgetting somebody: what they answered and named goes for good, and the project goes on without it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import NamedTuple

from samekind.algorithms import DEFAULT, find_algorithm
from samekind.engine.checkpoints import make_checkpoint
from samekind.ledger import Ledger, SqlLedger
from samekind.project.store import ITEMS, SETTINGS, kept_in
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


def forget_annotator(path: Path, who: str) -> Forgotten:
    """Erase all that somebody answered or named in a project.

    What the others answered counts on: a run begins with all that is known from it.
    """
    with SqlLedger(path) as ledger:
        with ledger.transaction():
            began_anew = ledger.latest_checkpoint() is not None
            erased = ledger.forget(who)
            if len(ledger) and (began_anew or _begins_with_known(ledger)):
                make_checkpoint(ledger, [], -1)
        traceless = ledger.scrub()
        if not (erased.answers or erased.names):
            people = (
                ", ".join(repr(name) for name in sorted(answers_by_annotator(ledger))) or "nobody"
            )
            raise ProjectError(f"{who!r} gave no answer in {path}. Those who did: {people}.")
    return Forgotten(erased.answers, erased.names, erased.restored, traceless)


def _begins_with_known(ledger: Ledger) -> bool:
    """Return whether runs of a project can begin with what is known."""
    settings = kept_in(ledger, SETTINGS)
    algorithm = find_algorithm(settings.get("algorithm", DEFAULT))
    trusts = settings.get("error_rate") is None
    return ITEMS in ledger.meta and algorithm.resumes_from_known and trusts
