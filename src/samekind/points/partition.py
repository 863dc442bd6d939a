"""A partition of the data: rows that lie in one process, with what is known about each of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from samekind.points.arrays import Floats, Matrix, Numbers, Rows
from samekind.points.cost_table import CostTable
from samekind.points.kernels import costs, leaves, reach, reassign, search, spaces
from samekind.points.kernels.costs import CostState
from samekind.points.kernels.leaves import Leaves
from samekind.points.labels import LabelMap
from samekind.points.partition_results import DrawnRows, NearRows, OwnedRows, Reassignment
from samekind.points.running_sums import BigIntegers
from samekind.points.space import WorkingSpace
from samekind.points.threads import ReportProgress, run_in_threads
from samekind.points.units import Units

__all__ = ["Partition"]

T = TypeVar("T")
NOBODY = np.empty(0, dtype=np.int32)
BRIEF = 2**12  # bundles that one thread looks at sooner than another is woken


class Partition:
    """Some consecutive rows of the data, and their costs with respect to sets of centres.

    Parameters
    ----------
    load : callable
        Returns the rows, (n, d), whenever they are needed.
    n : int
        How many they are.
    units : Units
        Those of the whole data.
    threads : int
        Threads for passes over them. Results do not depend on it.
    resident : bool
        Keep sketches of the rows, a byte for each number, and a copy of float32 rows, in order of the leaves.
    report : callable or None
        Is told about the progress of long passes.

    Rows are counted from the partition's first. Every set of centres has a number, `key`; centres are
    numbered within their set.
    """

    def __init__(
        self,
        load: Callable[[], Matrix],
        n: int,
        units: Units,
        *,
        threads: int = 1,
        resident: bool = True,
        report: ReportProgress | None = None,
    ) -> None:
        self.tables: dict[int, CostTable] = {}
        self._load = load
        self._n = n
        self._d = units.d
        self._units = units.for_kernels
        self._threads = threads
        self._resident = resident
        self._report = report
        self._spare_costs: NDArray[np.float32] | None = None

    # The rows

    def rows(self, index: Rows) -> Floats:
        """Return the rows with these numbers, (m, d)."""
        return self._load()[index].astype(np.float64, copy=False)

    def nearest_rows(self, x: Floats, size: int, with_values: bool = False) -> NearRows:
        """Return the rows nearest to x, nearest first, and their squared distances."""
        rows = np.empty(min(size, self._n), dtype=np.intp)
        distances = np.empty(rows.size)
        search.nearest_rows(self._load(), self._leaves, self._units, x, rows, distances)
        return NearRows(distances, rows, self.rows(rows) if with_values else None)

    def labels_by_nearest(self, labels: LabelMap, centers: Floats) -> Rows:
        """Return the label of every row: that of the nearest centre."""
        X, nearest = self._load(), np.empty(self._n, dtype=np.intp)
        work = partial(search.nearest_centers, X, centers, nearest)
        self._in_threads(self._n, work, "Finding the nearest centres")
        return labels.of_rows(nearest)

    def rows_above(self, column: int, value: float) -> Rows:
        """Return the rows that exceed a value in a column."""
        return np.flatnonzero(self._load()[:, column] > value)

    def write_coordinates(self, space: WorkingSpace, out: Matrix) -> None:
        """Write the coordinates of the rows in a space."""
        space.write(self._load(), out, self._threads, self._report)

    def sums_by_label(self, labels: Rows, n_labels: int) -> NDArray[np.int64]:
        """Return the sums of the rows of each label, (labels, d + 2): coordinates, squares, ones."""
        X = self._load()

        def add(first: int, last: int) -> NDArray[np.int64]:
            sums = np.zeros((n_labels, self._d + 2), dtype=np.int64)
            spaces.add_by_label(X, labels, self._units, sums, first, last)
            return sums

        found = self._in_threads(self._n, add, "Measuring the clusters")
        return np.asarray(np.sum(found, axis=0))

    # What changes the costs

    def add_table(self, key: int, squared: bool, owned: bool) -> None:
        """Begin a set without centres."""
        spare, self._spare_costs = self._spare_costs, None
        self.tables[key] = CostTable(self._n, squared=squared, owned=owned, costs=spare)

    def drop_table(self, key: int) -> None:
        """Forget a set; the next one takes its place in memory."""
        table = self.tables.pop(key, None)
        self._spare_costs = None if table is None else table.state.costs

    def first_center(self, key: int, x: Floats, scale: float) -> tuple[int, NDArray[np.int64]]:
        """Make x the first centre; return the weight of all rows, and their sums (d + 2,)."""
        table, units, what = self.tables[key], self._units, "Measuring distances"
        table.set_scale(scale)
        state, blocks = table.state, table.state.block_weights.size
        by_rows = partial(costs.first_center_by_rows, self._load(), units, x, state)

        def by_chunk(groups: Leaves, chunk: int) -> None:
            size = (1 << groups.chunk_bits) // costs.BLOCK
            by_rows(groups, chunk * size, min((chunk + 1) * size, blocks))

        if not self._resident and "_leaves" not in vars(self):  # both while rows are read once
            self._leaves = self._group_rows(by_chunk)
        elif self._leaves.rows.size:
            work = partial(costs.first_center, self._leaves, units, x)
            table.over_bundles(self._leaves, self._threads, work, self._report, what)
        else:
            self._in_threads(blocks, partial(by_rows, self._leaves), what)
        if not self._leaves.rows.size:
            costs.bound_by_corners(self._leaves, units, state, x)
        table.weights_changed()
        return table.span_weights.total, self._sums

    def add_centers(
        self, key: int, centers: Floats, numbers: Numbers, n_centers: int
    ) -> Reassignment:
        """Let more centres own the rows that are closest to them; they are n_centers in all then."""
        table, owners = self.tables[key], self.tables[key].state.owners
        if n_centers > np.iinfo(owners.dtype).max:  # two bytes a row as long as that will do
            table.state = table.state._replace(owners=owners.astype(np.int32))
        return self._reassign(key, centers, numbers, n_centers, True, NOBODY)

    def rescale(self, key: int, scale: float) -> int:
        """Set the cost of the highest weight; return the weight of all rows."""
        table = self.tables[key]
        table.set_scale(scale)
        work = partial(costs.weigh_blocks, self._leaves, table.state)
        self._in_threads(table.state.block_weights.size, work)
        table.weights_changed()
        return table.span_weights.total

    # What does not

    def preview_centers(
        self, key: int, centers: Floats, numbers: Numbers, n_centers: int
    ) -> Reassignment:
        """Return what would change if more centres were added."""
        return self._reassign(key, centers, numbers, n_centers, False, NOBODY)

    def labels_by_owner(
        self, labels: LabelMap, key: int, centers: Floats, numbers: Numbers
    ) -> Rows:
        """Return the label of every row: that of its owner, if more centres were added."""
        owners = self.tables[key].state.owners.astype(np.int32)
        of_centers, found = labels.of_centers, np.empty(self._n, dtype=np.intp)
        if centers.size:
            self._reassign(key, centers, numbers, of_centers.size, False, owners)
        work = partial(costs.label_rows, self._leaves, owners, of_centers, found)
        self._in_threads(self._n, work)
        found[labels.known_rows] = labels.known_labels
        return found

    def largest_cost(self, key: int) -> float:
        """Return the largest cost."""
        every = self.tables[key].state.costs
        found = self._in_threads(self._n, lambda first, last: costs.largest(every[first:last]))
        return float(max(found))

    def rows_at_weights(self, key: int, targets: BigIntegers) -> DrawnRows:
        """Return the rows at which the running sum of the weights first exceeds each target."""
        table = self.tables[key]
        spans, rest = table.span_weights.find(targets)
        rows = np.empty(targets.size, dtype=np.intp)
        rest = rest.astype(np.int64, copy=False)
        costs.rows_at_weights(self._leaves, table.state, spans, rest, rows)
        return DrawnRows(rows, self.rows(rows), table.state.costs[self._places(rows)])

    def costs_and_owners(self, key: int, rows: Rows) -> tuple[NDArray[np.float32], Numbers]:
        """Return the cost and the owner of each of these rows."""
        table, at = self.tables[key], self._places(rows)
        owners = table.state.owners[at].astype(np.int32) if table.state.owners.size else NOBODY
        return table.state.costs[at], owners

    def cost_and_owner(self, key: int, row: int) -> tuple[np.float32, int]:
        """Return the cost and the owner of a row."""
        state, groups = self.tables[key].state, self._leaves
        at = (row >> groups.chunk_bits << groups.chunk_bits) + int(groups.place[row])
        return state.costs[at], int(state.owners[at])

    def count_owned(self, key: int, centers: Floats, chosen: NDArray[np.bool_], most: int) -> int:
        """Return how many rows the chosen centres own; see `owned_rows`."""
        return self._owned(key, centers, chosen, most).size

    def owned_rows(
        self,
        key: int,
        centers: Floats,
        chosen: NDArray[np.bool_],
        most: int,
        ranks: Rows | None = None,
        values_up_to: int = 0,
    ) -> OwnedRows:
        """Return the rows that the chosen centres own, in order; or those with these ranks among them.

        `centers` are the chosen ones; they own at most `most` rows. Up to `values_up_to` rows come
        with their values.
        """
        rows = self._owned(key, centers, chosen, most)
        if ranks is not None:
            rows = rows[ranks]
        return OwnedRows(rows, self.rows(rows) if 0 < rows.size <= values_up_to else None)

    # How it is done

    @cached_property
    def _leaves(self) -> Leaves:
        """The rows in groups."""
        return self._group_rows()

    def _group_rows(self, then: Callable[[Leaves, int], None] | None = None) -> Leaves:
        """Put the rows into groups, chunk by chunk; call ``then`` on each while its rows are at hand."""
        X = self._load()
        bits = leaves.RESIDENT_CHUNK if self._resident else leaves.STREAMED_CHUNK
        groups = leaves.allocate_leaves(X, bits, resident=self._resident)
        tree = leaves.grow_tree(X, bits)

        def build(first: int, last: int) -> NDArray[np.int64]:
            sums = np.zeros(self._d + 2, dtype=np.int64)
            for chunk in range(first, last):
                leaves.build_leaves(X, tree, groups, self._units, sums, chunk)
                if then is not None:
                    then(groups, chunk)
            return sums

        found = self._in_threads(((self._n - 1) >> bits) + 1, build, "Grouping the rows")
        self._sums: NDArray[np.int64] = np.sum(found, axis=0)
        return groups

    def _places(self, rows: Rows) -> Rows:
        """Return where rows are in the order of the leaves."""
        bits = self._leaves.chunk_bits
        found: Rows = (rows >> bits << bits) + self._leaves.place[rows]
        return found

    def _reassign(
        self,
        key: int,
        centers: Floats,
        numbers: Numbers,
        n_centers: int,
        commit: bool,
        owners: Numbers,
    ) -> Reassignment:
        table, groups, units = self.tables[key], self._leaves, self._units
        size = n_centers if table.state.owners.size else 0
        sums = np.zeros((size, self._d + 2), dtype=np.int64)
        computed = 0
        if len(centers) and (
            self._resident or reach.any_leaf_in_reach(groups, units, table.state, centers)
        ):
            X = self._load()

            def work(state: CostState, first: int, last: int) -> tuple[int, NDArray[np.int64]]:
                own = np.zeros_like(sums)
                given = X, groups, units, centers, numbers, own, commit, owners
                return reassign.reassign_rows(*given, state, first, last), own

            for visited, own in table.over_bundles(groups, self._threads, work):
                computed += visited
                sums += own
        if commit:
            table.weights_changed()
        changed = np.flatnonzero(sums.any(axis=1))
        return Reassignment(table.span_weights.total, changed, sums[changed], computed)

    def _owned(self, key: int, centers: Floats, chosen: NDArray[np.bool_], most: int) -> Rows:
        state = self.tables[key].state

        def owned(first: int, last: int) -> Rows:
            rows = np.empty(min(most, self._n), dtype=np.intp)
            given = self._leaves, self._units, state, centers, chosen, rows
            return rows[: reach.rows_of_owners(*given, first, last)]

        if state.bundle_max.size < BRIEF:
            return np.sort(owned(0, state.bundle_max.size))
        return np.sort(np.concatenate(self._in_threads(state.bundle_max.size, owned)))

    def _in_threads(self, size: int, work: Callable[[int, int], T], what: str = "") -> list[T]:
        return run_in_threads(size, self._threads, work, self._report if what else None, what)
