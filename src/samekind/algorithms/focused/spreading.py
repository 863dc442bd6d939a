"""Labels spread over a graph of near neighbours: the voice of the rows that nobody was asked about."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.sparse import coo_array
from sklearn.neighbors import NearestNeighbors
from threadpoolctl import threadpool_limits

__all__ = ["Spreading"]

NEIGHBOURS = 10
REACH = 0.99  # the chance to go on at each step of the walk
PRECISION = 1e-3
SWEEPS = 6  # the most visits of a row, on average, for one new label


class Spreading:
    """Where a random walk on the graph of nearest neighbours first meets a labelled row.

    The walk from a row ends at the first labelled row it meets, or, with a chance of 1 % at each step,
    nowhere. The chances of each kind, and of ending nowhere, are kept up to date as labels come, visiting
    only rows whose chances change.
    """

    def __init__(self, X: NDArray[np.float64]) -> None:
        n = len(X)
        k = min(NEIGHBOURS, n - 1)
        nearest = NearestNeighbors(n_neighbors=k + 1).fit(X)
        with threadpool_limits(
            1
        ):  # with more threads, which of equally near rows are taken is chance
            distances, neighbours = nearest.kneighbors(X)
        distances, neighbours = distances[:, 1:], neighbours[:, 1:]
        widths = distances[:, -1]
        products = widths[:, None] * widths[neighbours]
        closeness = np.exp(-np.divide(distances**2, products, where=products > 0, out=0 * products))
        one_way = coo_array(
            (closeness.ravel(), (np.repeat(np.arange(n), k), neighbours.ravel())), shape=(n, n)
        ).tocsr()
        graph = one_way.maximum(one_way.T).tocsr()
        graph.setdiag(0.0)
        graph.eliminate_zeros()
        total = np.asarray(graph.sum(axis=1)).ravel()
        steps = REACH / np.where(total > 0, total, 1.0)
        self._first = graph.indptr.astype(np.int64)
        self._to = graph.indices.astype(np.int64)
        self._chance = (graph.data * np.repeat(steps, np.diff(graph.indptr))).astype(np.float32)
        self._known = np.zeros(n, dtype=bool)
        self._waiting = np.zeros(n, dtype=bool)
        self._queue = np.empty(n, dtype=np.int64)
        self._chances = np.zeros((n, 16), dtype=np.float32)

    def chances(self, n_kinds: int) -> NDArray[np.float32]:
        """Return for every row the chance of each kind, (n, kinds); the rest to 1 is for none."""
        while n_kinds > self._chances.shape[1]:
            self._chances = np.hstack([self._chances, np.zeros_like(self._chances)])
        return self._chances[:, :n_kinds]

    def learn(self, row: int, kind: int) -> None:
        """Take in the kind of a row."""
        self.chances(kind + 1)
        self._known[row] = True
        self._chances[row] = 0.0
        self._chances[row, kind] = 1.0
        _spread(
            self._first,
            self._to,
            self._chance,
            self._known,
            self._chances,
            row,
            self._waiting,
            self._queue,
        )

    def merge(self, keep: int, gone: int) -> None:
        """Note that two kinds are one."""
        self.chances(max(keep, gone) + 1)
        self._chances[:, keep] += self._chances[:, gone]
        self._chances[:, gone] = 0.0

    def smooth(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the mean of each row's value and its neighbours'."""
        out = np.empty_like(values)
        _smooth(self._first, self._to, self._chance, values, out)
        return out


@njit(nogil=True, cache=True)
def _call(first, to, known, row, waiting, queue, head, held):
    """Put the neighbours of a row that may change into the queue; return how many it holds then."""
    for e in range(first[row], first[row + 1]):
        other = to[e]
        if not known[other] and not waiting[other]:
            waiting[other] = True
            queue[(head + held) % queue.size] = other
            held += 1
    return held


@njit(nogil=True, cache=True)
def _spread(first, to, chance, known, chances, row, waiting, queue):
    """Bring the chances of rows up to date after a row got its kind, nearest rows first."""
    n, width = chances.shape
    head = 0
    held = _call(first, to, known, row, waiting, queue, head, 0)
    visits = 0
    fresh = np.empty(width, dtype=np.float32)
    while held > 0 and visits < SWEEPS * n:
        at = queue[head]
        head = (head + 1) % n
        held -= 1
        visits += 1
        waiting[at] = False
        fresh[:] = 0.0
        for e in range(first[at], first[at + 1]):
            share = chance[e]
            near = chances[to[e]]
            for k in range(width):
                fresh[k] += share * near[k]
        change = np.float32(0.0)
        mine = chances[at]
        for k in range(width):
            change = max(change, abs(fresh[k] - mine[k]))
            mine[k] = fresh[k]
        if change > PRECISION:
            held = _call(first, to, known, at, waiting, queue, head, held)
    while held > 0:
        waiting[queue[head]] = False
        head = (head + 1) % n
        held -= 1


@njit(nogil=True, cache=True)
def _smooth(first, to, chance, values, out):
    for i in range(values.size):
        total = 0.0
        for e in range(first[i], first[i + 1]):
            total += chance[e] * values[to[e]]
        out[i] = 0.5 * (values[i] + total / REACH)
