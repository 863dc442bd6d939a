"""Questions beyond those of a wave, for people who would have nothing to do while it is answered.

They are drawn as the planner draws, but from what is there: nothing of the run changes by it, as the run must
go the same way when it is repeated, and then nobody asks for them. Half of the rows are far from all labelled
ones, the others doubtful; a share of the questions compares clusters that may be one.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from samekind.algorithms.exchange import ExtraQuestion
from samekind.algorithms.focused import constants as const
from samekind.algorithms.focused.answer_policy import AnswerPolicy
from samekind.algorithms.focused.learner import Learner
from samekind.algorithms.focused.open_row import OpenRow
from samekind.algorithms.focused.questions import RowQuestions, score_open_rows
from samekind.algorithms.state import UNKNOWN
from samekind.flow import FloatArray, IntArray

__all__ = ["ExtraPlanner"]


class ExtraPlanner:
    """Chooses questions, and leaves everything as it is."""

    def __init__(self, learner: Learner, policy: AnswerPolicy, questions: RowQuestions) -> None:
        self._learner = learner
        self._policy = policy
        self._questions = questions

    def plan(
        self, rng: np.random.Generator, size: int, taken: Collection[int]
    ) -> list[ExtraQuestion]:
        """Return up to so many questions about none of these rows."""
        if self._learner.state.n_discovered < 1:
            return []
        compared = self._compare(size, rng.random(), taken)
        rows = self._rows(rng, size - len(compared), {*taken, *(one.row for one in compared)})
        order = rng.permutation(len(compared) + len(rows)).tolist()
        return [[*compared, *rows][place] for place in order]

    def _compare(self, size: int, chance: float, taken: Collection[int]) -> list[ExtraQuestion]:
        """Return questions about the clusters that are likeliest one, of so many questions in all.

        As many as there are pairs that a wave would compare at once: people who find the same new cluster at
        the same time each found one.
        """
        similarity, a, b = self._learner.pairs.open_similarities()
        likely = int((similarity >= self._learner.model.predictor.compare_above).sum())
        least, most = const.EXTRA_COMPARED * size, const.EXTRA_COMPARED_MOST * size
        count = int(min(max(likely, least + chance), most))
        order = np.argsort(-similarity, kind="stable")[: 4 * count]
        members = self._learner.state.members
        used, found = set(taken), list[ExtraQuestion]()
        compared: set[tuple[int, int]] = set()
        for pair in zip(a[order].tolist(), b[order].tolist(), strict=True):
            # more is known of the larger one, which is looked for
            one, other = sorted(pair, key=lambda cluster: len(members[cluster]))
            lineup = [] if pair in compared else self._lineup(one, other, compared)
            if len(found) < count and lineup and lineup[0] not in used:
                used.add(lineup[0])
                found.append(ExtraQuestion(lineup[0], lineup[1:]))
        return found

    def _lineup(self, one: int, other: int, compared: set[tuple[int, int]]) -> list[int]:
        """Return a row of a cluster, and rows of others that it is likeliest one with; none if it is no use.

        Not of those that were compared, to which these are added.
        """
        unsure, found = self._learner.unsure, list[int]()
        pair = next(self._policy.member_pairs(one, other), None)
        if pair is None or unsure.knows_pair(*pair):
            return found
        found += pair
        compared.add((min(one, other), max(one, other)))
        for cluster in self._learner.pairs.open_with(one):
            member = self._learner.state.members[cluster][0]
            if len(found) > self._learner.params.lineup:
                break
            clusters = min(one, cluster), max(one, cluster)
            if clusters not in compared and not unsure.knows_pair(pair[0], member):
                compared.add(clusters)
                found.append(member)
        return found

    def _rows(self, rng: np.random.Generator, size: int, taken: set[int]) -> list[ExtraQuestion]:
        """Return questions about unknown rows, as a wave would ask about them first."""
        model = self._learner.model
        chosen = self._draw(rng, size, taken)
        if not chosen:
            return []
        predicted = model.predictor.clusters_of(np.array(chosen)).tolist()
        open_rows = [
            OpenRow(row, self._learner.points.row(row), cluster, "refine")
            for row, cluster in zip(chosen, predicted, strict=True)
        ]
        for open_row in open_rows:
            open_row.refused = self._learner.audit.refused(open_row.row)
        score_open_rows(open_rows, model)
        found = []
        for open_row in open_rows:
            question = self._policy.next_question(open_row)
            if question is not None:
                lineup = [question, *self._questions.others(open_row, question[0])]
                found.append(ExtraQuestion(open_row.row, [member for _, member in lineup]))
        return found

    def _draw(self, rng: np.random.Generator, size: int, taken: set[int]) -> list[int]:
        learner = self._learner
        n = learner.points.n
        pool = np.unique((rng.random(const.EXTRA_POOL) * n).astype(np.intp))
        unknown = learner.state.cluster_of(pool) == UNKNOWN
        pool = pool[unknown & ~np.isin(pool, list(taken))]
        if not pool.size:
            return []
        chosen = learner.model.predictor.typical_rows(size // 2, taken, learner.state.given_up)
        if not chosen:
            far = learner.model.sites.cells.costs(pool) ** 2
            chosen = _drawn(rng, pool, far, size // 2)
        pool = rng.permutation(pool[~np.isin(pool, chosen)])[: const.EXTRA_SCORED]
        _, likely = learner.model.likeliest(pool)
        doubts = np.maximum(1.0 - likely, const.LEAST_DOUBT) ** const.UNCERTAINTY_POWER
        return chosen + _drawn(rng, pool, doubts, size - len(chosen))


def _drawn(rng: np.random.Generator, rows: IntArray, weights: FloatArray, size: int) -> list[int]:
    """Draw different rows, each with a chance proportional to its weight."""
    keys = -np.log(rng.random(rows.size)) / np.maximum(weights, np.finfo(float).tiny)
    found: list[int] = rows[np.argsort(keys, kind="stable")[:size]].tolist()
    return found
