"""Who is asked next: the rule by which answers of somebody cheap are put to somebody better.

A rule is asked about every answer of somebody who is not the last to be asked, before the algorithm sees it,
and says whether it stands or is put to the next one: as part of the audit, or because it is doubtful.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from dataclasses import dataclass

import numpy as np

from samekind.engine.audited_rates import AuditedRates
from samekind.engine.session import Session
from samekind.flow import DIFFERENT, SAME, UNSURE, Answers, BoolArray, FloatArray, Pairs

__all__ = ["AskingRule", "AuditAndDoubt", "Review", "Turn"]


@dataclass(frozen=True)
class Turn:
    """Whose answers are to be reviewed, and what is left to spend."""

    rates: AuditedRates
    """Of who answered, as far as it was checked."""
    left: int | None
    """How many more questions they may be asked; None is no limit."""
    checker_left: int | None
    """How many more questions the next one may be asked."""
    checker_budget: int | None


@dataclass(frozen=True)
class Review:
    """Which answers are put to the next one."""

    audited: BoolArray
    """Chosen whatever they said: they teach how often who answered errs."""
    doubtful: BoolArray


class AskingRule(ABC):
    """Decides which answers are put to somebody better, and whose are of no use."""

    @abstractmethod
    def review(self, session: Session, pairs: Pairs, answers: Answers, turn: Turn) -> Review:
        """Return which of these answers are put to the next one before they count."""

    @abstractmethod
    def is_useless(self, rates: AuditedRates, checker_budget: int | None) -> bool:
        """Return whether somebody is not to be asked any more, and what they said to be disregarded."""


class AuditAndDoubt(AskingRule):
    """Audit at random, and ask again about what is doubtful and about what much hangs on.

    - The first answers are all checked, until it is clear that who gives them is of use. So somebody who is
      not costs the checker nothing but questions that would have been asked anyway. Who seems to be of none
      then is not asked any more. In doubt they are: to do without somebody of use costs more, and the audit
      goes on.
    - From then on a random share of answers is checked, evenly over the run.
    - A share is kept for the end: who knows better is then asked what few answers can mend, which shows when
      all others have answered (`Session.settle`).
    - The rest of the budget goes, evenly over the run, to the answers with the highest expected harm: the
      probability that an answer is wrong, by the learnt rates and by what the algorithm expected, times what
      hangs on it: a row, a new cluster, or all rows of a cluster that may be merged. "Unsure" comes first.

    Parameters
    ----------
    seed : int
        Fixes which answers are audited.
    audit_share : float
        The share of the checker's budget that the audit takes after that.
    settle_share : float
        The share of it that is kept for the end, where it is known when that comes.
    """

    # 1 - false "same" - false "different" of somebody who helps: 0 is chance, 1 never errs
    USEFUL = 0.5
    SURELY_NOT = 0.05  # probability of that below which somebody is not asked any more
    LIKELY_NOT = 0.1  # the same when it is not the case any more that every answer is checked
    LIKELY = 0.9  # and above which not every answer is checked any more
    LEAST_EXAM, LONG_EXAM = 10, 40  # answers checked at first, and when it is not clear by then
    MOST_EXAM = 0.5  # of the checker's budget, at most
    NEW = 2.0  # what hangs on a refusal by the likeliest cluster, in rows: a cluster too many costs more
    MOST_STAKE = 10.0
    MEMORY = 400  # answers whose harm is compared with that of a new one

    def __init__(
        self, seed: int = 0, *, audit_share: float = 0.15, settle_share: float = 0.7
    ) -> None:
        self._rng = np.random.default_rng([seed, 20])
        self._settle_share = settle_share
        self._audit_share = audit_share
        self._harms: deque[float] = deque(maxlen=self.MEMORY)
        self._n_audited = 0
        self._n_compared, self._n_one = 2, 1  # comparisons of clusters, and those called the same

    def is_useless(self, rates: AuditedRates, checker_budget: int | None) -> bool:
        """Return whether somebody is no better than chance, or too little to be of use."""
        if rates.n < self.LEAST_EXAM:
            return False
        is_over = rates.n >= self._longest_exam(checker_budget)
        return rates.chance_of_use(self.USEFUL) < (self.LIKELY_NOT if is_over else self.SURELY_NOT)

    def _longest_exam(self, checker_budget: int | None) -> float:
        most = np.inf if checker_budget is None else self.MOST_EXAM * checker_budget
        return min(self.LONG_EXAM, most)

    def review(self, session: Session, pairs: Pairs, answers: Answers, turn: Turn) -> Review:
        """Return which answers are audited and which are doubtful."""
        audited, doubtful = np.zeros((2, len(pairs)), dtype=bool)
        left = turn.checker_left
        if left == 0:
            return Review(audited, doubtful)
        audited[:] = self._rng.random(len(pairs)) < self._audit_rate(turn)
        harms = self._expected_harm(session, pairs, answers, turn.rates)
        self._harms.extend(harms[np.isfinite(harms)].tolist())
        worth = self._threshold(turn)
        doubtful[:] = ~audited & (np.isinf(harms) | (harms > worth))
        if left is not None:  # the audit first, then by harm
            order = np.lexsort((-harms, ~audited))
            audited[order[left:]] = doubtful[order[left:]] = False
        self._n_audited += 0 if self._in_exam(turn) else int(audited.sum())
        return Review(audited, doubtful)

    def _audit_rate(self, turn: Turn) -> float:
        budget = turn.checker_budget
        if self._in_exam(turn):
            return 1.0
        if budget is None or turn.left is None:
            return self._audit_share / 10
        wanted = self._audit_share * budget - self._n_audited
        return float(np.clip(wanted / max(turn.left, 1), 0.0, 1.0))

    def _in_exam(self, turn: Turn) -> bool:
        """Return whether every answer is checked: as long as it is not clear that they are of use."""
        rates = turn.rates
        if rates.n >= self._longest_exam(turn.checker_budget):
            return False
        return rates.n < self.LEAST_EXAM or rates.chance_of_use(self.USEFUL) < self.LIKELY

    def _threshold(self, turn: Turn) -> float:
        """Return the harm from which on an answer is worth a question: so that the budget lasts."""
        if turn.checker_left is None or turn.left is None:
            return float(np.quantile(self._harms, 0.9)) if self._harms else np.inf
        budget = turn.checker_budget or 0
        reserved = max(0.0, self._audit_share * budget - self._n_audited)
        reserved += self._settle_share * budget
        share = (turn.checker_left - reserved) / max(turn.left, 1)
        if share <= 0 or not self._harms:
            return np.inf
        return float(np.quantile(self._harms, max(0.0, 1.0 - share)))

    def _expected_harm(
        self, session: Session, pairs: Pairs, answers: Answers, rates: AuditedRates
    ) -> FloatArray:
        """Return the probability that each answer is wrong times what hangs on it; infinite where unsure."""
        expected, stake = self._outlook(session, pairs, answers, rates)
        false_same, false_different = rates.false_same.mean, rates.false_different.mean
        said_same = answers == SAME
        if_wrong = np.where(said_same, (1 - expected) * false_same, expected * false_different)
        if_right = np.where(
            said_same, expected * (1 - false_different), (1 - expected) * (1 - false_same)
        )
        harm: FloatArray = stake * if_wrong / np.maximum(if_wrong + if_right, 1e-12)
        harm[answers == UNSURE] = np.inf
        return harm

    def _outlook(
        self, session: Session, pairs: Pairs, answers: Answers, rates: AuditedRates
    ) -> tuple[FloatArray, FloatArray]:
        """Return how likely each pair was the same before it was answered, and what hangs on it, in rows.

        Of rows the algorithm says it. Of clusters that are compared, the answers to all such questions tell
        how often they are one, given how often answers are wrong.
        """
        false_same, false_different = rates.false_same.mean, rates.false_different.mean
        said_one = self._n_one / self._n_compared
        are_one = (said_one - false_same) / max(1 - false_same - false_different, 0.1)
        places = session.places_of(pairs.ravel()).reshape(-1, 2)
        members = session.known_clusters()
        expected, stake = np.full(len(pairs), 0.5), np.ones(len(pairs))
        for k, ((a, b), (one, other)) in enumerate(
            zip(pairs.tolist(), places.tolist(), strict=True)
        ):
            if one >= 0 and other >= 0:
                smaller = min(len(members[one]), len(members[other]))
                expected[k], stake[k] = are_one, min(smaller, self.MOST_STAKE)
                self._n_compared += 1
                self._n_one += int(answers[k] == SAME)
                continue
            row, cluster = (a, other) if one < 0 else (b, one)
            sure = float(session.confidence([row])[0])
            if cluster < 0 or np.isnan(sure):
                continue
            likeliest = session.rank_clusters(row)[:1]
            is_likeliest = bool(likeliest) and members[cluster][0] == likeliest[0]
            expected[k] = sure if is_likeliest else (1 - sure) / 2
            if is_likeliest and answers[k] == DIFFERENT:
                stake[k] = self.NEW
        return np.clip(expected, 0.01, 0.99), stake
