"""With stop="certified": whether the next question makes labels better, or proves how good they are."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from math import log, log1p, pi, sqrt

import numpy as np

from samekind.algorithms.focused import constants as const
from samekind.algorithms.focused.learner import Learner
from samekind.algorithms.state import UNKNOWN
from samekind.flow import FloatArray, IntArray

__all__ = ["AuditAhead", "Certification", "n_doubtful_rows"]

_AHEAD = 16  # rows that are looked for at once for each that is asked about, as some were audited
_MANY = 2**14  # doubtful rows that are thought of, where rows have no doubts of their own


class Certification:
    """Weighs questions about doubtful rows against the questions that they would save the audit.

    The audit goes on until its bound is within the tolerance; the fewer rows are wrong, the sooner that is,
    and to know the most doubtful rows for sure makes fewer wrong. So it looks for the number of doubtful rows
    with which both take the fewest questions together, and audits once that is none. It audits first, too,
    until a row is wrong: those rows are to be audited anyway, and tell more than doubts. As long as a row
    that is learnt teaches more about the others than it is worth to know a doubtful one, it leaves the choice
    of rows to others.

    Which row is the most doubtful must not depend on which ones were audited, or these would no longer be a
    uniform sample of what nothing was learnt from: an audited row that is known is learnt from when its turn
    comes, which costs no question.
    """

    def __init__(self, learner: Learner) -> None:
        self._learner = learner
        self.is_due = False
        """Whether little but the certificate is missing: few new clusters turn up, and rows teach little."""
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
            self._decide(size)

    def should_audit(self) -> bool:
        """Return whether to audit, rather than to ask about the most doubtful row."""
        return self._should_audit

    def draw_doubtful(self) -> int:
        """Return the most doubtful row that nothing was learnt from; -1 if there is none, or no telling."""
        return self._doubtful.pop() if self._doubtful else -1

    def _decide(self, size: int) -> None:
        """Decide what to ask: the model's doubts are a prior for the share of wrong rows in the audit."""
        learner = self._learner
        n_audited, n_wrong = learner.audit.count(learner.model.predictor.clusters_of)
        audited, _ = learner.audit.known()
        n_learnt = learner.state.n_labelled - audited.size
        n_unlearnt = max(1, learner.points.n - n_learnt)
        doubts = self._sort_doubtful(size, audited, n_unlearnt)
        mean = float(doubts.mean()) if doubts.size else 0.0
        share = (n_wrong + const.PRIOR_AUDITS * mean) / (n_audited + const.PRIOR_AUDITS)
        # what the model does not suspect may be anywhere
        chances = doubts * min(1.0, share / max(mean, 1e-9)) + max(0.0, share - mean)
        tolerated = learner.params.tolerance * learner.points.n
        audit = AuditAhead(n_audited, n_wrong, n_unlearnt, n_learnt, tolerated)
        self._should_audit = n_wrong == 0
        if n_wrong and audit.taught_by_a_row(share) > chances.max(initial=0.0):
            self.is_due = False
        elif n_wrong:
            self._should_audit = n_doubtful_rows(chances, share * n_unlearnt, audit) == 0

    def _sort_doubtful(self, size: int, audited: IntArray, n_unlearnt: int) -> FloatArray:
        """Sort the unlearnt rows by doubt; return their doubts, the largest first."""
        learner = self._learner
        doubts = learner.model.predictor.doubts()
        self._doubtful = []
        if doubts is None:
            return np.full(min(n_unlearnt, _MANY), learner.scheduler.surprise())
        rows = np.arange(learner.points.n)
        is_unlearnt = learner.state.cluster_of(rows) == UNKNOWN
        is_unlearnt[audited] = True
        rows = rows[is_unlearnt]
        rows = rows[np.argsort(doubts[rows], kind="stable")]
        self._doubtful = rows[-_AHEAD * size :].tolist()
        found: FloatArray = doubts[rows[::-1]]
        return found


@dataclass(frozen=True)
class AuditAhead:
    """An audit so far, and how many wrong rows are tolerated among those that nothing was learnt from."""

    n_audited: int
    n_wrong: int
    n_rows: int
    n_learnt: int
    tolerated: float

    def taught_by_a_row(self, share: float) -> float:
        """Return about how many others a labelled row puts right, if a share is wrong.

        As errors fall with the square root of the labelled rows.
        """
        return share * self.n_rows / (2 * max(1, self.n_learnt))

    def n_left(self, n_wrong: float, n_more: int) -> int:
        """Return about how many rows are left to audit if so many are wrong, and more others learnt.

        By the tail of a binomial distribution, with Serfling's correction for rows that are not drawn twice.
        """
        n_rows = max(1, self.n_rows - n_more)
        if n_rows <= self.tolerated + 1:
            return 0
        share, allowed = min(1.0, n_wrong / n_rows), (self.tolerated + 1) / n_rows
        # of the audited rows, as they are as likely learnt as others
        kept = 1 - n_more / self.n_rows
        before = kept * self.n_audited

        def suffices(n_left: int) -> bool:
            n_drawn = before + n_left
            if n_drawn >= n_rows:
                return True
            seen = min(kept * self.n_wrong, share * before) + share * n_left
            risk = const.RISK / (2 * seen + 2)  # as in `most_wrong_at_any_time`
            return _log_tail(seen, n_drawn, allowed) <= (1 - n_drawn / n_rows) * log(risk)

        return bisect_left(range(n_rows), True, key=suffices)


def n_doubtful_rows(chances: FloatArray, n_wrong: float, audit: AuditAhead) -> int:
    """Return about how many of the most doubtful rows to ask about before the audit is finished.

    `chances` are those of being wrong, the largest first, and `n_wrong` is how many are so among all. A row
    that is wrong takes another question, and each teaches about the others.
    """
    wrong = np.concatenate([[0.0], np.cumsum(chances)])
    sizes = np.unique(np.concatenate([[0], 2 ** np.arange(0, chances.size.bit_length())]))
    costs = []
    for n in sizes[sizes <= chances.size].tolist():
        taught = sqrt(audit.n_learnt / max(1, audit.n_learnt + n))
        costs.append(n + wrong[n] + audit.n_left(max(0.0, n_wrong - wrong[n]) * taught, n))
    return int(sizes[np.argmin(costs)])


def _log_tail(seen: float, drawn: float, share: float) -> float:
    """Return the logarithm of the probability that of so many draws no more than these are hits, nearly."""
    if seen >= share * drawn:
        return 0.0
    found = drawn * log1p(-share)
    if seen < 1:
        return found
    rate = seen / drawn
    entropy = rate * log(rate / share) + (1 - rate) * log((1 - rate) / (1 - share))
    last = -drawn * entropy - 0.5 * log(2 * pi * seen * (1 - rate))
    before = seen * (1 - share) / ((drawn - seen + 1) * share)  # of one hit less, relative to that
    return min(0.0, last - log(1 - min(before, 0.99)))
