"""Who answered: people and models, how much they agree, how often they err, and what they cost."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from samekind.engine import kept_rates, spending_key
from samekind.flow import UNSURE
from samekind.ledger import Ledger, keys_of, pairs_of
from samekind.project.assistant import AssistantRecord
from samekind.project.words import plain

if TYPE_CHECKING:
    from samekind.project.project import Project

__all__ = ["AnnotatorPage", "AnnotatorRecord", "annotators_of", "models_in"]


@dataclass(frozen=True)
class AnnotatorRecord:
    """One who answered.

    `shared` are the pairs that somebody else answered, too, `agreed` those with the same answer. The error
    comes from answers that people checked at random (`checked` of them), or is estimated from the clusters;
    None where nothing tells.
    """

    name: str
    is_model: bool
    answers: int
    unsure: int
    shared: int
    agreed: int
    checked: int
    error: float | None
    low: float | None
    high: float | None
    cost: float | None


@dataclass(frozen=True)
class AnnotatorPage:
    """All who answered, and the model that answers now, if there is one."""

    annotators: list[AnnotatorRecord]
    assistant: AssistantRecord | None


def models_in(ledger: Ledger) -> set[str]:
    """Return the annotators that are models: it is kept what they cost."""
    return {name for name in ledger.annotators if spending_key(name) in ledger.meta}


def annotators_of(project: Project) -> AnnotatorPage:
    """Return all who answered in a project."""
    ledger = project.session.ledger
    lines = ledger.active()
    lines = lines[lines["asked"] | (lines["answer"] != UNSURE)]  # what was skipped is no answer
    keys, who, said = keys_of(pairs_of(lines)), lines["who"], lines["answer"]
    by_pair: dict[int, dict[int, int]] = {}
    for key, number, answer in zip(keys.tolist(), who.tolist(), said.tolist(), strict=True):
        by_pair.setdefault(key, {})[number] = answer
    shared, agreed = Counter[int](), Counter[int]()
    for answers in by_pair.values():
        if len(answers) > 1:
            for number, answer in answers.items():
                others = [other for one, other in answers.items() if one != number]
                shared[number] += 1
                agreed[number] += all(other == answer for other in others)
    estimated = {one.name: one for one in project.clusters().annotators_}
    models = models_in(ledger)
    records = []
    for number, name in enumerate(ledger.annotators):
        own = who == number
        if not own.any() and name not in models:
            continue
        error = low = high = None
        rates = kept_rates(ledger, name)
        if rates.n:
            error, low, high, _ = rates.overall
        elif name in estimated and estimated[name].is_tested:
            error, low, high = estimated[name].error, estimated[name].low, estimated[name].high
        cost = json.loads(ledger.meta[spending_key(name)])["cost"] if name in models else None
        records.append(
            AnnotatorRecord(
                name=plain(name) or "(no name)",
                is_model=name in models,
                answers=int(own.sum()),
                unsure=int((own & (said == UNSURE)).sum()),
                shared=shared[number],
                agreed=agreed[number],
                checked=rates.n,
                error=error,
                low=low,
                high=high,
                cost=cost,
            )
        )
    assistant = project.assistant
    return AnnotatorPage(records, None if assistant is None else assistant.record())
