"""Everything the answers say about rows: who is near, and which kind is likely."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import pdist

from samekind.algorithms.focused import _kernels
from samekind.algorithms.focused.choice import Choice
from samekind.algorithms.focused.discriminant import SILENT, Discriminant, Voice
from samekind.points import LabelMap, Points

__all__ = ["Evidence", "Features", "Regions", "Weighed"]

MANY = 100_000  # rows beyond which a pass over the data is worth waiting for
AROUND = 32  # rows around a member of which the most doubtful are asked about
NO_GRAPH = np.zeros((0, 0), dtype=np.float32)

Features = tuple[NDArray[np.float64], NDArray[np.float64]]
"""(m, kinds, 4) and (m, 3), or (kinds, 4) and (3,): what `Choice` wants to know."""

Heard = tuple[
    NDArray[np.float64],
    NDArray[np.float64],
    float,
    NDArray[np.float64],
    Voice,
    NDArray[np.float32],
]
"""What features are made of; see `_kernels.assemble`."""

Regions = tuple[NDArray[np.intp], NDArray[np.float64], NDArray[np.float64]]
"""Of each kind the number of rows predicted to be of it, their mean, and their spread around it."""


class Weighed(NamedTuple):
    """What is known about some rows."""

    of_kinds: NDArray[np.float64]
    of_new: NDArray[np.float64]
    """Their features."""
    weights: NDArray[np.float64]
    """(m, kinds) how likely each kind is,"""
    new: NDArray[np.float64]
    """(m,) and being new, up to a factor."""
    chances: NDArray[np.float64]
    """(m, kinds) of each kind; the rest is that of being new."""


class Look(NamedTuple):
    """What is predicted at one moment."""

    call: Callable[[LabelMap], object]
    """Says what every row is called, by its predicted kind, also later."""
    of: Callable[[NDArray[np.intp]], NDArray[np.intp]]
    """Says of what kind some rows are predicted to be, now."""
    regions: Regions


class Evidence:
    """What labelled rows tell about the others. Rows that are labelled become sites of cells.

    This class works for any number of rows: only the nearest site is kept for each, and a row is predicted
    to be of its kind. A row that confirms the prediction in the middle of a cell teaches nothing and is
    left out of the sites.
    """

    at_once = 8  # doubtful rows that are looked for together

    def __init__(self, points: Points, discriminant: bool = True) -> None:
        self.points = points
        self.cells = points.voronoi()
        self.frugal = points.n > MANY
        self.choice = Choice()
        self.n_kinds = 0
        self.n_labelled = 0
        self.alive = np.zeros(0, dtype=bool)  # kinds that were not merged into another
        self.sizes = np.zeros(16)  # rows predicted to be of each kind; set from outside
        self._discriminant = Discriminant(points.d) if discriminant else None
        self._site_of: dict[int, int] = {}
        self._learnt: dict[int, int] = {}  # rows whose kinds were taken in, and when
        self._row_of: list[int] = []
        self._kind_of_site = np.full(64, -1, dtype=np.intp)
        self._kind_of_member = self._kind_of_site.copy()  # the same, but -1 for those that are lent
        self._scale = _scale(points)

    @property
    def site_kinds(self) -> NDArray[np.intp]:
        """(sites,) the kind of each; -1 while it is not known."""
        return self._kind_of_site[: self.cells.n_sites]

    @property
    def members(self) -> NDArray[np.intp]:
        """(sites,) the kind of each, as far as it is told."""
        return self._kind_of_member[: self.cells.n_sites]

    def place(self, row: int, *, patient: bool) -> None:
        """Make a row a site before its kind is known."""
        if row in self._site_of:
            if not patient:
                self.cells.activate(self._site_of[row])
            return
        site = self.cells.add(row, deferred=patient)
        self._site_of[row] = site
        self._row_of.append(row)
        if site == self._kind_of_site.size:
            more = np.full(site, -1, dtype=np.intp)
            self._kind_of_site = np.concatenate([self._kind_of_site, more])
            self._kind_of_member = np.concatenate([self._kind_of_member, more])

    def anchor(self, row: int, kind: int, *, lent: bool = False, patient: bool = False) -> None:
        """Make a row whose kind is known a site, or a patient one where it confirms what is predicted.

        With `lent`, its own kind is not known, or must not be told: it only stands for a kind, so that its
        neighbours are predicted as before, and is no member to ask about.
        """
        self.place(row, patient=(patient or lent) and self.frugal)
        site = self._site_of[row]
        self._kind_of_site[site] = kind
        if not lent:
            self._kind_of_member[site] = kind

    def found(self) -> None:
        """Make room for a new kind."""
        self.n_kinds += 1
        self.alive = np.append(self.alive, True)
        if self.n_kinds > self.sizes.size:
            self.sizes = np.concatenate([self.sizes, np.zeros(self.sizes.size)])

    def learn(self, row: int, x: NDArray[np.float64], kind: int, *, surprising: bool) -> None:
        """Take in the kind of a row."""
        self.n_labelled += 1
        if surprising or row in self._site_of:
            self.anchor(row, kind, patient=not surprising)
        self._learnt[row] = len(self._learnt)
        if self._discriminant is not None:
            self._discriminant.learn(x, kind)

    def move(self, row: int, kind: int) -> None:
        """Change the kind of a row that was taken in; one that was not is left alone."""
        if row not in self._learnt:
            return
        self.anchor(row, kind)
        if self._discriminant is not None:
            self._discriminant.relabel(self._learnt[row], kind)

    def merge(self, keep: int, gone: int) -> None:
        """Note that two kinds are one."""
        for kinds in (self._kind_of_site, self._kind_of_member):
            kinds[kinds == gone] = keep
        self.alive[gone] = False
        self.sizes[keep] += self.sizes[gone]
        self.sizes[gone] = 0.0
        if self._discriminant is not None:
            self._discriminant.merge(keep, gone)

    def features(self, rows: NDArray[np.intp], X: NDArray[np.float64]) -> Features:
        """Return what is known about these rows, for `Choice`."""
        of_kinds, of_new = np.empty((len(X), self.n_kinds, 4)), np.empty((len(X), 3))
        _kernels.assemble(*self._heard(rows, X), of_kinds, of_new)
        return of_kinds, of_new

    def weigh(self, rows: NDArray[np.intp], X: NDArray[np.float64]) -> Weighed:
        """Return what is known about these rows, and how likely that makes each kind and being new."""
        m, k = len(X), self.n_kinds
        of_kinds, of_new = np.empty((m, k, 4)), np.empty((m, 3))
        weights, new = np.empty((m, k)), np.empty(m)
        _kernels.consider(
            *self._heard(rows, X), self.choice.weights, self.alive, of_kinds, of_new, weights, new
        )
        return Weighed(
            of_kinds, of_new, weights, new, weights / (weights.sum(axis=1) + new)[:, None]
        )

    def _heard(self, rows: NDArray[np.intp], X: NDArray[np.float64]) -> Heard:
        """Return what features of rows are made of."""
        reach, chances = self._near(rows, X)
        voice = SILENT if self._discriminant is None else self._discriminant.voice
        return X, reach, self._scale, self.sizes, voice, chances

    def _near(
        self, rows: NDArray[np.intp], X: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float32]]:
        """Return squared distances to kinds, (m, kinds) and, where there is a graph, its chances."""
        return self.cells.group_distances(self.members, self.n_kinds, X), NO_GRAPH

    def predicted(self, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the predicted kind of each row; -1 where the nearest site's is not known yet."""
        return self.site_kinds[self.cells.owners(rows)]

    def predicted_of(self, row: int) -> int:
        """Return the predicted kind of one row; -1 where there is none yet."""
        return int(self.site_kinds[self.cells.owner(row)]) if self.n_kinds else -1

    def look(self) -> Look:
        """Return the predicted kind of every row, and the regions they make, with everything taken in.

        Whoever looks changes nothing: the run goes on as if nobody had.
        """
        kinds, call = self.site_kinds.copy(), self.cells.labeler()
        return Look(
            lambda names: call(names.of_subset(kinds) if kinds.size else names),
            self.predicted,
            self.cells.moments(kinds, self.n_kinds, include_pending=True),
        )

    def regions(self) -> Regions:
        """Return how many rows are predicted to be of each kind, their means and spreads.

        The last few labels may not be taken in.
        """
        return self.cells.moments(self.site_kinds, self.n_kinds)

    def pick(self, kind: int, rng: np.random.Generator, size: int) -> NDArray[np.intp]:
        """Draw rows uniformly from those predicted to be of a kind; none if there are none."""
        chosen = self.site_kinds == kind
        if not self.cells.counts[chosen].any():
            self.cells.flush()
        if not self.cells.counts[chosen].any():
            return np.empty(0, dtype=np.intp)
        return self.cells.sample(chosen, rng, size)

    def doubtful(self, rng: np.random.Generator, size: int) -> NDArray[np.intp]:
        """Return rows that may be predicted wrongly: the most doubtful around members of some kind.

        ClusterState take turns by chance, whatever their sizes, so that small ones get all their rows.
        """
        kinds = self.alive.nonzero()[0]
        kind = kinds[int(rng.random() * kinds.size)]
        sites = (self.site_kinds == kind).nonzero()[0]
        if not sites.size:
            return np.empty(0, dtype=np.intp)
        site = sites[int(rng.random() * sites.size)]
        pool = self.cells.nearest_rows(self.cells.sites[site], AROUND)
        untold = np.array([row not in self._site_of for row in pool.tolist()])
        pool = pool[untold & (self.cells.costs(pool) > 0)]
        if not pool.size:
            return pool
        features = self.features(pool, self.points.rows(pool))
        doubt = 1.0 - self._confidence(self.utilities(features), features)
        return pool[np.argsort(-doubt, kind="stable")[:size]]

    def near_members(self, x: NDArray[np.float64], kind: int) -> list[int]:
        """Return the labelled rows of a kind, nearest to x first."""
        sites = np.flatnonzero(self.members == kind)
        distances = ((self.cells.sites[sites] - x) ** 2).sum(axis=1)
        return [self._row_of[site] for site in sites[np.argsort(distances, kind="stable")]]

    def nearest_member(self, x: NDArray[np.float64], kind: int) -> int:
        """Return the labelled row of a kind that is nearest to x."""
        return self._row_of[self.cells.nearest_site(self.members, kind, x)]

    def utilities(self, features: Features) -> NDArray[np.float64]:
        """Return the utility of each kind, (m, kinds); -inf for those that are merged into others."""
        found = self.choice.utilities(features[0])
        np.copyto(found, -np.inf, where=~self.alive)
        return found

    def confidence(self, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the chance of the likeliest kind of each row."""
        found = np.zeros(rows.size)
        step = max(1, 2**20 // max(1, self.n_kinds))
        for first in range(0, rows.size if self.n_kinds else 0, step):
            some = rows[first : first + step]
            features = self.features(some, self.points.rows(some))
            found[first : first + step] = self._confidence(self.utilities(features), features)
        return found

    def _confidence(
        self, utilities: NDArray[np.float64], features: Features
    ) -> NDArray[np.float64]:
        """Return the chance of the likeliest kind."""
        best, new = utilities.max(axis=1), self.choice.utility_of_new(features[1])
        top = np.maximum(best, new)
        total = np.exp(utilities - top[:, None]).sum(axis=1) + np.exp(new - top)
        found: NDArray[np.float64] = np.exp(best - top) / total
        return found


def _scale(points: Points) -> float:
    """Return half the median distance between some evenly spaced rows; 1 if most of them coincide."""
    rows = points.rows(np.unique(np.linspace(0, points.n - 1, 256).astype(np.intp)))
    distances = pdist(rows)
    return float(np.median(distances)) / 2 if distances.any() and np.median(distances) > 0 else 1.0
