"""A row whose cluster is being asked for."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from samekind.algorithms.focused.scheduler import Aim
from samekind.algorithms.focused.scoring import Features, Scores

__all__ = ["OpenRow"]


class OpenRow:
    """A row that was drawn with an aim, what was answered about it, and its cluster in the end."""

    def __init__(self, row: int, x: NDArray[np.float64], predicted: int, aim: Aim) -> None:
        self.row = row
        self.x = x
        self.predicted = predicted
        self.aim: Aim = aim
        self.cluster: int | None = None  # GIVEN_UP when nobody can tell
        self.is_new = False
        self.n_asked = 0  # questions; a line-up is one
        self.n_unsure = 0
        self.asked: dict[int, list[int]] = {}  # members asked about, by cluster
        self.refused: list[int] = []  # clusters it is not in
        self.unsure_clusters: set[int] = set()  # nobody can tell of any of their members
        self.weights = np.zeros(0)  # of each cluster, up to a factor,
        self.new_weight = 1.0  # and of "new"
        self.prior = np.zeros(0)  # probability of each cluster before the first answer
        self.features: Features

    def asked_rows(self) -> set[int]:
        """Return the rows it was compared with."""
        return {member for members in self.asked.values() for member in members}

    def set_scores(self, scores: Scores, i: int) -> None:
        """Set how likely each cluster is: row i of the scores."""
        self.weights, self.new_weight = scores.weights[i], float(scores.new_weights[i])
        if not self.n_asked:
            self.features = scores.features[0][i], scores.features[1][i]
            self.prior = scores.probabilities[i]

    def prior_of_others(self) -> NDArray[np.float64]:
        """Return its prior without the clusters that refused it."""
        prior = self.prior
        if refused := [cluster for cluster in self.refused if cluster < prior.size]:
            left = 1.0 - prior[refused].sum()
            prior = prior.copy()
            prior[refused] = 0.0
            if self.is_new and left > 0:
                prior /= left
        return prior
