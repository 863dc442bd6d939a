"""How likely each cluster is for a row: a conditional logit, one of whose features is a discriminant."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dgesv
from scipy.spatial.distance import pdist

from samekind.algorithms.focused import _kernels
from samekind.algorithms.focused import constants as const
from samekind.flow import BoolArray, FloatArray, IntArray
from samekind.points import Points

__all__ = [
    "NO_GRAPH",
    "UNFITTED",
    "ClusterScorer",
    "ConditionalLogit",
    "Features",
    "LdaParams",
    "LinearDiscriminant",
    "Nearness",
    "Scores",
]


class ConditionalLogit:
    """P(cluster) ∝ exp(weights · features), with "new" as one more alternative.

    The weights start from a normal prior and follow the answers, so that each data set relies on the features
    that prove right there, and "new" is as likely as it has proved to be.
    """

    def __init__(self, prior_weights: FloatArray) -> None:
        self.weights = prior_weights.copy()
        self._lowest = prior_weights - 3 * const.PRIOR_DEVIATIONS
        self._lowest[: const.GRAPH + 1] = np.maximum(self._lowest[: const.GRAPH + 1], 0.0)
        self._highest = prior_weights + 3 * const.PRIOR_DEVIATIONS
        self._prior = np.diag(const.PRIOR_DEVIATIONS**-2.0)
        self._precision = self._prior.copy()

    def learn(
        self,
        of_clusters: FloatArray,
        of_new: FloatArray,
        alive: BoolArray,
        target: int | FloatArray,
    ) -> None:
        """Make one Newton step towards the true cluster of a row with features (clusters, 4) and (3,).

        `target` is its number, -1 for "new", or, where it is uncertain, the probabilities of all clusters and
        of "new", (clusters + 1,). `alive` tells which clusters were not merged into others.
        """
        if isinstance(target, int):
            number, target = target, np.zeros(len(of_clusters) + 1)
            target[number] = 1.0
        fitted, gradient = (self.weights, self._prior, self._precision), np.empty(self.weights.size)
        _kernels.newton_system(
            *fitted, of_clusters, of_new, alive, target, const.LOGIT_DECAY, gradient
        )
        *_, step, info = dgesv(self._precision, gradient)
        if info:
            raise np.linalg.LinAlgError("the precision of the weights became singular.")
        np.clip(self.weights + step, self._lowest, self._highest, out=self.weights)


LdaParams = tuple[FloatArray, FloatArray, FloatArray, FloatArray, IntArray, int]
"""For `_kernels.lda_scores`: the origin (d,), the whitening matrix (d, d), the whitened means (d, m), their
widths (m,), their clusters (m,), and how many clusters there were."""

_EMPTY, _NO_MATRIX = np.zeros(0), np.zeros((0, 0))
UNFITTED: LdaParams = _EMPTY, _NO_MATRIX, _NO_MATRIX, _EMPTY, np.zeros(0, dtype=np.intp), 0


class LinearDiscriminant:
    """Gaussian clusters with one covariance, shrunken by Ledoit and Wolf's rule; refitted as labels grow.

    The mean of a cluster with m members is known up to 1/m of the covariance, which widens it accordingly.
    """

    def __init__(self, d: int) -> None:
        self._d = d
        self._n = 0  # labelled rows, which come first in these:
        self._rows = np.empty((64, d))
        self._clusters = np.empty(64, dtype=np.intp)
        self._fitted_at = 0
        self._waits = False  # with the next fit
        self._is_due = False  # that was waited with
        self.params = UNFITTED

    @contextmanager
    def fit_once(self) -> Iterator[None]:
        """Within it, put off fits; then fit, if there was one to put off."""
        self._waits, self._is_due = True, False
        try:
            yield
        finally:
            self._waits = False
            if self._is_due:
                self._fit()

    def learn(self, x: FloatArray, cluster: int) -> int:
        """Add a labelled row; return its place."""
        if self._n == self._clusters.size:
            self._rows = np.concatenate([self._rows, self._rows])
            self._clusters = np.concatenate([self._clusters, self._clusters])
        self._rows[self._n] = x
        self._clusters[self._n] = cluster
        self._n += 1
        if self._n > const.LDA_REFIT_GROWTH * self._fitted_at + 1:
            self._fit()
        return self._n - 1

    def relabel(self, place: int, cluster: int) -> None:
        """Change the cluster of the row that was added at `place`; -1: it is not labelled any more."""
        self._clusters[place] = cluster
        self._fit()

    def merge(self, keep: int, gone: int) -> None:
        """Make one cluster part of another."""
        self._clusters[self._clusters == gone] = keep
        self._fit()

    def _fit(self) -> None:
        if self._waits:
            self._is_due = True
            return
        self._fitted_at = self._n
        X, clusters = self._rows[: self._n], self._clusters[: self._n]
        if (clusters < 0).any():
            X, clusters = X[clusters >= 0], clusters[clusters >= 0]
        n_clusters = int(clusters.max(initial=-1)) + 1
        counts = np.bincount(clusters)
        known = counts.nonzero()[0]
        if clusters.size < known.size + const.LDA_MIN_RESIDUALS or known.size < 2:
            self.params = UNFITTED
            return
        origin = X.mean(axis=0)
        X = X - origin
        sums = np.zeros((n_clusters, self._d))
        np.add.at(sums, clusters, X)
        means = sums / np.maximum(counts, 1)[:, None]
        residuals = X - means[clusters]
        residuals = residuals[counts[clusters] > 1]
        covariance = _shrunken_covariance(residuals)
        covariance *= residuals.shape[0] / max(1, clusters.size - known.size)
        values, vectors = np.linalg.eigh(covariance)
        values = np.maximum(values, const.LDA_MIN_EIGENVALUE * max(values[-1], const.IMPOSSIBLE))
        whiten = np.ascontiguousarray((vectors / np.sqrt(values)).T)
        columns = np.ascontiguousarray((means[known] @ whiten.T).T)
        self.params = origin, whiten, columns, 1.0 + 1.0 / counts[known], known, n_clusters


def _shrunken_covariance(residuals: FloatArray) -> FloatArray:
    """Return the covariance of rows around 0, shrunken by Ledoit and Wolf's rule.

    As scikit-learn's `ledoit_wolf`, whose checks take longer than the rest.
    """
    n, d = residuals.shape
    squares = residuals**2
    if d == 1:
        return np.atleast_2d(squares.mean())
    products = residuals.T @ residuals
    covariance: FloatArray = products / n
    variances = squares.sum(axis=0) / n
    mean = variances.sum() / d
    size = (products**2).sum() / n**2
    noise = 1.0 / (d * n) * ((squares.T @ squares).sum() / n - size)
    spread = (size - 2.0 * mean * variances.sum() + d * mean**2) / d
    shrinkage = min(noise, spread) / spread if min(noise, spread) != 0 else 0.0
    mean = np.trace(covariance) / d
    covariance *= 1.0 - shrinkage
    covariance.flat[:: d + 1] += shrinkage * mean
    return covariance


Features = tuple[FloatArray, FloatArray]
"""Those of the clusters, (m, clusters, 4) or (clusters, 4), and of "new", (m, 3) or (3,)."""

Nearness = tuple[FloatArray, NDArray[np.float32]]
"""(m, clusters) squared distances of rows to the nearest members, and the probabilities of label propagation;
`NO_GRAPH` where there is no graph."""

NO_GRAPH = np.zeros((0, 0), dtype=np.float32)


class Scores(NamedTuple):
    """How likely some rows are of each cluster, or new."""

    features: Features
    weights: FloatArray
    """(m, clusters) of each cluster, up to a factor for each row,"""
    new_weights: FloatArray
    """(m,) and of "new"."""
    probabilities: FloatArray
    """(m, clusters) of each cluster; the rest to 1 is that of "new"."""


class ClusterScorer:
    """A conditional logit of nearness, linear discriminant, label propagation and size of the clusters."""

    def __init__(self, points: Points, prior_weights: FloatArray, *, uses_lda: bool) -> None:
        self.logit = ConditionalLogit(prior_weights)
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

    def retire(self, cluster: int) -> None:
        """Leave a cluster that has no members any more as a number."""
        self.alive[cluster] = False
        self.sizes[cluster] = 0.0

    def score(self, X: FloatArray, near: Nearness, *, features: bool = True) -> Scores:
        """Return how likely rows X are of each cluster.

        Unless their features are wanted, too, the discriminant is left out while it counts for nothing.
        """
        m, k = len(X), self.n_clusters
        of_clusters, of_new = np.empty((m, k, 4)), np.empty((m, 3))
        weights, new = np.empty((m, k)), np.empty(m)
        counts = features or self.logit.weights[const.DISCRIMINANT] != 0
        lda = self.lda.params if self._uses_lda and counts else UNFITTED
        distances, graph = near
        data = X, distances, self._scale, self.sizes, lda, graph, const.FEATURE_LIMITS
        learnt = self.logit.weights, self.alive
        _kernels.score_rows(*data, *learnt, of_clusters, of_new, weights, new)
        total = (weights.sum(axis=1) + new)[:, None]
        return Scores((of_clusters, of_new), weights, new, weights / total)

    def likeliest(self, X: FloatArray, near: Nearness) -> tuple[IntArray, FloatArray]:
        """Return the likeliest cluster of rows X, and its probability."""
        probabilities = self.score(X, near, features=False).probabilities
        return probabilities.argmax(axis=1), probabilities.max(axis=1)


def _scale(points: Points) -> float:
    """Return half the median distance between some evenly spaced rows; 1 if most of them coincide."""
    places = np.unique(np.linspace(0, points.n - 1, const.SCALE_ROWS).astype(np.intp))
    distances = pdist(points.rows(places))
    return float(np.median(distances)) / 2 if distances.any() and np.median(distances) > 0 else 1.0
