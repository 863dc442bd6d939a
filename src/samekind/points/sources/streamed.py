"""Rows that are read from files when they are needed, a partition at a time."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from samekind._validation import check_int, check_positive_int
from samekind.points.base import Points
from samekind.points.bounds import Bounds, bounds_of
from samekind.points.executor import Combine, LocalExecutor, PartitionCall
from samekind.points.kernels import streaming_stats
from samekind.points.partition import Partition
from samekind.points.sources.byte_lru import ByteLRU
from samekind.points.sources.row_cache import RowCache
from samekind.points.threads import ReportProgress, available_threads, run_in_threads
from samekind.points.units import Units

__all__ = ["RowReader", "StreamedPoints"]

R = TypeVar("R")
CACHE = 2**28
PASSES: dict[Callable[..., object], str] = {
    Partition.first_center: "Grouping and measuring the rows",
    Partition.add_centers: "Measuring distances",
    Partition.labels_by_owner: "Labelling the rows",
    Partition.labels_by_nearest: "Finding the nearest centres",
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
    first_rows: NDArray[np.intp]
    """The number of each partition's first row, and of one past the last."""

    def load(self, part: int) -> NDArray[np.floating]:
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
    threads : int or None
        Threads for passes over all rows; None takes every core. Results do not depend on it.
    cache : int
        Bytes of rows to keep for the next time they are needed. A partition that is larger is kept alone.
    report : callable or None
        Is told what is done, and the share of it that is done already, in passes over all rows.
    """

    def __init__(
        self,
        reader: RowReader,
        *,
        threads: int | None = None,
        cache: int = CACHE,
        report: ReportProgress | None = None,
    ) -> None:
        wanted = check_int("threads", threads, none="use every core")
        self.threads = available_threads() if wanted is None else wanted
        check_positive_int("cache", cache, minimum=0)
        self.report = report
        self.feature_names = list(reader.names)
        self.n, self.d = int(reader.first_rows[-1]), len(reader.names)
        self._reader = reader
        self._loaded = ByteLRU(cache)
        self._rows = RowCache(self.d)
        bounds, self._checksum = self._read_all()
        self._units = Units.within(bounds)
        self._executor: LocalExecutor | None = None

    def __repr__(self) -> str:
        parts = len(self._reader.first_rows) - 1
        return (
            f"{type(self).__name__}({self.n:,} rows x {self.d} columns, {self._reader.dtype}, "
            f"{parts:,} partition{'s' * (parts != 1)})"
        )

    @property
    def executor(self) -> LocalExecutor:
        """Runs calls on the partitions; those that are in memory come first."""
        if self._executor is None:
            first_rows = self._reader.first_rows
            partitions = [
                Partition(partial(self._load, part), int(size), self._units, resident=False)
                for part, size in enumerate(np.diff(first_rows))
            ]
            self._executor = FileExecutor(
                partitions,
                self._units,
                first_rows,
                self.threads,
                loaded=self._loaded,
                rows=self._rows,
                report=self._tell,
            )
        return self._executor

    def rows(self, index: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the rows with these numbers, (m, d)."""
        return self._rows.rows(np.asarray(index), self.fetch)

    def fingerprint(self) -> str:
        """Return a text that changes when a value, or the name of a column, changes.

        Not when the same rows are cut into other files or row groups.
        """
        told = [self.n, self.feature_names, str(self._reader.dtype), self._checksum]
        return hashlib.blake2b(repr(told).encode(), digest_size=16).hexdigest()

    def _tell(self, what: str, share: float) -> None:
        if self.report is not None:
            self.report(what, share)

    def _load(self, part: int) -> NDArray[np.floating]:
        size = int(self._reader.first_rows[part + 1] - self._reader.first_rows[part])
        return self._loaded.get(
            part, size * self.d * self._reader.dtype.itemsize, self._reader.load
        )

    def _read_all(self) -> tuple[Bounds, int]:
        """Read everything once: check the values; return bounds and checksum."""
        words = np.uint32 if self._reader.dtype.itemsize == 4 else np.uint64
        checksum, bounds = np.uint64(0), None
        for part, X in enumerate(_ahead(len(self._reader.first_rows) - 1, self._load)):
            first = int(self._reader.first_rows[part])
            found = bounds_of(
                X, self.threads, first, names=self.feature_names, place=self._reader.place
            )
            bounds = found if bounds is None else bounds.union(found)
            checksum = np.uint64(streaming_stats.checksum(X.reshape(-1).view(words), checksum))
            self._tell("Reading the data", (first + len(X)) / self.n)
        assert bounds is not None
        return bounds, int(checksum)


class FileExecutor(LocalExecutor):
    """Partitions in files: those that are in memory come first, before others take their place."""

    def __init__(
        self,
        partitions: list[Partition],
        units: Units,
        first_rows: NDArray[np.intp],
        threads: int,
        *,
        loaded: ByteLRU,
        rows: RowCache,
        report: ReportProgress,
    ) -> None:
        super().__init__(partitions, units, first_rows, threads)
        self._loaded = loaded
        self._rows = rows
        self._report = report

    def run(
        self, calls: Mapping[int, PartitionCall[R]], combine: Combine[R] | None = None
    ) -> dict[int, R]:
        """Run calls, each on its own partition; return the results."""
        found: dict[int, R] = {}
        order = sorted(calls, key=lambda part: part not in self._loaded)

        def work(first: int, last: int) -> None:
            for part in order[first:last]:
                found[part] = calls[part](self.partitions[part])

        method = next(iter(calls.values())).method
        if len(calls) == 1 or method not in READS:
            work(0, len(order))
        else:
            report = self._report if method in PASSES else _say_nothing
            threads = min(self.threads, len(order))
            run_in_threads(len(order), threads, work, report, PASSES.get(method, ""))
        return {part: found[part] for part in calls}

    def remember(self, rows: NDArray[np.intp], X: NDArray[np.float64]) -> None:
        """Keep rows that were drawn: they are looked at soon."""
        self._rows.remember(rows, X)


def _say_nothing(what: str, share: float) -> None:
    """Tell nobody; as a report, it has a pass cut into more and smaller pieces."""


def _ahead(
    parts: int, load: Callable[[int], NDArray[np.floating]]
) -> Iterator[NDArray[np.floating]]:
    """Yield one partition after another, and read the next one meanwhile."""
    with ThreadPoolExecutor(1, thread_name_prefix="samekind-read") as pool:
        coming = pool.submit(load, 0)
        for part in range(parts):
            X = coming.result()
            if part + 1 < parts:
                coming = pool.submit(load, part + 1)
            yield X
            del X
