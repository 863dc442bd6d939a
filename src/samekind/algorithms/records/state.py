"""All that follows from the answers that stand; what is costly is derived when somebody needs it."""

from __future__ import annotations

from functools import cached_property
from math import ceil

import numpy as np
from numpy.typing import NDArray

from samekind.algorithms.folding import Answered
from samekind.algorithms.records.audit import certify, line_up, next_pairs
from samekind.algorithms.records.certificate import PairCertificate
from samekind.algorithms.records.clustering import pair_keys
from samekind.algorithms.records.known_pairs import KnownPairs
from samekind.algorithms.records.params import RecordsParams
from samekind.algorithms.records.questions import Doubts, find_doubts
from samekind.algorithms.records.scores import PairScores, View
from samekind.algorithms.state import UNKNOWN
from samekind.flow import IntArray

__all__ = ["RecordState"]

REFIT = 7  # one more answer in so many, and questions are chosen with a new model;
FEWEST = 5  # not for fewer
QUIET_AUDIT = 0.5  # share of questions for the certificate once nothing is in doubt,
ENOUGH_AUDITED = 400  # until there are so many
SPARE = 2  # pairs of the audit beyond those owed: between question and answer, others are answered


class RecordState:
    """What is known after some answers, in whatever order they came.

    Parameters
    ----------
    scores : PairScores
        The model of pairs.
    params : RecordsParams
        The parameters of the run.
    audit_key : int
        Of the audit's random numbers.
    answered : Answered
        All answers that stand.
    before : RecordState or None
        The state before the last answers: its model still chooses questions if they are few.
    """

    def __init__(
        self,
        scores: PairScores,
        params: RecordsParams,
        audit_key: int,
        answered: Answered,
        before: RecordState | None = None,
    ) -> None:
        self._scores = scores
        self._params = params
        self._audit_key = audit_key
        self.answered = answered
        pairs, answers = answered.pairs, answered.answers
        keys = pair_keys(pairs)
        self.audited: NDArray[np.int64] = np.unique(keys[answered.expected[:, 0] == 1])
        """The keys of the pairs that were asked about for the audit."""
        infers = params.trusts_answers
        self.known = KnownPairs(scores.index, pairs, answers, infers=infers)
        """All answers."""
        self.learnt = self.known
        """Those that are not the audit's: what the model learns from."""
        if self.audited.size:
            own = ~np.isin(keys, self.audited)
            self.learnt = KnownPairs(scores.index, pairs[own], answers[own], infers=infers)
        self._basis = self
        if before is not None:
            basis = before._basis
            if len(self.learnt) - len(basis.learnt) < max(FEWEST, len(basis.learnt) // REFIT):
                self._basis = basis

    # What leaves the process: from a model that has learnt from all answers

    @cached_property
    def view(self) -> View:
        """What the model says that has learnt from all answers but the audit's."""
        return self._scores.look(self.learnt)

    @cached_property
    def entities(self) -> IntArray:
        """(n,) by the model and all answers."""
        return self.view.entities_with(self.known)

    @property
    def is_exhausted(self) -> bool:
        """Whether every candidate pair was asked about, or follows from answers."""
        return bool(self.known.decided.all())

    @cached_property
    def cluster_of(self) -> IntArray:
        """(n,) the known cluster of each record, by the smallest row of each; or UNKNOWN."""
        known = self.known
        rows = np.unique(known.pairs[known.votes != 0])
        group = known.root if known.infers else self.entities
        if self.is_exhausted:
            rows, group = np.arange(len(known.root)), self.entities
        _, first, place = np.unique(group[rows], return_index=True, return_inverse=True)
        found = np.full(len(known.root), UNKNOWN)
        found[rows] = np.argsort(np.argsort(first))[place]
        return found

    @cached_property
    def clusters(self) -> list[list[int]]:
        """The records of each known cluster."""
        rows = np.flatnonzero(self.cluster_of >= 0)
        clusters = self.cluster_of[rows]
        order = np.argsort(clusters, kind="stable")
        ends = np.cumsum(np.bincount(clusters))
        return [part.tolist() for part in np.split(rows[order], ends[:-1])] if rows.size else []

    @property
    def recovered(self) -> list[int]:
        """The clusters in which answers tie two records and more together; in the end, all.

        Of those that are predicted to be one entity, the first.
        """
        first: dict[int, int] = {}
        for cluster, rows in enumerate(self.clusters):
            first.setdefault(int(self.entities[rows[0]]), cluster)
        tied = [rows for rows in self.clusters if len(rows) > 1 or self.is_exhausted]
        return sorted({first[int(self.entities[rows[0]])] for rows in tied})

    @property
    def is_certified(self) -> bool:
        """Whether the bounds that hold at any time are within the tolerance."""
        live = certify(self.live, self.known, self.audited, self.live.entities, self._audit_key)
        tolerance = self._params.tolerance
        return live.at_any_time <= tolerance and self.certificate().at_any_time <= tolerance

    def certificate(self, entities: IntArray | None = None) -> PairCertificate:
        """Return what the audit promises of entities that were learnt without it."""
        if self.is_exhausted and self.known.infers:
            n_unsure = int(np.count_nonzero(self.known.votes == 0))
            return PairCertificate(1.0, 0.0, 0.0, len(self.known), 0, 0, n_unsure, 0.0, 0, 0.0)
        own = self.view.entities if entities is None else entities
        return certify(self.view, self.known, self.audited, own, self._audit_key)

    # What questions are chosen with: the model may be a few answers behind

    @property
    def live(self) -> View:
        """What the model says that questions are chosen with."""
        return self._basis.view

    @cached_property
    def _queues(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        return line_up(self.view, self._audit_key)

    @cached_property
    def doubts(self) -> Doubts:
        """The open pairs, and what the model says of them."""
        return find_doubts(self.live, self.known)

    @cached_property
    def audit_owed(self) -> int:
        """How many questions now are the audit's, so that it has its share of all."""
        share, n_audited = self._params.audit, self.audited.size
        if share and n_audited < ENOUGH_AUDITED and self.doubts.is_quiet:
            share = max(share, QUIET_AUDIT)
        owed = (share * len(self.known) - n_audited) / max(1 - share, 1e-3)
        return max(ceil(owed - 1e-9), 0)

    @cached_property
    def audit_window(self) -> NDArray[np.int64]:
        """The pairs that are the audit's if they are asked about now, in its order."""
        most = self.audit_owed + SPARE if self._params.audit else 0
        return next_pairs(self._basis._queues, self.known, self.audited.size, most)
