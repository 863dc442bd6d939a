"""CheckCluster: of what cluster are these rows, when answers may be wrong? Many members are asked about each.

The votes of a cluster's members about a row are independent, each wrong with probability p. So they are
counted until SAME is ahead of DIFFERENT, or behind it, by so many that the lead is an accident only with
the chance that is allowed (Wald's sequential test): about a third of the votes that a majority of a
fixed number would need. If the members end first, their majority decides, as in the paper.
"""

from __future__ import annotations

from math import ceil, inf, log, sqrt
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from samekind._intmap import IntMap
from samekind.algorithms.paper.base import PaperAlgorithm
from samekind.algorithms.paper.classify import PaperParams
from samekind.algorithms.state import UNKNOWN
from samekind.flow import DIFFERENT, SAME, UNSURE, Answers, Flow, IntArray

__all__ = ["Panel", "lead", "voters"]

UNASKED = 2
P = TypeVar("P", bound=PaperParams)

MORE_IF_UNSURE = 4  # times as many members may be asked where some are unsure


def lead(error: float, risk: float) -> int:
    """Return how far SAME must be ahead, or behind, for a verdict that is wrong with chance `risk`.

    Examples
    --------
    >>> lead(0.2, 1e-6), lead(0.1, 1e-6), lead(0.0, 1e-6)
    (10, 7, 1)
    """
    return 1 if error == 0 else max(1, ceil(log(1 / risk) / log((1 - error) / error)))


def voters(error: float, risk: float) -> int:
    """Return how many votes have a majority that is wrong with chance `risk` at most, by Chernoff's bound.

    Examples
    --------
    >>> voters(0.2, 1e-6), voters(0.1, 1e-6), voters(0.0, 1e-6)
    (62, 28, 1)
    """
    exponent = inf if error == 0 else -log(2 * sqrt(error * (1 - error)))
    return max(1, ceil(log(1 / risk) / exponent))


class Panel:
    """Remembers every answer, so that no pair is asked twice, and places rows by majorities.

    Parameters
    ----------
    algorithm : PaperAlgorithm
        Whose rows are placed.
    error : float
        The chance that an answer is wrong.
    risk : float
        The chance that any verdict of a run, of all clusters on all rows, may be wrong.
    """

    def __init__(self, algorithm: PaperAlgorithm[P], error: float, risk: float) -> None:
        self.error = error
        self._risk = risk
        self._algorithm = algorithm
        self._points = algorithm.points
        self._state = algorithm.state
        self._params = algorithm.params
        self._answers = IntMap()
        self._refused_by = IntMap()  # how many clusters, from the first one on, refused a row

    def ask(self, rows: IntArray, others: IntArray) -> Flow[Answers]:
        """Return an answer for each pair, asking for those not known, `batch` at a time."""
        keys = np.minimum(rows, others) * self._points.n + np.maximum(rows, others)
        answers = self._answers.get(keys, UNASKED).astype(np.int8)
        new = np.flatnonzero(answers == UNASKED)
        size = self._algorithm.batch_size()
        for start in range(0, new.size, size):
            some = new[start : start + size]
            answers[some] = (yield np.column_stack([rows[some], others[some]])).answers
            self._answers.put(keys[some], answers[some])
        return answers

    def graph(self, rows: IntArray) -> Flow[Answers]:
        """Return the answers among rows, (m, m)."""
        one, two = np.triu_indices(rows.size, 1)
        graph = np.full((rows.size, rows.size), SAME, dtype=np.int8)
        graph[one, two] = graph[two, one] = yield from self.ask(rows[one], rows[two])
        return graph

    def place(self, rows: IntArray) -> Flow[IntArray]:
        """Return the cluster of each row (rows may repeat), UNKNOWN where every cluster refused it.

        A row is given up when no cluster has accepted it, and the members of some cluster cannot tell.
        """
        known = self._state.cluster_of(rows)
        unknown = rows[known == UNKNOWN]
        new = np.array(list(dict.fromkeys(unknown.tolist())), dtype=np.intp)
        n_refused = self._refused_by.get(new, 0)
        left = n_refused < len(self._state)
        if left.any():
            yield from self._hear(new[left], n_refused[left])
            known = self._state.cluster_of(rows)
        return known

    def _hear(self, rows: IntArray, n_refused: NDArray[np.int64]) -> Flow[None]:
        """Ask the clusters that have not refused a row yet, one after the other, until one accepts it."""
        state, n_clusters = self._state, len(self._state)
        order = self._order(rows)
        cannot_tell = np.zeros(rows.size, dtype=bool)
        doubtful = np.arange(rows.size)
        for place in range(n_clusters):
            candidates = order[doubtful, place]
            fresh = candidates >= n_refused[doubtful]
            asking, candidates = doubtful[fresh], candidates[fresh]
            if not asking.size:
                continue
            verdicts = yield from self._vote(rows[asking], candidates)
            accepted = verdicts == SAME
            state.add_members(rows[asking[accepted]], candidates[accepted])
            cannot_tell[asking[verdicts == UNSURE]] = True
            doubtful = np.setdiff1d(doubtful, asking[accepted], assume_unique=True)
        for row in rows[doubtful[cannot_tell[doubtful]]].tolist():
            state.give_up(row)
        refused = rows[doubtful[~cannot_tell[doubtful]]]
        self._refused_by.put(refused, np.full(refused.size, n_clusters))

    def _order(self, rows: IntArray) -> IntArray:
        """Return the clusters in the order in which each row asks them, (m, clusters)."""
        if self._params.order == "index":
            return np.broadcast_to(np.arange(len(self._state)), (rows.size, len(self._state)))
        distances = cdist(self._points.rows(rows), self._state.centers, "sqeuclidean")
        order: IntArray = distances.argsort(axis=1, kind="stable")
        return order

    def _vote(self, rows: IntArray, candidates: IntArray) -> Flow[Answers]:
        """Return the verdict of each row's candidate: SAME, DIFFERENT, or UNSURE if it cannot tell."""
        risk = self._risk / (self._points.n * len(self._state))
        most, enough = voters(self.error, risk), lead(self.error, risk)
        pools = {
            cluster: np.array(self._state.members[cluster][: MORE_IF_UNSURE * most])
            for cluster in dict.fromkeys(candidates.tolist())
        }
        starts = dict(zip(pools, np.cumsum([0, *map(len, pools.values())]), strict=False))
        voter = np.concatenate(list(pools.values()))
        first = np.array([starts[cluster] for cluster in candidates.tolist()])
        pool = np.array([len(pools[cluster]) for cluster in candidates.tolist()])
        n_same, n_different, n_unsure, n_asked = np.zeros((4, rows.size), dtype=np.intp)
        voting = np.arange(rows.size)
        while voting.size:
            ahead = np.abs(n_same - n_different)[voting]
            size = np.minimum(
                enough - ahead, (pool - n_asked)[voting]
            )  # cannot be decided by fewer
            who = np.repeat(voting, size)
            offset = np.arange(who.size) - np.repeat(np.cumsum(size) - size, size)
            said = yield from self.ask(rows[who], voter[first[who] + n_asked[who] + offset])
            for count, answer in ((n_same, SAME), (n_different, DIFFERENT), (n_unsure, UNSURE)):
                count += np.bincount(who[said == answer], minlength=rows.size)
            n_asked[voting] += size
            n_sure = n_same + n_different
            decided = (np.abs(n_same - n_different) >= enough) | (n_sure >= most)
            hopeless = (n_asked >= pool) | ((n_unsure >= self._params.patience) & (n_sure == 0))
            voting = voting[~(decided | hopeless)[voting]]
        cannot_tell = (n_same == n_different) & (n_unsure > 0)
        return np.where(cannot_tell, UNSURE, n_same > n_different).astype(np.int8)
