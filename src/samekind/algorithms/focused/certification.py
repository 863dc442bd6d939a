"""With stop="certified": whether the next question makes labels better, or proves how good they are."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from math import log

import numpy as np

from samekind.algorithms.focused import constants as const
from samekind.algorithms.focused.learner import Learner
from samekind.algorithms.state import UNKNOWN
from samekind.flow import FloatArray

__all__ = ["AuditAhead", "Certification", "n_doubtful_rows"]

_AHEAD = 16  # rows that are looked for at once for each that is asked about, as some were audited
_MANY = 2**14  # doubtful rows that are thought of, where rows have no doubts of their own


class Certification:
    """Weighs questions about doubtful rows against the questions that they would save the audit.

    The audit goes on until its bound is within the tolerance; the fewer rows are wrong, the sooner that is,
    and to know the most doubtful rows for sure makes fewer wrong. So it looks for the number of doubtful rows
    with which both take the fewest questions together, and audits once that is none.

    Which row is the most doubtful must not depend on which ones were audited, or these would no longer be a
    uniform sample of what nothing was learnt from: an audited row that is known is learnt from when its turn
    comes, which costs no question.
    """

    def __init__(self, learner: Learner) -> None:
        self._learner = learner
        self.is_due = False
        """Whether hardly any new clusters turn up, so that little but the certificate is missing."""
        self._doubtful: list[int] = []  # unlearnt rows, the most doubtful ones last
        self._should_audit = False

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
        return self._should_audit

    def draw_doubtful(self) -> int:
        """Return the most doubtful row that nothing was learnt from; -1 if there is none, or no telling."""
        return self._doubtful.pop() if self._doubtful else -1

    def _estimate(self, size: int) -> None:
        """Estimate how many unlearnt rows are wrong: the model's doubts are a prior for the audit."""
        learner = self._learner
        n_audited, n_wrong = learner.audit.count(learner.model.predictor.clusters_of)
        audited, _ = learner.audit.known()
        n_unlearnt = max(1, learner.points.n - learner.state.n_labelled + audited.size)
        doubts = learner.model.predictor.doubts()
        self._doubtful = []
        if doubts is None:
            doubts = np.full(min(n_unlearnt, _MANY), learner.scheduler.surprise())
        else:
            rows = np.arange(learner.points.n)
            is_unlearnt = learner.state.cluster_of(rows) == UNKNOWN
            is_unlearnt[audited] = True
            rows = rows[is_unlearnt]
            rows = rows[np.argsort(doubts[rows], kind="stable")]
            doubts, self._doubtful = doubts[rows], rows[-_AHEAD * size :].tolist()
        mean = float(doubts.mean()) if doubts.size else 0.0
        share = (n_wrong + const.PRIOR_AUDITS * mean) / (n_audited + const.PRIOR_AUDITS)
        # what the model does not suspect may be anywhere
        chances = doubts[::-1] * min(1.0, share / max(mean, 1e-9)) + max(0.0, share - mean)
        tolerated = learner.params.tolerance * learner.points.n
        audit = AuditAhead(n_audited, n_wrong, n_unlearnt, tolerated)
        self._should_audit = n_doubtful_rows(chances, share * n_unlearnt, audit) == 0


@dataclass(frozen=True)
class AuditAhead:
    """An audit so far, and how many wrong rows are tolerated among those that nothing was learnt from."""

    n_audited: int
    n_wrong: int
    n_rows: int
    tolerated: float

    def n_left(self, n_wrong: float, n_learnt: int) -> int:
        """Return about how many more rows it takes when some were learnt, if so many others are wrong.

        Sanov's bound, with Serfling's correction for rows that are not drawn twice.
        """
        n_rows = max(1, self.n_rows - n_learnt)
        if n_rows <= self.tolerated + 1:
            return 0
        share, allowed = min(1.0, n_wrong / n_rows), (self.tolerated + 1) / n_rows
        kept = (
            1 - n_learnt / self.n_rows
        )  # of the audited rows, as they are as likely learnt as others
        before = kept * self.n_audited

        def suffices(n_more: int) -> bool:
            n_drawn = before + n_more
            if n_drawn >= n_rows:
                return True
            n_wrong = min(kept * self.n_wrong, share * before) + share * n_more
            seen = n_wrong / n_drawn if n_drawn else 1.0
            if seen >= allowed:
                return False
            evidence = n_drawn * _divergence(seen, allowed)
            return evidence >= (1 - n_drawn / n_rows) * log(2 * (n_wrong + 1) / const.RISK)

        return bisect_left(range(n_rows), True, key=suffices)


def n_doubtful_rows(chances: FloatArray, n_wrong: float, audit: AuditAhead) -> int:
    """Return about how many of the most doubtful rows to ask about before the audit is finished.

    `chances` are those of being wrong, the largest first, and `n_wrong` is how many are so among all. A row
    that is wrong takes another question.
    """
    wrong = np.concatenate([[0.0], np.cumsum(chances)])
    sizes = np.unique(np.concatenate([[0], 2 ** np.arange(0, chances.size.bit_length())]))
    sizes = sizes[sizes <= chances.size]
    costs = [n + wrong[n] + audit.n_left(max(0.0, n_wrong - wrong[n]), n) for n in sizes.tolist()]
    return int(sizes[np.argmin(costs)])


def _divergence(seen: float, expected: float) -> float:
    """Return the relative entropy of two coins."""
    found = (1 - seen) * log((1 - seen) / (1 - expected))
    return found + (seen * log(seen / expected) if seen > 0 else 0.0)
