"""Executors run calls on the partitions of the data, where these are."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

import numpy as np

from samekind.points.arrays import Floats, Rows
from samekind.points.calls import Call
from samekind.points.labels import LabelMap, RowLabels
from samekind.points.partition import Partition
from samekind.points.partition_results import NearRows, OwnedRows
from samekind.points.sources.caches import RowCache
from samekind.points.units import Units

__all__ = ["Executor", "LocalExecutor", "on_all", "rows_by_partition", "split_labels"]

R = TypeVar("R")
PartitionCall: TypeAlias = Call[Partition, R]
Combine: TypeAlias = Callable[[dict[int, R]], dict[int, R]]
"""Makes less of the results of several partitions, before they travel; what they say together stays."""
LabelMethod: TypeAlias = Callable[..., Rows]


class Executor(ABC):
    """The partitions of the data, in this process or in others."""

    units: Units
    first_rows: Rows
    """The number of each partition's first row, and of one past the last."""
    partitions: Sequence[Partition] | None
    """The partitions themselves, where they are in this process."""
    cache: RowCache | None = None
    """Of rows, where to fetch them takes long."""
    has_leaves = False
    """Whether the rows were put into groups, which takes a pass over the data."""

    @abstractmethod
    def run(
        self, calls: Mapping[int, PartitionCall[R]], combine: Combine[R] | None = None
    ) -> dict[int, R]:
        """Run calls that change nothing, each on its own partition; return the results."""

    @abstractmethod
    def update_all(
        self, key: int, call: PartitionCall[R], combine: Combine[R] | None = None
    ) -> list[R]:
        """Run a call that changes the cost table `key` on all partitions; return the results in order."""

    @abstractmethod
    def drop_table(self, key: int) -> None:
        """Let all partitions forget a cost table, now or later."""

    @abstractmethod
    def label(
        self, labels: LabelMap, key: int | None, method: LabelMethod, *args: object
    ) -> RowLabels:
        """Return the labels of all rows, which ``method(labels, *args)`` gives to those of a partition.

        It may use the cost table `key`, as it is now.
        """

    def remember(self, rows: Rows, X: Floats) -> None:
        """Keep rows that will be looked at soon, where to fetch them takes long."""
        if self.cache is not None:
            self.cache.remember(rows, X)

    def number_rows(self, found: Mapping[int, OwnedRows | NearRows]) -> Rows:
        """Return the numbers in all data of rows of partitions; remember the values that came along."""
        every = []
        for part, some in found.items():
            every.append(some.rows + self.first_rows[part])
            if some.X is not None:
                self.remember(every[-1], some.X)
        return np.concatenate(every)


@dataclass(eq=False)
class LocalExecutor(Executor):
    """Partitions that are in this process."""

    partitions: Sequence[Partition]
    units: Units
    first_rows: Rows

    def run(
        self, calls: Mapping[int, PartitionCall[R]], combine: Combine[R] | None = None
    ) -> dict[int, R]:
        """Run calls, each on its own partition; return the results. Nothing needs to be combined."""
        return {part: one(self.partitions[part]) for part, one in calls.items()}

    def update_all(
        self, key: int, call: PartitionCall[R], combine: Combine[R] | None = None
    ) -> list[R]:
        """Run a call on all partitions; return the results in order."""
        return list(self.run(on_all(self, call)).values())

    def drop_table(self, key: int) -> None:
        """Let all partitions forget a cost table."""
        for partition in self.partitions:
            partition.drop_table(key)

    def label(self, labels: LabelMap, key: int | None, method: LabelMethod, *args: object) -> Rows:
        """Return the labels of all rows, which `method` gives to those of a partition."""
        parts = split_labels(labels, self.first_rows)
        each = self.run({part: Call(method, (own, *args)) for part, own in enumerate(parts)})
        return np.concatenate(list(each.values())) if len(each) > 1 else each[0]


def on_all(executor: Executor, call: PartitionCall[R]) -> dict[int, PartitionCall[R]]:
    """Return the same call for every partition."""
    return dict.fromkeys(range(executor.first_rows.size - 1), call)


def rows_by_partition(rows: Rows, first_rows: Rows) -> dict[int, tuple[Rows, Rows]]:
    """Return for each partition that holds some of these rows which of them, and their numbers there."""
    if first_rows.size == 2:
        return {0: (np.arange(rows.size), rows)}
    parts = first_rows.searchsorted(rows, side="right") - 1
    found = {}
    for part in np.unique(parts).tolist():
        at = (parts == part).nonzero()[0]
        found[part] = at, rows[at] - first_rows[part]
    return found


def split_labels(labels: LabelMap, first_rows: Rows) -> list[LabelMap]:
    """Return the labels for each partition, in which rows are counted from its first."""
    where = rows_by_partition(labels.known_rows, first_rows)
    nowhere = np.empty((2, 0), dtype=np.intp)
    places = [where.get(part, nowhere) for part in range(first_rows.size - 1)]
    return [LabelMap(labels.of_centers, rows, labels.known_labels[at]) for at, rows in places]
