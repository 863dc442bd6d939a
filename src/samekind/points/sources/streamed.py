"""Rows that are read from files when they are needed, a partition at a time."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Protocol, TypeVar

import numpy as np

from samekind._validation import check_positive_int
from samekind.points.arrays import Matrix, Rows
from samekind.points.base import Points
from samekind.points.bounds import Bounds, bounds_of
from samekind.points.executor import Combine, LocalExecutor, PartitionCall
from samekind.points.kernels import search
from samekind.points.partition import Partition
from samekind.points.sources.array import ArrayPoints
from samekind.points.sources.caches import ByteLRU, RowCache
from samekind.points.sources.coordinates import coordinates_of
from samekind.points.space import WorkingSpace
from samekind.points.threads import ReportProgress, check_threads, run_in_threads
from samekind.points.units import Units

__all__ = ["RowReader", "StreamedPoints"]

R = TypeVar("R")
CACHE = 2**28
PASSES: dict[Callable[..., object], str] = {
    Partition.first_center: "Grouping and measuring the rows",
    Partition.add_centers: "Measuring distances",
    Partition.labels_by_owner: "Labelling the rows",
    Partition.labels_by_nearest: "Finding the nearest centres",
    Partition.write_coordinates: "Reducing the rows",
    Partition.sums_by_label: "Measuring the clusters",
}  # over all rows, and what is said about them
READS = {  # what may have to read files
    Partition.preview_centers,
    Partition.nearest_rows,
    Partition.rows_at_weights,
    Partition.rows,
    *PASSES,
}


class RowReader(Protocol):
    """Reads rows from files, partition by partition."""

    names: list[str]
    dtype: np.dtype[np.floating]
    """float32 or float64."""
    first_rows: Rows
    """The number of each partition's first row, and of one past the last."""

    def load(self, part: int) -> Matrix:
        """Return the rows of a partition, C-contiguous."""
        ...

    def place(self, row: int) -> str:
        """Say where a row stands, for a message about it; "" if there is nothing to say."""
        ...


class StreamedPoints(Points):
    """Rows that stay in files. Only what is known about each of them is in memory.

    Parameters
    ----------
    reader : RowReader
        Reads them.
    threads, cache, report
        As of `ParquetPoints`.
    """

    def __init__(
        self,
        reader: RowReader,
        *,
        threads: int | None = None,
        cache: int = CACHE,
        report: ReportProgress | None = None,
    ) -> None:
        self.threads = check_threads(threads)
        check_positive_int("cache", cache, minimum=0)
        self.report = report
        self.feature_names = list(reader.names)
        self.n, self.d = int(reader.first_rows[-1]), len(reader.names)
        self.dtype = reader.dtype
        self._reader = reader
        self._loaded = ByteLRU(cache)
        bounds, self._checksum = self._read_all()
        self._units = Units.within(bounds)

    def __repr__(self) -> str:
        parts = len(self._reader.first_rows) - 1
        return (
            f"{type(self).__name__}({self.n:,} rows x {self.d} columns, {self._reader.dtype}, "
            f"{parts:,} partition{'s' * (parts != 1)})"
        )

    @cached_property
    def executor(self) -> LocalExecutor:
        """Runs calls on the partitions; those that are in memory come first."""
        partitions = [
            Partition(partial(self._load, part), int(size), self._units, resident=False)
            for part, size in enumerate(np.diff(self._reader.first_rows))
        ]
        of_data = partitions, self._units, self._reader.first_rows
        return FileExecutor(*of_data, self.threads, self._loaded, self._tell, RowCache(self.d))

    def fingerprint(self) -> str:
        """Return a text that changes when a value, or the name of a column, changes.

        Not when the same rows are cut into other files or row groups.
        """
        told = [self.n, self.feature_names, str(self._reader.dtype), self._checksum]
        return hashlib.blake2b(repr(told).encode(), digest_size=16).hexdigest()

    def _in_space(self, space: WorkingSpace) -> ArrayPoints:
        """Return the coordinates of all rows in a space; these are in memory, or in a file of their own."""
        return ArrayPoints(coordinates_of(self, space), threads=self.threads, report=self.report)

    def _tell(self, what: str, share: float) -> None:
        if self.report is not None:
            self.report(what, share)

    def _load(self, part: int) -> Matrix:
        size = int(self._reader.first_rows[part + 1] - self._reader.first_rows[part])
        n_bytes = size * self.d * self._reader.dtype.itemsize
        return self._loaded.get(part, n_bytes, self._reader.load)

    def _read_all(self) -> tuple[Bounds, int]:
        """Read everything once: check the values; return bounds and checksum."""
        reader = self._reader
        words = np.uint32 if reader.dtype.itemsize == 4 else np.uint64
        checksum, bounds = np.uint64(0), Bounds.of_nothing(self.d)
        for part, X in enumerate(_ahead(len(reader.first_rows) - 1, self._load)):
            first = int(reader.first_rows[part])
            found = bounds_of(X, self.threads, first, names=reader.names, place=reader.place)
            bounds = bounds.union(found)
            checksum = np.uint64(search.checksum(X.reshape(-1).view(words), checksum))
            self._tell("Reading the data", (first + len(X)) / self.n)
        return bounds, int(checksum)


@dataclass(eq=False)
class FileExecutor(LocalExecutor):
    """Partitions in files: those that are in memory come first, before others take their place."""

    threads: int
    loaded: ByteLRU
    report: ReportProgress
    cache: RowCache

    def run(
        self, calls: Mapping[int, PartitionCall[R]], combine: Combine[R] | None = None
    ) -> dict[int, R]:
        """Run calls, each on its own partition; return the results."""
        found: dict[int, R] = {}
        order = sorted(calls, key=lambda part: part not in self.loaded)

        def work(first: int, last: int) -> None:
            for part in order[first:last]:
                found[part] = calls[part](self.partitions[part])

        method = next(iter(calls.values())).method
        if len(calls) == 1 or method not in READS:
            work(0, len(order))
        else:
            report = self.report if method in PASSES else _say_nothing
            threads = min(self.threads, len(order))
            run_in_threads(len(order), threads, work, report, PASSES.get(method, ""))
        return {part: found[part] for part in calls}


def _say_nothing(what: str, share: float) -> None:
    """Tell nobody; as a report, it has a pass cut into more and smaller pieces."""


def _ahead(parts: int, load: Callable[[int], Matrix]) -> Iterator[Matrix]:
    """Yield one partition after another, and read the next one meanwhile."""
    with ThreadPoolExecutor(1, thread_name_prefix="samekind-read") as pool:
        coming = pool.submit(load, 0)
        for part in range(parts):
            X = coming.result()
            if part + 1 < parts:
                coming = pool.submit(load, part + 1)
            yield X
            del X
