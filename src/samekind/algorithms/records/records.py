"""`records`: which records are one entity, by what makes two records the same.

Where clusters have two or three rows each, centres mean nothing. What carries over from one cluster to
the next is how alike the fields of two records of one entity are. So a model of pairs is learnt from the
answers (`pair_model`), which knows much before the first one (`prior`); entities are the clusters that its
log-odds and the answers make (`clustering`); and the pairs in doubt are asked about (`questions`).
"""

from __future__ import annotations

from itertools import pairwise
from typing import ClassVar, NamedTuple

import numpy as np

from samekind.algorithms.answered_pairs import AnsweredPairs, Incidence
from samekind.algorithms.base import Algorithm, Snapshot
from samekind.algorithms.exchange import Amendment, Known
from samekind.algorithms.records.audit import PairAudit
from samekind.algorithms.records.certificate import PairCertificate
from samekind.algorithms.records.params import RecordsParams
from samekind.algorithms.records.questions import Chooser
from samekind.algorithms.records.regrouping import confirm, regroup, settle_entities
from samekind.algorithms.records.scores import PairScores
from samekind.algorithms.records.snapshots import (
    entities_as_clusters,
    likely_mergers,
    row_confidence,
)
from samekind.algorithms.records.thresholds import AtThreshold, at_threshold
from samekind.flow import DIFFERENT, SAME, FloatArray, Flow, IntArray, Pairs, Reply
from samekind.points import Points, RecordPoints

__all__ = ["Records", "check_records"]

CHECKED_EVERY = 10  # questions after which the certificate is looked at, where it says when to stop
QUIET_AUDIT = 0.5  # share of questions for the certificate once nothing is in doubt,
ENOUGH_AUDITED = 400  # until there are so many


class Asked(NamedTuple):
    """A question of a wave."""

    a: int
    b: int
    is_audit: bool


class Records(Algorithm[RecordsParams]):
    """Finds duplicates: thousands of small clusters."""

    name: ClassVar[str] = "records"
    Params = RecordsParams
    predicts: ClassVar[bool] = True
    compares_records: ClassVar[bool] = True
    resumes_from_known: ClassVar[bool] = True

    def __init__(
        self,
        points: Points,
        params: RecordsParams,
        rng: np.random.Generator,
        known: Known | None = None,
    ) -> None:
        self.records = check_records(points, self.name)
        super().__init__(points, params, rng, known)
        trusted = params.trusts_answers
        estimates = params.error_rate == "estimate"
        self.scores = PairScores(self.records, error_rate=params.first_rate, estimates=estimates)
        self._incidence = Incidence(self.records.candidates.pairs, points.n)
        self._infers = trusted
        self._chooser = Chooser(self.scores, rng)
        self.audit = PairAudit(self.scores, rng)
        self._begin_anew([])
        self._open: list[Asked] = []
        self._ask_again: list[tuple[int, int]] = []
        self._n_audited = 0
        self._is_proven = False
        if known is not None:
            self._begin_with(known)

    # The flow

    def run(self) -> Flow[str]:
        """Ask until every candidate pair is known, or the certificate holds."""
        while True:
            if self.scores.update(self.learnt):
                self._chooser.looked_at_all()
                self.audit.line_up(self.learnt)
                if not self._infers:
                    self._follow_model()
            reason = self._reason_to_stop()
            if reason:
                return reason
            self._open = self._next_wave()
            if not self._open:
                self._is_proven = True
                settle_entities(self.state, self.entities(), self.points)
                return "exhausted"
            pairs: Pairs = np.array([(one.a, one.b) for one in self._open], dtype=np.intp)
            reply: Reply = yield pairs
            wave, self._open = self._open, []
            self.state.n_samples += len(wave)
            for one, answer in zip(wave, reply.answers.tolist(), strict=True):
                self._take(one, answer)

    def _reason_to_stop(self) -> str:
        target = self.params.target
        if target is not None and len(self.state.recovered) >= target:
            return "target"
        count = len(self.answers.given)
        if self.params.stop == "certified" and count and count % CHECKED_EVERY == 0:
            found = self.certificate()
            if min(found.precision, found.recall) >= 1 - self.params.tolerance:
                return "certified"
        return ""

    def _next_wave(self) -> list[Asked]:
        count = self.params.batch_size(len(self.answers.given))
        wave: list[Asked] = []
        busy: set[int] = set()

        def add(a: int, b: int, is_audit: bool) -> None:
            ends = {self.answers.root(a), self.answers.root(b)}
            if not ends & busy and len(wave) < count:
                busy.update(ends)
                wave.append(Asked(a, b, is_audit))

        while self._ask_again and len(wave) < count:
            a, b = self._ask_again.pop(0)
            if self.answers.relation(a, b) is None:
                add(a, b, False)
        different = sum(answer == DIFFERENT for answer in self.answers.given.values())
        pairs = self._chooser.doubtful(count, self.answers, different)
        quiet = not pairs.size
        share = self.params.audit
        if quiet and share and self._n_audited < ENOUGH_AUDITED:
            share = max(share, QUIET_AUDIT)
        while len(wave) < count and self._n_audited < share * (len(self.answers.given) + len(wave)):
            drawn = self.audit.draw(self.answers)
            if drawn is None:
                break
            size = len(wave)
            add(*drawn, True)
            self._n_audited += len(wave) - size
        if quiet:
            pairs = self._chooser.likeliest(count, self.answers)
        for a, b in self.scores.pairs[pairs].tolist():
            add(a, b, False)
        return wave

    def _take(self, one: Asked, answer: int) -> None:
        a, b = min(one.a, one.b), max(one.a, one.b)
        self.answers.add(a, b, answer)
        if one.is_audit:
            self.audit.asked[(a, b)] = answer
        else:
            self.learnt.add(a, b, answer)
        if answer in (SAME, DIFFERENT):
            self._place(a, b)

    def _place(self, a: int, b: int) -> None:
        """Note in which clusters two rows are, of which something is known now."""
        state = self.state
        for row in (a, b):
            if state.cluster_of_row(row) < 0:
                state.discover(row, self.points.row(row))
        one, other = state.cluster_of_row(a), state.cluster_of_row(b)
        if self._infers and one != other and self.answers.root(a) == self.answers.root(b):
            state.merge(min(one, other), max(one, other))
            confirm(state, min(one, other))

    def _follow_model(self) -> None:
        """Where answers may be wrong, let rows that were asked about be in the entities found with them."""
        entities = self.entities()
        groups: dict[int, list[int]] = {}
        rows = [row for members in self.state.members for row in members]
        for row in rows:
            groups.setdefault(int(entities[row]), []).append(row)
        regroup(self.state, groups.values(), [], self.points)

    # Changes of the past

    def interrupt(self) -> list[int]:
        """Return the rows that were being asked about."""
        return sorted({row for one in self._open for row in (one.a, one.b)})

    def amend(self, amendment: Amendment) -> None:
        """Take in what is known now of all clusters that a change touched."""
        group_of = {row: number for number, rows in enumerate(amendment.groups) for row in rows}
        touched = set(group_of) | {row for pair in amendment.ask_again for row in pair}
        touched |= set(amendment.reopened)
        apart = {
            frozenset((group_of[a], group_of[b]))
            for a, b in amendment.different
            if a in group_of and b in group_of
        }

        def now(a: int, b: int, before: int | None) -> int | None:
            if a not in touched or b not in touched:
                return before
            one, other = group_of.get(a, -1), group_of.get(b, -2)
            if one == other:
                return SAME
            if frozenset((one, other)) in apart:
                return DIFFERENT
            return before if before not in (SAME, DIFFERENT) else None

        kept: list[tuple[Asked, int]] = []
        open_pairs = [(one, None) for one in self._open]
        given = [
            (Asked(a, b, (a, b) in self.audit.asked), answer)
            for (a, b), answer in self.answers.given.items()
        ]
        for one, before in [*given, *open_pairs]:
            answer = now(one.a, one.b, before)
            if answer is not None:
                kept.append((one, answer))
        for rows in amendment.groups:
            kept += [(Asked(a, b, False), SAME) for a, b in pairwise(rows)]
        kept += [(Asked(a, b, False), DIFFERENT) for a, b in amendment.different]
        self._open = []
        self._begin_anew(kept)
        self._ask_again = list(amendment.ask_again)
        self._is_proven = False
        spoken_of = {row for pair in self.answers.given for row in pair}
        founders = set(amendment.founders)
        groups = [
            rows
            for rows in amendment.groups
            if len(rows) > 1 or rows[0] in spoken_of or rows[0] in founders
        ]
        held = {row for rows in groups for row in rows}
        gone = [row for row in touched - held if row not in spoken_of]
        regroup(self.state, groups, sorted(gone), self.points)

    def _begin_anew(self, answers: list[tuple[Asked, int]]) -> None:
        """Know these answers and no others."""
        self.answers = AnsweredPairs(self.records, infers=self._infers, incidence=self._incidence)
        self.learnt = AnsweredPairs(self.records, infers=self._infers, incidence=self._incidence)
        self.audit.asked = {}
        for one, answer in answers:
            a, b = min(one.a, one.b), max(one.a, one.b)
            if (a, b) in self.answers.given:
                continue
            self.answers.add(a, b, answer)
            if one.is_audit:
                self.audit.asked[(a, b)] = answer
            else:
                self.learnt.add(a, b, answer)
        self.scores.restart()

    def _begin_with(self, known: Known) -> None:
        groups: dict[int, list[int]] = {}
        for row, group in zip(known.rows, known.groups, strict=True):
            groups.setdefault(group, []).append(row)
        for rows in groups.values():
            for a, b in pairwise(rows):
                self._take(Asked(a, b, False), SAME)
        for one, other in known.different:
            self._take(Asked(groups[one][0], groups[other][0], False), DIFFERENT)
        regroup(self.state, groups.values(), [], self.points)

    # What others may know

    def entities(self) -> IntArray:
        """Return the entity of every record, by the model and all answers."""
        return self.scores.entities_with(self.answers)

    def certificate(self) -> PairCertificate:
        """Return what the audit promises."""
        if self._is_proven and self._infers:
            return PairCertificate(1.0, 0.0, 0.0, len(self.answers.given), 0, 0, 0, 0.0)
        return self.audit.certificate(self.learnt, self.scores.entities)

    def match_probabilities(self, pairs: Pairs) -> FloatArray:
        """Return how likely each pair of rows is one entity; 0 for pairs that are no candidates."""
        found = np.zeros(len(pairs))
        for place, (a, b) in enumerate(pairs.tolist()):
            number = self._incidence.number_of(a, b)
            if number >= 0:
                found[place] = self.scores.chances(np.array([number]), self.answers)[0]
            else:
                found[place] = float(self.answers.relation(a, b) == SAME)
        return found

    def at_threshold(self, threshold: float) -> AtThreshold:
        """Return the entities if records are put together from this probability on."""
        return at_threshold(self, threshold)

    def snapshot(self) -> Snapshot:
        """Return all entities, those that nobody was asked about, too."""
        return entities_as_clusters(
            self,
            self.records,
            self.entities(),
            self.certificate(),
            lambda of_rows: likely_mergers(self, of_rows),
            None if self.params.trusts_answers else self.scores.model.error_rate,
        )

    def confidence(self, rows: IntArray) -> FloatArray:
        """Return how likely each record is in the right entity."""
        return row_confidence(self, rows)

    def rank_clusters(self, row: int) -> list[int]:
        """Return all clusters, those first with the likeliest matches of a record."""
        numbers, others = self._incidence.others(row)
        order = np.argsort(-self.scores.odds[numbers], kind="stable")
        near = self.state.cluster_of(others[order]).tolist()
        first = dict.fromkeys(cluster for cluster in near if cluster >= 0)
        return [*first, *(other for other in super().rank_clusters(row) if other not in first)]


def check_records(points: Points, algorithm: str) -> RecordPoints:
    """Return points as records with candidate pairs, or raise an error."""
    if isinstance(points, RecordPoints):
        return points
    raise ValueError(
        f"{algorithm!r} compares records by their fields, and needs pairs of them that may be one entity, "
        f"got {points!r}. Pass samekind.load(path, records=True), or RecordPoints of your own."
    )
