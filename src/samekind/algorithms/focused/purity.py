"""How pure the predicted clusters are: trials with rows drawn from each of them."""

from __future__ import annotations

import numpy as np
from scipy.special import betaincinv

from samekind.algorithms.focused import constants as const

__all__ = ["PurityTrials"]


class PurityTrials:
    """For each cluster the rows predicted to be in it that were asked about, and where they were indeed.

    A trial is a row drawn from those predicted to be in a cluster, in proportion to its distance from their
    mean. It fails if the row is in another cluster.
    """

    def __init__(self) -> None:
        self.made = np.zeros(16, dtype=np.intp)
        self.n_made = 0
        self.priority: list[float] = []
        """How near each cluster is to being found pure."""
        self._weight: list[float] = []
        self._failed: list[float] = []
        self._went: list[dict[int, float]] = []  # failures by their true cluster

    def add_cluster(self) -> None:
        """Make room for a new cluster."""
        self._went.append({})
        self._weight.append(0.0)
        self._failed.append(0.0)
        self.priority.append(0.0)
        if len(self._went) > self.made.size:
            self.made = np.pad(self.made, (0, self.made.size))

    def add(self, predicted: int, cluster: int) -> None:
        """Add a trial of the cluster `predicted`, with a row that is in `cluster`."""
        self.add_missing(predicted)
        decay = const.TRIAL_DECAY
        self._weight[predicted] = decay * self._weight[predicted] + 1
        self._failed[predicted] = decay * self._failed[predicted] + (cluster != predicted)
        self._prioritise(predicted)
        went = self._went[predicted]
        for other in went:
            went[other] *= decay
        if cluster != predicted:
            went[cluster] = went.get(cluster, 0.0) + 1

    def add_missing(self, predicted: int) -> None:
        """Count a trial for which there was no row."""
        self.made[predicted] += 1
        self.n_made += 1

    def merge(self, keep: int, gone: int) -> None:
        """Make one cluster part of another: rows that went from the one to the other did not fail."""
        for column in (self.made, self._weight, self._failed):
            column[keep] += column[gone]
            column[gone] = 0
        for went in self._went:
            if gone in went:
                went[keep] = went.get(keep, 0.0) + went.pop(gone)
        for other, weight in self._went[gone].items():
            self._went[keep][other] = self._went[keep].get(other, 0.0) + weight
        self._failed[keep] -= min(self._failed[keep], self._went[keep].pop(keep, 0.0))
        self._went[gone] = {}
        self._prioritise(keep)
        self._prioritise(gone)

    def _prioritise(self, cluster: int) -> None:
        self.priority[cluster] = self._weight[cluster] - const.FAILURE_COST * self._failed[cluster]

    def foreign_share(self, cluster: int) -> float:
        """Return an upper estimate of the share of trials that fail: a quantile of Jeffreys' posterior."""
        failed = self._failed[cluster]
        passed = self._weight[cluster] - failed
        return float(betaincinv(failed + 0.5, passed + 0.5, const.PURITY_QUANTILE))

    def center_error(self, cluster: int, n_rows: int, n_members: int) -> float:
        """Return the relative squared error of the mean of the rows predicted to be in a cluster, estimated.

        If a share f of the trials fails, foreign rows move the mean by at most f times the mean distance from
        it, so by f² of the mean squared distance or less. Members are not foreign: their share of the rows
        counts as tried.
        """
        if n_rows == 0 or n_members == 0:
            return np.inf
        return (self.foreign_share(cluster) * max(0.0, 1 - n_members / n_rows)) ** 2

    def confused_with(self, cluster: int) -> list[int]:
        """Return the clusters that at least a quarter of this one's trials were in."""
        if self.made[cluster] < const.CONFUSED_TRIALS:
            return []
        return [
            other
            for other, weight in sorted(self._went[cluster].items())
            if weight >= const.CONFUSED_SHARE * self._weight[cluster]
        ]
