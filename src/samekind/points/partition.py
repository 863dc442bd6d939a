"""A part of the data: rows that lie in one process, with what is known about each of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from samekind.points.fixed_point import LARGEST, Extent, Frame, unusable
from samekind.points.kernels import leaves as _plant
from samekind.points.kernels import nearest as _cover
from samekind.points.kernels import search as _search
from samekind.points.kernels.leaves import Leaves
from samekind.points.labels import LabelMap
from samekind.points.threads import ReportProgress, split

__all__ = ["Change", "Ends", "Found", "Part", "scan"]

NONE = np.empty(0, dtype=np.int32)
BRIEF = 2**12  # bundles that one thread looks at sooner than another is woken
CHUNKS = 8  # for each thread: no two threads need to share one
INT64 = 2**62  # up to here, sums are surely an int64


def scan(
    X: NDArray[Any],
    threads: int = 1,
    first: int = 0,
    report: ReportProgress | None = None,
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


class Ends:
    """Running sums of weights, and what falls where among them.

    Examples
    --------
    >>> ends = Ends([3, 0, 7])
    >>> ends.total
    10
    >>> targets = ends.targets(np.array([0.0, 0.29, 0.3, 0.99]))
    >>> targets
    array([0, 2, 3, 9])
    >>> ends.find(targets)
    (array([0, 0, 2, 2]), array([0, 2, 0, 6]))
    """

    def __init__(self, weights: Sequence[int]) -> None:
        sums = [0, *accumulate(weights)]
        self.total = sums[-1]
        self._sums = np.array(sums, dtype=np.int64 if self.total < INT64 else object)

    def targets(self, uniforms: NDArray[np.float64]) -> NDArray[Any]:
        """Return an integer below the total for each uniform in [0, 1)."""
        reals = uniforms * float(self.total)
        if self._sums.dtype == object:
            return np.array([min(int(real), self.total - 1) for real in reals], dtype=object)
        return np.minimum(reals.astype(np.int64), self.total - 1)

    def find(self, targets: NDArray[Any]) -> tuple[NDArray[np.intp], NDArray[Any]]:
        """Return where each target falls, and how far beyond the sum before it."""
        wanted = targets.astype(self._sums.dtype, copy=False)
        at = self._sums[1:].searchsorted(wanted, side="right")
        return at, wanted - self._sums[at]


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

    def __init__(
        self, n: int, squared: bool, owned: bool, costs: NDArray[np.float32] | None = None
    ) -> None:
        size = -(-n // _plant.LEAF)
        bundles = -(-size // _plant.BUNDLE)
        places = size * _plant.LEAF
        self.squared = squared
        self.per_scale = 1.0
        self.held = _cover.Held(
            costs=np.empty(places, dtype=np.float32) if costs is None else costs,
            owners=np.zeros(places if owned else 0, dtype=np.uint16),
            farthest=np.empty(size, dtype=np.float32),
            wide=np.empty(bundles, dtype=np.float32),
            blocks=np.zeros(-(-n // _cover.BLOCK)),
        )
        self.held.costs[n:] = 0.0
        self._spans: Ends | None = None

    def make_room(self, n_sites: int) -> None:
        """Have owners of a type that can name so many sites: two bytes a row as long as that will do."""
        owners = self.held.owners
        if n_sites > np.iinfo(owners.dtype).max:
            self.held = self.held._replace(owners=owners.astype(np.int32))

    def touch(self) -> None:
        """Note that weights have changed."""
        self._spans = None

    @property
    def spans(self) -> Ends:
        """Return the weights of spans."""
        if self._spans is None:
            blocks = self.held.blocks.astype(np.int64)
            starts = np.arange(0, blocks.size, _cover.SPAN)
            self._spans = Ends(np.add.reduceat(blocks, starts).tolist())
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
        Keep sketches of the rows, a byte for each number, and a copy of float32 rows, in order of the leaves.
    report : callable or None
        Is told about the progress of long passes.

    Every set of centres has a number, `key`; rows are counted from the part's first. What each method does
    is said in `NearestCenters`, which puts the parts' answers together.
    """

    def __init__(
        self,
        load: Callable[[], NDArray[Any]],
        n: int,
        frame: Frame,
        *,
        threads: int = 1,
        resident: bool = True,
        report: ReportProgress | None = None,
    ) -> None:
        self._load = load
        self._n = n
        self._frame = frame
        self._threads = threads
        self._resident = resident
        self._report = report
        self._units = frame.units
        self._states: dict[int, State] = {}
        self._spare: NDArray[np.float32] | None = None

    def _split(self, size: int, work: Callable[[int, int], Any], what: str = "") -> list[Any]:
        return split(size, self._threads, work, self._report if what else None, what)

    @cached_property
    def _leaves(self) -> Leaves:
        """The rows in groups."""
        return self._group()

    def _group(self, then: Callable[[Leaves, int], None] | None = None) -> Leaves:
        """Put the rows into groups, chunk by chunk; do something with each while its rows are at hand."""
        X, d = self._load(), self._frame.d
        shift = _plant.CHUNK if self._resident else _plant.MAPPED_CHUNK
        leaves = _plant.plan(X, shift, resident=self._resident)
        depth = min(
            _plant.DEPTH, max(0, (min(self._n, 1 << shift) // _plant.FINEST).bit_length() - 1)
        )
        columns = np.zeros(2**depth, dtype=np.uint16 if d < 2**16 else np.uint64)
        limits = np.zeros(2**depth, dtype=X.dtype)
        some = np.linspace(0, self._n - 1, min(self._n, _plant.SAMPLED << depth)).astype(np.intp)
        _plant.grow(X[some], depth, columns, limits)

        def plant(first: int, last: int) -> NDArray[np.int64]:
            account = np.zeros(d + 2, dtype=np.int64)
            for chunk in range(first, last):
                _plant.plant(X, columns, limits, depth, leaves, self._units, account, chunk)
                if then is not None:
                    then(leaves, chunk)
            return account

        accounts = self._split(((self._n - 1) >> shift) + 1, plant, "Grouping the rows")
        self._account: NDArray[np.int64] = np.sum(accounts, axis=0)
        return leaves

    def _at(self, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return where rows are in the order of the leaves."""
        shift = self._leaves.shift
        found: NDArray[np.intp] = (rows >> shift << shift) + self._leaves.place[rows]
        return found

    def _over_bundles(
        self, state: State, work: Callable[[_cover.Held, int, int], Any], what: str = ""
    ) -> list[Any]:
        """Call ``work(held, first, last)`` on parts of all bundles, each of which may change weights.

        Blocks of rows belong to a chunk. If there are many chunks, no two parts share one; else each part
        gets blocks of its own, which are added later.
        """
        bundles, held = state.held.wide.size, state.held
        per_chunk = (1 << self._leaves.shift) // (_plant.LEAF * _plant.BUNDLE)
        chunks = -(-bundles // per_chunk)
        if self._threads == 1 or chunks >= CHUNKS * self._threads:
            return self._split(
                chunks,
                lambda first, last: work(held, first * per_chunk, min(last * per_chunk, bundles)),
                what,
            )

        def alone(first: int, last: int) -> tuple[Any, NDArray[np.float64]]:
            mine = held._replace(blocks=np.zeros_like(held.blocks))
            return work(mine, first, last), mine.blocks

        found = self._split(bundles, alone, what)
        for _, blocks in found:
            np.add(held.blocks, blocks, out=held.blocks)
        return [result for result, _ in found]

    # What changes a set of centres

    def new(self, key: int, squared: bool, owned: bool) -> None:
        """Begin a set without centres."""
        spare, self._spare = self._spare, None
        self._states[key] = State(self._n, squared, owned, spare)

    def drop(self, key: int) -> None:
        """Forget a set; the next one takes its place in memory."""
        state = self._states.pop(key, None)
        self._spare = None if state is None else state.held.costs

    def begin(
        self, key: int, x: NDArray[np.float64], scale: float
    ) -> tuple[int, NDArray[np.int64]]:
        """Make x the first centre; return the weight of all rows, and their account."""
        state, units = self._states[key], self._units
        state.per_scale = 1.0 / scale
        what = "Measuring distances"
        X, held = self._load(), state.held

        def begin_by_rows(leaves: Leaves, first: int, last: int) -> None:
            _cover.begin_by_rows(
                X, leaves, units, held, x, state.per_scale, state.squared, first, last
            )

        def begin_with(leaves: Leaves, chunk: int) -> None:
            blocks = (1 << leaves.shift) // _cover.BLOCK
            begin_by_rows(leaves, chunk * blocks, min((chunk + 1) * blocks, held.blocks.size))

        if not self._resident and "_leaves" not in vars(self):  # both while rows are read once
            self._leaves = self._group(begin_with)
        elif self._leaves.rows.size:
            self._over_bundles(
                state,
                lambda held, first, last: _cover.begin(
                    self._leaves, units, held, x, state.per_scale, state.squared, first, last
                ),
                what,
            )
        else:
            self._split(
                held.blocks.size,
                lambda first, last: begin_by_rows(self._leaves, first, last),
                what,
            )
        if not self._leaves.rows.size:
            _cover.corners(self._leaves, units, held, x)
        state.touch()
        return state.spans.total, self._account

    def rescale(self, key: int, scale: float) -> int:
        """Set the cost of the highest weight; return the weight of all rows."""
        state = self._states[key]
        state.per_scale = 1.0 / scale
        self._split(
            state.held.blocks.size,
            lambda first, last: _cover.weigh(
                self._leaves, state.held, state.per_scale, state.squared, first, last
            ),
        )
        state.touch()
        return state.spans.total

    def take(
        self, key: int, sites: NDArray[np.float64], numbers: NDArray[np.int32], n_sites: int
    ) -> Change:
        """Let more centres take their rows."""
        self._states[key].make_room(n_sites)
        return self._claim(key, sites, numbers, n_sites, commit=True, labels=NONE)

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
        state, leaves, units = self._states[key], self._leaves, self._units
        size = n_sites if state.held.owners.size else 0
        accounts = np.zeros((size, self._frame.d + 2), dtype=np.int64)
        computed = 0
        if len(sites) and (self._resident or _cover.reaches(leaves, units, state.held, sites)):
            X = self._load()

            def claim(held: _cover.Held, first: int, last: int) -> tuple[int, NDArray[np.int64]]:
                mine = np.zeros_like(accounts)
                visited = _cover.claim(
                    X,
                    leaves,
                    units,
                    held,
                    sites,
                    numbers,
                    state.per_scale,
                    state.squared,
                    mine,
                    commit,
                    labels,
                    first,
                    last,
                )
                return visited, mine

            for visited, mine in self._over_bundles(state, claim):
                computed += visited
                accounts += mine
        if commit:
            state.touch()
        changed = np.flatnonzero(accounts.any(axis=1))
        return Change(state.spans.total, changed, accounts[changed], computed)

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
        names: LabelMap,
    ) -> NDArray[np.intp]:
        """Return what each row is called: by its owner, once more centres have taken their rows."""
        owners = self._states[key].held.owners.astype(np.int32)
        if sites.size:
            self._claim(key, sites, numbers, names.of_centers.size, commit=False, labels=owners)
        leaves, labels = self._leaves, np.empty(self._n, dtype=np.intp)
        self._split(
            self._n,
            lambda first, last: _cover.name(leaves, owners, names.of_centers, labels, first, last),
        )
        labels[names.known_rows] = names.known_labels
        return labels

    def highest(self, key: int) -> float:
        """Return the highest cost."""
        costs = self._states[key].held.costs
        found = self._split(self._n, lambda first, last: float(_cover.largest(costs[first:last])))
        return float(max(found))

    def locate(self, key: int, targets: NDArray[Any]) -> Found:
        """Return the rows at which the running sum of the weights first exceeds each target."""
        state = self._states[key]
        spans, rest = state.spans.find(targets)
        rows = np.empty(targets.size, dtype=np.intp)
        _cover.locate(
            self._leaves,
            state.held,
            state.per_scale,
            state.squared,
            spans,
            rest.astype(np.int64, copy=False),
            rows,
        )
        return Found(rows, self.rows(rows), state.held.costs[self._at(rows)])

    def held(
        self, key: int, rows: NDArray[np.intp]
    ) -> tuple[NDArray[np.float32], NDArray[np.int32]]:
        """Return the cost and the owner of each of these rows."""
        held, at = self._states[key].held, self._at(rows)
        return held.costs[at], held.owners[at].astype(np.int32) if held.owners.size else NONE

    def held_by(self, key: int, row: int) -> tuple[np.float32, int]:
        """Return the cost and the owner of a row."""
        held, leaves = self._states[key].held, self._leaves
        at = (row >> leaves.shift << leaves.shift) + int(leaves.place[row])
        return held.costs[at], int(held.owners[at])

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
        leaves, held = self._leaves, self._states[key].held

        def owned(first: int, last: int) -> NDArray[np.intp]:
            rows = np.empty(min(most, self._n), dtype=np.intp)
            found = _cover.owned(leaves, self._units, held, sites, chosen, rows, first, last)
            return rows[:found]

        if held.wide.size < BRIEF:
            return np.sort(owned(0, held.wide.size))
        return np.sort(np.concatenate(self._split(held.wide.size, owned)))

    def near(
        self, x: NDArray[np.float64], size: int
    ) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
        """Return the squared distances and the numbers of the rows nearest to x, nearest first."""
        rows = np.empty(min(size, self._n), dtype=np.intp)
        distances = np.empty(rows.size)
        _search.near(self._load(), self._leaves, self._units, x, rows, distances)
        return distances, rows

    def nearest(self, centers: NDArray[np.float64], names: LabelMap) -> NDArray[np.intp]:
        """Return what each row is called: by its nearest centre."""
        X, labels = self._load(), np.empty(self._n, dtype=np.intp)
        self._split(
            self._n,
            lambda first, last: _search.nearest(X, centers, labels, first, last),
            "Finding the nearest centres",
        )
        return names.of_rows(labels)

    def rows(self, index: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the rows with these numbers, (m, d)."""
        return self._load()[index].astype(np.float64, copy=False)
