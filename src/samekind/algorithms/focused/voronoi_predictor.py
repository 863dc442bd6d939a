"""Predictions for many rows: the cluster of the nearest labelled one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from samekind.algorithms.focused.constants import NEIGHBOURHOOD, UNCERTAIN_ROWS_VORONOI
from samekind.algorithms.focused.row_predictor import Regions, RowPredictions, RowPredictor
from samekind.algorithms.focused.scoring import NO_GRAPH, ClusterScorer, Nearness
from samekind.algorithms.focused.sites import Sites
from samekind.points import Points

__all__ = ["VoronoiPredictor"]


class VoronoiPredictor(RowPredictor):
    """Keeps nothing but the nearest site of every row, and predicts its cluster.

    A labelled row that was as predicted would change no prediction, and is no site.
    """

    n_uncertain_at_once = UNCERTAIN_ROWS_VORONOI
    uses_all_labels = False

    def __init__(self, points: Points, sites: Sites, scorer: ClusterScorer) -> None:
        self._points = points
        self._sites = sites
        self._cells = sites.cells
        self._scorer = scorer

    def learn(self, row: int, x: NDArray[np.float64], cluster: int) -> None:
        """Nothing: the sites know it."""

    def move(self, row: int, old: int, new: int) -> None:
        """Nothing: the sites know it."""

    def merge(self, keep: int, gone: int) -> None:
        """Nothing: the sites know it."""

    def nearness(self, rows: NDArray[np.intp], X: NDArray[np.float64]) -> Nearness:
        """Return how near these rows are to the clusters."""
        return self._sites.distances(X, self._scorer.n_clusters), NO_GRAPH

    def clusters_of(self, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the predicted cluster of each row; -1 where that of the nearest site is not known yet."""
        return self._sites.clusters[self._cells.owners(rows)]

    def cluster_of_row(self, row: int) -> int:
        """Return the predicted cluster of one row; -1 where there is none yet."""
        if not self._scorer.n_clusters:
            return -1
        return int(self._sites.clusters[self._cells.owner(row)])

    def predict(self) -> RowPredictions:
        """Return the predicted clusters of all rows, by all labels so far. The run goes on as if unasked."""
        clusters, label_rows = self._sites.clusters.copy(), self._cells.labeler()
        return RowPredictions(
            lambda labels: label_rows(labels.of_subset(clusters) if clusters.size else labels),
            self.clusters_of,
            Regions(*self._cells.moments(clusters, self._scorer.n_clusters, include_pending=True)),
        )

    def regions(self) -> Regions:
        """Return the rows predicted to be in each cluster, as of the last pass over the data."""
        return Regions(*self._cells.moments(self._sites.clusters, self._scorer.n_clusters))

    def counts(self) -> NDArray[np.intp]:
        """Return their numbers alone, (clusters,), which is quick."""
        counts = np.zeros(self._scorer.n_clusters, dtype=np.intp)
        used = self._sites.clusters >= 0
        np.add.at(counts, self._sites.clusters[used], self._cells.counts[used])
        return counts

    def sample(self, cluster: int, rng: np.random.Generator, size: int) -> NDArray[np.intp]:
        """Draw rows uniformly from those predicted to be in a cluster; none if there are none."""
        chosen = self._sites.clusters == cluster
        if not self._cells.counts[chosen].any():
            self._cells.flush()
        if not self._cells.counts[chosen].any():
            return np.empty(0, dtype=np.intp)
        return self._cells.sample(chosen, rng, size)

    def sample_uncertain(self, rng: np.random.Generator, size: int) -> NDArray[np.intp]:
        """Return the most uncertain rows around a site of some cluster, drawn whatever its size.

        So that small clusters get all their rows.
        """
        clusters = self._scorer.alive.nonzero()[0]
        cluster = clusters[int(rng.random() * clusters.size)]
        sites = (self._sites.clusters == cluster).nonzero()[0]
        if not sites.size:
            return np.empty(0, dtype=np.intp)
        site = sites[int(rng.random() * sites.size)]
        pool = self._cells.nearest_rows(self._cells.sites[site], NEIGHBOURHOOD)
        is_site = np.array([row in self._sites for row in pool.tolist()])
        pool = pool[~is_site & (self._cells.costs(pool) > 0)]
        if not pool.size:
            return pool
        X = self._points.rows(pool)
        _, probability = self._scorer.likeliest(X, self.nearness(pool, X))
        return pool[np.argsort(probability, kind="stable")[:size]]
