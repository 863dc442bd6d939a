"""A part of the data: rows that lie in one process, with what is known about each of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from samekind.points import _cover, _plant, _search
from samekind.points._threads import Report, split
from samekind.points.frame import LARGEST, Extent, Frame, unusable
from samekind.points.names import Names

__all__ = ["Change", "Found", "Part", "fallen", "scan"]

NONE = np.empty(0, dtype=np.int32)
# For at most SWEPT centres all rows are visited in their order if that is quicker: if more than the share
# MOSTLY of them changes, judged by TRIED of them.
SWEPT = 4
MOSTLY = 0.15
TRIED = 1024
INT64 = 2**62  # up to here, sums are surely an int64


def scan(
    X: NDArray[Any],
    threads: int = 1,
    first: int = 0,
    report: Report | None = None,
    *,
    names: Sequence[str] | None = None,
    place: Callable[[int], str] | None = None,
) -> Extent:
    """Return the extent of some rows, of which the first has this number; raise if a value is unusable.

    Where columns have names, or `place` says where a row stands, the message does, too.
    """

    def part(start: int, end: int) -> tuple[int, Extent]:
        low, high = np.empty(X.shape[1]), np.empty(X.shape[1])
        bad = int(_search.scan(X, LARGEST, low, high, start, end))
        return bad, Extent(end - start, low, high)

    found: Extent | None = None
    for bad, extent in split(len(X), threads, part, report, "Reading the data"):
        if bad >= 0:
            row, column = divmod(bad, X.shape[1])
            called = column if names is None else names[column]
            where = "" if place is None else place(first + row)
            raise unusable(float(X[row, column]), first + row, called, where)
        found = extent if found is None else found.join(extent)
    assert found is not None
    return found


def fallen(sums: list[int], targets: list[int]) -> tuple[NDArray[np.intp], NDArray[Any]]:
    """Return where each target falls among running sums, and how far beyond the one before.

    Examples
    --------
    >>> fallen([3, 3, 10], [0, 2, 3, 9])
    (array([0, 0, 2, 2]), array([0, 2, 0, 6]))
    """
    dtype = np.int64 if sums[-1] < INT64 else object
    ends, wanted = np.array([0, *sums], dtype=dtype), np.array(targets, dtype=dtype)
    at = ends[1:].searchsorted(wanted, side="right")
    return at, wanted - ends[at]


class Change(NamedTuple):
    """What happened when sites took their rows."""

    total: int
    """The weight of all rows."""
    sites: NDArray[np.intp]
    """Those whose rows changed."""
    accounts: NDArray[np.int64]
    """(these, d + 2) by how much: sums of coordinates, of squares, of ones."""
    n_distances: int


class Found(NamedTuple):
    """Rows that were looked for, where they are, and how far from the nearest centre."""

    rows: NDArray[np.intp]
    X: NDArray[np.float64]
    costs: NDArray[np.float32]


class State:
    """The cost of every row with respect to a growing set of centres, and who owns it."""

    def __init__(self, n: int, leaves: int, squared: bool, owned: bool) -> None:
        self.squared = squared
        self.costs = np.empty(n, dtype=np.float32)
        self.owners = np.zeros(n if owned else 0, dtype=np.int32)
        self.farthest = np.full(leaves, np.inf, dtype=np.float32)
        self.blocks = np.zeros(-(-n // _cover.BLOCK), dtype=np.int64)
        self.per_scale = 1.0
        self._spans: list[int] | None = None

    def touch(self) -> None:
        """Note that weights have changed."""
        self._spans = None

    @property
    def sums(self) -> list[int]:
        """Return the running sums of the weights of spans."""
        if self._spans is None:
            starts = np.arange(0, self.blocks.size, _cover.SPAN)
            self._spans = list(accumulate(np.add.reduceat(self.blocks, starts).tolist()))
        return self._spans


class Part:
    """Some consecutive rows of the data.

    Parameters
    ----------
    load : callable
        Returns the rows, (n, d), whenever they are needed.
    n : int
        How many they are.
    frame : Frame
        That of the whole data.
    threads : int
        Threads for passes over them. Results do not depend on it.
    resident : bool
        Keep a copy of the rows, and a sketch with a byte for each number, sorted for speed.
    report : callable or None
        Is told about the progress of long passes.

    Every set of centres has a number, `key`; rows are counted from the part's first. What each method does
    is said in `Cover`, which puts the parts' answers together.
    """

    def __init__(
        self,
        load: Callable[[], NDArray[Any]],
        n: int,
        frame: Frame,
        *,
        threads: int = 1,
        resident: bool = True,
        report: Report | None = None,
    ) -> None:
        self._load = load
        self._n = n
        self._frame = frame
        self._threads = threads
        self._resident = resident
        self._report = report
        self._shift = _plant.CHUNK if resident else _plant.MAPPED_CHUNK
        self._sorted = np.empty((0, 0))
        self._states: dict[int, State] = {}

    def _split(self, size: int, work: Callable[[int, int], Any], what: str = "") -> list[Any]:
        return split(size, self._threads, work, self._report if what else None, what)

    @cached_property
    def _leaves(self) -> tuple[NDArray[Any], ...]:
        """The order of the rows and its inverse; of leaves the low and high corners, and sketches."""
        X, d = self._load(), self._frame.d
        size = -(-self._n // _plant.LEAF)
        order, place = np.empty((2, self._n), dtype=np.uint32 if self._resident else np.uint16)
        low, high = np.empty((d, size)), np.empty((d, size))
        near = np.empty(self._n * d if self._resident else 0, dtype=np.uint8)
        Z = np.empty((self._n if self._resident else 0, d), dtype=X.dtype)
        sorted_at_once = min(self._n, 1 << self._shift)
        depth = min(_plant.DEPTH, max(0, (sorted_at_once // _plant.FINEST).bit_length() - 1))
        columns = np.zeros(2**depth, dtype=np.int16 if d < 2**15 else np.int64)
        limits = np.zeros(2**depth, dtype=X.dtype)
        some = np.linspace(0, self._n - 1, min(self._n, _plant.SAMPLED << depth)).astype(np.intp)
        _plant.grow(X[some], depth, columns, limits)
        keys = np.empty(self._n, dtype=np.uint16)
        self._split(
            self._n,
            lambda first, last: _plant.descend(X, columns, limits, depth, keys, first, last),
            "Grouping the rows",
        )
        self._split(
            ((self._n - 1) >> self._shift) + 1,
            lambda first, last: _plant.arrange(
                keys, 2**depth, self._shift, order, place, first, last
            ),
        )

        def boxes(first: int, last: int) -> NDArray[np.int64]:
            account, frame = np.zeros(d + 2, dtype=np.int64), self._frame
            _plant.boxes(
                X,
                order,
                self._shift,
                frame.origin,
                frame.per_step,
                frame.per_square,
                low,
                high,
                near,
                Z,
                account,
                first,
                last,
            )
            return account

        self._account = np.sum(self._split(size, boxes, "Putting boxes around them"), axis=0)
        self._sorted = Z
        return order, place, low, high, near

    def _in_order(self) -> NDArray[Any]:
        """Return the rows, sorted where they are resident."""
        return self._sorted if self._resident else self._load()

    def _at(self, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return where rows are in the order of the leaves."""
        found: NDArray[np.intp] = (rows >> self._shift << self._shift) + self._leaves[1][rows]
        return found

    # What changes a set of centres

    def new(self, key: int, squared: bool, owned: bool) -> None:
        """Begin a set without centres."""
        self._states[key] = State(self._n, self._leaves[2].shape[1], squared, owned)

    def drop(self, key: int) -> None:
        """Forget a set."""
        self._states.pop(key, None)

    def begin(
        self, key: int, x: NDArray[np.float64], scale: float
    ) -> tuple[int, NDArray[np.int64]]:
        """Make x the first centre; return the weight of all rows, and their account."""
        state, frame, X = self._states[key], self._frame, self._load()
        _, place, low, high, _ = self._leaves
        state.per_scale = 1.0 / scale
        _cover.corners(low, high, x, 1.0 / frame.unit, state.farthest, 0, state.farthest.size)
        self._split(
            state.blocks.size,
            lambda first, last: _cover.begin(
                X,
                place,
                self._shift,
                x,
                1.0 / frame.unit,
                state.per_scale,
                state.squared,
                state.costs,
                state.blocks,
                first,
                last,
            ),
            "Measuring distances",
        )
        state.touch()
        return state.sums[-1], self._account

    def rescale(self, key: int, scale: float) -> int:
        """Set the cost of the highest weight; return the weight of all rows."""
        state, place = self._states[key], self._leaves[1]
        state.per_scale = 1.0 / scale
        self._split(
            state.blocks.size,
            lambda first, last: _cover.weigh(
                state.costs,
                place,
                self._shift,
                state.per_scale,
                state.squared,
                state.blocks,
                first,
                last,
            ),
        )
        state.touch()
        return state.sums[-1]

    def take(
        self, key: int, sites: NDArray[np.float64], numbers: NDArray[np.int32], n_sites: int
    ) -> Change:
        """Let more centres take their rows."""
        if self._sweeps(self._states[key], sites):
            return self._sweep(self._states[key], sites)
        return self._claim(key, sites, numbers, n_sites, commit=True, labels=NONE)

    def _sweeps(self, state: State, sites: NDArray[np.float64]) -> bool:
        """Return whether it is quicker to visit all rows in their order: most of them change."""
        if state.owners.size or not 0 < len(sites) <= SWEPT or not self._resident:
            return False
        step = max(1, self._n // TRIED)
        per_unit = 1.0 / self._frame.unit
        gained = _cover.gains(
            self._load(), self._leaves[1], self._shift, sites, per_unit, state.costs, step
        )
        return bool(gained * step > MOSTLY * self._n * len(sites))

    def _sweep(self, state: State, sites: NDArray[np.float64]) -> Change:
        X, per_unit = self._load(), 1.0 / self._frame.unit
        _, place, low, high, _ = self._leaves
        self._split(
            state.blocks.size,
            lambda first, last: _cover.sweep(
                X,
                place,
                self._shift,
                sites,
                per_unit,
                state.per_scale,
                state.squared,
                state.costs,
                state.blocks,
                first,
                last,
            ),
        )
        for x in sites:
            _cover.corners(low, high, x, per_unit, state.farthest, 0, state.farthest.size)
        state.touch()
        return Change(
            state.sums[-1],
            np.empty(0, dtype=np.intp),
            np.empty((0, self._frame.d + 2), dtype=np.int64),
            self._n * len(sites),
        )

    def _claim(
        self,
        key: int,
        sites: NDArray[np.float64],
        numbers: NDArray[np.int32],
        n_sites: int,
        *,
        commit: bool,
        labels: NDArray[np.int32],
    ) -> Change:
        state, frame, d = self._states[key], self._frame, self._frame.d
        order, _, low, high, near = self._leaves
        accounts = np.zeros((n_sites if state.owners.size else 0, d + 2), dtype=np.int64)
        computed = 0
        if sites.size and (
            self._resident or _cover.reaches(low, high, state.farthest, sites, 1.0 / frame.unit)
        ):
            Z = self._in_order()

            def claim(first: int, last: int) -> tuple[int, NDArray[np.int64], NDArray[np.int64]]:
                mine, blocks = np.zeros_like(accounts), np.zeros_like(state.blocks)
                visited = _cover.claim(
                    Z,
                    order,
                    self._shift,
                    low,
                    high,
                    near,
                    1.0 / frame.root,
                    sites,
                    numbers,
                    state.costs,
                    state.owners,
                    state.farthest,
                    blocks,
                    state.per_scale,
                    state.squared,
                    frame.origin,
                    frame.per_step,
                    frame.per_square,
                    mine,
                    commit,
                    labels,
                    first,
                    last,
                )
                return visited, mine, blocks

            for visited, mine, blocks in self._split(low.shape[1], claim):
                computed += visited
                accounts += mine
                state.blocks += blocks
        if commit:
            state.touch()
        changed = np.flatnonzero(accounts.any(axis=1))
        return Change(state.sums[-1], changed, accounts[changed], computed)

    # What does not

    def peek(
        self, key: int, sites: NDArray[np.float64], numbers: NDArray[np.int32], n_sites: int
    ) -> Change:
        """Say what would happen if more centres took their rows."""
        return self._claim(key, sites, numbers, n_sites, commit=False, labels=NONE)

    def labels(
        self,
        key: int,
        sites: NDArray[np.float64],
        numbers: NDArray[np.int32],
        names: Names,
    ) -> NDArray[np.intp]:
        """Return what each row is called: by its owner, once more centres have taken their rows."""
        owners = self._states[key].owners.copy()
        if sites.size:
            self._claim(key, sites, numbers, names.of.size, commit=False, labels=owners)
        place, labels = self._leaves[1], np.empty(self._n, dtype=np.intp)
        self._split(
            self._n,
            lambda first, last: _cover.name(
                owners, place, self._shift, names.of, labels, first, last
            ),
        )
        labels[names.rows] = names.values
        return labels

    def highest(self, key: int) -> float:
        """Return the highest cost."""
        costs = self._states[key].costs
        found = self._split(
            self._n, lambda first, last: float(_cover.highest_of(costs, first, last))
        )
        return float(max(found))

    def locate(self, key: int, targets: list[int]) -> Found:
        """Return the rows at which the running sum of the weights first exceeds each target."""
        state = self._states[key]
        spans, rest = fallen(state.sums, targets)
        rows = np.empty(len(targets), dtype=np.intp)
        _cover.locate(
            state.blocks,
            state.costs,
            self._leaves[1],
            self._shift,
            state.per_scale,
            state.squared,
            spans,
            rest.astype(np.int64, copy=False),
            rows,
        )
        return Found(rows, self.rows(rows), state.costs[self._at(rows)])

    def held(
        self, key: int, rows: NDArray[np.intp]
    ) -> tuple[NDArray[np.float32], NDArray[np.int32]]:
        """Return the cost and the owner of each of these rows."""
        state = self._states[key]
        at = self._at(rows)
        return state.costs[at], state.owners[at] if state.owners.size else NONE

    def held_by(self, key: int, row: int) -> tuple[np.float32, int]:
        """Return the cost and the owner of a row."""
        state = self._states[key]
        at = (row >> self._shift << self._shift) + int(self._leaves[1][row])
        return state.costs[at], int(state.owners[at])

    def count(
        self, key: int, sites: NDArray[np.float64], chosen: NDArray[np.bool_], most: int
    ) -> int:
        """Return how many rows have a chosen owner; see `at_ranks`."""
        return self.owned(key, sites, chosen, most).size

    def at_ranks(
        self,
        key: int,
        sites: NDArray[np.float64],
        chosen: NDArray[np.bool_],
        most: int,
        ranks: NDArray[np.intp],
    ) -> NDArray[np.intp]:
        """Return the rows with these ranks among those that have a chosen owner.

        `sites` are the chosen ones, and `most` is more than the number of their rows.
        """
        return self.owned(key, sites, chosen, most)[ranks]

    def owned(
        self, key: int, sites: NDArray[np.float64], chosen: NDArray[np.bool_], most: int
    ) -> NDArray[np.intp]:
        """Return the rows that have a chosen owner, in their order; see `at_ranks`."""
        state, (order, _, low, high, _) = self._states[key], self._leaves

        def owned(first: int, last: int) -> NDArray[np.intp]:
            rows = np.empty(min(most, self._n), dtype=np.intp)
            found = _cover.owned(
                low,
                high,
                state.farthest,
                sites,
                1.0 / self._frame.unit,
                order,
                self._shift,
                state.owners,
                chosen,
                rows,
                first,
                last,
            )
            return rows[:found]

        return np.sort(np.concatenate(self._split(low.shape[1], owned)))

    def near(
        self, x: NDArray[np.float64], size: int
    ) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
        """Return the squared distances and the numbers of the rows nearest to x, nearest first."""
        order, _, low, high, near = self._leaves
        rows = np.empty(min(size, self._n), dtype=np.intp)
        distances = np.empty(rows.size)
        _search.near(
            self._in_order(),
            order,
            self._shift,
            low,
            high,
            near,
            1.0 / self._frame.root,
            x,
            np.empty(low.shape[1]),
            rows,
            distances,
        )
        return distances, rows

    def nearest(self, centers: NDArray[np.float64], names: Names) -> NDArray[np.intp]:
        """Return what each row is called: by its nearest centre."""
        X, labels = self._load(), np.empty(self._n, dtype=np.intp)
        self._split(
            self._n,
            lambda first, last: _search.nearest(X, centers, labels, first, last),
            "Finding the nearest centres",
        )
        return names.call(labels)

    def rows(self, index: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the rows with these numbers, (m, d)."""
        return self._load()[index].astype(np.float64, copy=False)
