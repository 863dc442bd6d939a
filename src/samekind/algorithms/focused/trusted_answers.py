"""The policy for answers that are all true: one SAME decides."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, product

import numpy as np
from numpy.typing import NDArray

from samekind.algorithms.focused.answer_policy import AnswerPolicy
from samekind.algorithms.focused.constants import MEMBER_PAIRS, NEW_BELOW
from samekind.algorithms.focused.learner import Learner
from samekind.algorithms.focused.open_row import OpenRow
from samekind.algorithms.focused.params import FocusedParams
from samekind.algorithms.state import GIVEN_UP
from samekind.flow import SAME

__all__ = ["TrustedAnswers"]


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
