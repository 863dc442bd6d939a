"""Which rows to ask about next."""

from __future__ import annotations

import numpy as np

from samekind.algorithms.focused import constants as const
from samekind.algorithms.focused.answer_policy import AnswerPolicy
from samekind.algorithms.focused.learner import Learner
from samekind.algorithms.focused.open_row import OpenRow
from samekind.algorithms.focused.params import FocusedParams
from samekind.algorithms.focused.row_sampler import RowSampler
from samekind.algorithms.focused.scheduler import Aim
from samekind.algorithms.state import UNKNOWN

__all__ = ["RowPlanner"]


class RowPlanner:
    """Chooses an aim for every draw, and draws a row for it."""

    def __init__(
        self,
        params: FocusedParams,
        learner: Learner,
        policy: AnswerPolicy,
        rng: np.random.Generator,
    ) -> None:
        self._params = params
        self._recovers = params.recovers
        self._learner = learner
        self._policy = policy
        self._rng = rng
        self.sampler = RowSampler(learner.points, learner.state, learner.model, rng)

    def plan(self, size: int) -> list[OpenRow]:
        """Draw up to `size` unknown rows to ask about; at least one if there is one."""
        learner, state = self._learner, self._learner.state
        plan: list[OpenRow] = []
        chosen: set[int] = set()
        learner.scheduler.begin_wave()
        learner.recovery.begin_wave()
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
                if learner.paper.passed:
                    break
        if not plan:
            row = self.sampler.any_unknown()
            if row >= 0:
                plan.append(self.open_row(row, "explore"))
        return plan

    def open_row(self, row: int, aim: Aim) -> OpenRow:
        """Return an unknown row to ask about."""
        model = self._learner.model
        predicted = model.predictor.cluster_of_row(row)
        if aim == "explore":
            model.sites.add(row, predicted, surrogate=True)
        self._learner.scheduler.plan(aim)
        return OpenRow(row, self._learner.points.row(row), predicted, aim)

    def should_fill(self) -> bool:
        """Return whether rows are wanted to make centres accurate."""
        return (
            self._recovers and self._policy.may_fill() and bool(self._learner.recovery.unfilled())
        )

    def _choose_aim(self) -> Aim:
        """Choose what the next draw is for."""
        if self._policy.should_confirm():
            return "confirm"
        params, scheduler = self._params, self._learner.scheduler
        share = self._rng.random()
        if share < const.AUDIT_SHARE:
            warm = self._learner.state.n_samples >= const.AUDIT_AFTER and params.uses("audit")
            return "audit" if warm else "explore"
        if share < const.AUDIT_SHARE + const.PAPER_SHARE:
            return "paper"
        eager = params.stop == "certified" and scheduler.discovery_rate < const.FEW_DISCOVERIES
        if eager and share < const.EAGER_AUDIT_SHARE and not self.should_fill():
            return "audit"
        if scheduler.should_search():
            aim = scheduler.search_aim(self._rng.random())
            if aim == "explore" and (self.sampler.is_exhausted or not params.uses("explore")):
                return "survey"
            return aim if params.uses(aim) else "explore"
        if self.should_fill():
            return "fill"
        if not params.uses("refine"):
            return "explore"
        return "refine" if scheduler.should_refine(self._rng.random()) else "explore"

    def _draw(self, aim: Aim) -> int:
        """Draw a row; -1 when there is none for this aim."""
        match aim:
            case "paper":
                return self._learner.paper.draw(self._rng)
            case "fill":
                return self._learner.recovery.draw()
            case "refine":
                return self.sampler.draw_uncertain()
            case "explore":
                return self.sampler.draw_far()
            case "confirm":
                return self._policy.draw_to_confirm()
            case _:  # survey, audit
                return self.sampler.draw_uniform()
