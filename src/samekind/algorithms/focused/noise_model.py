"""What noisy answers are worth: their likelihoods, and how often annotators err."""

from __future__ import annotations

from collections.abc import Iterator
from math import log

import numpy as np

from samekind.algorithms.focused import _kernels
from samekind.algorithms.focused import constants as const
from samekind.algorithms.state import ClusterState
from samekind.flow import SAME, FloatArray

__all__ = ["NoiseModel", "RowAnswer"]

RowAnswer = tuple[int, int, int]
"""The other row, the answer, and the number of the annotator."""

_EVERYBODY = -1  # stands for all annotators


class NoiseModel:
    """The answers about every row, how certain each row's cluster is, and how often annotators err.

    The error rate of an answer is that of its annotator: a record of right and wrong answers, drawn towards
    the record of all. An answer of somebody who errs more often than not counts against what it says.
    """

    def __init__(self, error_rate: float | str, state: ClusterState) -> None:
        self.is_estimated = error_rate == "estimate"
        self.answers: dict[int, list[RowAnswer]] = {}
        """The answers about each row."""
        self.several = False
        """Whether more than one annotator answered."""
        self.comparisons: set[tuple[int, int]] = set()
        """Pairs of rows that were asked about to compare clusters."""
        self.certainty: dict[int, float] = {}
        """The probability that a row which was asked about is in its cluster."""
        self.priors: dict[int, FloatArray] = {}
        """The prior of each such row: the probabilities of all clusters and of "new", (clusters + 1,)."""
        self._state = state
        self._prior_error = const.PRIOR_ERROR if self.is_estimated else float(error_rate)
        self._prior_answers = const.PRIOR_ERROR_ANSWERS if self.is_estimated else 1e9
        self._n_wrong = np.zeros(4)  # by annotator
        self._n_judged = np.zeros(4)
        self._rates: dict[int, float] = {}  # by annotator, until one is judged

    # Who errs

    def error_rate(self, annotator: int = _EVERYBODY) -> float:
        """Return the share of answers, of one annotator or of all, that seem to be wrong."""
        found = self._rates.get(annotator)
        if found is None:
            found = self._rates[annotator] = self._estimate(annotator)
        return found

    def _estimate(self, annotator: int) -> float:
        if annotator < 0 or annotator >= self._n_wrong.size:
            n_wrong = self._n_wrong.sum() + self._prior_error * self._prior_answers
            share = n_wrong / (self._n_judged.sum() + self._prior_answers)
            return min(max(float(share), const.MIN_ERROR), const.MAX_MEAN_ERROR)
        others = self.error_rate() if self.is_estimated else self._prior_error
        n_wrong = self._n_wrong[annotator] + const.OWN_ANSWERS * others
        share = n_wrong / (self._n_judged[annotator] + const.OWN_ANSWERS)
        if not self.is_estimated and np.count_nonzero(self._n_judged) < 2:
            share = self._prior_error
        return min(max(float(share), const.MIN_ERROR), const.MAX_ERROR)

    def estimate_error_rates(self, n_clusters: int) -> None:
        """Estimate anew how often all annotators err.

        Each answer about a row is held against the posterior of the row's cluster without it.
        """
        self._n_wrong[:] = self._n_judged[:] = 0.0
        self._rates.clear()
        for row, prior in self.priors.items():
            answers = self.answers.get(row, ())
            own, *clusters = self._clusters_of([row, *(other for other, _, _ in answers)])
            logs = np.log(self.extend_prior(prior, n_clusters, own))
            ratios = [
                self._log_ratio(other, answer, who, n_clusters) if cluster >= 0 else 0.0
                for cluster, (other, answer, who) in zip(clusters, answers, strict=True)
            ]
            counts = [
                cluster >= 0 and who >= 0
                for cluster, (_, _, who) in zip(clusters, answers, strict=True)
            ]
            without = np.zeros((len(answers), n_clusters + 1))
            _kernels.leave_one_out(
                logs, np.array(clusters, np.intp), np.array(ratios), np.array(counts, bool), without
            )
            shares = (1 / np.exp(without).sum(axis=1)).tolist()
            for (other, answer, who), share, does in zip(answers, shares, counts, strict=True):
                same = self.certainty.get(other, 1.0) * share
                if does and max(same, 1 - same) >= const.CLEAR:
                    self._judge(who, 1 - same if answer == SAME else same)

    def _judge(self, annotator: int, wrong: float) -> None:
        """Count an answer that is wrong with this probability."""
        while annotator >= self._n_wrong.size:
            self._n_wrong = np.concatenate([self._n_wrong, np.zeros_like(self._n_wrong)])
            self._n_judged = np.concatenate([self._n_judged, np.zeros_like(self._n_judged)])
        self._n_wrong[annotator] += wrong
        self._n_judged[annotator] += 1
        self._rates.clear()

    # Answers

    def observe(self, a: int, b: int, answer: int, annotator: int) -> None:
        """Keep SAME or DIFFERENT about two rows."""
        self.several |= annotator > 0  # 0 is who answered first
        self.answers.setdefault(a, []).append((b, answer, annotator))
        self.answers.setdefault(b, []).append((a, answer, annotator))

    def observe_comparison(self, pair: tuple[int, int], answer: int, annotator: int) -> None:
        """Keep SAME or DIFFERENT about two rows whose clusters are decided."""
        first, second = min(pair), max(pair)
        self.observe(first, second, answer, annotator)
        self.comparisons.add((first, second))

    def answers_by_cluster(self, row: int) -> Iterator[tuple[int, RowAnswer]]:
        """Yield the answers about a row, each after the cluster that the other row is in now."""
        answers = self.answers.get(row, ())
        return zip(self._clusters_of([other for other, _, _ in answers]), answers, strict=True)

    def compared_with(self, row: int) -> set[int]:
        """Return the rows that a row was compared with."""
        return {other for other, _, _ in self.answers.get(row, ())}

    def _clusters_of(self, rows: list[int]) -> list[int]:
        found: list[int] = self._state.cluster_of(np.array(rows, dtype=np.intp)).tolist()
        return found

    # Of which cluster is a row?

    @staticmethod
    def extend_prior(prior: FloatArray, n_clusters: int, cluster: int) -> FloatArray:
        """Return a prior made when there were fewer clusters, with a little for those discovered since.

        If the row's cluster is one of these, as the row founded it, "new" meant to be in it.
        """
        full = np.empty(n_clusters + 1)
        full[: prior.size - 1] = prior[:-1]
        full[prior.size - 1 :] = const.LATER_CLUSTERS / (n_clusters + 1)
        full[cluster if cluster >= prior.size - 1 else -1] = prior[-1]
        return full

    def posterior(self, row: int, prior: FloatArray) -> FloatArray:
        """Return the probability of each cluster, and of "new", (clusters + 1,)."""
        n_clusters = prior.size - 1
        logs = np.zeros(n_clusters + 1)
        for cluster, (other, answer, who) in self.answers_by_cluster(row):
            if cluster >= 0:  # to be in a cluster that came later is to be new
                logs[min(cluster, n_clusters)] += self._log_ratio(other, answer, who, n_clusters)
        logs += np.log(prior)
        found: FloatArray = np.exp(logs - logs.max())
        found /= found.sum()
        return found

    def _log_ratio(self, other: int, answer: int, annotator: int, n_clusters: int) -> float:
        """Return the log ratio of an answer's likelihoods: if a row is in the other's cluster, and if not."""
        error, certainty = self.error_rate(annotator), self.certainty.get(other, 1.0)
        stray = (1.0 - certainty) / max(n_clusters, 2)
        if_same = certainty * (1 - error) + (1 - certainty) * error
        if_not = error + stray * (1 - 2 * error)
        if answer == SAME:
            return log(if_same / if_not)
        return log((1 - if_same) / (1 - if_not))

    # Which clusters are one?

    def log_odds(self, answer: int, annotator: int) -> float:
        """Return the log ratio of an answer's likelihoods if two rows are in one cluster, and in two.

        With an error rate that is higher the less is known of the annotator.
        """
        error = self.error_rate(annotator)
        if self.is_estimated:
            known = 0 <= annotator < self._n_judged.size
            n_answers = (self._n_judged[annotator] if known else 0.0) + const.OWN_ANSWERS
            n_wrong = error * n_answers + const.CAUTION
            error = float(min(n_wrong / (n_answers + const.CAUTION), const.MAX_ERROR))
        odds = log((1 - error) / error)
        return odds if answer == SAME else -odds

    def log_odds_between(self, rows: list[int], cluster: int) -> float:
        """Return the log odds that some rows and those of a cluster are one, by the answers between them.

        Only comparisons count: answers that placed a row would tell that it is different from the cluster
        that refused it, by mistake or not.
        """
        total = 0.0
        for row in rows:
            for its_cluster, (other, answer, who) in self.answers_by_cluster(row):
                if (min(row, other), max(row, other)) not in self.comparisons:
                    continue
                if its_cluster == cluster:
                    least = min(self.certainty.get(row, 1.0), self.certainty.get(other, 1.0))
                    total += (2 * least - 1) * self.log_odds(answer, who)
        return total

    def log_odds_within(self, rows: list[int]) -> list[tuple[int, int, float]]:
        """Return the log odds of each answer among some rows: two places in the list, and the odds."""
        place = {row: k for k, row in enumerate(rows)}
        return [
            (k, place[other], self.log_odds(answer, who))
            for row, k in place.items()
            for other, answer, who in self.answers.get(row, ())
            if other in place and k < place[other]
        ]

    def merge(self, keep: int, gone: int) -> None:
        """Make one cluster part of another, after the state did."""
        for row, prior in self.priors.items():
            if prior.size - 1 > gone:
                prior[keep] += prior[gone]
                prior[gone] = const.IMPOSSIBLE
            elif self._state.cluster_of_row(row) == keep:
                self.certainty.setdefault(row, const.MERGE_ABOVE)
