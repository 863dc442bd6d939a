"""The model of the clusters: all that the labelled rows tell about the others."""

from __future__ import annotations

import numpy as np

from samekind.algorithms.focused.constants import (
    BLOCK,
    GRAPH_ROWS,
    PRIOR_WEIGHTS,
    STALE_GROWTH,
)
from samekind.algorithms.focused.graph_predictor import GraphPredictor
from samekind.algorithms.focused.params import FocusedParams
from samekind.algorithms.focused.predictor import RowPredictor, Sites
from samekind.algorithms.focused.scheduler import SteadyAim
from samekind.algorithms.focused.scoring import ClusterScorer
from samekind.flow import FloatArray, IntArray
from samekind.points import Points

__all__ = ["ClusterModel"]


class ClusterModel:
    """Labelled rows as sites, a scorer of clusters, and a predictor that suits the number of rows."""

    def __init__(self, points: Points, params: FocusedParams) -> None:
        self.points = points
        self.sites = Sites(points)
        few = points.n <= GRAPH_ROWS and params.uses("graph")
        typical = few and points.n > 2 and params.wants_labels and params.uses("typical")
        self.steady_aim: SteadyAim = "typical" if typical else "explore"
        """Which rows are asked about where nothing else is called for."""
        prior = PRIOR_WEIGHTS[self.steady_aim]
        self.scorer = ClusterScorer(points, prior, uses_lda=params.uses("discriminant"))
        make_predictor = GraphPredictor if few else RowPredictor
        self.predictor: RowPredictor = make_predictor(points, self.sites, self.scorer)
        self._learnt: dict[int, int] = {}  # labelled rows, and their places in the discriminant
        self._counts_sizes = not params.fills  # otherwise, `Recovery` does
        self._counted_at = (0, 0)  # labelled rows and clusters then

    def learn(self, row: int, x: FloatArray, cluster: int, *, surprising: bool) -> None:
        """Learn from a labelled row; one that is not surprising may change no prediction."""
        surprising = surprising or self.predictor.uses_all_labels
        if surprising or row in self.sites:
            self.sites.add(row, cluster, deferred=not surprising)
        self._learnt[row] = self.scorer.lda.learn(x, cluster)
        self.predictor.learn(row, x, cluster)
        n_learnt, n_clusters = self._counted_at
        is_stale = len(self._learnt) > STALE_GROWTH * n_learnt
        if self._counts_sizes and (is_stale or self.scorer.n_clusters != n_clusters):
            self._counted_at = len(self._learnt), self.scorer.n_clusters
            self.set_sizes(self.predictor.counts())

    def set_sizes(self, counts: IntArray) -> None:
        """Set how many rows are predicted to be in each cluster."""
        self.scorer.sizes[: counts.size] = counts

    def move(self, row: int, old: int, new: int) -> None:
        """Change the cluster of a row that was learnt; one that was not is left alone."""
        if row not in self._learnt:
            return
        self.sites.add(row, new)
        self.scorer.lda.relabel(self._learnt[row], new)
        self.predictor.move(row, old, new)

    def knows(self, row: int) -> bool:
        """Return whether a row was learnt."""
        return row in self._learnt

    def relabel(self, rows: list[int], cluster: int) -> None:
        """Change the cluster of rows, all of one other cluster; -1: it is not known any more.

        Of those that were not learnt nothing changes. A site whose cluster is not known becomes a surrogate.
        """
        learnt = [row for row in rows if row in self._learnt]
        sites = [row for row in learnt if row in self.sites]
        old = self.sites.member_cluster(sites[0]) if sites else -1
        for row in learnt:
            self.scorer.lda.relabel(self._learnt[row], cluster)
            if cluster < 0:
                del self._learnt[row]
        for row in sites:
            if cluster < 0:
                self.sites.withdraw(row)
            else:
                self.sites.add(row, cluster)
        if sites and old >= 0:
            self.predictor.relabel(sites, old, cluster)

    def predict_surrogates(self) -> None:
        """Let all surrogates that stand for no cluster, or for one that is gone, stand for the likeliest."""
        rows = self.sites.stray(self.scorer.alive)
        if rows.size and self.scorer.alive.any():
            X = self.points.rows(rows)
            likeliest, _ = self.scorer.likeliest(X, self.predictor.nearness(rows, X))
            for row, cluster in zip(rows.tolist(), likeliest.tolist(), strict=True):
                self.sites.add(row, cluster, surrogate=True)

    def merge(self, keep: int, gone: int) -> None:
        """Make one cluster part of another."""
        self.sites.merge(keep, gone)
        self.scorer.merge(keep, gone)
        self.predictor.merge(keep, gone)

    def rank_clusters(self, row: int) -> list[int]:
        """Return all clusters, those first that a row is likeliest in."""
        rows = np.array([row])
        X = self.points.rows(rows)
        near = self.predictor.nearness(rows, X)
        weights = self.scorer.score(X, near, features=False).weights[0]
        order: list[int] = np.argsort(-weights, kind="stable").tolist()
        return order

    def likeliest(self, rows: IntArray) -> tuple[IntArray, FloatArray]:
        """Return the likeliest cluster of each row, and its probability; -1 and 0 if there are none."""
        clusters, found = np.full(rows.size, -1, dtype=np.intp), np.zeros(rows.size)
        step = max(1, BLOCK // max(1, self.scorer.n_clusters))
        for first in range(0, rows.size if self.scorer.n_clusters else 0, step):
            some = rows[first : first + step]
            X, part = self.points.rows(some), slice(first, first + step)
            near = self.predictor.nearness(some, X)
            clusters[part], found[part] = self.scorer.likeliest(X, near)
        return clusters, found
