"""Voronoi cells: every row with the nearest site, while sites are added one by one."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from samekind.points.arrays import Floats, Numbers, Rows
from samekind.points.calls import call
from samekind.points.executor import Executor, on_all
from samekind.points.kernels import sites as kernels
from samekind.points.labels import LabelMap, RowLabels
from samekind.points.moments import GroupMoments
from samekind.points.nearest_centers import NearestCenters
from samekind.points.partition import Partition
from samekind.points.partition_results import nearest_of_all

if TYPE_CHECKING:
    from samekind.points.base import Points

__all__ = ["VoronoiCells"]

PENDING = 16  # sites that take over their rows in one pass
FEWEST, MOST = 8, 4096  # rows that are drawn ahead
ACCEPTED = 32  # so that about so many of them are good
REJECTED = 256  # rows, or
PATIENCE = 1 / 8  # as a share of all rows, after which deferred sites take over theirs
NOTHING = np.array([-1])  # the number of no site
NO_SITES = np.empty(0, dtype=np.int32)
# Rows to try, or as a share of all, up to which trying is quicker than a look at all leaves.
TRIED = 2**14
TRIED_SHARE = 1 / 768


class Proposals(NamedTuple):
    """Rows that were drawn ahead, as if no further site came: to be accepted or rejected."""

    rows: list[int]
    X: Floats
    costs: NDArray[np.float32]
    coins: Floats


class VoronoiCells:
    """The Voronoi cells of rows that became sites, kept exact as sites are added.

    A new site visits only the leaves (small groups of rows) that it can come closer to than the sites before
    it. Sites take over their rows some at a time, in one pass over the data; until then they are pending,
    and taken into account where a row is asked for. Deferred sites own nothing but keep draws away from them,
    which needs no pass, until so many draws are rejected that a pass is cheaper.

    Examples
    --------
    >>> from samekind.points import ArrayPoints
    >>> cells = ArrayPoints([[0.0], [1.0], [6.0], [9.0]]).voronoi()
    >>> cells.add(0), cells.add(3)
    (0, 1)
    >>> cells.owners(np.array([0, 1, 2, 3]))
    array([0, 0, 1, 1], dtype=int32)
    >>> cells.flush()
    >>> cells.counts
    array([2, 2])
    """

    def __init__(self, points: Points, executor: Executor) -> None:
        self._points = points
        self._executor = executor
        self._nearest = NearestCenters(executor, squared=True, owned=True)
        self._units = executor.units.for_kernels
        self._per_cost = self._units.per_cost
        self._sites = np.empty((64, executor.units.d))
        self._columns = np.empty((executor.units.d, 64))  # the sites again
        self._sums = np.zeros((64, executor.units.d + 2), dtype=np.int64)
        self.n_sites = 0
        self._n_passes = 0
        self._pending = NO_SITES  # that are about to take over their rows
        self._deferred: dict[int, None] = {}  # those that only keep draws away, in order
        self._proposed = Proposals([], np.empty(0), np.empty(0, np.float32), np.empty(0))
        self._at = self._accepted = 0  # of the drawn rows: how many were looked at, and were good
        self._rejected = 0  # rows since deferred sites took theirs

    @property
    def n_distances(self) -> int:
        """How many distances between rows and sites were computed so far."""
        return self._nearest.n_distances

    @property
    def counts(self) -> Rows:
        """(sites,) how many rows each site owns, as of the last pass."""
        counts: Rows = self._sums[: self.n_sites, -1]
        return counts

    @property
    def sites(self) -> Floats:
        """(sites, d) where they are."""
        return self._sites[: self.n_sites]

    def add(self, row: int, *, deferred: bool = False) -> int:
        """Make a row a site, and return its number. A deferred one owns nothing but keeps draws away."""
        site = self.n_sites
        if site == len(self._sites):
            self._grow()
        self._sites[site] = self._columns[:, site] = self._points.row(row)
        self.n_sites += 1
        if site == 0:
            self._sums[0] = self._nearest.begin(self._sites[0].copy())
        elif deferred:
            self._deferred[site] = None
        else:
            self._add_pending(site)
        return site

    def activate(self, site: int) -> None:
        """Let a deferred site own its rows."""
        if site in self._deferred:
            del self._deferred[site]
            self._add_pending(site)

    def _add_pending(self, site: int) -> None:
        self._pending = np.append(self._pending, np.int32(site))
        if self._pending.size == PENDING:
            self.flush()

    def flush(self) -> None:
        """Let pending sites take over their rows now, in a pass over the data."""
        self._assign(self._pending)
        self._pending = NO_SITES

    def _assign(self, numbers: Numbers) -> None:
        if numbers.size:
            self._n_passes += 1
            sums = self._sums[: self.n_sites]
            self._nearest.add(self._sites[numbers], numbers, sums)

    def draw(self, rng: np.random.Generator) -> int:
        """Return a row, each with a chance proportional to distance⁴; -1 when every row lies on a site.

        Rows are drawn some ahead. Sites that come later, or are pending or deferred, only lower distances,
        so a row is accepted with the chance by which its weight has fallen since.
        """
        if self.n_sites == 0:
            return int(rng.random() * self._points.n)
        while self._draw_ahead(rng):
            rows, X, costs, coins = self._proposed
            k = kernels.first_accepted(
                X, costs, coins, self._at, self._columns, self.n_sites, self._per_cost
            )
            self._rejected += k - self._at
            self._at = k + 1
            if k < len(rows):
                self._accepted += 1
                return int(rows[k])
        return -1

    def _draw_ahead(self, rng: np.random.Generator) -> bool:
        """Have a row that was drawn ahead; return whether there is one."""
        if self._at < len(self._proposed.rows):
            return True
        if self._rejected >= max(REJECTED, self._points.n * PATIENCE):
            self._assign(np.append(self._pending, np.array([*self._deferred], dtype=np.int32)))
            self._pending, self._deferred = NO_SITES, {}
            self._rejected = 0
        if self._nearest.total_weight == 0:
            return False
        drawn = len(self._proposed.rows)
        size = max(FEWEST, min(ACCEPTED * drawn // max(1, self._accepted), 2 * drawn, MOST))
        found = self._nearest.draw(rng.random(size))
        self._proposed = Proposals(found.rows.tolist(), found.X, found.costs, rng.random(size))
        self._at = self._accepted = 0
        return True

    def owner(self, row: int) -> int:
        """Return the site that owns a row; -1 while there is none."""
        pending = self._pending
        if self._executor.partitions is None or not self.n_sites:
            return int(self.owners(np.array([row]))[0])
        cost, owner = self._nearest.cost_and_owner(row)
        if pending.size:
            x = self._points.row(row)
            owner = kernels.nearer_site(x, self._sites, pending, self._per_cost, cost, owner)[1]
        return owner

    def owners(self, rows: Rows) -> Numbers:
        """Return the site that owns each of these rows; -1 while there is none."""
        return self._costs_and_owners(rows)[1]

    def costs(self, rows: Rows) -> Floats:
        """Return the squared distance of each row to its owner."""
        return self._costs_and_owners(rows)[0].astype(np.float64) * self._executor.units.cost

    def _costs_and_owners(self, rows: Rows) -> tuple[NDArray[np.float32], Numbers]:
        """Return the cost and the owner of each of these rows, pending sites among them."""
        if not self.n_sites:
            return np.full(rows.size, np.inf, np.float32), np.full(rows.size, -1, np.int32)
        pending = self._pending
        X = self._points.rows(rows) if pending.size or self._executor.partitions is None else None
        costs, owners = self._nearest.costs_and_owners(rows, X)
        if pending.size:
            kernels.lower_to_nearer(X, self._sites, pending, self._per_cost, costs, owners)
        return costs, owners

    def labeler(self) -> Callable[[LabelMap], RowLabels]:
        """Return a function that labels every row by the site that owns it now, whenever it is called.

        Pending sites own their rows there, deferred ones do not. To call it changes nothing.
        """
        n_sites, n_passes = self.n_sites, self._n_passes
        pending, deferred = self._pending, [*self._deferred]

        def label(labels: LabelMap) -> RowLabels:
            if not n_sites:
                nowhere = np.zeros((1, self._points.d))
                return self._points.label_by_nearest(nowhere, labels.of_subset(NOTHING))
            if n_passes == self._n_passes:
                return self._nearest.labels(self._sites[pending], pending, labels)
            owning = np.setdiff1d(np.arange(n_sites), deferred)
            return self._points.label_by_nearest(self._sites[owning], labels.of_subset(owning))

        return label

    def sample(self, chosen: NDArray[np.bool_], rng: np.random.Generator, size: int) -> Rows:
        """Draw rows uniformly from the cells of the chosen sites as of the last pass.

        At most `size`, and at least one if there is one.
        """
        chosen = chosen & (self.counts > 0)
        n, total = self._points.n, int(self.counts[chosen].sum())
        rows = np.empty(0, dtype=np.intp)
        tries = int(1.25 * size * n / max(total, 1)) + 8
        if total and tries <= max(TRIED, TRIED_SHARE * n):
            while not rows.size:
                tried = (rng.random(tries) * n).astype(np.intp)
                rows = tried[chosen[self._nearest.costs_and_owners(tried)[1]]][:size]
        elif total:
            ranks = np.sort((rng.random(size) * total).astype(np.intp))
            rows = self._nearest.owned_rows(self.sites[chosen], chosen, ranks, total)
            rows = rng.permutation(rows)
        return rows

    def nearest_rows(self, x: Floats, size: int) -> Rows:
        """Return the rows nearest to x, nearest first."""
        executor = self._executor
        near = call(Partition.nearest_rows, x, size, executor.partitions is None)
        found = executor.run(on_all(executor, near), partial(nearest_of_all, size=size))
        rows = executor.number_rows(found)
        if len(found) > 1:
            distances = np.concatenate([some.distances for some in found.values()])
            rows = rows[np.lexsort((rows, distances))[:size]]
        return rows

    def moments(
        self, groups: Rows, n_groups: int, *, include_pending: bool = False
    ) -> GroupMoments:
        """Return the number of rows, the mean and the mean squared distance to it, for groups of sites.

        As of the last pass, or with the sites added since (`include_pending`), which changes nothing.
        `groups` (sites,) has the group of each site, or -1.
        """
        sums = self._sums[: self.n_sites]
        if include_pending and self.n_sites:
            sums = self._nearest.preview(self._sites[self._pending], self._pending, sums)
        used = groups >= 0
        of = np.zeros((n_groups, sums.shape[1]), dtype=np.int64)
        np.add.at(of, groups[used], sums[used])
        return GroupMoments.of_sums(of, self._units)

    def nearest_site(self, groups: Rows, group: int, x: Floats) -> int:
        """Return the site of a group that is nearest to x, or -1 if it has none."""
        return int(kernels.nearest_site(self._sites, groups, group, x))

    def group_distances(self, groups: Rows, n_groups: int, X: Floats) -> Floats:
        """Return for each row of X the squared distance to the nearest site of each group.

        `groups` (sites,) has the group of each site, or -1; infinity for a group without sites.
        """
        best = np.empty((len(X), n_groups))
        kernels.group_distances(self._columns, groups, X, best)
        return best

    def _grow(self) -> None:
        self._sites = np.vstack([self._sites, np.empty_like(self._sites)])
        self._columns = np.hstack([self._columns, np.empty_like(self._columns)])
        self._sums = np.vstack([self._sums, np.zeros_like(self._sums)])
