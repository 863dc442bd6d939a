"""A shrunken linear discriminant of the labelled rows: one voice about a row's kind."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from samekind.algorithms.focused import _kernels

__all__ = ["Discriminant"]

FLOOR = -30.0  # log chances below this are all the same


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
        self._whiten: NDArray[np.float64] | None = None

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

    def scores(self, X: NDArray[np.float64], n_kinds: int) -> NDArray[np.float64]:
        """Return log chances (m, kinds), up to a constant for each row; 0 while nothing is known."""
        if self._whiten is None:
            return np.zeros((len(X), n_kinds))
        found = np.empty((len(X), n_kinds))
        _kernels.score(
            X,
            self._origin,
            self._whiten,
            self._means,
            self._widths,
            self._known,
            self._n_at_fit,
            FLOOR,
            found,
        )
        return found

    def _fit(self) -> None:
        self._fitted_at = self._n
        X, kinds = self._rows[: self._n], self._kinds[: self._n]
        n_kinds = int(kinds.max()) + 1
        counts = np.bincount(kinds)
        self._known = counts.nonzero()[0]
        self._n_at_fit = n_kinds
        if kinds.size < self._known.size + 5 or self._known.size < 2:
            self._whiten = None
            return
        self._origin = X.mean(axis=0)
        X = X - self._origin
        sums = np.zeros((n_kinds, self._d))
        np.add.at(sums, kinds, X)
        means = sums[self._known] / counts[self._known, None]
        place = np.searchsorted(self._known, kinds)
        residuals = X - means[place]
        residuals = residuals[counts[kinds] > 1]
        covariance = _shrunken(residuals)
        covariance *= residuals.shape[0] / max(1, kinds.size - self._known.size)
        values, vectors = np.linalg.eigh(covariance)
        values = np.maximum(values, 1e-9 * max(values[-1], 1e-300))
        self._whiten = np.ascontiguousarray((vectors / np.sqrt(values)).T)
        self._means = np.ascontiguousarray((means @ self._whiten.T).T)  # by columns
        self._widths = 1.0 + 1.0 / counts[self._known]


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
