"""Questions whose answers are held to be known, to learn who errs."""

from __future__ import annotations

import numpy as np

from samekind.algorithms.focused import constants as const
from samekind.algorithms.focused.learner import Learner
from samekind.algorithms.focused.noise_model import NoiseModel
from samekind.flow import DIFFERENT, SAME, Flow

__all__ = ["AnswerChecks"]


class AnswerChecks:
    """Asks about two rows that are held to be in one cluster, with a share of all questions."""

    def __init__(self, learner: Learner, noise: NoiseModel, rng: np.random.Generator) -> None:
        self._learner = learner
        self._noise = noise
        self._rng = rng
        self._n_checked = 0
        self._owed = 0.0
        self._n_asked_before = 0

    def pay_share(self) -> Flow[None]:
        """Check answers with a share of the questions about rows since the last time."""
        if not (self._noise.is_estimated or self._noise.several):
            return
        n_asked = self._learner.scheduler.n_asked
        slower = 1.0 if self._n_checked < const.CHECKS_AT_FIRST else const.CHECKS_LATER
        self._owed += const.CHECK_SHARE * slower * (n_asked - self._n_asked_before)
        self._n_asked_before = n_asked
        while self._owed >= 1:
            self._owed -= 1
            yield from self._check()

    def _check(self) -> Flow[None]:
        learner, noise = self._learner, self._noise
        large = [k for k, members in enumerate(learner.state.members) if len(members) > 2]
        if not large:
            return
        cluster = large[int(self._rng.random() * len(large))]
        rows = [
            row
            for row in learner.state.members[cluster]
            if noise.certainty.get(row, 1.0) >= const.REPORT_BELOW and row not in learner.audit
        ]
        if len(rows) < 2:
            return
        a, b = (rows[int(self._rng.random() * len(rows))] for _ in range(2))
        pair = min(a, b), max(a, b)
        if a == b or b in noise.compared_with(a) or pair in learner.unsure_pairs:
            return
        answers, who, _ = yield np.array([[a, b]])
        self._n_checked += 1
        if answers[0] in (SAME, DIFFERENT):
            noise.observe_comparison(pair, int(answers[0]), -1 if who is None else int(who[0]))
        else:
            learner.unsure_pairs.add(pair)
