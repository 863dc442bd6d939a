"""How answers decide the clusters of rows, and which clusters are one."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, product

import numpy as np

from samekind.algorithms.base import Certificate
from samekind.algorithms.focused.constants import (
    ENOUGH_REFUSALS,
    LIKELY,
    MEMBER_PAIRS,
    NEW_BELOW,
)
from samekind.algorithms.focused.learner import Learner, OpenRow
from samekind.algorithms.state import GIVEN_UP, UNKNOWN
from samekind.flow import SAME, FloatArray, Flow, IntArray

__all__ = ["AnswerPolicy"]


class AnswerPolicy:
    """What depends on whether answers can be wrong; this policy trusts them: one SAME decides.

    Ask the likeliest cluster that did not refuse a row, until one holds it or it is to be called new.
    `NoisyAnswers` overrides it for answers that may be wrong. All else, such as which rows are drawn and how
    waves of questions are made, is the same for both.
    """

    compares_in_waves = True
    """Whether several pairs of clusters may be compared at once."""

    def __init__(self, learner: Learner) -> None:
        self._learner = learner
        self._model = learner.model
        self._members = learner.state.members
        self._full = learner.params.certify == "full"
        self._new_below = NEW_BELOW[learner.scheduler.steady_aim]
        self._asks_typical_rows = learner.scheduler.steady_aim == "typical"

    # Rows

    def next_question(self, open_row: OpenRow) -> tuple[int, int] | None:
        """Return the likeliest cluster that is left to ask about, and a member of it.

        None when no question is left: then the row's cluster is set, or it is new if that is still None. An
        audit asks only whether a row is as predicted.
        """
        if (question := self._first_question(open_row)) is not None:
            return question
        if open_row.aim == "audit":
            return self._check(open_row)
        while (cluster := self._candidate(open_row)) >= 0:
            if (member := self.next_member(open_row, cluster)) >= 0:
                return cluster, member
            open_row.unsure_clusters.add(cluster)
        if open_row.unsure_clusters:
            open_row.cluster = GIVEN_UP
        return None

    def _first_question(self, open_row: OpenRow) -> tuple[int, int] | None:
        """Return what is to be asked before anything else, if that is still of use."""
        other, open_row.compare_first = open_row.compare_first, -1
        cluster = self._learner.state.cluster_of_row(other) if other >= 0 else UNKNOWN
        if cluster < 0 or (open_row.aim == "audit" and cluster != open_row.predicted):
            return None
        return cluster, other

    def _check(self, open_row: OpenRow) -> tuple[int, int] | None:
        cluster = open_row.predicted
        if cluster < 0 or cluster in open_row.refused:
            open_row.cluster = UNKNOWN
        elif (member := self.next_member(open_row, cluster)) >= 0:
            return cluster, member
        else:
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
        if open_row.refused and not self._full and self._calls_new(open_row, float(weights[best])):
            return -1
        return best

    def _calls_new(self, open_row: OpenRow, best: float) -> bool:
        """Return whether a row that was refused is to be called new, though clusters are left."""
        rest = float(open_row.weights.sum())
        total = rest + open_row.new_weight
        if rest < self._new_below * total:
            return True
        may_be_hasty = self._asks_typical_rows and open_row.aim != "survey"
        return may_be_hasty and len(open_row.refused) >= ENOUGH_REFUSALS and best < LIKELY * total

    def next_member(self, open_row: OpenRow, cluster: int) -> int:
        """Return the member of a cluster to ask about next: the nearest site, or after UNSURE any other.

        -1 if none is left.
        """
        unsure = self._learner.unsure
        if not open_row.asked.get(cluster):
            nearest = self._model.sites.nearest_member(open_row.x, cluster)
            if not unsure.knows_pair(open_row.row, nearest):
                return nearest
        members = (
            row for row in self._members[cluster] if row not in open_row.asked.get(cluster, ())
        )
        return next((row for row in members if not unsure.knows_pair(open_row.row, row)), -1)

    def probabilities(self, open_row: OpenRow) -> FloatArray:
        """Return the probability of each cluster after the answers so far; the rest to 1 is that of "new"."""
        weights = open_row.weights
        found: FloatArray = weights / (weights.sum() + open_row.new_weight)
        return found

    def observe(self, open_row: OpenRow, cluster: int, member: int, answer: int, who: int) -> None:
        """Take SAME or DIFFERENT about a row and a member of a cluster into account, and who said it."""
        if answer == SAME:
            open_row.cluster = cluster
        else:
            open_row.refused.append(cluster)

    def target(self, open_row: OpenRow) -> int | FloatArray:
        """Return what a row, whose cluster is decided, teaches the `ConditionalLogit`."""
        cluster = open_row.cluster
        assert cluster is not None
        return cluster if cluster < open_row.prior.size and not open_row.is_new else -1

    # Pairs of clusters

    def member_pairs(self, a: int, b: int) -> Iterator[tuple[int, int]]:
        """Yield pairs of members whose answers tell whether two clusters are one, best first."""
        return islice(product(self._members[a], self._members[b]), MEMBER_PAIRS)

    def observe_pair(self, a: int, b: int, pair: tuple[int, int], answer: int, who: int) -> None:
        """Take SAME or DIFFERENT about members of two clusters into account, and who said it."""
        if answer == SAME:
            self._learner.merge(a, b)
        else:
            self._learner.pairs.separate(a, b)

    def decide_pair(self, similarity: float, a: int, b: int) -> bool:
        """Merge or separate two clusters if the answers so far suffice; return whether they do."""
        return False

    # The run

    def may_fill(self) -> bool:
        """Return whether it is time to make centres accurate."""
        return True

    def draw_uncertain(self, size: int) -> list[int]:
        """Draw up to so many rows whose predicted cluster is uncertain."""
        rows: list[int] = self._model.predictor.sample_uncertain(self._learner.rng, size).tolist()
        return rows

    def should_confirm(self) -> bool:
        """Return whether clusters are to be confirmed before anything else."""
        return False

    def draw_to_confirm(self) -> int:
        """Draw a row that confirms a cluster; -1 if there is none."""
        return -1

    def revise(self, n_rows: int) -> None:
        """Review earlier decisions, now and then, after the clusters of so many rows were decided."""

    def young_clusters(self) -> list[int]:
        """Return clusters that are to be compared with similar ones, as more is known of them now."""
        return []

    def lone_clusters(self) -> dict[int, int]:
        """Return the clusters that a wrong answer may have founded, each with one that it may be part of."""
        return {}

    def set_aside(self) -> list[int]:
        """Return the rows that are not to be asked about, though the model does not know them."""
        return self._learner.state.given_up

    def check_answers(self) -> Flow[None]:
        """Ask about pairs of rows to learn who errs."""
        yield from ()

    def settle(self) -> Flow[None]:
        """Ask what somebody who knows better than those before can mend."""
        yield from ()

    def certainty(self, rows: IntArray) -> FloatArray:
        """Return how certain it is that rows which were asked about are in their clusters; 1 for others."""
        return np.ones(rows.size)

    def loosen(self, promise: Certificate) -> Certificate:
        """Return what can be promised, given how often answers are wrong."""
        return promise

    def error_rate(self) -> float | None:
        """Return the share of answers that seem to be wrong; None where none can be."""
        return None

    def notes(self) -> list[str]:
        """Return what the user should know about the answers."""
        return []
