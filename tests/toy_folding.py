"""A small algorithm that folds: for tests of what is around it.

Rows that were called the same are a cluster; so is a row that every cluster before it refused. Other rows
are in the cluster of the nearest known row.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from samekind.algorithms import (
    UNKNOWN,
    Answered,
    Certificate,
    Folding,
    Params,
    Prediction,
    Snapshot,
)
from samekind.flow import DIFFERENT, SAME


@dataclass(frozen=True, kw_only=True)
class ToyParams(Params):
    error_rate: float | None = None

    @property
    def trusts_answers(self) -> bool:
        return self.error_rate is None


class Toy(Folding[ToyParams]):
    name = "toy"
    Params = ToyParams
    predicts = True
    n_features = 2

    def __init__(self, points, params, rng):
        super().__init__(points, params, rng)
        self.X = points.rows(np.arange(points.n))
        self.order = rng.permutation(points.n)
        self.n_folds = 0
        self._reset()

    def _reset(self):
        self.answers = {}  # (a, b): answer, by whom
        self.n_expected = 0
        self.members, self.place, self.refused, self.asked = [], {}, {}, set()

    def fold(self, answers: Answered) -> None:
        self.n_folds += 1
        self._reset()
        self.apply(answers)

    def apply(self, answers: Answered) -> None:
        assert answers.expected.shape == (len(answers.pairs), self.n_features)
        self.n_expected += int((~np.isnan(answers.expected[:, -1])).sum())
        for (a, b), said, who in zip(
            answers.pairs.tolist(), answers.answers.tolist(), answers.who.tolist(), strict=True
        ):
            self.answers[min(a, b), max(a, b), who] = said
        self._group()

    def _group(self):
        votes = {}
        for (a, b, _), said in self.answers.items():
            if said in (SAME, DIFFERENT):
                votes[a, b] = votes.get((a, b), 0) + (1 if said == SAME else -1)
        rows = sorted({row for pair in votes for row in pair})
        root = {row: row for row in rows}

        def find(row):
            while root[row] != row:
                row = root[row]
            return row

        for (a, b), vote in votes.items():
            if vote > 0:
                root[find(a)] = find(b)
        groups = {}
        for row in rows:
            groups.setdefault(find(row), []).append(row)
        apart = {
            frozenset((find(a), find(b)))
            for (a, b), vote in votes.items()
            if vote < 0 and find(a) != find(b)
        }
        known = []
        for key, members in sorted(groups.items(), key=lambda item: item[1]):
            others = [other for other, _ in known]
            if len(members) > 1 or all(frozenset((key, other)) in apart for other in others):
                known.append((key, members))
        self.members = [members for _, members in known]
        self.place = {row: k for k, members in enumerate(self.members) for row in members}
        self.refused = {
            row: [k for k, (other, _) in enumerate(known) if frozenset((find(row), other)) in apart]
            for row in rows
        }
        self.asked = set(votes) | {(a, b) for a, b, _ in self.answers}

    def expect(self, pairs):
        distance = ((self.X[pairs[:, 0]] - self.X[pairs[:, 1]]) ** 2).sum(axis=1)
        return np.column_stack([distance, np.exp(-distance)]).astype(np.float32)

    def choose(self, n, taken: Collection[int] = ()):
        found = []
        if not self.answers:
            a, b = self.order[:2].tolist()
            return (
                np.array([[a, b]]) if not {a, b} & set(taken) else np.empty((0, 2), dtype=np.intp)
            )
        for row in self.order.tolist():
            if len(found) == n:
                break
            if row in self.place or row in taken:
                continue
            for cluster in self.rank_clusters(row):
                member = self.members[cluster][0]
                if (min(row, member), max(row, member)) not in self.asked:
                    found.append([row, member])
                    break
        return np.array(found, dtype=np.intp).reshape(-1, 2)

    def reason_to_stop(self):
        return "exhausted" if self.answers and len(self.place) == self.points.n else ""

    def known_clusters(self):
        return [list(rows) for rows in self.members]

    def cluster_of(self, rows):
        return np.array([self.place.get(row, UNKNOWN) for row in rows.tolist()], dtype=np.intp)

    def rank_clusters(self, row):
        ruled_out = self.refused.get(row, [])
        means = [self.X[rows].mean(axis=0) for rows in self.members]
        order = np.argsort([((self.X[row] - mean) ** 2).sum() for mean in means], kind="stable")
        return [k for k in order.tolist() if k not in ruled_out]

    def likely_members(self, cluster, most, taken=()):
        rows = np.flatnonzero(self._labels() == cluster)
        rows = [row for row in rows.tolist() if row not in self.place and row not in taken]
        return np.array(rows[:most], dtype=np.intp)

    def confidence(self, rows):
        return np.where(self.cluster_of(rows) >= 0, 1.0, 0.9)

    def _labels(self):
        labels = np.full(self.points.n, -1)
        if not self.members:
            return labels
        known = np.array(sorted(self.place))
        own = np.array([self.place[row] for row in known.tolist()])
        distances = ((self.X[:, None] - self.X[known][None]) ** 2).sum(axis=2)
        return own[distances.argmin(axis=1)]

    def snapshot(self):
        centers = np.array([self.X[rows].mean(axis=0) for rows in self.members])
        labels = self._labels()
        return Snapshot(
            members=self.known_clusters(),
            recovered=list(range(len(self.members))),
            centers=centers.reshape(-1, self.points.d),
            given_up=[],
            n_samples=len(self.place),
            n_rounds=0,
            sampling_seconds=0.0,
            notes=[],
            prediction=Prediction(
                labels=lambda known: known.of_rows(labels),
                certificate=Certificate(0.95, 1.0, 1.0, 0, 0, 0),
            ),
        )
