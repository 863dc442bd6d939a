"""What is reviewed when answers may be wrong besides where rows are: who errs, and which clusters are two."""

from __future__ import annotations

import numpy as np

from samekind.algorithms.focused import constants as const
from samekind.algorithms.focused.learner import Learner
from samekind.algorithms.focused.noise_model import NoiseModel
from samekind.flow import DIFFERENT, SAME, FloatArray, Flow, IntArray

__all__ = ["AnswerChecks", "split_clusters", "split_in_two"]


class AnswerChecks:
    """Asks about two rows that are held to be in one cluster, with a share of all questions."""

    def __init__(self, learner: Learner, noise: NoiseModel) -> None:
        self._learner = learner
        self._noise = noise
        self._n_checked = 0
        self._owed = 0.0
        self._n_asked_before = 0

    def pay_share(self) -> Flow[None]:
        """Check answers with a share of the questions about rows since the last time."""
        if not (self._noise.rates.is_estimated or self._noise.several):
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
        cluster = large[int(learner.rng.random() * len(large))]
        rows = [
            row
            for row in learner.state.members[cluster]
            if noise.certainty.get(row, 1.0) >= const.REPORT_BELOW and row not in learner.audit
        ]
        if len(rows) < 2:
            return
        a, b = (rows[int(learner.rng.random() * len(rows))] for _ in range(2))
        pair = min(a, b), max(a, b)
        if a == b or b in noise.compared_with(a) or learner.unsure.knows_pair(a, b):
            return
        answers, who, _ = yield np.array([[a, b]])
        self._n_checked += 1
        if answers[0] in (SAME, DIFFERENT):
            noise.observe_comparison(pair, int(answers[0]), -1 if who is None else int(who[0]))
        else:
            learner.unsure.add_pair(a, b)


def split_clusters(learner: Learner, noise: NoiseModel) -> None:
    """Make two clusters of each one if the answers among its rows speak clearly for it."""
    for cluster in range(learner.model.scorer.n_clusters):
        rows = [row for row in learner.state.members[cluster] if row not in learner.audit]
        log_odds = noise.log_odds_within(rows)
        if -sum(odds for _, _, odds in log_odds if odds < 0) < const.SPLIT_ABOVE:
            continue
        side = split_in_two(learner.points.rows(np.array(rows)), log_odds).tolist()
        gain = -sum(odds for i, j, odds in log_odds if side[i] != side[j])
        if gain >= const.SPLIT_ABOVE:
            learner.split(cluster, [row for row, other in zip(rows, side, strict=True) if other])


def split_in_two(X: FloatArray, log_odds: list[tuple[int, int, float]]) -> IntArray:
    """Split rows in two by the log odds that two of them, (i, j, log odds), are of one cluster.

    Return the side of each row, 0 for the first. The two rows that most clearly differ attract the others by
    distance; then rows change sides by the sum of their log odds.
    """
    i, j, _ = min(log_odds, key=lambda pair: pair[2])
    distances = ((X - X[i]) ** 2).sum(axis=1), ((X - X[j]) ** 2).sum(axis=1)
    side: IntArray = (distances[1] < distances[0]).astype(np.intp)
    votes = np.zeros((len(X), len(X)))
    for a, b, odds in log_odds:
        votes[a, b] = votes[b, a] = odds
    for _ in range(2 * len(X)):
        pull = votes @ (2 * side - 1)
        turned = np.where(pull == 0, side, pull > 0)
        changed = np.flatnonzero(turned != side)
        if not changed.size:
            break
        most = changed[np.abs(pull[changed]).argmax()]  # one at a time, or two would swap for ever
        side[most] = 1 - side[most]
    if side[0] != 0:
        np.subtract(1, side, out=side)
    return side
