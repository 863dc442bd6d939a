"""Cells: every row with the site that is nearest to it, while sites are added one by one."""

from __future__ import annotations

from copy import copy
from itertools import pairwise
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
TRIES = 64  # rejected draws after which patient sites take their rows, too


class Numbers:
    """A list of site numbers that is always at hand as an array."""

    def __init__(self) -> None:
        self._held = np.empty(16, dtype=np.int32)
        self._size = 0

    @property
    def numbers(self) -> NDArray[np.int32]:
        """They, in their order."""
        return self._held[: self._size]

    def append(self, number: int) -> None:
        """Add a number."""
        if self._size == self._held.size:
            self._held = np.concatenate([self._held, self._held])
        self._held[self._size] = number
        self._size += 1

    def remove(self, number: int) -> bool:
        """Take out a number; return whether it was there."""
        left = self.numbers[self.numbers != number]
        was_there = bool(left.size < self._size)
        self._size = left.size
        self._held[: left.size] = left
        return was_there

    def copy(self) -> Numbers:
        """Return the same numbers, to change on their own."""
        other = copy(self)
        other._held = self._held.copy()
        return other


class ArrayCells:
    """The Voronoi cells of rows that became sites, kept exact as sites are added.

    Rows are grouped once into leaves with bounding boxes. A new site visits only the leaves that it can
    come closer to than the sites before it. Sites take their rows some at a time, in one pass over the
    data; until then they are taken into account where a row is asked for. Patient sites own nothing but
    keep draws away from them, which needs no pass, until so many draws are rejected that a pass is cheaper.

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
        self._starts = self._plant()
        leaves = self._starts.size - 1
        self._place = np.empty(n, dtype=np.intp)
        self._X = np.empty_like(points.X)
        self._low = np.empty((d, leaves))
        self._high = np.empty((d, leaves))
        self._near = np.empty(n * d, dtype=np.float32)
        split(
            leaves,
            points.threads,
            lambda first, last: _tree.boxes(
                points.X,
                self._order,
                self._place,
                self._starts,
                self._X,
                self._low,
                self._high,
                self._near,
                first,
                last,
            ),
        )
        self._bounds = np.empty(leaves)
        self._places = np.empty(n, dtype=np.intp)
        self._losers = np.empty(n, dtype=np.int32)
        self._origin = points.X[0].astype(np.float64)
        self._costs = np.full(n, np.inf)
        self._owners = np.full(n, -1, dtype=np.int32)
        self._weights = np.zeros(leaves)
        self._prefix = np.zeros(leaves)
        self._farthest = np.full(leaves, np.inf)
        self._scale = 1.0
        self._sites = np.empty((64, d))
        self._columns = np.empty((d, 64))  # the sites again
        self._counts = np.zeros(64, dtype=np.intp)
        self._sums = np.zeros((64, d))
        self._squares = np.zeros(64)
        self.n_sites = 0
        self._waiting = Numbers()  # sites that are about to take their rows
        self._patient = Numbers()  # those that only keep draws away
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

    def add(self, row: int, *, patient: bool = False) -> int:
        """Make a row a site, and return its number."""
        started = perf_counter()
        site = self.n_sites
        if site == len(self._counts):
            self._grow()
        self._sites[site] = self._columns[:, site] = self._points.X[row]
        self.n_sites += 1
        if site == 0:
            self._take(np.zeros(1, dtype=np.int32))
            self._scale = float(self._farthest.max()) or 1.0
            _tree.reweigh(self._starts, self._costs, self._weights, self._scale)
        elif patient:
            self._patient.append(site)
        else:
            self._wait(site)
        self.seconds += perf_counter() - started
        return site

    def hurry(self, site: int) -> None:
        """Let a patient site take its rows soon."""
        started = perf_counter()
        if self._patient.remove(site):
            self._wait(site)
        self.seconds += perf_counter() - started

    def _wait(self, site: int) -> None:
        self._waiting.append(site)
        if self._waiting.numbers.size == WAITING:
            self.settle()

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
            "columns",
        ):
            setattr(other, f"_{name}", getattr(self, f"_{name}").copy())
        other._waiting, other._patient = self._waiting.copy(), self._patient.copy()
        return other

    def settle(self) -> None:
        """Let the sites that were added last take their rows now, but for the patient ones."""
        self._take(self._waiting.numbers)
        self._waiting = Numbers()

    def _take(self, numbers: NDArray[np.int32]) -> None:
        """Let sites take their rows."""
        if not numbers.size:
            return
        parts = split(
            self._weights.size,
            self._points.threads,
            lambda first, last: (first, self._claim(numbers, first, last)),
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

    def _claim(self, numbers: NDArray[np.int32], first: int, last: int) -> tuple[int, int]:
        found: tuple[int, int] = _tree.claim(
            self._X,
            self._near,
            self._starts,
            self._low,
            self._high,
            self._sites[numbers],
            numbers,
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

    def _now(
        self, rows: NDArray[np.intp], sites: NDArray[np.int32]
    ) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
        """Return cost and owner of these rows, with sites that did not take their rows yet."""
        places = self._place[rows]
        costs, owners = self._costs[places], self._owners[places]
        if sites.size:
            _tree.nearer(self._points.X, rows, self._sites, sites, costs, owners)
        return costs, owners

    def draw(self, rng: np.random.Generator) -> int:
        """Return a row, each with a chance proportional to distance⁴; -1 when every row lies on a site.

        Sites that did not take their rows yet only lower distances, so a row is drawn by its distance to
        its owner and accepted with the chance by which its weight has fallen since.
        """
        started = perf_counter()
        if self.n_sites == 0:
            return int(rng.random() * self._points.n)
        away = np.concatenate([self._waiting.numbers, self._patient.numbers])
        while (place := self._draw(away, rng.random(2 * TRIES))) == -2:
            self._take(away)
            self._waiting, self._patient, away = Numbers(), Numbers(), Numbers().numbers
        self.seconds += perf_counter() - started
        return int(self._order[place]) if place >= 0 else -1

    def _draw(self, away: NDArray[np.int32], uniforms: NDArray[np.float64]) -> int:
        place: int = _tree.draw(
            self._X,
            self._starts,
            self._costs,
            self._weights,
            self._prefix,
            self._scale,
            self._sites,
            away,
            uniforms,
        )
        return place

    def owners(self, rows: NDArray[np.intp] | None = None) -> NDArray[np.int32]:
        """Return the site that owns each of these rows, or each row there is."""
        if rows is not None:
            return self._now(rows, self._waiting.numbers)[1]
        self.settle()
        return self._owners[self._place]

    def costs(self, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the squared distance of each row to its owner."""
        return self._now(rows, self._waiting.numbers)[0]

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
        _tree.near(
            self._X,
            self._starts,
            self._low,
            self._high,
            x,
            self._bounds,
            places,
            distances,
        )
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

    def nearest_of(self, groups: NDArray[np.intp], group: int, x: NDArray[np.float64]) -> int:
        """Return the site of a group that is nearest to x, or -1 if it has none."""
        return int(_tree.nearest_of(self._sites, groups, group, x))

    def nearest_of_each(
        self, groups: NDArray[np.intp], n_groups: int, X: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return for each row of X the squared distance to the nearest site of each group.

        `groups` (sites,) has the group of each site, or -1; infinity for a group without sites.
        """
        best = np.empty((len(X), n_groups))
        _tree.nearest_of_each(self._columns, groups, X, best)
        return best

    def _plant(self) -> NDArray[np.intp]:
        """Sort the order into leaves, in several threads; return where each starts, and the end."""
        X, n, threads = self._points.X, self._points.n, self._points.threads
        edges = [0, n]
        while len(edges) <= threads and n > _tree.LEAF * len(edges) * 4:
            cuts = [_tree.cut(X, self._order, first, last) for first, last in pairwise(edges)]
            edges = sorted(edges + cuts)

        def plant(first: int, last: int) -> NDArray[np.intp]:
            starts = np.empty(8 * ((last - first) // _tree.LEAF + 1), dtype=np.intp)
            return starts[: _tree.plant(X, self._order, first, last, starts)]

        groups = list(pairwise(edges))
        parts = split(
            len(groups),
            threads,
            lambda first, last: [plant(*group) for group in groups[first:last]],
        )
        return np.concatenate([starts for part in parts for starts in part] + [[n]])

    def _grow(self) -> None:
        extra = len(self._counts)
        self._sites = np.vstack([self._sites, np.empty_like(self._sites)])
        self._columns = np.hstack([self._columns, np.empty_like(self._columns)])
        self._counts = np.concatenate([self._counts, np.zeros(extra, dtype=np.intp)])
        self._sums = np.concatenate([self._sums, np.zeros_like(self._sums)])
        self._squares = np.concatenate([self._squares, np.zeros(extra)])
