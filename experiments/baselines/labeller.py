"""What the baselines share: labelling rows by questions, and the result of a run."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from samekind.algorithms import UNKNOWN, ClusterState, PaperParams, classify
from samekind.flow import SAME, BoolArray, FloatArray, Flow, IntArray

__all__ = [
    "AnswerMemory",
    "FoundClusters",
    "Labeller",
    "check_clusters",
    "check_rows",
    "check_signs",
    "nearest_center",
]


class FoundClusters(NamedTuple):
    """What a baseline finds."""

    labels: IntArray
    """(n,) the cluster of each row, 0, 1, …; -1 where none was found."""
    centers: FloatArray
    """(clusters, d) their centres; (clusters, 0) where rows have no coordinates."""


class Labeller:
    """Asks in which cluster rows are: the nearest one first (Heuristic 1), each row only once.

    Every cluster is compared by one of its rows, so a row takes at most as many questions as there are
    clusters. A row about which the oracle is too unsure is in none.
    """

    def __init__(self, X: FloatArray) -> None:
        self.X = X
        self.state = ClusterState(X.shape[1])
        self._params = PaperParams()

    @property
    def n_clusters(self) -> int:
        """Clusters seen so far."""
        return len(self.state)

    def label(self, rows: IntArray) -> Flow[IntArray]:
        """Return the cluster of each row; below 0 where the oracle could not tell. Rows may repeat."""
        unknown = rows[self.state.cluster_of(rows) == UNKNOWN]
        for row in dict.fromkeys(unknown.tolist()):
            one = np.array([row])
            found = yield from classify(one, self.X[one], self.state, self._params)
            if found.labels[0] >= 0:
                self.state.add_uniform(int(found.labels[0]), self.X[row])
        return self.state.cluster_of(rows)

    def belongs(self, row: int, cluster: int) -> Flow[bool]:
        """Ask whether a row is in one cluster; it is not learnt in which other one it may be."""
        known = self.state.cluster_of_row(row)
        if known != UNKNOWN:
            return known == cluster
        reply = yield np.array([[row, self.state.members[cluster][0]]])
        same = bool(reply.answers[0] == SAME)
        if same:
            self.state.add_member(row, cluster)
        return same


class AnswerMemory:
    """Asks each pair at most once, and remembers; a pair of which the oracle is unsure is different."""

    def __init__(self) -> None:
        self._said: dict[tuple[int, int], bool] = {}

    def ask(self, pairs: list[tuple[int, int]]) -> Flow[list[bool]]:
        """Return for each pair of different rows whether it is of one cluster."""
        ordered = [(min(pair), max(pair)) for pair in pairs]
        new = [pair for pair in dict.fromkeys(ordered) if pair not in self._said]
        if new:
            reply = yield np.array(new, dtype=np.intp)
            self._said |= dict(zip(new, (reply.answers == SAME).tolist(), strict=True))
        return [self._said[pair] for pair in ordered]

    def ask_one(self, one: int, other: int) -> Flow[bool]:
        """Return whether two different rows are of one cluster."""
        return (yield from self.ask([(one, other)]))[0]


def nearest_center(X: FloatArray, centers: FloatArray) -> IntArray:
    """Return the number of the nearest centre of each row."""
    squares = (centers**2).sum(axis=1) - 2 * X @ centers.T
    nearest: IntArray = squares.argmin(axis=1)
    return nearest


def check_rows(X: ArrayLike) -> FloatArray:
    """Return X as a finite (n, d) array with at least one row."""
    rows: FloatArray = np.ascontiguousarray(X, dtype=np.float64)
    if rows.ndim != 2 or not rows.size:
        raise ValueError(f"X must have rows and columns, got an array of shape {rows.shape}.")
    if not np.isfinite(rows).all():
        raise ValueError("X must be finite, got NaN or infinity. Fill or drop such rows first.")
    return rows


def check_clusters(n_clusters: int, n: int) -> int:
    """Return how many clusters there are: between 1 and the number of rows."""
    if not 1 <= n_clusters <= n:
        raise ValueError(f"n_clusters must be between 1 and {n}, the rows, got {n_clusters}.")
    return n_clusters


def check_signs(positive: ArrayLike) -> BoolArray:
    """Return the signs of all pairs as a symmetric (n, n) array: True where a pair looks alike."""
    signs: NDArray[np.bool_] = np.asarray(positive, dtype=bool)
    if signs.ndim != 2 or signs.shape[0] != signs.shape[1] or not signs.size:
        raise ValueError(f"positive must be an (n, n) array, got shape {signs.shape}.")
    if (signs != signs.T).any():
        raise ValueError("positive must be symmetric: the sign of a pair has no direction.")
    return signs
