"""With stop="certified": whether the next question should make labels better, or prove how good they are."""

from __future__ import annotations

from math import log

import numpy as np

from samekind.algorithms.focused import constants as const
from samekind.algorithms.focused.learner import Learner
from samekind.algorithms.state import UNKNOWN

__all__ = ["Certification"]


class Certification:
    """Weighs one more question about a doubtful row against the questions that it would save the audit.

    If a share p of the rows is wrong, an audit has to see about ln(1/risk) / KL(p ‖ tolerance) of them until
    its bound is within the tolerance, with KL the divergence of two coins. The fewer are wrong, the
    fewer it takes; to know the most doubtful row for sure makes fewer wrong.
    """

    def __init__(self, learner: Learner) -> None:
        self._learner = learner
        self.is_due = False
        """Whether hardly any new clusters turn up, so that little but the certificate is missing."""
        self._doubtful: list[
            tuple[float, int]
        ] = []  # unknown rows and their doubts, the largest last
        self._n_wrong = 0.0  # as far as one can tell,
        self._n_unknown = 1  # of so many
        self._doubt = 0.0  # of the next row, where rows have none of their own

    def begin_wave(self, size: int) -> None:
        """Look at what is known before a wave of so many rows."""
        learner = self._learner
        self.is_due = (
            learner.params.stop == "certified"
            and learner.scheduler.discovery_rate < const.FEW_DISCOVERIES
        )
        if self.is_due:
            self._estimate(size)

    def should_audit(self) -> bool:
        """Return whether to audit, rather than to ask about the most doubtful row."""
        learner = self._learner
        allowed = learner.params.tolerance * learner.points.n
        if self._n_unknown <= allowed:
            return True
        if self._n_wrong >= const.HOPELESS * allowed:
            return False
        doubt = self._doubtful[-1][0] if self._doubtful else self._doubt
        fewer = max(0.0, self._n_wrong - const.TEACHING * doubt)
        saved = _n_audits(self._n_wrong / self._n_unknown, allowed / self._n_unknown) - _n_audits(
            fewer / self._n_unknown, allowed / self._n_unknown
        )
        return saved < const.DOUBTFUL_QUESTIONS

    def draw_doubtful(self) -> int:
        """Return the most doubtful unknown row; -1 if there is none, or no telling."""
        if not self._doubtful:
            return -1
        doubt, row = self._doubtful.pop()
        self._n_wrong = max(0.0, self._n_wrong - doubt)
        return row

    def _estimate(self, size: int) -> None:
        """Estimate how many unknown rows are wrong: the model's doubts are a prior for the audit."""
        learner = self._learner
        n_audited, n_wrong = learner.audit.count(learner.model.predictor.clusters_of)
        self._n_unknown = max(1, learner.points.n - learner.state.n_labelled)
        self._doubt = mean = learner.scheduler.surprise()
        doubts = learner.model.predictor.doubts()
        if doubts is not None:
            rows = np.arange(learner.points.n)
            unknown = rows[learner.state.cluster_of(rows) == UNKNOWN]
            doubts = doubts[unknown]
            top = np.argsort(doubts, kind="stable")[-size:]
            self._doubtful = list(zip(doubts[top].tolist(), unknown[top].tolist(), strict=True))
            mean = float(doubts.mean()) if unknown.size else 0.0
        share = (n_wrong + const.PRIOR_AUDITS * mean) / (n_audited + const.PRIOR_AUDITS)
        self._n_wrong = share * self._n_unknown


def _n_audits(share: float, tolerance: float) -> float:
    """Return about how many rows an audit takes to show that a share of wrong ones is within a tolerance."""
    divergence = (1 - share) * log((1 - share) / (1 - tolerance))
    if share > 0:
        divergence += share * log(share / tolerance)
    return -log(const.RISK_WRONG) / divergence
