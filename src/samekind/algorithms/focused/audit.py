"""The audit: what the result promises, from rows that nothing was learnt from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from samekind.algorithms.base import Certificate
from samekind.algorithms.focused.audit_bounds import (
    most_wrong,
    most_wrong_at_any_time,
    upper_bound,
)
from samekind.algorithms.focused.constants import RISK, RISK_UNDISCOVERED, RISK_WRONG
from samekind.algorithms.state import ClusterState
from samekind.flow import IntArray

__all__ = ["Audit", "AuditedRow", "Surveys", "all_asked"]


def all_asked(n_undecided: int) -> Certificate:
    """Return what can be promised when every row was asked about, but nobody could tell of some."""
    return Certificate(1.0, 0.0, 0.0, 0, 0, 0, n_undecided, wrong_at_any_time=0.0)


@dataclass
class AuditedRow:
    """What is known of a row that was drawn for the audit."""

    cluster: int | None = None
    """Its cluster, if that was found; None if not, or if nobody could tell."""
    refused: list[int] = field(default_factory=list)
    """Clusters it is not in."""
    undecided: bool = False
    """Whether nobody could tell."""

    @property
    def is_settled(self) -> bool:
        """Whether its label is not a prediction: it is known, or there is none as nobody could tell."""
        return self.cluster is not None or self.undecided


class Surveys:
    """Uniform draws that were learnt from, and which of them were new: they bound what was not found.

    The share of rows in clusters that were not found only ever falls, so the draws since any moment bound it,
    too. They are counted since draw 0, 1, 2, 4, 8, …, each with a part of the risk, such that early
    discoveries do not count for ever.
    """

    def __init__(self) -> None:
        self._n_draws = 0
        self._n_new = 0
        self._before = [(0, 0)]  # draws and new ones when each count began

    def add(self, *, is_new: bool) -> None:
        """Add a draw."""
        self._n_draws += 1
        self._n_new += is_new
        if self._n_draws & (self._n_draws - 1) == 0:  # a power of 2
            self._before.append((self._n_draws, self._n_new))

    def count_missed(self) -> None:
        """Count a draw as a new one: it was of a cluster that was taken for part of another."""
        self._n_new = min(self._n_new + 1, self._n_draws)

    def undiscovered(self) -> float:
        """Return a bound on the share of rows in clusters that were not found, whenever one looks."""
        return min(
            upper_bound(
                min(self._n_new - n_new, self._n_draws - n_draws),
                self._n_draws - n_draws,
                RISK_UNDISCOVERED / ((number + 1) * (number + 2)),
            )
            for number, (n_draws, n_new) in enumerate(self._before)
        )


class Audit:
    """Rows drawn uniformly whose answers are kept from the model, so that they can test its predictions.

    One question tells whether a row is in the cluster that it is predicted to be in. If it is not, its own
    cluster is not looked for; should it be predicted elsewhere later, one more question tells.

    The other draws do not look at who is audited: an audited row that they meet is learnt from, and leaves
    the audit (`release`). So the audited rows are a uniform sample, without replacement, of all rows that
    nothing was learnt from, and their errors bound how many of those are predicted wrongly. Where the
    cluster of every row is looked for, as with noisy answers, one that founds a cluster has to be learnt
    from, and is counted as wrong for good: on average, one row of that cluster is drawn up to then.
    """

    def __init__(self) -> None:
        self.rows: dict[int, AuditedRow] = {}
        self.surveys = Surveys()
        self._n_founders = 0
        self._n_volunteered = 0

    def __contains__(self, row: int) -> bool:
        return row in self.rows

    @property
    def n_draws(self) -> int:
        """How many rows were audited."""
        return len(self.rows) + self._n_founders

    def add(self, row: int, cluster: int) -> None:
        """Add a row whose cluster was found."""
        self.rows[row] = AuditedRow(cluster)

    def add_refused(self, row: int, refused: list[int]) -> None:
        """Add a row of which only some clusters are known that it is not in, or more of these."""
        self.rows[row] = AuditedRow(refused=list(refused))

    def add_undecided(self, row: int) -> None:
        """Add a row that nobody could tell."""
        self.rows[row] = AuditedRow(undecided=True)

    def add_founder(self) -> None:
        """Add a row that founded a cluster, and was learnt from."""
        self._n_founders += 1

    def add_volunteered(self) -> None:
        """Note that a row is known now, and learnt from, as somebody chose to tell.

        Who chooses what to tell leaves the audited rows out, as these are known or were asked about; so the
        others are no uniform sample any more of what nothing was learnt from. They are one of those and the
        volunteered rows together, which is what the bounds are about from then on.
        """
        self._n_volunteered += bool(self.n_draws)

    def release(self, row: int) -> AuditedRow | None:
        """Take out a row that is to be learnt from; None if it was not audited."""
        return self.rows.pop(row, None)

    def refused(self, row: int) -> list[int]:
        """Return the clusters that a row is known not to be in."""
        audited = self.rows.get(row)
        return [] if audited is None else list(audited.refused)

    def refused_by(self, clusters: set[int]) -> list[int]:
        """Return the rows that some of these clusters refused."""
        return [row for row, audited in self.rows.items() if clusters & set(audited.refused)]

    def outdated(self, clusters_of: Callable[[IntArray], IntArray]) -> int:
        """Return a row that is predicted to be in another cluster than those it was refused by; -1: none."""
        refused = [row for row, audited in self.rows.items() if audited.refused]
        if not refused:
            return -1
        predicted = clusters_of(np.array(refused, dtype=np.intp)).tolist()
        for row, cluster in zip(refused, predicted, strict=True):
            if cluster >= 0 and cluster not in self.rows[row].refused:
                return row
        return -1

    def move(self, row: int, cluster: int) -> None:
        """Note that a row, audited or not, is in another cluster than was thought."""
        if row in self.rows:
            self.rows[row].cluster = cluster

    def merge(self, keep: int, gone: int) -> None:
        """Make one cluster part of another."""
        for audited in self.rows.values():
            if audited.cluster == gone:
                audited.cluster = keep
            audited.refused = [keep if other == gone else other for other in audited.refused]

    def known(self) -> tuple[IntArray, IntArray]:
        """Return the audited rows whose clusters are known, and these."""
        pairs = [
            (row, audited.cluster)
            for row, audited in self.rows.items()
            if audited.cluster is not None
        ]
        rows, clusters = np.array(pairs, dtype=np.intp).reshape(-1, 2).T
        return rows, clusters

    def count(self, clusters_of: Callable[[IntArray], IntArray]) -> tuple[int, int]:
        """Return how many rows were audited, and how many of them are not as predicted."""
        return self.n_draws, len(self._wrong(clusters_of)) + self._n_founders

    def _wrong(self, clusters_of: Callable[[IntArray], IntArray]) -> list[AuditedRow]:
        """Return those that are not known to be as predicted."""
        rows = np.array(list(self.rows), dtype=np.intp)
        predicted = clusters_of(rows).tolist() if rows.size else []
        return [
            audited
            for audited, cluster in zip(self.rows.values(), predicted, strict=True)
            if audited.cluster != cluster
        ]

    def certificate(
        self,
        clusters_of: Callable[[IntArray], IntArray],
        state: ClusterState,
        n_rows: int,
        n_unproven: int,
    ) -> Certificate:
        """Return what can be promised of all rows, by the predicted clusters of the audited ones.

        What is known is right: only rows that nothing was learnt from can be wrong, and of those that were
        audited only the ones whose cluster is not known. Rows that nobody could tell are stated apart.
        """
        wrong_rows = self._wrong(clusters_of)
        n_wrong = len(wrong_rows) + self._n_founders
        n_settled = sum(audited.is_settled for audited in wrong_rows) + self._n_founders
        n_known = sum(audited.is_settled for audited in self.rows.values())
        n_unlearnt = n_rows - state.n_labelled + n_known + self._n_founders + self._n_volunteered
        n_unlearnt = min(n_rows, n_unlearnt)
        wrong, wrong_at_any_time = (
            (bound(n_wrong, self.n_draws, n_unlearnt, risk) - n_settled) / n_rows
            if self.n_draws
            else (n_rows - state.n_labelled) / n_rows
            for bound, risk in ((most_wrong, RISK_WRONG), (most_wrong_at_any_time, RISK))
        )
        return Certificate(
            confidence=1 - RISK,
            undiscovered=min(self.surveys.undiscovered(), wrong),
            wrong=wrong,
            n_audited=self.n_draws,
            n_wrong=n_wrong,
            n_unproven=n_unproven,
            n_undecided=len(state.given_up),
            wrong_at_any_time=wrong_at_any_time,
        )
