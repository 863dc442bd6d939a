"""How likely a row is of each cluster, or new: a conditional logit, learnt online."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from samekind.algorithms.focused import _kernels
from samekind.algorithms.focused import constants as const

__all__ = ["ConditionalLogit"]


class ConditionalLogit:
    """P(cluster) ∝ exp(weights · features), with "new" as one more alternative.

    The weights start from a normal prior and follow the answers, so that each data set relies on the features
    that prove right there, and "new" is as likely as it has proved to be.
    """

    def __init__(self) -> None:
        self.weights = const.PRIOR_WEIGHTS.copy()
        self._prior = np.diag(const.PRIOR_DEVIATIONS**-2.0)
        self._precision = self._prior.copy()

    def utilities(self, features: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the utility of each cluster, (..., clusters), from features (..., clusters, 4)."""
        found: NDArray[np.float64] = features @ self.weights[: const.NEW]
        return found

    def utility_of_new(self, features: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the utility of "new", (...,), from features (..., 3)."""
        found: NDArray[np.float64] = features @ self.weights[const.NEW :]
        return found

    def learn(
        self,
        of_clusters: NDArray[np.float64],
        of_new: NDArray[np.float64],
        alive: NDArray[np.bool_],
        target: int | NDArray[np.float64],
    ) -> None:
        """Make one Newton step towards the true cluster of a row with features (clusters, 4) and (3,).

        `target` is its number, -1 for "new", or, where it is uncertain, the probabilities of all clusters and
        of "new", (clusters + 1,). `alive` tells which clusters were not merged into others.
        """
        if isinstance(target, int):
            number, target = target, np.zeros(len(of_clusters) + 1)
            target[number] = 1.0
        _kernels.newton_step(
            self.weights,
            self._prior,
            self._precision,
            of_clusters,
            of_new,
            alive,
            target,
            const.MIN_WEIGHTS,
            const.MAX_WEIGHTS,
            const.LOGIT_DECAY,
        )
