"""In which cluster is each of these rows? Algorithm 1 and Heuristic 1 of the paper, for many rows in waves.

Every row asks its likeliest cluster; those refused ask their next one, and so on. A row that every cluster
has refused founds a new one, which the rows still in doubt then ask. The rows of a wave are
all at the same place of their lists, so a wave is a few array operations; asked one row at a
time, the questions about a row are the same, but for what the rows before it taught.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.spatial.distance import cdist

from samekind._validation import check_choice
from samekind.algorithms.base import Params
from samekind.algorithms.state import GIVEN_UP, UNKNOWN, ClusterState
from samekind.flow import SAME, UNSURE, FloatArray, Flow, IntArray

__all__ = ["ORDERS", "Classified", "PaperParams", "classify"]

ORDERS = ("nearest", "index")


@dataclass(frozen=True, kw_only=True)
class PaperParams(Params):
    """Parameters of the paper's algorithms.

    Attributes
    ----------
    order : {"nearest", "index"}
        Which cluster a row asks first: the nearest centre's (Heuristic 1), or as they were found
        (Algorithm 1).
    """

    order: str = "nearest"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("order", self.order, ORDERS)


class Classified(NamedTuple):
    """In which cluster each row is (-1: none, -2: given up), and the questions each one took."""

    labels: IntArray
    n_asked: IntArray


def classify(
    rows: IntArray,
    X: FloatArray,
    state: ClusterState,
    params: PaperParams,
    *,
    grow: bool = True,
    likely: IntArray | None = None,
) -> Flow[Classified]:
    """Ask in which cluster each row is.

    Parameters
    ----------
    rows : (m,) array of int
        Distinct rows that are not labelled yet.
    X : (m, d) array
        Their coordinates.
    state : ClusterState
        Learns the new members and, with `grow`, the new clusters.
    params : PaperParams
        `order` of the clusters, and `patience` with UNSURE answers.
    grow : bool
        Whether a row that all clusters refused founds a new one.
    likely : (m, k) array of int or None
        The clusters that each row asks, likeliest first: one that all of these refused counts as refused by
        all, but for as many of those founded meanwhile. None asks all, in the `order`.
    """
    open_rows = _OpenRows(rows, state, params.patience)
    ranking = _Ranking(X, state, params.order) if likely is None else _Likely(likely, len(state))
    place = 0  # of all open rows, in their lists of clusters
    while (doubtful := open_rows.in_doubt).size:
        if place < ranking.size(len(state)):
            yield from open_rows.ask(ranking.at(place, doubtful))
            place += 1
        else:
            open_rows.settle_first(X if grow else None)
    return Classified(open_rows.result, open_rows.n_asked)


class _OpenRows:
    """The rows of one call of `classify`."""

    def __init__(self, rows: IntArray, state: ClusterState, patience: int) -> None:
        self.rows = rows
        self.state = state
        self.patience = patience
        self.result = np.full(rows.size, UNKNOWN, dtype=np.intp)
        self.n_asked = np.zeros(rows.size, dtype=np.intp)
        self.in_doubt = np.arange(rows.size)
        self.n_unsure: Counter[int] = Counter()
        self.half_refused: set[int] = set()

    def ask(self, candidates: IntArray) -> Flow[None]:
        """Ask each row in doubt about its candidate; while UNSURE, about the candidate's other members."""
        asking, members, n_asked = self.in_doubt, self.state.first_members[candidates], 0
        while asking.size:
            pairs = np.empty((asking.size, 2), dtype=np.intp)
            pairs[:, 0], pairs[:, 1] = self.rows[asking], members
            answers = (yield pairs).answers
            n_asked += 1
            self.n_asked[asking] += 1
            same, unsure = answers == SAME, answers == UNSURE
            self.result[asking[same]] = candidates[same]
            self.state.add_members(self.rows[asking[same]], candidates[same])
            asking, candidates = asking[unsure], candidates[unsure]
            if asking.size:
                others = self._other_members(asking, candidates, n_asked)
                again = others >= 0
                asking, candidates, members = asking[again], candidates[again], others[again]
        self.in_doubt = self.in_doubt[self.result[self.in_doubt] == UNKNOWN]

    def _other_members(self, unsure: IntArray, candidates: IntArray, place: int) -> IntArray:
        """Return the member at this place for rows of which somebody was unsure; -1: ask no more."""
        others = np.full(unsure.size, -1)
        for k, (i, cluster) in enumerate(zip(unsure.tolist(), candidates.tolist(), strict=True)):
            self.n_unsure[i] += 1
            if self.n_unsure[i] >= self.patience:
                self._give_up(i)
            elif place < len(self.state.members[cluster]):
                others[k] = self.state.members[cluster][place]
            else:
                self.half_refused.add(i)
        return others

    def settle_first(self, X: FloatArray | None) -> None:
        """Settle the first row that every cluster refused: it founds a new one, given coordinates X.

        A row that some cluster only half refused (UNSURE, and no member left to ask about) may be of
        that cluster, so it is given up instead.
        """
        first = int(self.in_doubt[0])
        if first in self.half_refused:
            self._give_up(first)
        elif X is not None:
            self.result[first] = self.state.discover(int(self.rows[first]), X[first])
        self.in_doubt = self.in_doubt[1:]

    def _give_up(self, i: int) -> None:
        self.result[i] = GIVEN_UP
        self.state.give_up(int(self.rows[i]))


class _Ranking:
    """The clusters in the order in which each row asks them; sorted only for rows that need it."""

    def __init__(self, X: FloatArray, state: ClusterState, order: str) -> None:
        self.n_known = len(state)
        self.by_distance = order == "nearest"
        if self.by_distance and self.n_known:
            self.distances = cdist(X, state.centers, "sqeuclidean")

    def size(self, n_clusters: int) -> int:
        """Return the length of the lists."""
        return n_clusters

    def at(self, place: int, doubtful: IntArray) -> IntArray:
        """Return the cluster at this place of each list; all rows stand at the same place."""
        if place >= self.n_known or not self.by_distance:  # founded meanwhile: last on every list
            return np.full(doubtful.size, place)
        if place == 0:  # where most rows end
            nearest: IntArray = self.distances.argmin(axis=1)
            return nearest
        if place == 1:
            self.order = self.distances[doubtful].argsort(axis=1, kind="stable")
            self.index = np.empty(len(self.distances), dtype=np.intp)
            self.index[doubtful] = np.arange(doubtful.size)
        following: IntArray = self.order[self.index[doubtful], place]
        return following


class _Likely:
    """A few clusters for each row, and after them as many of those founded meanwhile."""

    def __init__(self, clusters: IntArray, n_known: int) -> None:
        self.clusters = clusters
        self.n_known = n_known
        self.most: int = clusters.shape[1]

    def size(self, n_clusters: int) -> int:
        """Return the length of the lists."""
        founded = n_clusters - self.n_known
        return self.most + min(self.most, founded)

    def at(self, place: int, doubtful: IntArray) -> IntArray:
        """Return the cluster at this place of each list."""
        if place >= self.most:
            return np.full(doubtful.size, self.n_known + place - self.most)
        chosen: IntArray = self.clusters[doubtful, place]
        return chosen
