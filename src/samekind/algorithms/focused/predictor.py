"""Labelled rows as the sites of Voronoi cells, and predictions by the nearest of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from samekind.algorithms.focused.constants import (
    COMPARE_ABOVE_VORONOI,
    DEFERRED_ROWS,
    NEIGHBOURHOOD,
    UNCERTAIN_ROWS_VORONOI,
)
from samekind.algorithms.focused.scoring import NO_GRAPH, ClusterScorer, Nearness
from samekind.flow import BoolArray, FloatArray, IntArray
from samekind.points import LabelMap, Points

__all__ = ["Regions", "RowPredictions", "RowPredictor", "Sites"]


class Sites:
    """The rows that became sites of Voronoi cells, and the cluster of each.

    A *surrogate* is a site that stands for a cluster without being known, or shown, to be a member: its
    neighbours are predicted as before, draws keep away from it, but nobody is asked about it as a member.
    """

    def __init__(self, points: Points) -> None:
        self.cells = points.voronoi()
        self.defers = points.n > DEFERRED_ROWS
        """Whether a pass over the data is put off for sites that change no prediction."""
        self._site_of: dict[int, int] = {}
        self._row_of: list[int] = []
        self._clusters = np.full(64, -1, dtype=np.intp)
        self._member_clusters = self._clusters.copy()

    def __contains__(self, row: int) -> bool:
        return row in self._site_of

    @property
    def clusters(self) -> IntArray:
        """(sites,) the cluster that each stands for; -1 for none."""
        return self._clusters[: self.cells.n_sites]

    @property
    def member_clusters(self) -> IntArray:
        """(sites,) the same, but -1 for surrogates."""
        return self._member_clusters[: self.cells.n_sites]

    def add(
        self, row: int, cluster: int, *, surrogate: bool = False, deferred: bool = False
    ) -> None:
        """Make a row a site, or change the cluster of one that is; `deferred` if it is as predicted."""
        deferred = (deferred or surrogate) and self.defers
        site = self._site_of.get(row)
        if site is None:
            site = self._site_of[row] = self.cells.add(row, deferred=deferred)
            self._row_of.append(row)
            if site == self._clusters.size:
                more = np.full(site, -1, dtype=np.intp)
                self._clusters = np.concatenate([self._clusters, more])
                self._member_clusters = np.concatenate([self._member_clusters, more])
        elif not deferred:
            self.cells.activate(site)
        self._clusters[site] = cluster
        if not surrogate:
            self._member_clusters[site] = cluster

    def merge(self, keep: int, gone: int) -> None:
        """Make one cluster part of another."""
        for clusters in (self._clusters, self._member_clusters):
            clusters[clusters == gone] = keep

    def member_cluster(self, row: int) -> int:
        """Return the cluster of a site; -1 if it is a surrogate."""
        return int(self._member_clusters[self._site_of[row]])

    def withdraw(self, row: int) -> None:
        """Make a site a surrogate that stands for no cluster yet."""
        site = self._site_of[row]
        self._clusters[site] = self._member_clusters[site] = -1

    def stray(self, alive: BoolArray) -> IntArray:
        """Return the surrogates that stand for no cluster, or for one that is not alive."""
        clusters, surrogate = self.clusters, self.member_clusters < 0
        lost = (clusters < 0) | ~np.append(alive, True)[np.minimum(clusters, alive.size)]
        return np.array([self._row_of[site] for site in np.flatnonzero(surrogate & lost)], np.intp)

    def members(self, cluster: int) -> list[int]:
        """Return the members of a cluster that are sites."""
        return [self._row_of[site] for site in np.flatnonzero(self.member_clusters == cluster)]

    def nearest_member(self, x: FloatArray, cluster: int) -> int:
        """Return the member of a cluster that is nearest to x."""
        return self._row_of[self.cells.nearest_site(self.member_clusters, cluster, x)]

    def members_by_distance(self, x: FloatArray, cluster: int) -> list[int]:
        """Return the members of a cluster that are sites, nearest to x first."""
        sites = np.flatnonzero(self.member_clusters == cluster)
        distances = ((self.cells.sites[sites] - x) ** 2).sum(axis=1)
        return [self._row_of[site] for site in sites[np.argsort(distances, kind="stable")]]


class Regions(NamedTuple):
    """The rows predicted to be in each cluster."""

    counts: IntArray
    """(clusters,)"""
    means: FloatArray
    """(clusters, d)"""
    variances: FloatArray
    """(clusters,) the mean squared distance of the rows to their mean."""


class RowPredictions(NamedTuple):
    """The predicted clusters of all rows at one moment."""

    label_rows: Callable[[LabelMap], object]
    """Returns the label of every row, given that of each cluster; also later."""
    clusters_of: Callable[[IntArray], IntArray]
    """Returns the predicted clusters of some rows; only now."""
    regions: Regions


class RowPredictor:
    """Predicts for every row the cluster of its nearest site, and keeps nothing else: for many rows.

    A labelled row that was as predicted would change no prediction, and is no site. `GraphPredictor`
    overrides it for few rows.
    """

    n_uncertain_at_once = UNCERTAIN_ROWS_VORONOI
    """How many uncertain rows to draw at once."""
    compare_above = COMPARE_ABOVE_VORONOI
    """Similarity at which two clusters are compared at once."""
    uses_all_labels = False
    """Whether also labelled rows that were as predicted are needed as sites."""

    def __init__(self, points: Points, sites: Sites, scorer: ClusterScorer) -> None:
        self._points = points
        self._sites = sites
        self._cells = sites.cells
        self._scorer = scorer

    def typical_row(self, taken: set[int], aside: list[int]) -> int:
        """Return the row that stands for most of the doubt, none of those taken or put aside; -1: none."""
        return -1

    def typical_rows(self, size: int, taken: set[int], aside: list[int]) -> list[int]:
        """Return several of them, and change nothing, not even what is predicted anew now and then."""
        return []

    def similarities(self) -> FloatArray | None:
        """Return how likely any two clusters are one, (clusters, clusters), if that has changed."""
        return None

    def learn(self, row: int, x: FloatArray, cluster: int) -> None:
        """Learn from a labelled row, after the sites did."""

    def move(self, row: int, old: int, new: int) -> None:
        """Change the cluster of a labelled row, after the sites did."""

    def relabel(self, rows: list[int], old: int, new: int) -> None:
        """Change the cluster of some sites, to none if that is -1, after the sites did."""

    def merge(self, keep: int, gone: int) -> None:
        """Make one cluster part of another, after the sites did."""

    def nearness(self, rows: IntArray, X: FloatArray) -> Nearness:
        """Return how near these rows are to the clusters."""
        clusters, k = self._sites.member_clusters, self._scorer.n_clusters
        return self._cells.group_distances(clusters, k, X), NO_GRAPH

    def clusters_of(self, rows: IntArray) -> IntArray:
        """Return the predicted cluster of each row; -1 where there is none yet."""
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
        """Return the rows predicted to be in each cluster; the last few labels may not count yet."""
        return Regions(*self._cells.moments(self._sites.clusters, self._scorer.n_clusters))

    def counts(self) -> IntArray:
        """Return their numbers alone, (clusters,), which is quick."""
        counts = np.zeros(self._scorer.n_clusters, dtype=np.intp)
        used = self._sites.clusters >= 0
        np.add.at(counts, self._sites.clusters[used], self._cells.counts[used])
        return counts

    def sample(self, cluster: int, rng: np.random.Generator, size: int) -> IntArray:
        """Draw rows uniformly from those predicted to be in a cluster; none if there are none."""
        chosen = self._sites.clusters == cluster
        if not self._cells.counts[chosen].any():
            self._cells.flush()
        if not self._cells.counts[chosen].any():
            return np.empty(0, dtype=np.intp)
        return self._cells.sample(chosen, rng, size)

    def doubts(self) -> FloatArray | None:
        """Return for every row the probability that it is not as predicted, (n,); None: no telling."""
        return None

    def sample_uncertain(self, rng: np.random.Generator, size: int) -> IntArray:
        """Draw rows whose predicted cluster is uncertain.

        The most uncertain ones around a site of some cluster, drawn whatever its size, so that small clusters
        get all their rows.
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
