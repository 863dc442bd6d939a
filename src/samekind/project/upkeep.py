"""What is done to a project as a whole, while nobody asks: somebody is forgotten, damage is repaired."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from samekind.algorithms import DEFAULT, find_algorithm
from samekind.engine.checkpoints import make_checkpoint
from samekind.ledger import Ledger, ProjectPlace, Repaired, SqlLedger, repair_file
from samekind.project.store import ITEMS, SETTINGS, kept_in
from samekind.project.words import ProjectError

__all__ = ["Forgotten", "answers_by_annotator", "forget_annotator", "repair_project"]


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

    What the others answered counts on: a run begins with all that is known from it.
    """
    with SqlLedger(path) as ledger:
        with ledger.transaction():
            began_anew = ledger.latest_checkpoint() is not None
            erased = ledger.forget(who)
            _begin_with_known(ledger, began_anew)
        traceless = ledger.scrub()
        if not (erased.answers or erased.names):
            people = (
                ", ".join(repr(name) for name in sorted(answers_by_annotator(ledger))) or "nobody"
            )
            raise ProjectError(f"{who!r} gave no answer in {path}. Those who did: {people}.")
    return Forgotten(erased.answers, erased.names, erased.restored, traceless)


def repair_project(path: ProjectPlace) -> Repaired | None:
    """Do what `repair_file` does; what was known at a checkpoint that is dropped still counts."""
    return repair_file(path, _replace_checkpoint)


def _replace_checkpoint(ledger: Ledger) -> None:
    with ledger.transaction():
        ledger.change_past()
        _begin_with_known(ledger, True)


def _begin_with_known(ledger: Ledger, began_anew: bool) -> None:
    """Let runs begin with what is known now, if they did before or can."""
    settings = kept_in(ledger, SETTINGS)
    algorithm = find_algorithm(settings.get("algorithm", DEFAULT))
    trusts = settings.get("error_rate") is None
    can = ITEMS in ledger.meta and algorithm.resumes_from_known and trusts
    if len(ledger) and (began_anew or can):
        make_checkpoint(ledger, [])
