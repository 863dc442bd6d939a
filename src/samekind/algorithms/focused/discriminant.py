"""A shrunken linear discriminant of the labelled rows: one voice about a row's kind."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["SILENT", "Discriminant", "Voice"]

Voice = tuple[
    NDArray[np.float64],
    NDArray[np.float64],
    NDArray[np.float64],
    NDArray[np.float64],
    NDArray[np.intp],
    int,
]
"""What `_kernels.score` wants to know: where the origin is, how to whiten rows, the whitened means by
columns, their widths, the kinds they are of, and how many kinds there were."""

SILENT: Voice = (
    np.zeros(0),
    np.zeros((0, 0)),
    np.zeros((0, 0)),
    np.zeros(0),
    np.zeros(0, dtype=np.intp),
    0,
)
"""That of nobody."""


class Discriminant:
    """Normal kinds with one covariance, shrunken by Ledoit and Wolf's rule; refitted as the labels grow.

    A kind with m members has its mean known up to 1/m of the covariance, which widens it accordingly.
    """

    def __init__(self, d: int) -> None:
        self._d = d
        self._n = 0  # labelled rows, which come first in these:
        self._rows = np.empty((64, d))
        self._kinds = np.empty(64, dtype=np.intp)
        self._fitted_at = 0
        self.voice = SILENT

    def learn(self, x: NDArray[np.float64], kind: int) -> None:
        """Take in a labelled row."""
        if self._n == self._kinds.size:
            self._rows = np.concatenate([self._rows, self._rows])
            self._kinds = np.concatenate([self._kinds, self._kinds])
        self._rows[self._n] = x
        self._kinds[self._n] = kind
        self._n += 1
        if self._n > 1.1 * self._fitted_at + 1:
            self._fit()

    def relabel(self, place: int, kind: int) -> None:
        """Change the kind of the labelled row that was taken in at this place."""
        self._kinds[place] = kind
        self._fit()

    def merge(self, keep: int, gone: int) -> None:
        """Note that two kinds are one."""
        self._kinds[self._kinds == gone] = keep
        self._fit()

    def _fit(self) -> None:
        self._fitted_at = self._n
        X, kinds = self._rows[: self._n], self._kinds[: self._n]
        n_kinds = int(kinds.max()) + 1
        counts = np.bincount(kinds)
        known = counts.nonzero()[0]
        if kinds.size < known.size + 5 or known.size < 2:
            self.voice = SILENT
            return
        origin = X.mean(axis=0)
        X = X - origin
        sums = np.zeros((n_kinds, self._d))
        np.add.at(sums, kinds, X)
        means = sums / np.maximum(counts, 1)[:, None]
        residuals = X - means[kinds]
        residuals = residuals[counts[kinds] > 1]
        covariance = _shrunken(residuals)
        covariance *= residuals.shape[0] / max(1, kinds.size - known.size)
        values, vectors = np.linalg.eigh(covariance)
        values = np.maximum(values, 1e-9 * max(values[-1], 1e-300))
        whiten = np.ascontiguousarray((vectors / np.sqrt(values)).T)
        columns = np.ascontiguousarray((means[known] @ whiten.T).T)
        self.voice = origin, whiten, columns, 1.0 + 1.0 / counts[known], known, n_kinds


def _shrunken(residuals: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the covariance of rows around 0, shrunken by Ledoit and Wolf's rule.

    As sklearn's `ledoit_wolf`, whose checks take longer than the rest.
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
