"""How likely each kind is for a row: a choice model, learnt from the answers.

A row chooses among the known kinds and "new". Each alternative has a few features (how near its members
are, what the other voices say), and the chance of an alternative grows with the exponential of their
weighted sum: a conditional logit. The weights start from a prior and follow the answers, so that on each
data set the voices that turn out right are heard, and "new" is as likely as it has proved to be.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from samekind.algorithms.focused import _kernels

__all__ = ["NEARNESS", "Choice"]

# How near the nearest member is, relative to the nearest of all; discriminant; graph; size of the kind.
NEARNESS, DISCRIMINANT, GRAPH, SIZE = range(4)
# "New": always; log distance to the nearest member of all, relative to the scale of the data; graph.
NEW, FAR, UNREACHED = range(4, 7)

PRIOR = np.array([8.0, 0.5, 1.0, 0.2, 0.0, 4.0, 0.7])
DOUBT = np.array([4.0, 0.4, 0.5, 0.3, 3.0, 3.0, 0.5])  # standard deviations of the prior
MEMORY = 0.998  # what stays of the certainty about the weights with each answer
LOWEST = np.where(
    np.arange(PRIOR.size) <= GRAPH, np.maximum(PRIOR - 3 * DOUBT, 0.0), PRIOR - 3 * DOUBT
)
HIGHEST = PRIOR + 3 * DOUBT


class Choice:
    """The weights, and how certain they are."""

    def __init__(self) -> None:
        self.weights = PRIOR.copy()
        self._prior = np.diag(DOUBT**-2.0)
        self._certainty = self._prior.copy()

    def utilities(self, features: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the utility of each kind, (..., kinds), from features (..., kinds, 4)."""
        found: NDArray[np.float64] = features @ self.weights[:NEW]
        return found

    def utility_of_new(self, features: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the utility of being new, (...,), from features (..., 3)."""
        found: NDArray[np.float64] = features @ self.weights[NEW:]
        return found

    def learn(
        self,
        of_kinds: NDArray[np.float64],
        of_new: NDArray[np.float64],
        alive: NDArray[np.bool_],
        chosen: int | NDArray[np.float64],
    ) -> None:
        """Take in that a row with features (kinds, 4) and (3,) is of kind `chosen`, or new (-1).

        Or the chances of each kind and of being new, (kinds + 1,), where it is not certain.
        One Newton step on the likelihood of this row, with the certainty gathered so far as its metric.
        """
        if isinstance(chosen, int):
            target = np.zeros(len(of_kinds) + 1)
            target[chosen] = 1.0
        else:
            target = chosen
        _kernels.learn(
            self.weights,
            self._prior,
            self._certainty,
            of_kinds,
            of_new,
            alive,
            target,
            LOWEST,
            HIGHEST,
            MEMORY,
        )
