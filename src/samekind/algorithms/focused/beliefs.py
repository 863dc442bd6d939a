"""What to believe when answers may be wrong: evidence is weighed, never taken for a proof."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import log

import numpy as np
from numpy.typing import NDArray

from samekind.algorithms.focused import _kernels
from samekind.flow import SAME

__all__ = ["Beliefs", "Heard"]

Heard = tuple[int, int, int]
"""The other row, the answer, and the number of who gave it."""

USUAL = 0.1  # error rate that is assumed before anything is known, as if seen in so many answers:
STRENGTH = 20.0
OWN = 8.0  # answers after which somebody's own record counts as much as everybody's
LEAST, MOST = 0.002, 0.9  # error rates are kept between
MOST_OF_ALL = 0.4  # that of all answers: taken together, people are right more often than not
CAUTION = 2.0  # wrong answers that everybody is charged with when kinds are merged or parted
CLEAR = 0.95  # certainty about two rows at which an answer about them is right or wrong
NOBODY = -1  # stands for all who answer
SINCE = 0.01  # chance of the kinds that were founded after a row was asked about


class Beliefs:
    """The answers heard about every row, how certain each row's kind is, and how often people err.

    The error rate of an answer is that of who gave it: a record of right and wrong answers, drawn towards
    the record of all. An answer of somebody who errs more often than not counts against what it says.
    """

    def __init__(self, error_rate: float | str, kinds_of: Callable[[list[int]], list[int]]) -> None:
        self.estimates = error_rate == "estimate"
        self._usual = USUAL if self.estimates else float(error_rate)
        self._strength = STRENGTH if self.estimates else 1e9
        self.kinds_of = kinds_of
        self.heard: dict[int, list[Heard]] = {}
        self.several = False  # whether more than one person was heard
        self.asked: set[tuple[int, int]] = set()  # pairs that were asked to compare kinds
        self.certainty: dict[int, float] = {}  # of the kind of a row that was asked about
        self.priors: dict[int, NDArray[np.float64]] = {}  # of each kind and of being new, by row
        self._wrong = np.zeros(4)  # by who
        self._judged = np.zeros(4)
        self._rates: dict[int, float] = {}  # by who, until somebody is judged

    # Who errs

    def rate(self) -> float:
        """Return the share of answers that seem to be wrong."""
        return self.rate_of(NOBODY)

    def rate_of(self, who: int) -> float:
        """Return the share of somebody's answers that seem to be wrong."""
        found = self._rates.get(who)
        if found is None:
            found = self._rates[who] = self._share_of(who)
        return found

    def _share_of(self, who: int) -> float:
        if who < 0 or who >= self._wrong.size:
            wrong = self._wrong.sum() + self._usual * self._strength
            share = wrong / (self._judged.sum() + self._strength)
            return min(max(float(share), LEAST), MOST_OF_ALL)
        others = self.rate() if self.estimates else self._usual
        share = (self._wrong[who] + OWN * others) / (self._judged[who] + OWN)
        if not self.estimates and np.count_nonzero(self._judged) < 2:
            share = self._usual
        return min(max(float(share), LEAST), MOST)

    def cautious_rate_of(self, who: int) -> float:
        """Return a rate that is higher the less is known of somebody."""
        judged = self._judged[who] if 0 <= who < self._judged.size else 0.0
        if not self.estimates:
            return self.rate_of(who)
        found = (self.rate_of(who) * (judged + OWN) + CAUTION) / (judged + OWN + CAUTION)
        return float(min(found, MOST))

    def judge(self, n_kinds: int) -> None:
        """Estimate anew how often everybody errs.

        Each answer about a row is held against what is believed of the row without it.
        """
        self._wrong[:] = self._judged[:] = 0.0
        self._rates.clear()
        for row, prior in self.priors.items():
            said = self.heard.get(row, ())
            own, *kinds = self.kinds_of([row, *(other for other, _, _ in said)])
            logs = np.log(self.spread(prior, n_kinds, own))
            weights = [
                self._weight(other, answer, who, n_kinds) if kind >= 0 else 0.0
                for kind, (other, answer, who) in zip(kinds, said, strict=True)
            ]
            counts = [kind >= 0 and who >= 0 for kind, (_, _, who) in zip(kinds, said, strict=True)]
            without = np.zeros((len(said), n_kinds + 1))
            _kernels.hold_out(
                logs, np.array(kinds, np.intp), np.array(weights), np.array(counts, bool), without
            )
            shares = (1 / np.exp(without).sum(axis=1)).tolist()
            for (other, answer, who), share, does in zip(said, shares, counts, strict=True):
                same = self.certainty.get(other, 1.0) * share
                if does and max(same, 1 - same) >= CLEAR:
                    self._note(who, 1 - same if answer == SAME else same)

    def _note(self, who: int, wrong: float) -> None:
        while who >= self._wrong.size:
            self._wrong = np.concatenate([self._wrong, np.zeros_like(self._wrong)])
            self._judged = np.concatenate([self._judged, np.zeros_like(self._judged)])
        self._wrong[who] += wrong
        self._judged[who] += 1
        self._rates.clear()

    @staticmethod
    def spread(prior: NDArray[np.float64], n_kinds: int, kind: int) -> NDArray[np.float64]:
        """Return a prior made when there were fewer kinds, with a little for those founded since.

        If the row's kind is one of these, because the row founded it, being new means to be of it.
        """
        full = np.empty(n_kinds + 1)
        full[: prior.size - 1] = prior[:-1]
        full[prior.size - 1 :] = SINCE / (n_kinds + 1)
        full[kind if kind >= prior.size - 1 else -1] = prior[-1]
        return full

    # What was said

    def hear(self, a: int, b: int, answer: int, who: int) -> None:
        """Take in SAME or DIFFERENT about two rows."""
        self.several |= who > 0  # 0 is who answered first
        self.heard.setdefault(a, []).append((b, answer, who))
        self.heard.setdefault(b, []).append((a, answer, who))

    def heard_of(self, row: int) -> Iterator[tuple[int, Heard]]:
        """Yield what was said about a row, after the kind that the other row is of now."""
        said = self.heard.get(row, ())
        return zip(self.kinds_of([other for other, _, _ in said]), said, strict=True)

    def told(self, row: int) -> set[int]:
        """Return the rows that a row was compared with."""
        return {other for other, _, _ in self.heard.get(row, ())}

    def evidence(self, row: int, n_kinds: int) -> NDArray[np.float64]:
        """Return the log likelihood of each kind, and of being new, (kinds + 1,), up to a constant."""
        logs = np.zeros(n_kinds + 1)
        for kind, (other, answer, who) in self.heard_of(row):
            if kind >= 0:  # to be of a kind that came later is to be new
                logs[min(kind, n_kinds)] += self._weight(other, answer, who, n_kinds)
        return logs

    def _weight(self, other: int, answer: int, who: int, n_kinds: int) -> float:
        """Return the log ratio of an answer's likelihoods: if a row is of the other's kind, and if not."""
        error, certain = self.rate_of(who), self.certainty.get(other, 1.0)
        stray = (1.0 - certain) / max(n_kinds, 2)
        if_same = certain * (1 - error) + (1 - certain) * error
        if_not = error + stray * (1 - 2 * error)
        if answer == SAME:
            return log(if_same / if_not)
        return log((1 - if_same) / (1 - if_not))

    def posterior(self, row: int, prior: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the chance of each kind, and of being new, (kinds + 1,)."""
        logs = self.evidence(row, prior.size - 1) + np.log(prior)
        chances: NDArray[np.float64] = np.exp(logs - logs.max())
        chances /= chances.sum()
        return chances

    def between(self, rows: list[int], kind: int) -> float:
        """Return the log ratio of what was said between some rows and those of a kind: one kind, or two.

        Only comparisons count: answers that made a row what it is would tell that it is different from
        the kind that refused it, by mistake or not.
        """
        total = 0.0
        for row in rows:
            for its_kind, (other, answer, who) in self.heard_of(row):
                if (min(row, other), max(row, other)) not in self.asked:
                    continue
                if its_kind == kind:
                    doubt = min(self.certainty.get(row, 1.0), self.certainty.get(other, 1.0))
                    total += (2 * doubt - 1) * self.vote(answer, who)
        return total

    def vote(self, answer: int, who: int) -> float:
        """Return the log ratio of an answer's likelihoods if two rows are of one kind, and of two."""
        error = self.cautious_rate_of(who)
        weight = log((1 - error) / error)
        return weight if answer == SAME else -weight

    def within(self, rows: list[int]) -> list[tuple[int, int, float]]:
        """Return what was said among some rows: two places in the list, and the vote."""
        place = {row: k for k, row in enumerate(rows)}
        return [
            (k, place[other], self.vote(answer, who))
            for row, k in place.items()
            for other, answer, who in self.heard.get(row, ())
            if other in place and k < place[other]
        ]
