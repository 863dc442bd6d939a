"""How likely each cluster is for a row, given its distances and what label propagation says."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import pdist

from samekind.algorithms.focused import _kernels
from samekind.algorithms.focused import constants as const
from samekind.algorithms.focused.conditional_logit import ConditionalLogit
from samekind.algorithms.focused.discriminant import UNFITTED, LdaParams, LinearDiscriminant
from samekind.points import Points

__all__ = ["NO_GRAPH", "ClusterScorer", "Features", "Nearness", "Scores"]

Features = tuple[NDArray[np.float64], NDArray[np.float64]]
"""Those of the clusters, (m, clusters, 4) or (clusters, 4), and of "new", (m, 3) or (3,)."""

Nearness = tuple[NDArray[np.float64], NDArray[np.float32]]
"""(m, clusters) squared distances of rows to the nearest members, and the probabilities of label propagation;
`NO_GRAPH` where there is no graph."""

FeatureInputs = tuple[
    NDArray[np.float64],
    NDArray[np.float64],
    float,
    NDArray[np.float64],
    LdaParams,
    NDArray[np.float32],
    tuple[float, float, float, float],
]
"""The first arguments of `_kernels.features`."""

NO_GRAPH = np.zeros((0, 0), dtype=np.float32)


class Scores(NamedTuple):
    """How likely some rows are of each cluster, or new."""

    features: Features
    weights: NDArray[np.float64]
    """(m, clusters) of each cluster, up to a factor for each row,"""
    new_weights: NDArray[np.float64]
    """(m,) and of "new"."""
    probabilities: NDArray[np.float64]
    """(m, clusters) of each cluster; the rest to 1 is that of "new"."""


class ClusterScorer:
    """A conditional logit of nearness, linear discriminant, label propagation and size of the clusters."""

    def __init__(self, points: Points, *, uses_lda: bool) -> None:
        self.logit = ConditionalLogit()
        self.lda = LinearDiscriminant(points.d)
        self.n_clusters = 0
        self.alive = np.zeros(0, dtype=bool)
        """(clusters,) whether each was not merged into another."""
        self.sizes = np.zeros(16)
        """(at least clusters,) the number of rows predicted to be in each."""
        self._uses_lda = uses_lda
        self._scale = _scale(points)

    def add_cluster(self) -> None:
        """Make room for a new cluster."""
        self.n_clusters += 1
        self.alive = np.append(self.alive, True)
        if self.n_clusters > self.sizes.size:
            self.sizes = np.concatenate([self.sizes, np.zeros(self.sizes.size)])

    def merge(self, keep: int, gone: int) -> None:
        """Make one cluster part of another."""
        self.alive[gone] = False
        self.sizes[keep] += self.sizes[gone]
        self.sizes[gone] = 0.0
        self.lda.merge(keep, gone)

    def score(self, X: NDArray[np.float64], near: Nearness) -> Scores:
        """Return how likely rows X are of each cluster."""
        m, k = len(X), self.n_clusters
        of_clusters, of_new = np.empty((m, k, 4)), np.empty((m, 3))
        weights, new = np.empty((m, k)), np.empty(m)
        learnt = self.logit.weights, self.alive
        _kernels.score_rows(*self._given(X, near), *learnt, of_clusters, of_new, weights, new)
        total = (weights.sum(axis=1) + new)[:, None]
        return Scores((of_clusters, of_new), weights, new, weights / total)

    def likeliest(
        self, X: NDArray[np.float64], near: Nearness
    ) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Return the likeliest cluster of rows X, and its probability."""
        of_clusters, of_new = np.empty((len(X), self.n_clusters, 4)), np.empty((len(X), 3))
        _kernels.features(*self._given(X, near), of_clusters, of_new)
        utilities = self.logit.utilities(of_clusters)
        np.copyto(utilities, -np.inf, where=~self.alive)
        best, new = utilities.max(axis=1), self.logit.utility_of_new(of_new)
        top = np.maximum(best, new)
        total = np.exp(utilities - top[:, None]).sum(axis=1) + np.exp(new - top)
        return utilities.argmax(axis=1), np.exp(best - top) / total

    def _given(self, X: NDArray[np.float64], near: Nearness) -> FeatureInputs:
        lda = self.lda.params if self._uses_lda else UNFITTED
        return X, near[0], self._scale, self.sizes, lda, near[1], const.FEATURE_LIMITS


def _scale(points: Points) -> float:
    """Return half the median distance between some evenly spaced rows; 1 if most of them coincide."""
    places = np.unique(np.linspace(0, points.n - 1, const.SCALE_ROWS).astype(np.intp))
    distances = pdist(points.rows(places))
    return float(np.median(distances)) / 2 if distances.any() and np.median(distances) > 0 else 1.0
