"""Linear discriminant analysis of the labelled rows, with a shrunken covariance."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from samekind.algorithms.focused import constants as const

__all__ = ["UNFITTED", "LdaParams", "LinearDiscriminant"]

LdaParams = tuple[
    NDArray[np.float64],
    NDArray[np.float64],
    NDArray[np.float64],
    NDArray[np.float64],
    NDArray[np.intp],
    int,
]
"""For `_kernels.lda_scores`: the origin (d,), the whitening matrix (d, d), the whitened means (d, m), their
widths (m,), their clusters (m,), and how many clusters there were."""

UNFITTED: LdaParams = (
    np.zeros(0),
    np.zeros((0, 0)),
    np.zeros((0, 0)),
    np.zeros(0),
    np.zeros(0, dtype=np.intp),
    0,
)


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
        self.params = UNFITTED

    def learn(self, x: NDArray[np.float64], cluster: int) -> None:
        """Add a labelled row."""
        if self._n == self._clusters.size:
            self._rows = np.concatenate([self._rows, self._rows])
            self._clusters = np.concatenate([self._clusters, self._clusters])
        self._rows[self._n] = x
        self._clusters[self._n] = cluster
        self._n += 1
        if self._n > const.LDA_REFIT_GROWTH * self._fitted_at + 1:
            self._fit()

    def relabel(self, place: int, cluster: int) -> None:
        """Change the cluster of the row that was added as number `place`."""
        self._clusters[place] = cluster
        self._fit()

    def merge(self, keep: int, gone: int) -> None:
        """Make one cluster part of another."""
        self._clusters[self._clusters == gone] = keep
        self._fit()

    def _fit(self) -> None:
        self._fitted_at = self._n
        X, clusters = self._rows[: self._n], self._clusters[: self._n]
        n_clusters = int(clusters.max()) + 1
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


def _shrunken_covariance(residuals: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the covariance of rows around 0, shrunken by Ledoit and Wolf's rule.

    As scikit-learn's `ledoit_wolf`, whose checks take longer than the rest.
    """
    n, d = residuals.shape
    squares = residuals**2
    if d == 1:
        return np.atleast_2d(squares.mean())
    products = residuals.T @ residuals
    covariance: NDArray[np.float64] = products / n
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
