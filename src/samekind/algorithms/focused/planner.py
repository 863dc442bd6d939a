"""Which rows to ask about next."""

from __future__ import annotations

import numpy as np

from samekind.algorithms.focused import constants as const
from samekind.algorithms.focused.answer_policy import AnswerPolicy
from samekind.algorithms.focused.certification import Certification
from samekind.algorithms.focused.learner import Learner
from samekind.algorithms.focused.open_row import OpenRow
from samekind.algorithms.focused.scheduler import Aim
from samekind.algorithms.state import UNKNOWN

__all__ = ["RowPlanner"]

_ROWS_AT_ONCE = 4096


class RowPlanner:
    """Chooses an aim for every draw, and draws a row for it."""

    def __init__(self, learner: Learner, policy: AnswerPolicy) -> None:
        self.is_exhausted = False
        """Whether every row lies on a labelled one."""
        self._learner = learner
        self._policy = policy
        self._rng = learner.rng
        self._uncertain: list[int] = []
        self._uniform: list[int] = []
        self._certification = Certification(learner)
        self._may_audit = False  # whether rows are found to audit
        self._chosen: set[int] = set()  # rows of this wave

    def plan(self, size: int) -> list[OpenRow]:
        """Draw up to `size` unknown rows to ask about; at least one if there is one."""
        learner, state = self._learner, self._learner.state
        plan: list[OpenRow] = []
        chosen = self._chosen = set()
        learner.scheduler.begin_wave()
        learner.recovery.begin_wave()
        self._certification.begin_wave(size)
        may_begin = self._certification.is_due or state.n_samples >= const.AUDIT_AFTER
        self._may_audit = may_begin and learner.params.uses("audit")
        while len(plan) < size and (open_row := learner.next_to_return()) is not None:
            learner.scheduler.plan(open_row.aim)
            chosen.add(open_row.row)
            plan.append(open_row)
        for _ in range(const.DRAWS_PER_ROW * size):
            if len(plan) == size:
                break
            aim = self._choose_aim()
            row = self._draw(aim)
            if row < 0 or row in chosen:
                continue
            cluster = state.cluster_of_row(row)
            if cluster == UNKNOWN:
                state.n_samples += 1
                chosen.add(row)
                plan.append(self.open_row(row, aim))
            else:
                learner.draw_again(row, cluster, aim)
                if learner.paper.quiet.passed:
                    break
        if not plan:
            row = self._any_unknown()
            if row >= 0:
                plan.append(self.open_row(row, "explore"))
        return plan

    def open_row(self, row: int, aim: Aim) -> OpenRow:
        """Return an unknown row to ask about."""
        learner, model = self._learner, self._learner.model
        predicted = model.predictor.cluster_of_row(row)
        if predicted >= 0 and not model.scorer.alive[predicted]:
            predicted = -1  # no cluster is left
        if aim == "explore":
            model.sites.add(row, predicted, surrogate=True)
        learner.scheduler.plan(aim)
        open_row = OpenRow(row, learner.points.row(row), predicted, aim)
        open_row.refused = learner.audit.refused(row)
        return open_row

    def should_fill(self) -> bool:
        """Return whether rows are wanted to make centres accurate."""
        return (
            self._learner.params.fills
            and self._policy.may_fill()
            and bool(self._learner.recovery.unfilled())
        )

    def _choose_aim(self) -> Aim:
        """Choose what the next draw is for."""
        if self._policy.should_confirm():
            return "confirm"
        params, scheduler = self._learner.params, self._learner.scheduler
        if self._may_audit and scheduler.should_audit():
            return "audit"
        if params.fills and self._rng.random() < const.PAPER_SHARE:
            return "paper"  # else its test could not pass, as it counts draws of recovered clusters
        if self._may_audit and self._certification.is_due:
            return "audit" if self._certification.should_audit() else "refine"
        if scheduler.should_search():
            aim = scheduler.search_aim(self._rng.random())
            if aim == "explore" and (self.is_exhausted or not params.uses("explore")):
                return "survey"
            return aim if params.uses(aim) else "explore"
        if self.should_fill():
            return "fill"
        if not params.uses("refine"):
            return scheduler.steady_aim
        return "refine" if scheduler.should_refine(self._rng.random()) else scheduler.steady_aim

    def _draw(self, aim: Aim) -> int:
        """Draw a row; -1 when there is none for this aim."""
        match aim:
            case "paper":
                return self._learner.paper.draw(self._rng)
            case "fill":
                return self._learner.recovery.draw()
            case "refine":
                return self._draw_uncertain()
            case "explore":
                return self._draw_far()
            case "typical":
                return self._find_typical()
            case "confirm":
                return self._policy.draw_to_confirm()
            case "audit":
                return self._draw_to_audit()
            case _:  # survey
                return self._draw_uniform()

    def _draw_uniform(self) -> int:
        """Draw any row, each with the same probability."""
        if not self._uniform:
            rows = (self._rng.random(const.UNIFORM_BUFFER) * self._learner.points.n).astype(np.intp)
            self._learner.points.rows(
                rows
            )  # where they are on other machines, all are fetched at once
            self._uniform = rows.tolist()
        return self._uniform.pop()

    def _draw_to_audit(self) -> int:
        """Return an audited row whose prediction has changed, or draw any unknown one; -1: none is found."""
        learner = self._learner
        row = learner.audit.outdated(learner.model.predictor.clusters_of)
        for _ in range(const.AUDIT_TRIES):
            if row >= 0:
                return row
            row = self._draw_uniform()
            if learner.state.cluster_of_row(row) != UNKNOWN or row in learner.audit:
                row = -1
        self._may_audit = row >= 0
        return row

    def _draw_far(self) -> int:
        """Draw a row in proportion to its distance⁴ from the labelled ones; -1 when all lie on them."""
        row = self._learner.model.sites.cells.draw(self._rng)
        self.is_exhausted = row < 0
        return row

    def _find_typical(self) -> int:
        """Return the row that stands for most of the doubt about the others, or draw a far one."""
        learner = self._learner
        row = learner.model.predictor.typical_row(self._chosen, self._policy.set_aside())
        return row if row >= 0 else self._draw_far()

    def _draw_uncertain(self) -> int:
        """Draw a row whose predicted cluster is uncertain."""
        if self._certification.is_due and (row := self._certification.draw_doubtful()) >= 0:
            return row
        if not self._uncertain:
            size = self._learner.model.predictor.n_uncertain_at_once
            self._uncertain = self._policy.draw_uncertain(size)[::-1]
        return self._uncertain.pop() if self._uncertain else self._draw_far()

    def _any_unknown(self) -> int:
        """Return a row that nobody was asked about, or -1 when there is none."""
        n = self._learner.points.n
        start = int(self._rng.random() * n)
        for first in range(0, n, _ROWS_AT_ONCE):
            rows = (start + np.arange(first, min(first + _ROWS_AT_ONCE, n))) % n
            unknown = rows[self._learner.state.cluster_of(rows) == UNKNOWN]
            if unknown.size:
                return int(unknown[0])
        return -1
