"""Evidence for few rows, and which evidence suits how many."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from samekind.algorithms.focused import _kernels
from samekind.algorithms.focused.evidence import NO_GRAPH, Evidence, Look, Regions
from samekind.algorithms.focused.spreading import Spreading
from samekind.points import Points

__all__ = ["make_evidence"]

SMALL = 30_000  # rows up to which everything is known about every row at any time
STALE = 1.05  # growth of the labels after which predictions are made anew


class SmallEvidence(Evidence):
    """The same for few rows: distances to every kind, and a graph, are kept for every row.

    A row is predicted to be of the kind that `Choice` finds likeliest.
    """

    at_once = 4

    def __init__(self, points: Points, discriminant: bool = True) -> None:
        super().__init__(points, discriminant)
        self._X = points.rows(np.arange(points.n))
        self._graph = Spreading(self._X) if points.n > 2 else None
        self._reach = np.full((points.n, 16), np.inf, dtype=np.float64)
        self._labels = np.full(points.n, -1, dtype=np.intp)
        self._doubt = np.ones(points.n)
        self._made_at = (0, 0)

    def found(self) -> None:
        """Make room for a new kind."""
        super().found()
        if self.n_kinds > self._reach.shape[1]:
            self._reach = np.hstack([self._reach, np.full_like(self._reach, np.inf)])

    def learn(self, row: int, x: NDArray[np.float64], kind: int, *, surprising: bool) -> None:
        """Take in the kind of a row."""
        super().learn(row, x, kind, surprising=True)
        self._approach(x, kind)
        if self._graph is not None:
            self._graph.learn(row, kind)

    def move(self, row: int, kind: int) -> None:
        """Change the kind of a row that was taken in; one that was not is left alone."""
        if row not in self._learnt:
            return
        old = int(self.members[self._site_of[row]])
        super().move(row, kind)
        self._reach[:, old] = np.inf
        for site in np.flatnonzero(self.members == old):
            self._approach(self.cells.sites[site], old)
        self._approach(self.cells.sites[self._site_of[row]], kind)
        if self._graph is not None:
            self._graph.learn(row, kind)
        self._made_at = (0, 0)

    def _approach(self, x: NDArray[np.float64], kind: int) -> None:
        """Note a member of a kind."""
        _kernels.come_near(self._X, x, self._reach[:, kind])

    def merge(self, keep: int, gone: int) -> None:
        """Note that two kinds are one."""
        super().merge(keep, gone)
        self._reach[:, keep] = np.minimum(self._reach[:, keep], self._reach[:, gone])
        self._reach[:, gone] = np.inf
        if self._graph is not None:
            self._graph.merge(keep, gone)
        self._made_at = (0, 0)

    def _near(
        self, rows: NDArray[np.intp], X: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float32]]:
        """Return squared distances to kinds, (m, kinds) and, where there is a graph, its chances."""
        k = self.n_kinds
        chances = NO_GRAPH if self._graph is None else self._graph.chances(k)[rows]
        return self._reach[rows, :k], chances

    def predicted(self, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the predicted kind of each row."""
        self._predict()
        return self._labels[rows]

    def predicted_of(self, row: int) -> int:
        """Return the predicted kind of one row; -1 where there is none yet."""
        self._predict()
        return int(self._labels[row])

    def look(self) -> Look:
        """Return the predicted kind of every row, and the regions they make, with everything taken in."""
        labels = self._likeliest()[0]
        return Look(lambda names: names.of_rows(labels), labels.__getitem__, self._moments(labels))

    def regions(self) -> Regions:
        """Return how many rows are predicted to be of each kind, their means and spreads."""
        self._predict()
        return self._moments(self._labels)

    def _moments(self, labels: NDArray[np.intp]) -> Regions:
        k = self.n_kinds
        held = labels >= 0
        labels, X = labels[held], self._X[held]
        counts = np.bincount(labels, minlength=k)
        sums = np.zeros((k, X.shape[1]))
        np.add.at(sums, labels, X)
        means = sums / np.maximum(counts, 1)[:, None]
        off = ((X - means[labels]) ** 2).sum(axis=1)
        return counts, means, np.bincount(labels, off, k) / np.maximum(counts, 1)

    def pick(self, kind: int, rng: np.random.Generator, size: int) -> NDArray[np.intp]:
        """Draw rows uniformly from those predicted to be of a kind; none if there are none."""
        self._predict()
        rows = np.flatnonzero(self._labels == kind)
        if not rows.size:
            return rows
        return rows[(rng.random(size) * rows.size).astype(np.intp)]

    def doubtful(self, rng: np.random.Generator, size: int) -> NDArray[np.intp]:
        """Return rows that are likely predicted wrongly, and stand for neighbours that are, too."""
        self._predict()
        doubt = self._doubt
        if self._graph is not None:
            doubt = self._graph.smooth(doubt)
        weights = np.cumsum(doubt**4)
        if not weights[-1] > 0:
            return np.empty(0, dtype=np.intp)
        rows = np.searchsorted(weights, rng.random(size) * weights[-1], side="right")
        last: NDArray[np.intp] = np.minimum(rows, self.points.n - 1)
        return last

    def _predict(self) -> None:
        labelled, kinds = self._made_at
        if self.n_kinds == kinds and self.n_labelled <= STALE * labelled:
            return
        self._made_at = (self.n_labelled, self.n_kinds)
        self._labels, self._doubt = self._likeliest()

    def _likeliest(self) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Return the likeliest kind of every row, and how doubtful it is."""
        n = self.points.n
        labels, doubt = np.full(n, -1, dtype=np.intp), np.ones(n)
        if self.n_kinds == 0:
            return labels, doubt
        step = max(1, 2**20 // self.n_kinds)
        for first in range(0, n, step):
            rows = np.arange(first, min(first + step, n))
            features = self.features(rows, self._X[rows])
            utilities = self.utilities(features)
            labels[rows] = utilities.argmax(axis=1)
            doubt[rows] = 1.0 - self._confidence(utilities, features)
        return labels, doubt


def make_evidence(points: Points, without: Callable[[str], bool]) -> Evidence:
    """Choose what suits the number of rows."""
    small = points.n <= SMALL and not without("graph")
    return (SmallEvidence if small else Evidence)(points, discriminant=not without("discriminant"))
