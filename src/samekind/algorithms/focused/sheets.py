"""Sheets: rows that are likely of one cluster, compared with one member of it in one wave.

To a person a sheet is one question, "are these all of one kind?": they point at those that are not, and
answer for all others at once. So it pays where most of its rows are as predicted.
"""

from __future__ import annotations

import numpy as np

from samekind.algorithms.focused import constants as const
from samekind.algorithms.focused.learner import Learner
from samekind.algorithms.focused.open_row import OpenRow
from samekind.algorithms.focused.planner import RowPlanner
from samekind.algorithms.state import UNKNOWN
from samekind.flow import FloatArray, IntArray

__all__ = ["SheetPlanner"]


class SheetPlanner:
    """Plans a sheet where a press for it is worth more than one for another question.

    What counts is predictions that are corrected, and a little that rows are known which were only predicted.
    Another question corrects as many as rows of doubt were not as predicted lately. A sheet corrects all its
    rows that are not of its cluster; it takes a press, and some more for each of them. How likely they are,
    the model says; how far that is to be trusted, earlier sheets do. So there are none while there is much to
    learn, and many when nearly all rows are as predicted.
    """

    def __init__(self, learner: Learner, planner: RowPlanner) -> None:
        self._learner = learner
        self._planner = planner
        self._size = learner.params.sheet if learner.params.trusts_answers else 0
        self._expected = self._found = float(const.SHEET_PRIOR_ROWS)  # rows that were as predicted
        self._pays = False  # whether there was a sheet to ask about the last time
        self._n_since = 0  # other rows since the last sheet

    def plan(self) -> list[OpenRow]:
        """Return the rows of a sheet, each with the member to compare it with first; none if none pays."""
        if self._size < 2 or self._n_since < const.SHEET_EVERY:
            return []
        rows, clusters, chances = self._candidates()
        best = self._learner.scheduler.expected_surprise() + const.SHEET_SETTLED
        sheet = rows[:0]
        for cluster in np.unique(clusters).tolist():
            own = np.flatnonzero(clusters == cluster)
            own = own[np.argsort(chances[own], kind="stable")][: self._size]  # the most doubtful
            wrong = (1 - chances[own]).sum()
            worth = wrong + const.SHEET_SETTLED * own.size
            a_press = worth / (1 + const.SHEET_OUT_COST * wrong)
            if own.size >= const.SHEET_LEAST_ROWS and a_press > best:
                best, sheet = a_press, own
        self._pays = sheet.size > 0
        return self._open(rows[sheet], int(clusters[sheet[0]])) if self._pays else []

    def rows_between(self, most: int) -> int:
        """Return how many other rows to ask about before the next sheet, at most so many."""
        return min(most, const.SHEET_EVERY) if self._pays else most

    def learn(self, plan: list[OpenRow]) -> None:
        """Learn from rows that were asked about, on a sheet or not."""
        sheet = [open_row for open_row in plan if open_row.aim == "sheet"]
        self._n_since = 0 if sheet else self._n_since + len(plan)
        if sheet:
            self._learner.scheduler.spend("sheet", 1)  # as it is one question to a person
            self._expected *= const.SHEET_DECAY
            self._found *= const.SHEET_DECAY
        for open_row in sheet:
            self._expected += open_row.prior.max(initial=0.0)
            self._found += open_row.cluster == open_row.prior.argmax()

    def _candidates(self) -> tuple[IntArray, IntArray, FloatArray]:
        """Return rows that may be on a sheet, their likeliest clusters, and how likely these are.

        As all draws, it does not look at who is audited.
        """
        learner, model = self._learner, self._learner.model
        n = learner.points.n
        if n <= const.SHEET_SAMPLE:
            rows = np.arange(n)
        else:
            rows = np.unique((learner.rng.random(const.SHEET_SAMPLE) * n).astype(np.intp))
        audited, _ = learner.audit.known()
        rows = rows[(learner.state.cluster_of(rows) == UNKNOWN) | np.isin(rows, audited)]
        clusters, chances = model.likeliest(rows)
        chances = np.minimum(1.0, chances * self._found / self._expected)
        likely = chances >= const.SHEET_LIKELY
        return rows[likely], clusters[likely], chances[likely]

    def _open(self, rows: IntArray, cluster: int) -> list[OpenRow]:
        learner = self._learner
        plan: list[OpenRow] = []
        learner.scheduler.begin_wave()
        for row in rows.tolist():
            known = learner.state.cluster_of_row(row)
            if known != UNKNOWN:
                learner.draw_again(row, known, "sheet")
                continue
            learner.state.n_samples += 1
            plan.append(self._planner.open_row(row, "sheet"))
        center = np.mean([open_row.x for open_row in plan], axis=0)
        member = learner.model.sites.nearest_member(center, cluster)
        for open_row in plan:
            open_row.compare_first = open_row.sheet_member = member
        return plan
