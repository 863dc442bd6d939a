"""How pure the predicted clusters are: trials with rows drawn uniformly from each of them."""

from __future__ import annotations

import numpy as np
from scipy.special import betaincinv

__all__ = ["Trials"]

MEMORY = 0.95  # predictions improve with every failure, so trials count less with age
SURE = 0.9


class Trials:
    """For each kind, rows predicted to be of it that were asked about, and of what kind they were."""

    def __init__(self) -> None:
        self.made = np.zeros(16, dtype=np.intp)
        self.n_made = 0
        self.promise: list[float] = []
        """How near each kind is to being found pure; failures count more than successes."""
        self._weight: list[float] = []
        self._failed: list[float] = []
        self._went: list[dict[int, float]] = []  # failures by their true kind

    def found(self) -> None:
        """Make room for a new kind."""
        self._went.append({})
        self._weight.append(0.0)
        self._failed.append(0.0)
        self.promise.append(0.0)
        if len(self._went) > self.made.size:
            self.made = np.pad(self.made, (0, self.made.size))

    def add(self, predicted: int, kind: int) -> None:
        """Take in a row drawn uniformly from those predicted to be of a kind."""
        self.miss(predicted)
        self._weight[predicted] = MEMORY * self._weight[predicted] + 1
        self._failed[predicted] = MEMORY * self._failed[predicted] + (kind != predicted)
        self._promise(predicted)
        went = self._went[predicted]
        for other in went:
            went[other] *= MEMORY
        if kind != predicted:
            went[kind] = went.get(kind, 0.0) + 1

    def miss(self, predicted: int) -> None:
        """Count a trial for which there was no row."""
        self.made[predicted] += 1
        self.n_made += 1

    def merge(self, keep: int, gone: int) -> None:
        """Note that two kinds are one."""
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
        self._promise(keep)
        self._promise(gone)

    def _promise(self, kind: int) -> None:
        self.promise[kind] = self._weight[kind] - 4 * self._failed[kind]

    def foreign(self, kind: int) -> float:
        """Return an upper estimate of the share of foreign rows among those predicted to be of a kind.

        The 90 % quantile of Jeffreys' posterior.
        """
        good = self._weight[kind] - self._failed[kind]
        return float(betaincinv(self._failed[kind] + 0.5, good + 0.5, SURE))

    def error(self, kind: int, held: int, members: int) -> float:
        """Return the estimated relative error of the mean of `held` rows predicted to be of a kind.

        Trials are drawn in proportion to the distance from the mean. If a share f of such draws is foreign,
        foreign rows move the mean by at most f times the mean distance, which is f² of the mean squared
        distance or less. Members are not foreign; their share of the rows counts as tried.
        """
        if held == 0 or members == 0:
            return np.inf
        return (self.foreign(kind) * max(0.0, 1 - members / held)) ** 2

    def muddled(self, kind: int) -> list[int]:
        """Return the kinds that at least a quarter of the rows predicted to be of a kind are of."""
        if self.made[kind] < 8:
            return []
        return [
            other
            for other, weight in sorted(self._went[kind].items())
            if weight >= 0.25 * self._weight[kind]
        ]
