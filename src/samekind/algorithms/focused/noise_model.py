"""What noisy answers are worth: their likelihoods, and how often annotators err."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from samekind.algorithms.base import Certificate
from samekind.algorithms.focused import _noise_kernels
from samekind.algorithms.focused import constants as const
from samekind.algorithms.focused.annotator_rates import AnnotatorRates
from samekind.algorithms.state import ClusterState
from samekind.flow import SAME, BoolArray, FloatArray, IntArray

__all__ = ["NoiseModel", "RowAnswer"]

RowAnswer = tuple[int, int, int, bool]
"""The other row, the answer, the number of the annotator, and whether clusters were compared by it."""


class NoiseModel:
    """The answers about every row, how certain each row's cluster is, and how often annotators err."""

    def __init__(self, error_rate: float | str, state: ClusterState) -> None:
        self.rates = AnnotatorRates(error_rate)
        self.answers: dict[int, list[RowAnswer]] = {}
        """The answers about each row."""
        self.several = False
        """Whether more than one annotator answered."""
        self.certainty: dict[int, float] = {}
        """The probability that a row which was asked about is in its cluster."""
        self.priors: dict[int, FloatArray] = {}
        """The prior of each such row: the probabilities of all clusters and of "new", (clusters + 1,)."""
        self.doubtful: set[int] = set()
        """Rows whose cluster is little more than a guess: what is said of them is no proof of others."""
        self._state = state
        self._annotators = 0

    def review(self, alive: BoolArray, one: FloatArray) -> list[tuple[int, int]]:
        """Judge all answers anew, then where rows are; return the rows that move, and their new clusters.

        Rows that founded a cluster stay. `alive` are the clusters that are not merged into others, `one`
        (clusters, clusters) the chances that two clusters are one.
        """
        rows, flat, clusters, certainty = self._flatten()
        limits = const.LATER_CLUSTERS, const.IMPOSSIBLE
        rates = self.rates.table(self._annotators)
        wrong, judged = np.zeros((2, self._annotators))
        _noise_kernels.judge_answers(
            flat, clusters, certainty, alive, one, rates, *limits, const.CLEAR, wrong, judged
        )
        self.rates.set_record(wrong, judged)
        rates = self.rates.table(self._annotators)
        members = [row for rows in self._state.members for row in rows[1:]]
        places = {row: place for place, row in enumerate(rows)}
        order = np.array([places[row] for row in members if row in self.priors], dtype=np.intp)
        moved = np.zeros(len(rows), dtype=bool)
        _noise_kernels.move_rows(
            order, flat, clusters, certainty, alive, rates, *limits, const.MOVE_ABOVE, moved
        )
        for place in order.tolist():
            self.certainty[rows[place]] = float(certainty[place])
        return [(rows[place], int(clusters[place])) for place in np.flatnonzero(moved).tolist()]

    def _flatten(self) -> tuple[list[int], tuple[NDArray[Any], ...], IntArray, FloatArray]:
        """Return all rows that something is known of, and this as arrays that compiled loops take."""
        rows = sorted(self.answers.keys() | self.priors.keys())
        places = {row: place for place, row in enumerate(rows)}
        answers = [self.answers.get(row, ()) for row in rows]
        flat_answers = np.array([answer for own in answers for answer in own], dtype=np.intp)
        others, said, who, compares = flat_answers.reshape(-1, 4).T.copy()
        first = np.cumsum([0, *(len(own) for own in answers)])
        nothing = np.zeros(0)
        priors = [self.priors.get(row, nothing) for row in rows]
        starts = np.cumsum([0, *(prior.size for prior in priors)])
        places_of_others = np.array([places[row] for row in others.tolist()], dtype=np.intp)
        flat = (
            first,
            places_of_others,
            said,
            who,
            compares,
            starts,
            np.concatenate([nothing, *priors]),
        )
        clusters = self._state.cluster_of(np.array(rows, dtype=np.intp))
        certainty = np.array([self.certainty.get(row, 1.0) for row in rows])
        return rows, flat, clusters, certainty

    # Answers

    def observe(
        self, a: int, b: int, answer: int, annotator: int, *, compares: bool = False
    ) -> None:
        """Keep SAME or DIFFERENT about two rows; `compares` if their clusters are decided."""
        self.several |= annotator > 0  # 0 is who answered first
        self._annotators = max(self._annotators, annotator + 1)
        self.answers.setdefault(a, []).append((b, answer, annotator, compares))
        self.answers.setdefault(b, []).append((a, answer, annotator, compares))

    def answers_by_cluster(self, row: int) -> Iterator[tuple[int, RowAnswer]]:
        """Yield the answers about a row, each after the cluster that the other row is in now."""
        answers = self.answers.get(row, ())
        return zip(self._clusters_of([answer[0] for answer in answers]), answers, strict=True)

    def compared_with(self, row: int) -> set[int]:
        """Return the rows that a row was compared with."""
        return {answer[0] for answer in self.answers.get(row, ())}

    def is_confirmed(self, row: int, cluster: int) -> bool:
        """Return whether anybody said that a row is the same as one of a cluster."""
        return any(
            answer == SAME and other == cluster
            for other, (_, answer, _, _) in self.answers_by_cluster(row)
        )

    def _clusters_of(self, rows: list[int]) -> list[int]:
        found: list[int] = self._state.cluster_of(np.array(rows, dtype=np.intp)).tolist()
        return found

    # Of which cluster is a row?

    def posterior(self, row: int, prior: FloatArray) -> FloatArray:
        """Return the probability of each cluster, and of "new", (clusters + 1,)."""
        n_clusters = prior.size - 1
        logs = np.zeros(n_clusters + 1)
        for cluster, (other, answer, who, _) in self.answers_by_cluster(row):
            if cluster >= 0:  # to be in a cluster that came later is to be new
                logs[min(cluster, n_clusters)] += self._log_ratio(other, answer, who, n_clusters)
        logs += np.log(prior)
        found: FloatArray = np.exp(logs - logs.max())
        found /= found.sum()
        return found

    def _log_ratio(self, other: int, answer: int, annotator: int, n_clusters: int) -> float:
        """Return the log ratio of an answer's likelihoods: if a row is in the other's cluster, and if not."""
        certainty = self.certainty.get(other, 1.0)
        ratio: float = _noise_kernels.log_ratio(
            answer, certainty, n_clusters, self.rates.of(annotator)
        )
        return ratio

    # Which clusters are one?

    def log_odds_between(self, rows: list[int], cluster: int) -> tuple[float, float]:
        """Return the log odds that some rows and those of a cluster are one, by the answers between them.

        And how much these weigh, whatever they say.

        Only comparisons count: answers that placed a row would tell that it is different from the cluster
        that refused it, by mistake or not.
        """
        total = weight = 0.0
        for row in rows:
            for its_cluster, (other, answer, who, compares) in self.answers_by_cluster(row):
                if compares and its_cluster == cluster and not {row, other} & self.doubtful:
                    odds = self.rates.log_odds(answer, who, const.IMPURITY)
                    total += odds
                    weight += abs(odds)
        return total, weight

    def pairs_called_one(self) -> list[tuple[int, int, float]]:
        """Return the pairs of clusters that answers speak for being one, (a, b, log odds).

        Here answers that placed a row count as well, if they say SAME: between two clusters these are the
        first sign that they are one.
        """
        rows, (first, others, said, who, compares, _, _), clusters, _ = self._flatten()
        clusters[[place for place, row in enumerate(rows) if row in self.doubtful]] = -1
        of = np.repeat(np.arange(first.size - 1), np.diff(first))
        a, b = clusters[of], clusters[others]
        counts = (a >= 0) & (a < b) & ((said == SAME) | (compares > 0))
        if not counts.any():
            return []
        of, others, said, who, a, b = (column[counts] for column in (of, others, said, who, a, b))
        # the last one is that of who is not known, and has the number -1
        odds_of = np.array(
            [
                self.rates.log_odds(SAME, annotator, const.IMPURITY)
                for annotator in (*range(self._annotators), -1)
            ]
        )
        odds = np.where(said == SAME, 1.0, -1.0) * odds_of[who]
        width = int(b.max()) + 1
        keys, places = np.unique(a * width + b, return_inverse=True)
        sums = np.bincount(places, odds)
        return [
            (key // width, key % width, float(total))
            for key, total in zip(keys.tolist(), sums, strict=True)
            if total > 0
        ]

    def log_odds_within(self, rows: list[int]) -> list[tuple[int, int, float]]:
        """Return the log odds of each answer among some rows: two places in the list, and the odds."""
        place = {row: k for k, row in enumerate(rows)}
        return [
            (k, place[other], self.rates.log_odds(answer, who))
            for row, k in place.items()
            for other, answer, who, _ in self.answers.get(row, ())
            if other in place and k < place[other]
        ]

    def log_odds_across(self, part: list[int], rest: list[int]) -> float:
        """Return the log odds that two groups of rows are one, by all answers between them."""
        others = set(rest)
        return sum(
            self.rates.log_odds(answer, who)
            for row in part
            for other, answer, who, _ in self.answers.get(row, ())
            if other in others
        )

    # What can be promised?

    def loosen(self, promise: Certificate, n_rows: int) -> Certificate:
        """Return what can be promised of so many rows, as answers may be wrong.

        A row that is not as predicted passes for one that is with up to two wrong answers, so that the audit
        sees a part of what is wrong. To that come the rows that were asked about, each as likely misplaced as
        it is uncertain, with two standard deviations.
        """
        seen = max(1.0 - 2.0 * self.rates.of(), const.LEAST_SEEN)
        doubts = 1.0 - np.array([*self.certainty.values(), 1.0])
        misplaced = doubts.sum() + 2.0 * np.sqrt((doubts * (1.0 - doubts)).sum())
        more = misplaced / n_rows
        return replace(
            promise,
            undiscovered=min(1.0, promise.undiscovered / seen),
            wrong=min(1.0, promise.wrong / seen + more),
            wrong_at_any_time=min(1.0, promise.wrong_at_any_time / seen + more),
        )

    def merge(self, keep: int, gone: int) -> None:
        """Make one cluster part of another, after the state did."""
        for row, prior in self.priors.items():
            if prior.size - 1 > gone:
                prior[keep] += prior[gone]
                prior[gone] = const.IMPOSSIBLE
            elif self._state.cluster_of_row(row) == keep:
                self.certainty.setdefault(row, const.MERGE_ABOVE)
