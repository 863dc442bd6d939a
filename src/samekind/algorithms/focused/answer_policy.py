"""How answers decide the clusters of rows, and which clusters are one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from itertools import islice, product

import numpy as np
from numpy.typing import NDArray

from samekind.algorithms.focused.constants import MEMBER_PAIRS, NEW_BELOW
from samekind.algorithms.focused.learner import Learner
from samekind.algorithms.focused.params import FocusedParams
from samekind.algorithms.focused.scheduler import Aim
from samekind.algorithms.focused.scoring import Features, Scores
from samekind.algorithms.state import GIVEN_UP
from samekind.flow import SAME, Flow

__all__ = ["AnswerPolicy", "OpenRow", "TrustedAnswers"]


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


class AnswerPolicy(ABC):
    """How answers decide the clusters of rows, and which clusters are one.

    There is one policy for trusted and one for noisy answers. All else, such as which rows are drawn and how
    waves of questions are made, is the same for both.
    """

    compares_in_waves: bool
    """Whether several pairs of clusters may be compared at once."""

    # Rows

    @abstractmethod
    def next_question(self, open_row: OpenRow) -> tuple[int, int] | None:
        """Return the cluster to ask about next, and a member of it.

        None when no question is left: then the row's cluster is set, or it is new if that is still None.
        """

    @abstractmethod
    def next_member(self, open_row: OpenRow, cluster: int) -> int:
        """Return the member of a cluster to ask about next; -1 if none is left."""

    @abstractmethod
    def probabilities(self, open_row: OpenRow) -> NDArray[np.float64]:
        """Return the probability of each cluster after the answers so far; the rest to 1 is that of "new"."""

    @abstractmethod
    def observe(self, open_row: OpenRow, cluster: int, member: int, answer: int, who: int) -> None:
        """Take SAME or DIFFERENT about a row and a member of a cluster into account, and who said it."""

    @abstractmethod
    def target(self, open_row: OpenRow) -> int | NDArray[np.float64]:
        """Return what a row, whose cluster is decided, teaches the `ConditionalLogit`."""

    # Pairs of clusters

    @abstractmethod
    def member_pairs(self, a: int, b: int) -> Iterator[tuple[int, int]]:
        """Yield pairs of members whose answers tell whether two clusters are one, best first."""

    @abstractmethod
    def observe_pair(self, a: int, b: int, pair: tuple[int, int], answer: int, who: int) -> None:
        """Take SAME or DIFFERENT about members of two clusters into account, and who said it."""

    def decide_pair(self, similarity: float, a: int, b: int) -> bool:
        """Merge or separate two clusters if the answers so far suffice; return whether they do."""
        return False

    # The run

    def may_fill(self) -> bool:
        """Return whether it is time to make centres accurate."""
        return True

    def should_confirm(self) -> bool:
        """Return whether clusters are to be confirmed before anything else."""
        return False

    def draw_to_confirm(self) -> int:
        """Draw a row that confirms a cluster; -1 if there is none."""
        return -1

    @abstractmethod
    def revise(self, n_rows: int) -> None:
        """Review earlier decisions, now and then, after the clusters of so many rows were decided."""

    def check_answers(self) -> Flow[None]:
        """Ask about pairs of rows to learn who errs."""
        yield from ()

    def certainty(self, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return how certain it is that rows which were asked about are in their clusters; 1 for others."""
        return np.ones(rows.size)

    def error_rate(self) -> float | None:
        """Return the share of answers that seem to be wrong; None where none can be."""
        return None

    def notes(self) -> list[str]:
        """Return what the user should know about the answers."""
        return []


class TrustedAnswers(AnswerPolicy):
    """Ask the likeliest cluster that did not refuse a row, until one holds it or it is to be called new."""

    compares_in_waves = True

    def __init__(self, params: FocusedParams, learner: Learner) -> None:
        self._learner = learner
        self._members = learner.state.members
        self._lazy = params.certify == "lazy"

    def next_question(self, open_row: OpenRow) -> tuple[int, int] | None:
        """Return the likeliest cluster that is left, and a member of it."""
        cluster = self._candidate(open_row)
        if cluster >= 0:
            return cluster, self.next_member(open_row, cluster)
        if open_row.unsure_clusters:
            open_row.cluster = GIVEN_UP
        return None

    def _candidate(self, open_row: OpenRow) -> int:
        weights = open_row.weights
        out = [*open_row.refused, *open_row.unsure_clusters]
        if out:
            weights[out] = 0.0
        if not weights.size:
            return -1
        best = int(weights.argmax())
        if not weights[best] > 0:
            return -1
        if open_row.refused and self._lazy:
            rest = float(weights.sum())
            if rest < NEW_BELOW * (rest + open_row.new_weight):
                return -1
        return best

    def next_member(self, open_row: OpenRow, cluster: int) -> int:
        """Return the nearest member that is a site, or after an UNSURE answer any other."""
        asked = open_row.asked.get(cluster)
        if not asked:
            return self._learner.model.sites.nearest_member(open_row.x, cluster)
        return next(member for member in self._members[cluster] if member not in asked)

    def probabilities(self, open_row: OpenRow) -> NDArray[np.float64]:
        """Return the probability of each cluster that did not refuse the row."""
        weights = open_row.weights
        found: NDArray[np.float64] = weights / (weights.sum() + open_row.new_weight)
        return found

    def observe(self, open_row: OpenRow, cluster: int, member: int, answer: int, who: int) -> None:
        """Decide the row's cluster, or rule one out."""
        if answer == SAME:
            open_row.cluster = cluster
        else:
            open_row.refused.append(cluster)

    def target(self, open_row: OpenRow) -> int:
        """Return the row's cluster, or -1 if it was new."""
        cluster = open_row.cluster
        assert cluster is not None
        return cluster if cluster < open_row.prior.size and not open_row.is_new else -1

    def member_pairs(self, a: int, b: int) -> Iterator[tuple[int, int]]:
        """Yield some pairs of members, in the order in which they became known."""
        return islice(product(self._members[a], self._members[b]), MEMBER_PAIRS)

    def observe_pair(self, a: int, b: int, pair: tuple[int, int], answer: int, who: int) -> None:
        """Merge two clusters, or note that they are different."""
        if answer == SAME:
            self._learner.merge(a, b)
        else:
            self._learner.pairs.separate(a, b)

    def revise(self, n_rows: int) -> None:
        """Nothing: true answers leave nothing to review."""
