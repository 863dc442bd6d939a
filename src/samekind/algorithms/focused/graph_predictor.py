"""Predictions for few rows: the likeliest cluster of each, by label propagation and all else."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array
from threadpoolctl import threadpool_limits

from samekind.algorithms.focused import _kernels
from samekind.algorithms.focused import constants as const
from samekind.algorithms.focused.cluster_distances import ClusterDistances
from samekind.algorithms.focused.neighbors import nearest_neighbors
from samekind.algorithms.focused.predictor import Regions, RowPredictions, RowPredictor, Sites
from samekind.algorithms.focused.scoring import NO_GRAPH, ClusterScorer, Nearness
from samekind.flow import BoolArray, FloatArray, IntArray
from samekind.points import Points

__all__ = ["GraphPredictor", "LabelPropagation"]

_ROWS_AT_ONCE = 4096


class LabelPropagation:
    """For every row the cluster of the labelled row that a random walk from it meets first.

    The walk is on the graph of nearest neighbours, and ends with a probability of 1 % at each step without
    meeting any. The probabilities of the clusters follow each new label, visiting only rows that it changes.
    """

    def __init__(self, points: Points) -> None:
        n = points.n
        k = min(const.N_NEIGHBORS, n - 1)
        distances, neighbors = nearest_neighbors(points, np.arange(n), k)
        widths = distances[:, -1]
        products = widths[:, None] * widths[neighbors]
        affinity = np.exp(-np.divide(distances**2, products, where=products > 0, out=0 * products))
        one_way = coo_array(
            (affinity.ravel(), (np.repeat(np.arange(n), k), neighbors.ravel())), shape=(n, n)
        ).tocsr()
        graph = one_way.maximum(one_way.T).tocsr()
        graph.setdiag(0.0)
        graph.eliminate_zeros()
        total = np.asarray(graph.sum(axis=1)).ravel()
        steps = const.WALK_ON / np.where(total > 0, total, 1.0)
        self._edges = (  # where those of each row begin, where they lead, and with what probability
            graph.indptr.astype(np.int64),
            graph.indices.astype(np.int64),
            (graph.data * np.repeat(steps, np.diff(graph.indptr))).astype(np.float32),
        )
        begins, ends, chances = self._edges
        self._backwards = csr_array(
            (chances / np.float32(const.WALK_ON), ends, begins), shape=(n, n)
        ).T
        self._known = np.zeros(n, dtype=bool)
        self._waiting = np.zeros(n, dtype=bool)
        self._queue = np.empty(n, dtype=np.int64)
        self._probabilities = np.zeros((n, 16), dtype=np.float32)

    def probabilities(self, n_clusters: int) -> NDArray[np.float32]:
        """Return for every row the probability of each cluster, (n, clusters); the rest to 1 is for none."""
        if n_clusters > self._probabilities.shape[1]:
            more = n_clusters // 4 + 16  # than are wanted, as more will come
            room = np.zeros((len(self._known), n_clusters + more), dtype=np.float32)
            room[:, : self._probabilities.shape[1]] = self._probabilities
            self._probabilities = room
        return self._probabilities[:, :n_clusters]

    def learn(self, row: int, cluster: int) -> None:
        """Label a row."""
        self.probabilities(cluster + 1)
        self._known[row] = True
        self._probabilities[row] = 0.0
        self._probabilities[row, cluster] = 1.0
        state = self._known, self._probabilities, row, self._waiting, self._queue
        bounds = const.PROPAGATION_TOLERANCE, const.PROPAGATION_VISITS
        _kernels.propagate(*self._edges, *state, *bounds)

    def forget(self, row: int) -> None:
        """Take the label of a row away."""
        first, to, step = self._edges
        edges = slice(first[row], first[row + 1])
        self._known[row] = False
        self._probabilities[row] = step[edges] @ self._probabilities[to[edges]]
        state = self._known, self._probabilities, row, self._waiting, self._queue
        bounds = const.PROPAGATION_TOLERANCE, const.PROPAGATION_VISITS
        _kernels.propagate(*self._edges, *state, *bounds)

    def clear(self, cluster: int) -> None:
        """Take a cluster away that has no labelled rows any more."""
        self._probabilities[:, cluster] = 0.0

    def merge(self, keep: int, gone: int) -> None:
        """Make one cluster part of another."""
        self.probabilities(max(keep, gone) + 1)
        self._probabilities[:, keep] += self._probabilities[:, gone]
        self._probabilities[:, gone] = 0.0

    def neighbors(self, row: int) -> NDArray[np.int64]:
        """Return the neighbours of a row."""
        begins, ends, _ = self._edges
        found: NDArray[np.int64] = ends[begins[row] : begins[row + 1]]
        return found

    @property
    def known(self) -> BoolArray:
        """(n,) which rows have a label."""
        return self._known

    def gather(self, values: FloatArray) -> FloatArray:
        """Return for each row what random walks of a few steps, from every row with its value, bring there.

        So a row gathers much that has many neighbours, near ones of each other, with large values.
        """
        total = values
        for _ in range(const.REACH):
            values = self._backwards @ values
            total = total + values
        return total

    def smooth(self, values: FloatArray) -> FloatArray:
        """Return the mean of each row's value and its neighbours'."""
        out = np.empty_like(values)
        _kernels.neighbor_means(*self._edges, const.WALK_ON, values, out)
        return out


class GraphPredictor(RowPredictor):
    """Keeps distances to all clusters and a graph for every row, and predicts the likeliest cluster."""

    n_uncertain_at_once = const.UNCERTAIN_ROWS_GRAPH
    compare_above = const.COMPARE_ABOVE_GRAPH
    uses_all_labels = True

    def __init__(self, points: Points, sites: Sites, scorer: ClusterScorer) -> None:
        super().__init__(points, sites, scorer)
        self._X = points.rows(np.arange(points.n)).astype(points.dtype, copy=False)
        self._graph = LabelPropagation(points) if points.n > 2 else None
        self._distances = ClusterDistances(self._X)
        self._clusters = np.full(points.n, -1, dtype=np.intp)
        self._uncertainty = np.ones(points.n)
        self._sample = np.unique(np.linspace(0, points.n - 1, const.OVERLAP_ROWS).astype(np.intp))
        self._sample_chances = np.zeros((self._sample.size, 0))  # of each cluster
        self._is_similarity_new = False
        self._n_learnt = 0
        self._predicted_at = 0  # labelled rows then

    def learn(self, row: int, x: FloatArray, cluster: int) -> None:
        """Learn from a labelled row, after the sites did."""
        self._n_learnt += 1
        self._distances.add(x, cluster)
        if self._graph is not None:
            self._graph.learn(row, cluster)
            self._settle(self._uncertainty, row)

    def _settle(self, doubts: FloatArray, row: int) -> None:
        """Lower the doubts around a row whose cluster is known, or about to be."""
        if self._graph is not None:
            doubts[self._graph.neighbors(row)] *= const.SETTLED
        doubts[row] = 0.0

    def move(self, row: int, old: int, new: int) -> None:
        """Change the cluster of a labelled row, after the sites did."""
        self._distances.reset(old, self._sites.members(old))
        self._distances.add_row(row, new)
        if self._graph is not None:
            self._graph.learn(row, new)
        self._predicted_at = 0

    def relabel(self, rows: list[int], old: int, new: int) -> None:
        """Change the cluster of some sites, to none if that is -1, after the sites did."""
        self._distances.remove(rows, old, self._sites.members(old))
        for row in rows:
            if new >= 0:
                self._distances.add_row(row, new)
            if self._graph is not None:
                if new >= 0:
                    self._graph.learn(row, new)
                else:
                    self._graph.forget(row)
        if self._graph is not None and not self._sites.members(old):
            self._graph.clear(old)
        self._predicted_at = 0

    def merge(self, keep: int, gone: int) -> None:
        """Make one cluster part of another."""
        self._distances.merge(keep, gone)
        if self._graph is not None:
            self._graph.merge(keep, gone)
        self._clusters[self._clusters == gone] = keep
        chances = self._sample_chances
        if gone < chances.shape[1]:
            chances[:, keep] += chances[:, gone]
            chances[:, gone] = 0.0
            self._is_similarity_new = True

    def nearness(self, rows: IntArray, X: FloatArray) -> Nearness:
        """Return how near these rows are to the clusters."""
        k = self._scorer.n_clusters
        graph = NO_GRAPH if self._graph is None else self._graph.probabilities(k)[rows]
        return self._distances.of(rows, k), graph

    def clusters_of(self, rows: IntArray) -> IntArray:
        """Return the predicted cluster of each row; -1 where there is none yet."""
        return self._likeliest(rows)[0]

    def cluster_of_row(self, row: int) -> int:
        """Return the predicted cluster of one row; -1 where there is none yet."""
        return int(self._likeliest(np.array([row]))[0][0])

    def predict(self) -> RowPredictions:
        """Return the predicted clusters of all rows, by all labels so far. The run goes on as if unasked."""
        clusters = self._likeliest(np.arange(len(self._X)))[0]
        return RowPredictions(
            lambda labels: labels.of_rows(clusters), clusters.__getitem__, self._regions(clusters)
        )

    def regions(self) -> Regions:
        """Return the rows predicted to be in each cluster; the last few labels may not count yet."""
        self._refresh()
        return self._regions(self._clusters)

    def _regions(self, clusters: IntArray) -> Regions:
        k = self._scorer.n_clusters
        used = np.flatnonzero(clusters >= 0)
        counts = np.bincount(clusters[used], minlength=k)
        sums, off = np.zeros((k, self._X.shape[1])), np.zeros(k)
        blocks = np.split(used, range(_ROWS_AT_ONCE, used.size, _ROWS_AT_ONCE))
        for rows in blocks:
            np.add.at(sums, clusters[rows], self._X[rows])
        means = sums / np.maximum(counts, 1)[:, None]
        for rows in blocks:
            squares = ((self._X[rows] - means[clusters[rows]]) ** 2).sum(axis=1)
            np.add.at(off, clusters[rows], squares)
        return Regions(counts, means, off / np.maximum(counts, 1))

    def counts(self) -> IntArray:
        """Return their numbers alone, (clusters,), which is quick."""
        self._refresh()
        used = self._clusters[self._clusters >= 0]
        return np.bincount(used, minlength=self._scorer.n_clusters)

    def sample(self, cluster: int, rng: np.random.Generator, size: int) -> IntArray:
        """Draw rows uniformly from those predicted to be in a cluster; none if there are none."""
        self._refresh()
        rows = np.flatnonzero(self._clusters == cluster)
        if not rows.size:
            return rows
        return rows[(rng.random(size) * rows.size).astype(np.intp)]

    def doubts(self) -> FloatArray:
        """Return for every row the probability that it is not as predicted, (n,)."""
        self._refresh()
        return self._uncertainty

    def sample_uncertain(self, rng: np.random.Generator, size: int) -> IntArray:
        """Draw rows that are likely predicted wrongly, as their neighbours are."""
        self._refresh()
        uncertainty = self._uncertainty
        if self._graph is not None:
            uncertainty = self._graph.smooth(uncertainty)
        weights = np.cumsum(uncertainty**const.UNCERTAINTY_POWER)
        if not weights[-1] > 0:
            return np.empty(0, dtype=np.intp)
        rows = np.searchsorted(weights, rng.random(size) * weights[-1], side="right")
        last: IntArray = np.minimum(rows, len(self._X) - 1)
        return last

    def typical_row(self, taken: set[int], aside: list[int]) -> int:
        """Return the row that stands for most of the doubt, none of those taken or put aside; -1: none.

        That of the largest sum of doubts, its own and those of the rows around it. Doubts count less where
        labelled rows are near.
        """
        self._refresh()
        return next(iter(self.typical_rows(1, taken, aside)), -1)

    def typical_rows(self, size: int, taken: set[int], aside: list[int]) -> list[int]:
        """Return several of them, and change nothing, not even what is predicted anew now and then."""
        if self._graph is None:
            return []
        doubts = self._uncertainty.copy()
        for row in taken:
            self._settle(doubts, row)
        doubts[aside] = 0.0
        labelled = self._graph.gather(self._graph.known.astype(np.float64))
        found: list[int] = []
        while len(found) < size:
            gathered = self._graph.gather(doubts / (1 + const.COVERED * labelled))
            gathered[self._graph.known] = 0.0
            gathered[[*taken, *aside, *found]] = 0.0
            row = int(gathered.argmax())
            if not gathered[row] > 0:
                break
            found.append(row)
            self._settle(doubts, row)
        return found

    def similarities(self) -> FloatArray | None:
        """Return how likely any two clusters are one, (clusters, clusters), if that has changed.

        The share of the rows of the one that would be in the other if the former did not exist, whichever way
        it is larger; less where the smaller one is smaller than most, as it matters less.
        """
        self._refresh()
        if not self._is_similarity_new:
            return None
        self._is_similarity_new = False
        chances = self._sample_chances
        sizes = chances.sum(axis=0)
        elsewhere = chances / np.maximum(1.0 - chances, const.LEAST_DOUBT)
        with threadpool_limits(1):  # it is small: several threads would wait longer than they work
            shares = elsewhere.T @ chances / np.maximum(sizes[:, None], const.IMPOSSIBLE)
        mean = max(sizes.sum() / max(1, np.count_nonzero(sizes)), const.IMPOSSIBLE)
        matters = np.minimum(1.0, np.minimum(sizes[:, None], sizes) / mean) ** const.SIZE_POWER
        found: FloatArray = np.round(np.maximum(shares, shares.T) * matters, 9)
        return found

    def _refresh(self) -> None:
        """Predict all rows anew if there are many new labels."""
        if self._n_learnt > const.STALE_GROWTH * self._predicted_at:
            self._predicted_at = self._n_learnt
            self._clusters, self._uncertainty = self._likeliest(np.arange(len(self._X)))
            self._sample_chances = np.zeros((0, 0))  # no two of them at a time
            chances = np.empty((self._sample.size, self._scorer.n_clusters))
            for some, X, near in self._blocks(self._sample):
                chances[some] = self._scorer.score(X, near, features=False).probabilities
            self._sample_chances = chances
            self._is_similarity_new = True

    def _likeliest(self, rows: IntArray) -> tuple[IntArray, FloatArray]:
        """Return the likeliest cluster of each row by all labels so far, and how likely it is in another."""
        n, k = rows.size, self._scorer.n_clusters
        clusters, uncertainty = np.full(n, -1, dtype=np.intp), np.ones(n)
        if k == 0:
            return clusters, uncertainty
        for some, X, near in self._blocks(rows):
            clusters[some], probability = self._scorer.likeliest(X, near)
            uncertainty[some] = 1.0 - probability
        return clusters, uncertainty

    def _blocks(self, rows: IntArray) -> Iterator[tuple[slice, FloatArray, Nearness]]:
        """Yield rows, and how near they are, some at a time: a bound on memory."""
        step = max(1, const.BLOCK // max(1, self._scorer.n_clusters))
        for first in range(0, rows.size, step):
            some = slice(first, first + step)
            X = self._X[rows[some]].astype(np.float64, copy=False)
            yield some, X, self.nearness(rows[some], X)
