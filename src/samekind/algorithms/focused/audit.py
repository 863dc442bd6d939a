"""The audit: what the result promises, from rows drawn uniformly that nothing was learnt from.

One question tells whether a row is in the cluster that it is predicted to be in. If it is not, its own
cluster is not looked for. If it is predicted elsewhere later, one more question tells.

Other questions do not look at which row is next in the audit, so each draw is uniform among the rows that
nothing was learnt from. An audited row is not asked about otherwise, while doubtful rows around it are. So
the sample keeps doubtful rows that the rest loses, and its errors bound how many of the other rows are
predicted wrongly. An audited row about which somebody tells more is learnt from, and leaves the audit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from samekind.algorithms.base import Certificate
from samekind.algorithms.focused.bounds import most_wrong, most_wrong_at_any_time
from samekind.flow import IntArray

__all__ = ["Audit", "all_asked"]

RISK_WRONG, RISK_UNDISCOVERED = 0.04, 0.01  # with which the bounds fail: 5 % together
RISK = RISK_WRONG + RISK_UNDISCOVERED
DRAWN_AT_ONCE = 1024


def all_asked(n_undecided: int) -> Certificate:
    """Return what can be promised when every row was asked about, but nobody could tell of some."""
    return Certificate(1.0, 0.0, 0.0, 0, 0, 0, n_undecided, wrong_at_any_time=0.0)


@dataclass
class Audit:
    """Rows that were drawn for the audit, and what was answered about them.

    Attributes
    ----------
    same : dict
        For each row, a row that it is the same as.
    refused : dict
        For each row that is not known, rows that it is different from.
    unsure : set
        Rows of which nobody could tell.
    told : dict
        Rows of which more was told since, so that they are learnt from: whether they were as predicted when
        they were drawn. They stay in the sample: mostly wrong labels are told more of.
    """

    n_rows: int
    seed: int
    same: dict[int, int] = field(default_factory=dict)
    refused: dict[int, list[int]] = field(default_factory=dict)
    unsure: set[int] = field(default_factory=set)
    told: dict[int, bool] = field(default_factory=dict)

    def __contains__(self, row: int) -> bool:
        return row in self.same or row in self.refused or row in self.unsure

    def __len__(self) -> int:
        return len(self.rows) + len(self.told)

    @property
    def n_refuted(self) -> int:
        """How many of the rows of which more was told were not as predicted."""
        return len(self.told) - sum(self.told.values())

    @property
    def rows(self) -> list[int]:
        """The audited rows that are not learnt from, ascending."""
        return sorted({*self.same, *self.refused, *self.unsure})

    def add(self, row: int, other: int, answer: int) -> None:
        """Take in an answer about an audited row and another one: SAME (1), DIFFERENT (0) or UNSURE (-1)."""
        if answer == 1:
            self.same[row] = min(other, self.same.get(row, other))
            self.refused.pop(row, None)
            self.unsure.discard(row)
        elif answer == 0 and row not in self.same:
            self.refused.setdefault(row, []).append(other)
            self.unsure.discard(row)
        elif answer < 0 and row not in self.same and row not in self.refused:
            self.unsure.add(row)

    def order(self) -> Iterator[int]:
        """Yield all rows in the order in which they are drawn, uniformly and without replacement."""
        rng, seen = np.random.default_rng([self.seed, 2]), set[int]()
        if self.n_rows <= 4 * DRAWN_AT_ONCE:
            yield from rng.permutation(self.n_rows).tolist()
            return
        while len(seen) < self.n_rows:
            for row in rng.integers(self.n_rows, size=DRAWN_AT_ONCE).tolist():
                if row not in seen:
                    seen.add(row)
                    yield row

    def wrong(self, cluster_of: Callable[[IntArray], IntArray], predicted: IntArray) -> list[int]:
        """Return the audited rows that are not known to be in the groups that are predicted for them."""
        rows = self.rows
        known = np.array([self.same.get(row, -1) for row in rows], dtype=np.intp)
        own = np.full(len(rows), -1)
        own[known >= 0] = cluster_of(known[known >= 0])
        return [row for row, c, p in zip(rows, own, predicted, strict=True) if c < 0 or c != p]

    def certificate(
        self,
        n_wrong: int,
        n_learnt: int,
        n_undecided: int,
        n_unproven: int,
    ) -> Certificate:
        """Return what can be promised of all rows.

        What is known is right: only rows that nothing was learnt from can be wrong, and of the audited ones
        only those whose cluster is not known. Rows that nobody could tell are stated apart.

        Parameters
        ----------
        n_wrong : int
            How many of `rows` are not as predicted.
        n_learnt : int
            Rows that were learnt from, or given up, those of the sample included.
        n_undecided : int
            Rows that are given up.
        n_unproven : int
            Pairs of clusters that nobody was asked about.
        """
        n, size = self.n_rows, len(self)
        n_wrong += self.n_refuted
        population = n - n_learnt + len(self.told)
        if not size:
            bound = population / n
            return Certificate(1 - RISK, bound, bound, 0, 0, n_unproven, n_undecided, bound)
        # their labels are not predictions, whatever was predicted
        settled = len(self.same) + len(self.told)
        mended = n_wrong - (size - settled)  # known rows that would be predicted wrongly
        wrong, at_any_time = (
            max(0, bound(n_wrong, size, population, risk) - max(0, mended)) / n
            for bound, risk in ((most_wrong, RISK_WRONG), (most_wrong_at_any_time, RISK))
        )
        return Certificate(
            confidence=1 - RISK,
            undiscovered=wrong,
            wrong=wrong,
            n_audited=size,
            n_wrong=n_wrong,
            n_unproven=n_unproven,
            n_undecided=n_undecided,
            wrong_at_any_time=at_any_time,
        )
