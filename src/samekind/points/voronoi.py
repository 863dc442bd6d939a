"""Cells: every row with the site that is nearest to it, while sites are added one by one."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from samekind.points.executor import Executor
from samekind.points.kernels import nearest as _cover
from samekind.points.kernels import search as _search
from samekind.points.labels import LabelMap
from samekind.points.nearest_centers import NearestCenters

if TYPE_CHECKING:
    from samekind.points.base import Points

__all__ = ["VoronoiCells"]

WAITING = 16  # sites that take their rows in one pass
FEWEST, MOST = 8, 4096  # rows that are drawn ahead
ACCEPTED = 32  # so that about so many of them are good
REJECTED = 256  # rows, or
PATIENCE = 1 / 8  # as a share of all rows, after which patient sites take their rows
NOTHING = np.array([-1])  # the number of no site
# Rows to try, or as a share of all, up to which trying is quicker than a look at all leaves.
TRIED = 2**14
TRIED_SHARE = 1 / 768


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


class Drawn(NamedTuple):
    """Rows that were drawn ahead, as if no further site came."""

    rows: list[int]
    X: NDArray[np.float64]
    costs: NDArray[np.float32]
    coins: NDArray[np.float64]


class VoronoiCells:
    """The Voronoi cells of rows that became sites, kept exact as sites are added.

    A new site visits only the leaves (small groups of rows) that it can come closer to than the sites before
    it. Sites take their rows some at a time, in one pass over the data; until then they are taken into
    account where a row is asked for. Patient sites own nothing but keep draws away from them, which needs no
    pass, until so many draws are rejected that a pass is cheaper.

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
        started = perf_counter()
        self._points = points
        self._executor = executor
        self._cover = NearestCenters(executor, squared=True, owned=True)
        self._per_unit = 1.0 / executor.frame.unit
        self._sites = np.empty((64, executor.frame.d))
        self._columns = np.empty((executor.frame.d, 64))  # the sites again
        self._accounts = np.zeros((64, executor.frame.d + 2), dtype=np.int64)
        self.n_sites = 0
        self._n_passes = 0
        self._waiting = Numbers()  # sites that are about to take their rows
        self._patient = Numbers()  # those that only keep draws away
        self._drawn = Drawn([], np.empty(0), np.empty(0, np.float32), np.empty(0))
        self._at = self._accepted = 0  # of the drawn rows: how many were looked at, and were good
        self._rejected = 0  # rows since patient sites took theirs
        self.seconds = perf_counter() - started

    @property
    def n_distances(self) -> int:
        """How many distances between rows and sites were computed so far."""
        return self._cover.n_distances

    @property
    def counts(self) -> NDArray[np.intp]:
        """(sites,) how many rows each site owns, as of the last pass."""
        counts: NDArray[np.intp] = self._accounts[: self.n_sites, -1]
        return counts

    @property
    def sites(self) -> NDArray[np.float64]:
        """(sites, d) where they are."""
        return self._sites[: self.n_sites]

    def add(self, row: int, *, deferred: bool = False) -> int:
        """Make a row a site, and return its number."""
        started = perf_counter()
        site = self.n_sites
        if site == len(self._sites):
            self._grow()
        self._sites[site] = self._columns[:, site] = self._points.row(row)
        self.n_sites += 1
        if site == 0:
            self._accounts[0] = self._cover.begin(self._sites[0].copy())
        elif deferred:
            self._patient.append(site)
        else:
            self._wait(site)
        self.seconds += perf_counter() - started
        return site

    def activate(self, site: int) -> None:
        """Let a patient site take its rows soon."""
        started = perf_counter()
        if self._patient.remove(site):
            self._wait(site)
        self.seconds += perf_counter() - started

    def _wait(self, site: int) -> None:
        self._waiting.append(site)
        if self._waiting.numbers.size == WAITING:
            self.flush()

    def flush(self) -> None:
        """Let the sites that were added last take their rows now, but for the patient ones."""
        self._take(self._waiting.numbers)
        self._waiting = Numbers()

    def _take(self, numbers: NDArray[np.int32]) -> None:
        if numbers.size:
            self._n_passes += 1
            accounts = self._accounts[: self.n_sites]
            self._cover.take(self._sites[numbers], numbers.copy(), accounts)

    def draw(self, rng: np.random.Generator) -> int:
        """Return a row, each with a chance proportional to distance⁴; -1 when every row lies on a site.

        Rows are drawn some ahead. Sites that come later, or did not take their rows yet, only lower
        distances, so a row is accepted with the chance by which its weight has fallen since.
        """
        started = perf_counter()
        if self.n_sites == 0:
            return int(rng.random() * self._points.n)
        found = -1
        while self._draw_ahead(rng):
            rows, X, costs, coins = self._drawn
            k = _cover.first_to_stay(
                X, costs, coins, self._at, self._columns, self.n_sites, self._per_unit
            )
            self._rejected += k - self._at
            self._at = k + 1
            if k < len(rows):
                self._accepted += 1
                found = rows[k]
                break
        self.seconds += perf_counter() - started
        return found

    def _draw_ahead(self, rng: np.random.Generator) -> bool:
        """Have a row that was drawn ahead; return whether there is one."""
        if self._at < len(self._drawn.rows):
            return True
        if self._rejected >= max(REJECTED, self._points.n * PATIENCE):
            self._take(np.concatenate([self._waiting.numbers, self._patient.numbers]))
            self._waiting, self._patient = Numbers(), Numbers()
            self._rejected = 0
        if self._cover.total == 0:
            return False
        drawn = len(self._drawn.rows)
        size = max(FEWEST, min(ACCEPTED * drawn // max(1, self._accepted), 2 * drawn, MOST))
        found = self._cover.draw(rng.random(size))
        self._drawn = Drawn(found.rows.tolist(), found.X, found.costs, rng.random(size))
        self._at = self._accepted = 0
        return True

    def owner(self, row: int) -> int:
        """Return the site that owns a row; -1 while there is none."""
        waiting = self._waiting.numbers
        if self._executor.is_remote or not self.n_sites:
            return int(self.owners(np.array([row]))[0])
        cost, owner = self._cover.held_by(row)
        if waiting.size:
            x = self._points.row(row)
            owner = _cover.nearer(x, self._sites, waiting, self._per_unit, cost, owner)[1]
        return owner

    def owners(self, rows: NDArray[np.intp]) -> NDArray[np.int32]:
        """Return the site that owns each of these rows; -1 while there is none."""
        return self._now(rows)[1]

    def costs(self, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the squared distance of each row to its owner."""
        return self._now(rows)[0].astype(np.float64) * self._executor.frame.unit

    def _now(self, rows: NDArray[np.intp]) -> tuple[NDArray[np.float32], NDArray[np.int32]]:
        """Return cost and owner of these rows, with sites that are about to take their rows."""
        if not self.n_sites:
            return np.full(rows.size, np.inf, np.float32), np.full(rows.size, -1, np.int32)
        waiting = self._waiting.numbers
        X = self._points.rows(rows) if waiting.size or self._executor.is_remote else None
        costs, owners = self._cover.held(rows, X)
        if waiting.size:
            _cover.nearer_of_each(X, self._sites, waiting, self._per_unit, costs, owners)
        return costs, owners

    def labeler(self) -> Callable[[LabelMap], Any]:
        """Return a function that says, also later, what every row is called now: by the site that owns it.

        Nobody who looks changes anything.
        """
        n_sites, n_passes = self.n_sites, self._n_passes
        waiting, patient = self._waiting.numbers.copy(), self._patient.numbers.copy()

        def call(labels: LabelMap) -> Any:
            if not n_sites:
                return self._points.label_by_nearest(
                    np.zeros((1, self._points.d)), labels.of_subset(NOTHING)
                )
            if n_passes == self._n_passes:
                return self._cover.labels(self._sites[waiting], waiting, labels)
            owning = np.setdiff1d(np.arange(n_sites), patient)
            return self._points.label_by_nearest(self._sites[owning], labels.of_subset(owning))

        return call

    def sample(
        self, chosen: NDArray[np.bool_], rng: np.random.Generator, size: int
    ) -> NDArray[np.intp]:
        """Draw rows uniformly from the cells of the chosen sites as of the last pass.

        At most `size`, and at least one if there is one.
        """
        started = perf_counter()
        chosen = chosen & (self.counts > 0)
        n, total = self._points.n, int(self.counts[chosen].sum())
        rows = np.empty(0, dtype=np.intp)
        tries = int(1.25 * size * n / max(total, 1)) + 8
        if total and tries <= max(TRIED, TRIED_SHARE * n):
            while not rows.size:
                tried = (rng.random(tries) * n).astype(np.intp)
                rows = tried[chosen[self._cover.held(tried)[1]]][:size]
        elif total:
            ranks = np.sort((rng.random(size) * total).astype(np.intp))
            rows = self._cover.at_ranks(self.sites[chosen], chosen, ranks, total)
            rows = rng.permutation(rows)
        self.seconds += perf_counter() - started
        return rows

    def nearest_rows(self, x: NDArray[np.float64], size: int) -> NDArray[np.intp]:
        """Return the rows nearest to x, nearest first."""
        started = perf_counter()
        parts = self._executor.firsts.size - 1
        found = self._executor.ask("near", dict.fromkeys(range(parts), (x, size)))
        rows = np.concatenate(
            [some[1] + self._executor.firsts[part] for part, some in found.items()]
        )
        if parts > 1:
            distances = np.concatenate([some[0] for some in found.values()])
            rows = rows[np.lexsort((rows, distances))[:size]]
        self.seconds += perf_counter() - started
        return rows

    def moments(
        self, groups: NDArray[np.intp], n_groups: int, *, include_pending: bool = False
    ) -> tuple[NDArray[np.intp], NDArray[np.float64], NDArray[np.float64]]:
        """Return the number of rows, the mean and the mean squared distance to it, for groups of sites.

        As of the last pass, or with the sites added since (`include_pending`), which changes nothing.
        `groups` (sites,) has the group of each site, or -1.
        """
        accounts = self._accounts[: self.n_sites]
        if include_pending and self.n_sites:
            waiting = self._waiting.numbers.copy()
            accounts = self._cover.peek(self._sites[waiting], waiting, accounts)
        used = groups >= 0
        of = np.zeros((n_groups, accounts.shape[1]), dtype=np.int64)
        np.add.at(of, groups[used], accounts[used])
        frame, counts = self._executor.frame, of[:, -1]
        held = np.maximum(counts, 1)
        means = of[:, :-2] / held[:, None] / frame.per_step
        squares = of[:, -2] / held / frame.per_square
        spread = np.maximum(squares - (means**2).sum(axis=1), 0.0)
        return counts, means + frame.origin, spread

    def nearest_site(self, groups: NDArray[np.intp], group: int, x: NDArray[np.float64]) -> int:
        """Return the site of a group that is nearest to x, or -1 if it has none."""
        return int(_search.nearest_of(self._sites, groups, group, x))

    def group_distances(
        self, groups: NDArray[np.intp], n_groups: int, X: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return for each row of X the squared distance to the nearest site of each group.

        `groups` (sites,) has the group of each site, or -1; infinity for a group without sites.
        """
        best = np.empty((len(X), n_groups))
        _search.nearest_of_each(self._columns, groups, X, best)
        return best

    def _grow(self) -> None:
        self._sites = np.vstack([self._sites, np.empty_like(self._sites)])
        self._columns = np.hstack([self._columns, np.empty_like(self._columns)])
        self._accounts = np.vstack([self._accounts, np.zeros_like(self._accounts)])
