"""A growing set of centres, and every row's distance to the nearest of them."""

from __future__ import annotations

import weakref
from bisect import bisect
from itertools import count

import numpy as np
from numpy.typing import NDArray

from samekind.points.arrays import Floats, Numbers, Rows
from samekind.points.calls import call
from samekind.points.executor import Executor, on_all, rows_by_partition
from samekind.points.kernels import sites
from samekind.points.kernels.costs import BITS
from samekind.points.labels import LabelMap, RowLabels
from samekind.points.partition import Partition
from samekind.points.partition_results import DrawnRows, Reassignment, sum_of_all
from samekind.points.running_sums import RunningSums

__all__ = ["NearestCenters"]

_keys = count()
GATHERED = 2**14  # rows that may all come here to be drawn from
QUICK = 2**22  # coordinates of rows and centres that are compared sooner than asked for
COARSE = 2**10  # mean weight of a row below which weights are scaled anew
SENT_ALONG = 64  # rows of a partition in another process that come with their values


class NearestCenters:
    """A set of centres over all partitions: puts their answers together.

    The cost of a row is its squared distance to the nearest centre, its weight in draws the cost or, with
    `squared`, the square of it. Weights are integers, so that their sum is the same however the rows are
    partitioned. With `owned`, the nearest centre of every row is known: its owner; of equals, the first.
    """

    def __init__(self, executor: Executor, *, squared: bool, owned: bool) -> None:
        self.total_weight = 0
        self.n_distances = 0
        self._executor = executor
        self._owned = owned
        self._key = next(_keys)
        self._first_rows: list[int] = executor.first_rows.tolist()
        self._scale = 1.0  # the cost of the highest weight
        self._considered = 0  # total weight when scaling was last considered
        self._weights = RunningSums([])  # of partitions
        self._gathered: dict[bytes, Rows] = {}  # rows of some centres, as of now
        # All centres in the order of their coming, if the partitions are in other processes:
        self._centers = np.empty((0, executor.units.d))
        self._numbers = np.empty(0, dtype=np.int32)
        executor.has_leaves = True
        executor.update_all(self._key, call(Partition.add_table, self._key, squared, owned))
        weakref.finalize(self, executor.drop_table, self._key)

    @property
    def sum_of_costs(self) -> float:
        """Return the sum of the costs, where weights are costs."""
        return float(self.total_weight / 2**BITS * self._scale)

    def begin(self, x: Floats) -> NDArray[np.int64]:
        """Make x the first centre; return the sums of all rows, (d + 2,): coordinates, squares, ones."""
        self._scale = _power_above(self._executor.units.largest_cost(x))
        found = self._executor.update_all(
            self._key, call(Partition.first_center, self._key, x, self._scale)
        )
        self._set_weights([weight for weight, _ in found])
        self._considered = self.total_weight
        self._note(x[None], np.zeros(1, dtype=np.int32))
        self.n_distances += self._executor.units.n
        sums: NDArray[np.int64] = np.sum([own for _, own in found], axis=0)
        return sums

    def add(self, centers: Floats, numbers: Numbers, sums: NDArray[np.int64]) -> None:
        """Let more centres own the rows closest to them, and change the sums of all centres, (all, d + 2)."""
        self._gathered.clear()
        changes = self._executor.update_all(
            self._key,
            call(Partition.add_centers, self._key, centers, numbers, len(sums)),
            sum_of_all,
        )
        self._set_weights([change.weight for change in changes])
        self._apply(changes, sums)
        self.n_distances += sum(change.n_distances for change in changes)
        self._note(centers, numbers)
        if 0 < self.total_weight < min(COARSE * self._executor.units.n, self._considered // 2):
            self._considered = self.total_weight
            largest = call(Partition.largest_cost, self._key)
            highest = max(self._executor.run(on_all(self._executor, largest)).values())
            if highest <= self._scale / 2:
                self._scale = _power_above(highest)
                rescale = call(Partition.rescale, self._key, self._scale)
                self._set_weights(self._executor.update_all(self._key, rescale))
                self._considered = self.total_weight

    def preview(
        self, centers: Floats, numbers: Numbers, sums: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Return the sums as they would be if more centres were added."""
        sums = sums.copy()
        if centers.size:
            preview = call(Partition.preview_centers, self._key, centers, numbers, len(sums))
            found = self._executor.run(on_all(self._executor, preview), sum_of_all)
            self._apply(list(found.values()), sums)
        return sums

    def labels(self, centers: Floats, numbers: Numbers, labels: LabelMap) -> RowLabels:
        """Return the label of every row: that of its owner, if more centres were added."""
        return self._executor.label(
            labels, self._key, Partition.labels_by_owner, self._key, centers, numbers
        )

    def draw(self, uniforms: Floats) -> DrawnRows:
        """Return a row for each uniform in [0, 1), with a chance proportional to its weight."""
        parts, rest = self._weights.find(self._weights.targets(uniforms))
        own = np.unique(parts).tolist() if len(self._first_rows) > 2 else [0]
        places = {part: (parts == part).nonzero()[0] for part in own}
        answers = self._executor.run(
            {
                part: call(Partition.rows_at_weights, self._key, rest[at])
                for part, at in places.items()
            }
        )
        if len(answers) == 1:
            ((part, only),) = answers.items()
            found = only._replace(rows=only.rows + self._first_rows[part])
        else:
            back = np.argsort(np.concatenate(list(places.values())))
            rows = [some.rows + self._first_rows[part] for part, some in answers.items()]
            X = np.concatenate([some.X for some in answers.values()])
            costs = np.concatenate([some.costs for some in answers.values()])
            found = DrawnRows(np.concatenate(rows)[back], X[back], costs[back])
        self._executor.remember(found.rows, found.X)
        return found

    def costs_and_owners(
        self, rows: Rows, X: Floats | None = None
    ) -> tuple[NDArray[np.float32], Numbers]:
        """Return the cost and the owner of each of these rows. X are these rows, if they are at hand."""
        executor = self._executor
        if executor.partitions is None and executor.cache is not None:
            X = executor.cache.kept(rows) if X is None else X
            if X is not None and X.size * self._numbers.size <= QUICK:  # as the partitions would
                costs = np.full(len(X), np.inf, dtype=np.float32)
                nearest = np.full(len(X), -1, dtype=np.int32)
                order = np.arange(self._numbers.size, dtype=np.int32)
                per_cost = 1.0 / executor.units.cost
                sites.lower_to_nearer(X, self._centers, order, per_cost, costs, nearest)
                return costs, self._numbers[nearest]
        places = rows_by_partition(rows, executor.first_rows)
        answers = executor.run(
            {
                part: call(Partition.costs_and_owners, self._key, local)
                for part, (_, local) in places.items()
            }
        )
        if len(answers) == 1:
            return next(iter(answers.values()))
        costs = np.empty(rows.size, dtype=np.float32)
        owners = np.full(rows.size, -1, dtype=np.int32)
        for part, (some, of) in answers.items():
            costs[places[part][0]] = some
            if self._owned:
                owners[places[part][0]] = of
        return costs, owners

    def cost_and_owner(self, row: int) -> tuple[np.float32, int]:
        """Return the cost and the owner of a row, where the partitions are in this process."""
        assert self._executor.partitions is not None
        part = 0 if len(self._first_rows) == 2 else bisect(self._first_rows, row) - 1
        partition = self._executor.partitions[part]
        return partition.cost_and_owner(self._key, row - self._first_rows[part])

    def owned_rows(self, centers: Floats, chosen: NDArray[np.bool_], ranks: Rows, n: int) -> Rows:
        """Return the rows with these ranks (ascending) among the n that the chosen centres own.

        `centers` are the chosen ones.
        """
        executor, key = self._executor, self._key
        values = 0 if executor.partitions is not None else SENT_ALONG
        if n <= GATHERED:
            who = chosen.nonzero()[0].tobytes()
            if who not in self._gathered:
                every = call(Partition.owned_rows, key, centers, chosen, n, None, values)
                self._gathered[who] = executor.number_rows(executor.run(on_all(executor, every)))
            return self._gathered[who][ranks]
        ends = np.array([n])
        if executor.first_rows.size > 2:
            counts = executor.run(
                on_all(executor, call(Partition.count_owned, key, centers, chosen, n))
            )
            ends = np.cumsum(list(counts.values()))
        parts = ends.searchsorted(ranks, side="right")
        calls = {}
        for part in np.unique(parts).tolist():
            local = ranks[parts == part] - (ends[part - 1] if part else 0)
            most = values and local.size
            calls[part] = call(Partition.owned_rows, key, centers, chosen, n, local, most)
        return executor.number_rows(executor.run(calls))

    def _note(self, centers: Floats, numbers: Numbers) -> None:
        """Keep centres, so that costs can be computed here."""
        if self._executor.partitions is None:
            self._centers = np.concatenate([self._centers, centers])
            self._numbers = np.concatenate([self._numbers, numbers])

    def _apply(self, changes: list[Reassignment], sums: NDArray[np.int64]) -> None:
        if self._owned:
            for change in changes:
                sums[change.centers] += change.sums

    def _set_weights(self, weights: list[int]) -> None:
        self._weights = RunningSums(weights)
        self.total_weight = self._weights.total


def _power_above(value: float) -> float:
    """Return the least power of two above a value; 1 for 0."""
    return float(2.0 ** np.frexp(value)[1]) if value > 0 else 1.0
