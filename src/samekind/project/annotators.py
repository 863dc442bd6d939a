"""Who answered: people and models, how much they agree, how often they err, and what they cost."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from samekind.engine import spending_key
from samekind.flow import UNSURE
from samekind.ledger import Ledger
from samekind.project.agreement import AgreementRecord, Votes, median_seconds
from samekind.project.assistant import AssistantRecord
from samekind.project.words import plain

if TYPE_CHECKING:
    from samekind.project.project import Project

__all__ = ["AnnotatorPage", "AnnotatorRecord", "annotators_of", "models_in"]


@dataclass(frozen=True)
class AnnotatorRecord:
    """One who answered.

    `shared` are the pairs that somebody else answered, too, `agreed` those with the same answer. The error
    is estimated from the clusters; None where nothing tells.
    """

    name: str
    is_model: bool
    answers: int
    unsure: int
    shared: int
    agreed: int
    error: float | None
    low: float | None
    high: float | None
    cost: float | None
    seconds: float | None = None  # for an answer, as a median


@dataclass(frozen=True)
class AnnotatorPage:
    """All who answered, how much they agree, and the model that answers now, if there is one."""

    annotators: list[AnnotatorRecord]
    assistant: AssistantRecord | None
    agreement: AgreementRecord


def models_in(ledger: Ledger) -> set[str]:
    """Return the annotators that are models: it is kept what they cost."""
    return {name for name in ledger.annotators if spending_key(name) in ledger.settings}


def annotators_of(project: Project, votes: Votes, agreement: AgreementRecord) -> AnnotatorPage:
    """Return all who answered in a project, by what they said and how much they agree."""
    ledger = project.session.ledger
    given, unsure = Counter[str](), Counter[str]()
    shared, agreed = Counter[str](), Counter[str]()
    for answers in votes.values():
        for name, answer in answers.items():
            given[name] += 1
            unsure[name] += answer == UNSURE
            others = [other for one, other in answers.items() if one != name]
            if others:
                shared[name] += 1
                agreed[name] += all(other == answer for other in others)
    times: dict[str, list[float]] = {}
    for line in ledger.log.acts():
        times.setdefault(ledger.annotators[int(line["who"])], []).append(float(line["when"]))
    for opinion in ledger.log.opinions.standing():
        times.setdefault(opinion.who, []).append(opinion.at)
    estimated = {one.name: one for one in project.clusters().annotators_}
    models = models_in(ledger)
    records = []
    for name in dict.fromkeys([*ledger.annotators, *given]):
        if not given[name] and name not in models:
            continue
        error = low = high = None
        if name in estimated and estimated[name].is_tested:
            error, low, high = estimated[name].error, estimated[name].low, estimated[name].high
        cost = json.loads(ledger.settings[spending_key(name)])["cost"] if name in models else None
        records.append(
            AnnotatorRecord(
                name=plain(name) or "(no name)",
                is_model=name in models,
                answers=given[name],
                unsure=unsure[name],
                shared=shared[name],
                agreed=agreed[name],
                error=error,
                low=low,
                high=high,
                cost=cost,
                seconds=median_seconds(times.get(name, [])),
            )
        )
    assistant = project.assistant
    record = None if assistant is None else assistant.record()
    return AnnotatorPage(records, record, agreement)
