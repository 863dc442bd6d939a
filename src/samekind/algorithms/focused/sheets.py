"""Sheets: rows that are likely of one cluster, compared with one member of it in one wave.

To a person a sheet is one question, "are these all of one kind?": they point at those that are not, and
answer for all others at once. So it pays where most of its rows are as predicted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import numpy as np

from samekind.algorithms.focused import constants as const
from samekind.algorithms.focused.learner import Learner
from samekind.algorithms.focused.open_row import OpenRow
from samekind.algorithms.focused.planner import RowPlanner
from samekind.algorithms.focused.scheduler import Aim
from samekind.algorithms.state import UNKNOWN
from samekind.flow import FloatArray, IntArray

__all__ = ["SheetPlanner", "keep_sheets", "sheet_members"]

RowsToAsk = dict[int, tuple[Aim, int]]
"""Rows to ask about, with their aims and the rows to compare them with first, -1 for any."""


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

    def plan(self, size: int) -> list[OpenRow]:
        """Draw up to `size` rows to ask about, or those of a sheet and a few others beside it."""
        sheet = self._choose() if self._size > 1 else []
        if not sheet:
            return self._planner.plan(size)
        taken = {open_row.row for open_row in sheet}
        others = self._planner.plan(min(size, const.SHEET_BESIDE))
        return sheet + [open_row for open_row in others if open_row.row not in taken]

    def _choose(self) -> list[OpenRow]:
        """Return the rows of the best sheet, each with the member to compare it with; none if none pays."""
        best = self._learner.scheduler.expected_surprise() + const.SHEET_SETTLED
        if best >= max(const.SHEET_SETTLED * self._size, 1 / const.SHEET_OUT_COST):
            return []  # no sheet is worth as much
        rows, clusters, chances = self._candidates()
        sheet = rows[:0]
        for cluster in np.unique(clusters).tolist():
            own = np.flatnonzero(clusters == cluster)
            own = own[np.argsort(chances[own], kind="stable")][: self._size]  # the most doubtful
            wrong = (1 - chances[own]).sum()
            worth = wrong + const.SHEET_SETTLED * own.size
            a_press = worth / (1 + const.SHEET_OUT_COST * wrong)
            if own.size >= const.SHEET_LEAST_ROWS and a_press > best:
                best, sheet = a_press, own
        return self._open(rows[sheet], int(clusters[sheet[0]])) if sheet.size else []

    def learn(self, plan: list[OpenRow]) -> None:
        """Learn from rows that were asked about, on a sheet or not."""
        sheet = [open_row for open_row in plan if open_row.aim == "sheet"]
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
        member = learner.state.members[cluster][0]  # so that all hang together by one row
        for open_row in plan:
            open_row.compare_first = open_row.sheet_member = member
        return plan


def sheet_members(open_rows: Iterable[OpenRow]) -> dict[int, int]:
    """Return the rows that are on a sheet now, each with the member that it is compared with."""
    return {
        open_row.row: open_row.sheet_member
        for open_row in open_rows
        if open_row.sheet_member >= 0 and open_row.n_asked == 0
    }


def keep_sheets(to_ask: RowsToAsk, members: dict[int, int], size: int) -> RowsToAsk:
    """Return rows to ask about, with their aims and the rows to compare them with first, as sheets.

    Rows that were on one stay so. Those whose answers about one member were taken back together are on one.
    """
    others = Counter(other for aim, other in to_ask.values() if aim == "refine" and other >= 0)
    kept: RowsToAsk = {}
    for row, (aim, other) in to_ask.items():
        member = members.get(row, -1) if other < 0 else other
        together = aim == "refine" and others[other] >= const.SHEET_LEAST_ROWS and size > 1
        kept[row] = ("sheet", member) if together or row in members else (aim, other)
    return kept
