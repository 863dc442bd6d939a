"""`records`: which records are one entity, by what makes two records the same.

Where clusters have two or three rows each, centres mean nothing. What carries over from one cluster to
the next is how alike the fields of two records of one entity are. So a model of pairs is learnt from the
answers (`pair_model`), which knows something before the first one (`prior`). Its log-odds and the answers
make the entities (`clustering`), and the pairs in doubt are asked about (`questions`). A share of the
questions is about pairs drawn at random, which the model does not learn from (`audit`).
"""

from __future__ import annotations

from collections.abc import Collection
from typing import ClassVar

import numpy as np

from samekind.algorithms.base import Snapshot
from samekind.algorithms.folding import Answered, Expected, Folding
from samekind.algorithms.records.clustering import pair_keys
from samekind.algorithms.records.explaining import FieldEvidence, explain
from samekind.algorithms.records.params import RecordsParams
from samekind.algorithms.records.questions import Wave, best_first, likeliest_first
from samekind.algorithms.records.scores import PairScores
from samekind.algorithms.records.snapshots import entities_as_clusters, row_confidence
from samekind.algorithms.records.state import RecordState
from samekind.algorithms.records.thresholds import AtThreshold, at_threshold
from samekind.flow import DIFFERENT, FloatArray, IntArray, Pairs
from samekind.points import Points, RecordPoints

__all__ = ["Records", "check_records"]


class Records(Folding[RecordsParams]):
    """Finds duplicates: thousands of small clusters."""

    name: ClassVar[str] = "records"
    Params = RecordsParams
    predicts: ClassVar[bool] = True
    compares_records: ClassVar[bool] = True
    n_features: ClassVar[int] = 2  # whether a pair is the audit's, and how likely it is a match

    def __init__(self, points: Points, params: RecordsParams, rng: np.random.Generator) -> None:
        super().__init__(points, params, rng)
        self.records = check_records(points, self.name)
        self._scores = PairScores(
            self.records,
            error_rate=params.first_rate,
            estimates=params.error_rate == "estimate",
            seed=int(rng.integers(2**31)),
        )
        self._luck = rng.random(2**12)
        self._audit_key = int(rng.integers(2**62))
        self.fold(NOTHING)

    # Folding

    def fold(self, answers: Answered) -> None:
        """Start anew from these answers."""
        self._state = RecordState(self._scores, self.params, self._audit_key, answers)

    def apply(self, answers: Answered) -> None:
        """Take in more answers."""
        before = self._state
        joined = before.answered.plus(answers)
        self._state = RecordState(self._scores, self.params, self._audit_key, joined, before)

    def expect(self, pairs: Pairs) -> Expected:
        """Return whether each pair is the audit's, and how likely it is a match."""
        state = self._state
        is_audit = np.isin(pair_keys(pairs), pair_keys(state.audit_window))
        chances = state.live.chances(pairs, state.known)
        return np.column_stack([is_audit, chances]).astype(np.float32)

    # Choosing

    def choose(self, n: int, taken: Collection[int] = ()) -> Pairs:
        """Return pairs for the audit as far as it is owed some, then those most worth a question."""
        state, pairs = self._state, self._scores.index.pairs
        wave = Wave(n, state.known, taken)
        ahead = state.audit_window
        n_out = int(np.isin(ahead, list(taken)).all(axis=1).sum())
        wave.add(ahead, state.audit_owed - n_out)
        is_quiet = state.doubts.is_quiet
        if not is_quiet:
            wave.add(pairs[best_first(state.doubts, state.live, state.known, self._luck)])
        if is_quiet or not len(wave):
            wave.add(pairs[likeliest_first(state.live, state.known)])
        return wave.pairs

    def reason_to_stop(self) -> str:
        """Return "exhausted", "target" or "certified", or an empty text."""
        if self._state.is_exhausted:
            return "exhausted"
        target = self.params.target
        if target is not None and len(self._state.recovered) >= target:
            return "target"
        wanted = self.params.stop == "certified" and self._state.audited.size
        return "certified" if wanted and self._state.is_certified else ""

    # What is known

    def known_clusters(self) -> list[list[int]]:
        """Return the records that answers put into each cluster."""
        return [list(rows) for rows in self._state.clusters]

    def cluster_of(self, rows: IntArray) -> IntArray:
        """Return the number of the known cluster of each record, or UNKNOWN."""
        return self._state.cluster_of[rows]

    def rank_clusters(self, row: int) -> list[int]:
        """Return all clusters, those first with the likeliest matches of a record."""
        state = self._state
        known = np.flatnonzero(state.cluster_of >= 0)
        clusters = state.cluster_of[known]
        relation = state.known.relation(np.column_stack([np.full(known.size, row), known]))
        refused = set(clusters[relation == DIFFERENT].tolist())
        numbers, others = self._scores.index.with_row(row)
        near = others[np.argsort(-state.live.odds[numbers], kind="stable")]
        by_size = sorted(range(len(state.clusters)), key=lambda k: -len(state.clusters[k]))
        own = int(state.cluster_of[row])
        ranked = dict.fromkeys([own, *state.cluster_of[near].tolist(), *by_size])
        return [k for k in ranked if k >= 0 and (k == own or k not in refused)]

    def likely_members(self, cluster: int, most: int, taken: Collection[int] = ()) -> IntArray:
        """Return records that are not known, but predicted to be in a cluster, the most doubtful first."""
        state = self._state
        entity = state.entities[state.clusters[cluster][0]]
        rows = np.flatnonzero((state.entities == entity) & (state.cluster_of < 0))
        rows = rows[~np.isin(rows, list(taken))]
        order = np.argsort(self.confidence(rows), kind="stable")
        return np.asarray(rows[order[:most]], dtype=np.intp)

    def confidence(self, rows: IntArray) -> FloatArray:
        """Return how likely each record is in the right entity."""
        return row_confidence(self._state, rows)

    def snapshot(self) -> Snapshot:
        """Return all entities, those that nobody was asked about, too."""
        state = self._state
        is_known = self.params.trusts_answers or not len(state.learnt)
        return entities_as_clusters(
            state, self.records, None if is_known else state.view.error_rate
        )

    # Of pairs

    def match_probabilities(self, pairs: Pairs) -> FloatArray:
        """Return how likely each pair of rows is one entity; 0 for pairs that are no candidates."""
        return self._state.view.chances(pairs, self._state.known)

    def explain(self, a: int, b: int) -> list[FieldEvidence]:
        """Return what each field says of two records; nothing of pairs that are no candidates."""
        number = int(self._scores.index.numbers_of(pair_keys(np.array([[a, b]])))[0])
        if number < 0:
            return []
        return explain(self.records.candidates, self._state.live, number)

    def at_threshold(self, threshold: float) -> AtThreshold:
        """Return the entities if records are put together from this probability on."""
        return at_threshold(self._state, threshold)


NOTHING = Answered(
    pairs=np.empty((0, 2), dtype=np.intp),
    answers=np.empty(0, dtype=np.int8),
    who=np.empty(0, dtype=np.intp),
    skipped=np.empty(0, dtype=bool),
    expected=np.empty((0, Records.n_features), dtype=np.float32),
)


def check_records(points: Points, algorithm: str) -> RecordPoints:
    """Return points as records with candidate pairs, or raise an error."""
    if isinstance(points, RecordPoints):
        return points
    raise ValueError(
        f"{algorithm!r} compares records by their fields, and needs pairs of them that may be one entity, "
        f"got {points!r}. Pass samekind.load(path, records=True), or RecordPoints of your own."
    )
