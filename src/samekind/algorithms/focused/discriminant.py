"""A shrunken linear discriminant of the labelled rows: one voice about a row's kind."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.covariance import ledoit_wolf

from samekind.algorithms.focused import _kernels

__all__ = ["Discriminant"]

FLOOR = -30.0  # log chances below this are all the same


class Discriminant:
    """Normal kinds with one covariance, shrunken by Ledoit and Wolf's rule; refitted as the labels grow.

    A kind with m members has its mean known up to 1/m of the covariance, which widens it accordingly.
    """

    def __init__(self, d: int) -> None:
        self._d = d
        self._rows: list[NDArray[np.float64]] = []
        self._kinds: list[int] = []
        self._fitted_at = 0
        self._whiten: NDArray[np.float64] | None = None

    def learn(self, x: NDArray[np.float64], kind: int) -> None:
        """Take in a labelled row."""
        self._rows.append(x)
        self._kinds.append(kind)
        if len(self._kinds) > 1.1 * self._fitted_at + 1:
            self._fit()

    def relabel(self, place: int, kind: int) -> None:
        """Change the kind of the labelled row that was taken in at this place."""
        self._kinds[place] = kind
        self._fit()

    def merge(self, keep: int, gone: int) -> None:
        """Note that two kinds are one."""
        self._kinds = [keep if kind == gone else kind for kind in self._kinds]
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
        self._fitted_at = len(self._kinds)
        X, kinds = np.array(self._rows), np.array(self._kinds)
        n_kinds = int(kinds.max()) + 1
        counts = np.bincount(kinds)
        self._known = np.flatnonzero(counts)
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
        covariance = ledoit_wolf(residuals, assume_centered=True)[0]
        covariance *= residuals.shape[0] / max(1, kinds.size - self._known.size)
        values, vectors = np.linalg.eigh(covariance)
        values = np.maximum(values, 1e-9 * max(values[-1], 1e-300))
        self._whiten = np.ascontiguousarray((vectors / np.sqrt(values)).T)
        self._means = means @ self._whiten.T
        self._widths = 1.0 + 1.0 / counts[self._known]
