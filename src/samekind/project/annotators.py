"""Who answered: people and models, how much they agree, how often they err, and what they cost.

Agreement is counted over pairs of rows on which several people have an opinion: answers to the same pair, and
opinions that were wanted or came late. Pairs that still wait for an opinion are left out, so that nobody
learns from this table what another has said.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from samekind.engine import spending_key
from samekind.flow import UNSURE, FloatArray
from samekind.ledger import Ledger, OpinionRole
from samekind.measures import cohen_kappa, fleiss_kappa, krippendorff_alpha
from samekind.project.records import (
    AgreementRecord,
    AnnotatorPage,
    AnnotatorRecord,
    PairAgreement,
)
from samekind.project.words import plain

if TYPE_CHECKING:
    from samekind.project.project import Project

__all__ = ["Votes", "agreement_of", "annotators_of", "models_in", "votes_of"]

PAUSE = 300.0  # seconds after which somebody has been away
MOST_PAIRS = 500  # of people that are listed

Votes = dict[tuple[int, int], dict[str, int]]


def votes_of(project: Project) -> Votes:
    """Return what people say of each pair of rows, by their names; without those that wait for opinions."""
    ledger = project.ledger
    names, votes = ledger.annotators, Votes()
    lines = ledger.active()
    lines = lines[lines["asked"] | (lines["answer"] != UNSURE)]  # what was skipped is no answer
    for a, b, answer, who, *_ in lines.tolist():
        votes.setdefault((min(a, b), max(a, b)), {})[names[who]] = answer
    for one in ledger.log.opinions.standing():
        pair = one.a, one.b
        if one.role == OpinionRole.BLIND and not project.team.has_all_opinions(*pair):
            continue
        if one.role != OpinionRole.SETTLES:  # who settles has seen the others
            votes.setdefault(pair, {})[one.who] = one.answer
    return votes


def agreement_of(votes: Votes) -> AgreementRecord:
    """Return how much people agree."""
    shared = [said for _, said in sorted(votes.items()) if len(said) > 1]
    people = sorted({who for said in shared for who in said})
    matrix = np.full((len(people), len(shared)), np.nan)
    place = {who: number for number, who in enumerate(people)}
    for unit, said in enumerate(shared):
        for who, answer in said.items():
            matrix[place[who], unit] = answer
    alpha = krippendorff_alpha(matrix)
    raters, fleiss = 0, math.nan
    if shared:
        raters = Counter(map(len, shared)).most_common(1)[0][0]
        even = matrix[:, (~np.isnan(matrix)).sum(axis=0) == raters]
        counts = np.array([(even == answer).sum(axis=0) for answer in (-1, 0, 1)]).T
        fleiss = fleiss_kappa(counts).value
    has_said = (~np.isnan(matrix)).astype(np.int64)
    n_shared = has_said @ has_said.T
    together = [pair for pair in combinations(range(len(people)), 2) if n_shared[pair]]
    most = sorted(together, key=lambda pair: -n_shared[pair])[:MOST_PAIRS]
    pairs = [_pair(people[a], people[b], matrix[a], matrix[b]) for a, b in most]
    return AgreementRecord(
        pairs_of_rows=len(shared),
        alpha=_or_none(alpha.value),
        low=_or_none(alpha.low),
        high=_or_none(alpha.high),
        fleiss=_or_none(fleiss),
        fleiss_raters=raters,
        people=pairs,
    )


def _pair(one: str, two: str, first: FloatArray, second: FloatArray) -> PairAgreement:
    both = ~np.isnan(first) & ~np.isnan(second)
    kappa = cohen_kappa(first[both], second[both])
    return PairAgreement(
        one=plain(one) or "(no name)",
        two=plain(two) or "(no name)",
        shared=int(both.sum()),
        agreed=int((first[both] == second[both]).sum()),
        kappa=_or_none(kappa.value),
        low=_or_none(kappa.low),
        high=_or_none(kappa.high),
    )


def _or_none(value: float) -> float | None:
    return None if math.isnan(value) else round(value, 6)


def _median_seconds(times: list[float]) -> float | None:
    """Return how long somebody took for an answer, pauses left out; None after too few."""
    gaps = np.diff(np.unique(times))
    gaps = gaps[gaps < PAUSE]
    return round(float(np.median(gaps)), 3) if gaps.size else None


def models_in(ledger: Ledger) -> set[str]:
    """Return the annotators that are models: it is kept what they cost."""
    return {name for name in ledger.annotators if spending_key(name) in ledger.settings}


def annotators_of(project: Project, votes: Votes, agreement: AgreementRecord) -> AnnotatorPage:
    """Return all who answered in a project, by what they said and how much they agree."""
    ledger = project.ledger
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
    estimated = {one.name: one for one in project.kinds.clusters().annotators_}
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
                seconds=_median_seconds(times.get(name, [])),
            )
        )
    assistant = project.assistant
    record = None if assistant is None else assistant.record()
    return AnnotatorPage(records, record, agreement)
