"""Questions about rows, until their clusters are decided."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

import numpy as np

from samekind.algorithms.focused.answer_policy import AnswerPolicy
from samekind.algorithms.focused.cluster_model import ClusterModel
from samekind.algorithms.focused.constants import LINEUP_BELOW, OBVIOUS
from samekind.algorithms.focused.learner import Learner
from samekind.algorithms.focused.open_row import OpenRow
from samekind.algorithms.focused.params import FocusedParams
from samekind.algorithms.state import GIVEN_UP
from samekind.flow import DIFFERENT, SAME, UNANSWERED, Flow, Reply

__all__ = ["RowQuestions", "score_open_rows"]

RowLineup = list[tuple[int, int]]
"""The clusters that a row is compared with in one question, and a member of each."""


def score_open_rows(open_rows: Sequence[OpenRow], model: ClusterModel) -> None:
    """Find out how likely each cluster is for some rows."""
    rows = np.array([open_row.row for open_row in open_rows])
    scores = model.score(rows, np.array([open_row.x for open_row in open_rows]))
    for i, open_row in enumerate(open_rows):
        open_row.set_scores(scores, i)


class RowQuestions:
    """Asks about rows in waves of one question, or line-up, a row.

    Rows that are new found their clusters at once, so that the rows still open can be of them.
    """

    def __init__(self, params: FocusedParams, learner: Learner, policy: AnswerPolicy) -> None:
        self._params = params
        self._learner = learner
        self._policy = policy

    def settle(self, open_rows: list[OpenRow]) -> Flow[None]:
        """Ask until the cluster of each row is decided."""
        model, policy = self._learner.model, self._policy
        n_clusters = -1
        while left := [open_row for open_row in open_rows if open_row.cluster is None]:
            if n_clusters != model.scorer.n_clusters:
                n_clusters = model.scorer.n_clusters
                score_open_rows(left, model)
            wave: list[tuple[OpenRow, RowLineup]] = []
            for open_row in left:
                question = policy.next_question(open_row)
                if question is not None:
                    wave.append((open_row, [question, *self._others(open_row, question[0])]))
                elif open_row.cluster is None:
                    self._learner.discover(open_row)
                    break  # the others may be of the new cluster
            else:
                if wave:
                    reply = yield np.array(
                        [
                            (open_row.row, member)
                            for open_row, lineup in wave
                            for _, member in lineup
                        ]
                    )
                    self._observe(wave, reply)

    def _others(self, open_row: OpenRow, first: int) -> RowLineup:
        """Return the other clusters of a line-up: the plausible ones, unless the first is obvious."""
        found: RowLineup = []
        if self._params.lineup == 1:
            return found
        left = self._policy.probabilities(open_row)
        if left[first] >= OBVIOUS:
            return found
        new = 1.0 - left.sum()
        left[first] = 0.0
        for cluster in np.argsort(-left, kind="stable").tolist():
            rest = left.sum()
            if len(found) + 1 == self._params.lineup or rest < LINEUP_BELOW * (rest + new):
                break
            member = self._policy.next_member(open_row, cluster) if left[cluster] > 0 else -1
            left[cluster] = 0.0
            if member >= 0:
                found.append((cluster, member))
        return found

    def _observe(self, wave: list[tuple[OpenRow, RowLineup]], reply: Reply) -> None:
        answers, size = reply.answers.tolist(), len(reply.answers)
        who = [-1] * size if reply.who is None else reply.who.tolist()
        skipped = [False] * size if reply.skipped is None else reply.skipped.tolist()
        replies = zip(answers, who, skipped, strict=True)
        for open_row, lineup in wave:
            self._observe_lineup(open_row, lineup, list(islice(replies, len(lineup))))

    def _observe_lineup(
        self, open_row: OpenRow, lineup: RowLineup, replies: list[tuple[int, int, bool]]
    ) -> None:
        """Take answers about a row into account, each with its annotator and whether it was skipped.

        Where the row was found in a line-up, nothing else counts, and the rest of it need not be answered.
        Who is not sure of a line-up is not asked about the row again.
        """
        open_row.n_asked += 1
        found = any(answer == SAME for answer, _, _ in replies)
        for (cluster, member), (answer, who, skipped) in zip(lineup, replies, strict=True):
            if answer == UNANSWERED or (found and answer != SAME):
                continue
            asked = open_row.asked.setdefault(cluster, [])
            asked.append(member)
            if answer in (SAME, DIFFERENT):
                self._policy.observe(open_row, cluster, member, answer, who)
                continue
            open_row.n_unsure += 1
            self._learner.unsure_pairs.add((min(open_row.row, member), max(open_row.row, member)))
            if skipped or len(lineup) > 1 or open_row.n_unsure >= self._params.patience:
                open_row.cluster = GIVEN_UP
            elif len(asked) == len(self._learner.state.members[cluster]):
                open_row.unsure_clusters.add(cluster)
