"""Points that are read from files when they are needed, a part at a time."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from samekind._validation import check_int, check_positive_int
from samekind.points.base import Points
from samekind.points.executor import LocalExecutor
from samekind.points.fixed_point import Extent, Frame
from samekind.points.kernels import streaming_stats as _fold
from samekind.points.partition import Part, scan
from samekind.points.scaling import Scaling
from samekind.points.sources.byte_lru import Shelf
from samekind.points.sources.row_cache import RowCache
from samekind.points.threads import ReportProgress, available_threads, split

__all__ = ["Reader", "StreamedPoints"]

CACHE = 2**28
LONG = {
    "begin": "Grouping and measuring the rows",
    "take": "Measuring distances",
    "labels": "Naming the rows",
    "nearest": "Finding the nearest centres",
}  # passes over the data, and what is said about them
READS = {"peek", "near", "locate", "rows", *LONG}  # what may have to read files


class Reader(Protocol):
    """Reads rows from files, part by part."""

    names: list[str]
    dtype: np.dtype[Any]
    """float32 or float64."""
    firsts: NDArray[np.intp]
    """The number of each part's first row, and of one past the last."""

    def load(self, part: int) -> NDArray[Any]:
        """Return the rows of a part, C-contiguous."""
        ...

    def place(self, row: int) -> str:
        """Say where a row stands, for a message about it; "" if there is nothing to say."""
        ...


class StreamedPoints(Points):
    """Rows that stay in files. Only what is known about each of them is in memory.

    Parameters
    ----------
    reader : Reader
        Reads them.
    standardize : bool
        Give each column mean 0 and variance 1, whenever rows are read; constant columns become 0.
    threads : int or None
        Threads for passes over all rows; None takes every core. Results do not depend on it.
    cache : int
        Bytes of rows to keep for the next time they are needed. A part that is larger is kept alone.
    report : callable or None
        Is told what is done, and the share of it that is done already, in passes over all rows.
    """

    def __init__(
        self,
        reader: Reader,
        *,
        standardize: bool = False,
        threads: int | None = None,
        cache: int = CACHE,
        report: ReportProgress | None = None,
    ) -> None:
        wanted = check_int("threads", threads, none="use every core")
        self.threads = available_threads() if wanted is None else wanted
        check_positive_int("cache", cache, minimum=0)
        self.report = report
        self.feature_names = list(reader.names)
        self.n, self.d = int(reader.firsts[-1]), len(reader.names)
        self.scaling: Scaling | None = None
        self._reader = reader
        self._shelf = Shelf(cache)
        self._rows = RowCache(self.d)
        extent, self._checksum, means, variances = self._read_all(standardize)
        if standardize:
            self.scaling, extent = _scaling(extent, means, variances, reader.dtype)
        self._frame = Frame.around(extent)
        self._executor: LocalExecutor | None = None

    def __repr__(self) -> str:
        parts = len(self._reader.firsts) - 1
        return (
            f"{type(self).__name__}({self.n:,} rows x {self.d} columns, {self._reader.dtype}, "
            f"{parts:,} part{'s' * (parts != 1)})"
        )

    @property
    def executor(self) -> LocalExecutor:
        """Who keeps what is known of the rows."""
        if self._executor is None:
            firsts = self._reader.firsts
            parts = [
                Part(partial(self._load, part), int(size), self._frame, resident=False)
                for part, size in enumerate(np.diff(firsts))
            ]
            self._executor = FileExecutor(
                parts,
                self._frame,
                firsts,
                self.threads,
                shelf=self._shelf,
                rows=self._rows,
                tell=self._tell,
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
        if self.scaling is not None:
            told.append("standardised")
        return hashlib.blake2b(repr(told).encode(), digest_size=16).hexdigest()

    def in_file_units(self, points: ArrayLike) -> NDArray[np.float64]:
        """Return points such as centres in the units of the files."""
        values = np.asarray(points, dtype=np.float64)
        if self.scaling is None:
            return values
        return self.scaling.in_file_units(values)

    def _tell(self, what: str, share: float) -> None:
        if self.report is not None:
            self.report(what, share)

    def _load(self, part: int) -> NDArray[Any]:
        size = int(self._reader.firsts[part + 1] - self._reader.firsts[part])
        return self._shelf.get(part, size * self.d * self._reader.dtype.itemsize, self._read)

    def _read(self, part: int) -> NDArray[Any]:
        X = self._reader.load(part)
        if self.scaling is not None:
            _fold.standardize(X, self.scaling.offset, self.scaling.scale)
        return X

    def _read_all(
        self, with_moments: bool
    ) -> tuple[Extent, int, NDArray[np.float64], NDArray[np.float64]]:
        """Read everything once: check the values; return extent, checksum, means and variances."""
        means, variances = np.zeros((2, self.d))
        words = np.uint32 if self._reader.dtype.itemsize == 4 else np.uint64
        checksum, count, extent = np.uint64(0), 0, None
        parts = len(self._reader.firsts) - 1
        # What will be standardised is of no use later as it is in the file.
        for part, X in enumerate(_ahead(parts, self._reader.load if with_moments else self._load)):
            first = int(self._reader.firsts[part])
            found = scan(X, self.threads, first, names=self.feature_names, place=self._reader.place)
            extent = found if extent is None else extent.join(found)
            checksum = np.uint64(_fold.fold(X.reshape(-1).view(words), checksum))
            if with_moments:
                count = _fold.moments(X, count, means, variances)
            self._tell("Reading the data", (first + len(X)) / self.n)
        assert extent is not None
        return extent, int(checksum), means, variances


class FileExecutor(LocalExecutor):
    """Parts in files: those that are in memory come first, before others take their place."""

    def __init__(
        self,
        parts: list[Part],
        frame: Frame,
        firsts: NDArray[np.intp],
        threads: int,
        *,
        shelf: Shelf,
        rows: RowCache,
        tell: ReportProgress,
    ) -> None:
        super().__init__(parts, frame, firsts, threads)
        self._shelf = shelf
        self._rows = rows
        self._tell = tell

    def ask(self, what: str, calls: Mapping[int, tuple[Any, ...]]) -> dict[int, Any]:
        """Call the method `what` of some parts, each with its own arguments; return the results."""
        found: dict[int, Any] = {}
        order = sorted(calls, key=lambda part: part not in self._shelf)

        def work(first: int, last: int) -> None:
            for part in order[first:last]:
                found[part] = getattr(self._parts[part], what)(*calls[part])

        if len(calls) == 1 or what not in READS:
            work(0, len(order))
        else:
            words = LONG.get(what, "")
            tell = self._tell if words else _say_nothing
            split(len(order), min(self._threads, len(order)), work, tell, words)
        if what == "locate":  # the rows that are drawn are looked at soon
            for part, drawn in found.items():
                self._rows.remember(drawn.rows + self.firsts[part], drawn.X)
        return {part: found[part] for part in calls}


def _say_nothing(what: str, share: float) -> None:
    """Tell nobody; as a report, it has a pass cut into more and smaller pieces."""


def _ahead(parts: int, load: Callable[[int], NDArray[Any]]) -> Iterator[NDArray[Any]]:
    """Yield one part after another, and read the next one meanwhile."""
    with ThreadPoolExecutor(1, thread_name_prefix="samekind-read") as pool:
        coming = pool.submit(load, 0)
        for part in range(parts):
            X = coming.result()
            if part + 1 < parts:
                coming = pool.submit(load, part + 1)
            yield X
            del X


def _scaling(
    extent: Extent,
    means: NDArray[np.float64],
    variances: NDArray[np.float64],
    dtype: np.dtype[Any],
) -> tuple[Scaling, Extent]:
    """Return how to standardise, and the extent of the data after it.

    Each step of it rounds, but none changes the order of two values: the smallest stays the smallest.
    """
    constant: NDArray[np.bool_] = extent.low == extent.high
    offset = np.where(constant, extent.low, means)
    scale = np.where(constant | (variances == 0), 1.0, np.sqrt(variances))
    ends = np.stack([extent.low, extent.high]).astype(dtype)
    _fold.standardize(ends, offset, scale)
    low, high = ends.astype(np.float64)
    return Scaling(offset, scale, constant), Extent(extent.n, low, high)
