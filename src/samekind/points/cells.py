"""Cells: every row with the site that is nearest to it, while sites are added one by one."""

from __future__ import annotations

from copy import copy
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from samekind.points import _tree
from samekind.points._threads import split

if TYPE_CHECKING:
    from samekind.points.array import ArrayPoints

__all__ = ["ArrayCells"]

WAITING = 16  # sites that take their rows in one pass


class ArrayCells:
    """The Voronoi cells of rows that became sites, kept exact as sites are added.

    Rows are grouped once into leaves with bounding boxes. A new site visits only the leaves that it can
    come closer to than the sites before it. Sites take their rows some at a time, in one pass over the
    data; until then they are taken into account where a row is asked for.

    Examples
    --------
    >>> from samekind.points import ArrayPoints
    >>> cells = ArrayPoints([[0.0], [1.0], [6.0], [9.0]]).cells()
    >>> cells.add(0), cells.add(3)
    (0, 1)
    >>> cells.owners(np.array([0, 1, 2, 3]))
    array([0, 0, 1, 1], dtype=int32)
    >>> cells.settle()
    >>> cells.counts
    array([2, 2])
    """

    def __init__(self, points: ArrayPoints) -> None:
        started = perf_counter()
        n, d = points.n, points.d
        self._points = points
        self._order = np.arange(n)
        starts = np.empty(2 * (n // _tree.LEAF + 1) + 1, dtype=np.intp)
        leaves = _tree.plant(points.X, self._order, starts)
        self._starts = starts[: leaves + 1].copy()
        self._X = points.X[self._order]
        self._place = np.empty(n, dtype=np.intp)
        self._place[self._order] = np.arange(n)
        self._low = np.empty((d, leaves))
        self._high = np.empty((d, leaves))
        self._near = np.empty(n * d, dtype=np.float32)
        _tree.boxes(self._X, self._starts, self._low, self._high, self._near)
        self._bounds = np.empty(leaves)
        self._places = np.empty(n, dtype=np.intp)
        self._losers = np.empty(n, dtype=np.int32)
        self._origin = self._X[0].astype(np.float64)
        self._costs = np.full(n, np.inf)
        self._owners = np.full(n, -1, dtype=np.int32)
        self._weights = np.zeros(leaves)
        self._prefix = np.zeros(leaves)
        self._farthest = np.full(leaves, np.inf)
        self._scale = 1.0
        self._sites = np.empty((64, d))
        self._counts = np.zeros(64, dtype=np.intp)
        self._sums = np.zeros((64, d))
        self._squares = np.zeros(64)
        self.n_sites = 0
        self._settled = 0  # sites that took their rows
        self.n_distances = 0
        self.seconds = perf_counter() - started

    @property
    def counts(self) -> NDArray[np.intp]:
        """(sites,) how many rows each site owns, as of the last pass."""
        return self._counts[: self.n_sites]

    @property
    def sites(self) -> NDArray[np.float64]:
        """(sites, d) where they are."""
        return self._sites[: self.n_sites]

    def add(self, row: int) -> int:
        """Make a row a site, and return its number."""
        started = perf_counter()
        site = self.n_sites
        if site == len(self._counts):
            self._grow()
        self._sites[site] = self._X[self._place[row]]
        self.n_sites += 1
        if site == 0:
            self.settle()
            self._scale = float(self._farthest.max()) or 1.0
            _tree.reweigh(self._starts, self._costs, self._weights, self._scale)
        elif self.n_sites - self._settled == WAITING:
            self.settle()
        self.seconds += perf_counter() - started
        return site

    def copy(self) -> ArrayCells:
        """Return cells that change on their own from now on."""
        other = copy(self)
        for name in (
            "costs",
            "owners",
            "weights",
            "farthest",
            "counts",
            "sums",
            "squares",
            "sites",
        ):
            setattr(other, f"_{name}", getattr(self, f"_{name}").copy())
        return other

    def settle(self) -> None:
        """Let the sites that were added last take their rows now."""
        if self._settled == self.n_sites:
            return
        new = self._sites[self._settled : self.n_sites]
        parts = split(
            self._weights.size,
            self._points.threads,
            lambda first, last: (first, self._claim(new, first, last)),
        )
        for leaf, (taken, computed) in parts:
            self.n_distances += computed
            rows = slice(self._starts[leaf], self._starts[leaf] + taken)
            _tree.book(
                self._X,
                self._origin,
                self._owners,
                self._places[rows],
                self._losers[rows],
                self._counts,
                self._sums,
                self._squares,
            )
        self._settled = self.n_sites

    def _claim(self, new: NDArray[np.float64], first: int, last: int) -> tuple[int, int]:
        found: tuple[int, int] = _tree.claim(
            self._X,
            self._near,
            self._starts,
            self._low,
            self._high,
            new,
            self._settled,
            self._costs,
            self._owners,
            self._weights,
            self._farthest,
            self._scale,
            self._places,
            self._losers,
            first,
            last,
        )
        return found

    def _now(self, places: NDArray[np.intp]) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
        """Return cost and owner of these places, with the sites that did not take their rows yet."""
        costs, owners = self._costs[places], self._owners[places]
        new = self._sites[self._settled : self.n_sites]
        _tree.nearer(self._X, places, new, self._settled, costs, owners)
        return costs, owners

    def draw(self, rng: np.random.Generator) -> int:
        """Return a row, each with a chance proportional to distance⁴; -1 when every row lies on a site.

        Sites added since the last pass only lower distances, so a row is drawn by its distance at that pass
        and accepted with the chance by which its weight has fallen since.
        """
        started = perf_counter()
        if self.n_sites == 0:
            return int(rng.random() * self._points.n)
        row, tries = -1, 0
        while row < 0:
            place = _tree.draw(
                self._starts, self._costs, self._weights, self._prefix, self._scale, rng.random()
            )
            if place < 0:
                break
            fallen = self._now(np.array([place]))[0][0] / self._costs[place]
            if rng.random() < fallen * fallen:
                row = int(self._order[place])
            tries += 1
            if tries == WAITING:
                self.settle()
        self.seconds += perf_counter() - started
        return row

    def owners(self, rows: NDArray[np.intp] | None = None) -> NDArray[np.int32]:
        """Return the site that owns each of these rows, or each row there is."""
        if rows is not None:
            return self._now(self._place[rows])[1]
        self.settle()
        found = np.empty_like(self._owners)
        found[self._order] = self._owners
        return found

    def costs(self, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the squared distance of each row to its owner."""
        return self._now(self._place[rows])[0]

    def pick(self, chosen: NDArray[np.bool_], uniforms: NDArray[np.float64]) -> NDArray[np.intp]:
        """Return a row for each uniform, uniformly from the cells of the chosen sites as of the last pass."""
        started = perf_counter()
        total = int(self.counts[chosen].sum())
        ranks = np.minimum((uniforms * total).astype(np.intp), total - 1)
        order = np.argsort(ranks, kind="stable")
        places = np.empty(ranks.size, dtype=np.intp)
        _tree.at_ranks(self._owners, chosen, ranks[order], places)
        rows = np.empty(ranks.size, dtype=np.intp)
        rows[order] = self._order[places]
        self.seconds += perf_counter() - started
        return rows

    def near(self, x: NDArray[np.float64], size: int) -> NDArray[np.intp]:
        """Return the rows nearest to x, nearest first."""
        started = perf_counter()
        places = np.empty(min(size, self._points.n), dtype=np.intp)
        distances = np.empty(places.size)
        _tree.near(self._X, self._starts, self._low, self._high, x, self._bounds, places, distances)
        self.seconds += perf_counter() - started
        rows: NDArray[np.intp] = self._order[places]
        return rows

    def moments(
        self, groups: NDArray[np.intp], n_groups: int
    ) -> tuple[NDArray[np.intp], NDArray[np.float64], NDArray[np.float64]]:
        """Return the number of rows, the mean and the mean squared distance to it, for groups of sites.

        As of the last pass: call `settle` first to have all sites in. `groups` (sites,) has the group of
        each site, or -1.
        """
        used = np.flatnonzero(groups >= 0)
        of = groups[used]
        counts = np.bincount(of, self.counts[used], n_groups).astype(np.intp)
        sums = np.zeros((n_groups, self._sums.shape[1]))
        np.add.at(sums, of, self._sums[used])
        squares = np.bincount(of, self._squares[used], n_groups)
        held = np.maximum(counts, 1)
        means = sums / held[:, None]
        spread = np.maximum(squares / held - (means**2).sum(axis=1), 0.0)
        return counts, means + self._origin, spread

    def nearest_of_each(
        self, groups: NDArray[np.intp], n_groups: int, X: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
        """Return for each row of X the squared distance to the nearest site of each group, and that site.

        `groups` (sites,) has the group of each site, or -1; infinity and -1 for a group without sites.
        """
        best = np.full((len(X), n_groups), np.inf)
        found = np.full((len(X), n_groups), -1)
        _tree.nearest_of_each(self.sites, groups, X, best, found)
        return best, found

    def _grow(self) -> None:
        extra = len(self._counts)
        self._sites = np.concatenate([self._sites, np.empty_like(self._sites)])
        self._counts = np.concatenate([self._counts, np.zeros(extra, dtype=np.intp)])
        self._sums = np.concatenate([self._sums, np.zeros_like(self._sums)])
        self._squares = np.concatenate([self._squares, np.zeros(extra)])
