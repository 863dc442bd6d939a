"""Partitions of the data on the workers of a Dask cluster."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeVar
from uuid import uuid4

import dask
import dask.array as da
import numpy as np
from dask.highlevelgraph import HighLevelGraph

from samekind.points.arrays import Matrix, Rows
from samekind.points.calls import Call, call
from samekind.points.executor import Combine, Executor, LabelMethod, PartitionCall, split_labels
from samekind.points.labels import LabelMap, LazyArray, RowLabels
from samekind.points.partition import Partition
from samekind.points.sources.caches import RowCache
from samekind.points.sources.dask.blocks import Blocks
from samekind.points.sources.dask.worker import LogEntry, state_here
from samekind.points.units import Units

__all__ = ["DaskExecutor", "make_partition"]

R = TypeVar("R")
QUICK: set[Callable[..., object]] = {  # what is done sooner than handed to another thread
    Partition.rows,
    Partition.costs_and_owners,
    Partition.rows_at_weights,
    Partition.owned_rows,
}


def make_partition(units: Units, block: Matrix, threads: int) -> Partition:
    """Return a block as a partition, where it is."""
    return Partition(lambda: block, len(block), units, threads=threads)


class DaskExecutor(Executor):
    """Partitions that are on the workers of a cluster, a block each.

    `sizes` are those of all blocks, also of empty ones, which are no partitions.
    """

    partitions = None

    def __init__(self, blocks: Blocks[Partition], units: Units, sizes: list[int]) -> None:
        self.units = units
        self.first_rows = np.cumsum([0, *filter(None, sizes)])
        self._blocks = blocks
        self._sizes = sizes
        self.cache = RowCache(units.d)

    def run(
        self, calls: Mapping[int, PartitionCall[R]], combine: Combine[R] | None = None
    ) -> dict[int, R]:
        """Run calls that change nothing, each on its own partition; return the results."""
        is_quick = next(iter(calls.values())).method in QUICK
        return self._blocks.run(calls, combine, is_quick=is_quick)

    def update_all(
        self, key: int, call: PartitionCall[R], combine: Combine[R] | None = None
    ) -> list[R]:
        """Run a call that changes the cost table `key` on all partitions; return the results in order."""
        return self._blocks.update(key, call, combine)

    def drop_table(self, key: int) -> None:
        """Let all partitions forget a cost table with the next change."""
        self._blocks.drop(key, call(Partition.drop_table, key))

    def label(
        self, labels: LabelMap, key: int | None, method: LabelMethod, *args: object
    ) -> RowLabels:
        """Return the labels of all rows as a Dask array with the partitions of the data."""
        entries = [] if key is None else self._blocks.entries(key)
        labeling = Labeling(self._blocks.run_name, self.units, key, entries, method, args)
        task = dask.delayed(_label_block, pure=False)
        shared = dask.delayed(labeling, traverse=False)
        each = zip(self._blocks.futures, split_labels(labels, self.first_rows), strict=True)
        labelled = iter([task(block, k, shared, own) for k, (block, own) in enumerate(each)])
        nothing = dask.delayed(np.empty)(0, dtype=np.intp)
        pieces = [next(labelled) if size else nothing for size in self._sizes]
        name = f"samekind-labels-{uuid4().hex}"
        layer = {(name, number): piece.key for number, piece in enumerate(pieces)}
        graph = HighLevelGraph.from_collections(name, layer, dependencies=pieces)
        found: LazyArray = da.Array(graph, name, chunks=(tuple(self._sizes),), dtype=np.intp)
        return found


class Labeling(NamedTuple):
    """What labels the rows of all partitions."""

    run: str
    units: Units
    key: int | None
    entries: list[LogEntry]
    """Everything that happened to the cost table `key`."""
    method: LabelMethod
    args: tuple[object, ...]


def _label_block(block: Matrix, part: int, labeling: Labeling, labels: LabelMap) -> Rows:
    """Return the labels of the rows of a block: a task that may run later, anywhere and again.

    The partition is used if its cost table is still as it was; else the entries are applied to a new one.
    """
    label: PartitionCall[Rows] = Call(labeling.method, (labels, *labeling.args))
    state = None if labeling.key is None else state_here(labeling.run, part)
    if state is not None and labeling.key is not None:
        with state.lock:
            if state.n_changes[labeling.key] == len(labeling.entries):
                return label(state.target)
    new = make_partition(labeling.units, block, 1)
    for entry in labeling.entries:
        entry.call(new)
    return label(new)
