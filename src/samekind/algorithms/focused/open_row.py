"""A row that is being asked about."""

from __future__ import annotations

import numpy as np

from samekind.algorithms.focused.scheduler import Aim
from samekind.algorithms.focused.scoring import Features
from samekind.flow import FloatArray

__all__ = ["OpenRow"]


class OpenRow:
    """A row that was drawn with an aim, what was answered about it, and its cluster in the end.

    That is GIVEN_UP when nobody can tell, and UNKNOWN when an audit only found out where it is not.
    """

    def __init__(self, row: int, x: FloatArray, predicted: int, aim: Aim) -> None:
        self.row = row
        self.x = x
        self.predicted = predicted
        self.aim: Aim = aim
        self.cluster: int | None = None
        self.is_new = False
        self.is_doubtful = False  # its cluster is little more than a guess
        self.n_asked = 0  # questions; a line-up is one
        self.n_unsure = 0  # answers that were not clear, by its own fault
        self.suspects: list[int] = []  # members that may be at fault as well
        self.asked: dict[int, list[int]] = {}  # members asked about, by cluster
        self.refused: list[int] = []  # clusters it is not in
        self.unsure_clusters: set[int] = set()  # nobody can tell of any of their members
        self.weights = np.zeros(0)  # of each cluster, up to a factor,
        self.new_weight = 1.0  # and of "new"
        self.compare_first = -1  # the row to compare it with before any other
        self.sheet_member = -1  # the row that all on its sheet are compared with
        self.prior = np.zeros(0)  # probability of each cluster before the first answer
        self.features: Features

    def ask_again(self) -> None:
        """Open it again, after nobody could tell: clusters may have other members now."""
        self.unsure_clusters = set()
        self.asked = {}
        self.suspects = []
        self.cluster = None
        self.aim = "refine"

    def prior_of_others(self) -> FloatArray:
        """Return its prior without the clusters that refused it."""
        prior = self.prior
        if refused := [cluster for cluster in self.refused if cluster < prior.size]:
            left = 1.0 - prior[refused].sum()
            prior = prior.copy()
            prior[refused] = 0.0
            if self.is_new and left > 0:
                prior /= left
        return prior
