"""Rows of Parquet files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from samekind.errors import DataError
from samekind.points.arrays import Matrix, Rows
from samekind.points.sources.caches import empty_in_own_memory
from samekind.points.sources.parquet_files import (
    ParquetFileInfo,
    cannot_read,
    choose_numbers,
    file_state,
    find_files,
    inspect_files,
)
from samekind.points.sources.streamed import CACHE, StreamedPoints
from samekind.points.threads import ReportProgress

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

__all__ = ["ParquetPoints", "ParquetReader"]

JOINED_ROWS = 2**17  # row groups are joined up to so many rows,
JOINED_BYTES = 2**24  # and bytes
BATCH_ROWS, BATCH_BYTES = 2**16, 2**22  # what is decoded at once, at most
FOOTERS = 16  # of files that are kept
BETWEEN = 0.3  # seconds until what Arrow keeps for later is given back to the system

RowGroups: TypeAlias = tuple[int, list[int]]
"""The number of a file, and row groups of it that follow each other."""


class ParquetReader:
    """Reads some columns of Parquet files; a partition is one large row group, or some small ones."""

    def __init__(
        self, files: Sequence[ParquetFileInfo], names: list[str], dtype: np.dtype[np.floating]
    ) -> None:
        self.names = names
        self.dtype = dtype
        self.files = [info.path for info in files]
        self._states = [info.state for info in files]
        self._first_in_file = np.cumsum([0, *(info.n_rows for info in files)])
        self._parts, sizes = _join(files, len(names) * dtype.itemsize)
        self.first_rows: Rows = np.cumsum([0, *sizes], dtype=np.intp)
        self._released = 0.0
        self._footer: Callable[[Path], pq.FileMetaData] = lru_cache(FOOTERS)(_read_footer)

    def load(self, part: int) -> Matrix:
        """Return the rows of a partition."""
        import pyarrow as pa

        n = int(self.first_rows[part + 1] - self.first_rows[part])
        X = empty_in_own_memory(n, len(self.names), self.dtype)
        end = 0
        for piece in self._parts[part]:
            for batch in self._batches(*piece, self.names):
                start, end = end, end + batch.num_rows
                for j, name in enumerate(self.names):
                    X[start:end, j] = _numbers(batch.column(name))
                del batch
        if monotonic() - self._released > BETWEEN:  # each time would take longer than to decode
            self._released = monotonic()
            pa.default_memory_pool().release_unused()
        return X

    def tables(self, part: int, columns: list[str]) -> Iterator[pa.Table]:
        """Yield some columns of a partition, be they numbers or not, a table for each of its files."""
        import pyarrow as pa

        for piece in self._parts[part]:
            yield pa.Table.from_batches(list(self._batches(*piece, columns)))

    def place(self, row: int) -> str:
        """Say where a row stands."""
        if len(self.files) == 1:
            return ""
        file = int(self._first_in_file.searchsorted(row, side="right")) - 1
        return f"row {row - self._first_in_file[file]} of {self.files[file]}"

    def _batches(
        self, file: int, groups: list[int], columns: list[str]
    ) -> Iterator[pa.RecordBatch]:
        """Yield columns of row groups of a file, some rows at a time.

        Not by a scanner of pyarrow.dataset: it decodes more at once, and takes twice the memory and time.
        """
        import pyarrow as pa
        import pyarrow.parquet as pq

        path = self.files[file]
        try:
            if file_state(path) != self._states[file]:
                raise DataError(f"{path} was changed while it was in use. Start again.")
            with pq.ParquetFile(path, metadata=self._footer(path)) as opened:
                size = max(1, min(BATCH_ROWS, BATCH_BYTES // (8 * len(columns))))
                yield from opened.iter_batches(size, row_groups=groups, columns=columns)
        except (pa.ArrowException, OSError) as error:
            raise cannot_read(path, error) from error


class ParquetPoints(StreamedPoints):
    """Rows of Parquet files, which are not loaded whole.

    Parameters
    ----------
    source : str, Path or list of these
        A file, a folder with Parquet files (also in folders within), a pattern such as
        ``"data/*.parquet"``, or a list of these. Files are taken in the order of their names, in which
        numbers count as numbers: part.2.parquet comes before part.10.parquet.
    columns : sequence of str or None
        The columns to use; None uses all, which must be numbers then.
    threads : int or None
        Threads for passes over all rows; None takes every core. Results do not depend on it.
    cache : int
        Bytes of decoded rows to keep for the next time they are needed. A row group that is larger is
        kept alone.
    report : callable or None
        Is told what is done, and the share of it that is done already, in passes over all rows.

    Attributes
    ----------
    feature_names : list of str
        The names of the columns.

    Results are those of the same rows in an array, bit for bit. In memory are, beside the cache, some 13 to
    30 bytes a row. Values are float32 if every column is, or holds only booleans or integers of at most 16
    bits, else float64.

    Examples
    --------
    >>> import tempfile, pathlib, pandas as pd
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> for part in range(3):
    ...     table = pd.DataFrame({"x": [0.0, 1.0, 2.0], "y": [part, part, part]})
    ...     table.to_parquet(folder / f"part.{part}.parquet")
    >>> points = ParquetPoints(folder)
    >>> points.n, points.feature_names
    (9, ['x', 'y'])
    >>> points.rows(np.array([0, 8]))
    array([[0., 0.],
           [2., 2.]])
    """

    def __init__(
        self,
        source: str | Path | Sequence[str | Path],
        columns: Sequence[str] | None = None,
        *,
        threads: int | None = None,
        cache: int = CACHE,
        report: ReportProgress | None = None,
    ) -> None:
        if isinstance(columns, str):
            raise TypeError(f"columns must be a list of names, got {columns!r}: [{columns!r}]?")
        files = inspect_files(find_files(source))
        reader = ParquetReader(files, *choose_numbers(files, columns))
        super().__init__(reader, threads=threads, cache=cache, report=report)


def _read_footer(path: Path) -> pq.FileMetaData:
    import pyarrow.parquet as pq

    return pq.read_metadata(path)


def _join(
    files: Sequence[ParquetFileInfo], row_bytes: int
) -> tuple[list[list[RowGroups]], list[int]]:
    """Return the partitions, large row groups and small ones joined, even over files; and their rows."""
    most = max(1, min(JOINED_ROWS, JOINED_BYTES // row_bytes))
    parts: list[list[RowGroups]] = []
    sizes: list[int] = []
    for file, info in enumerate(files):
        for group, rows in enumerate(info.group_rows):
            if not rows:
                continue
            if not sizes or sizes[-1] + rows > most:
                parts.append([])
                sizes.append(0)
            if not parts[-1] or parts[-1][-1][0] != file:
                parts[-1].append((file, []))
            parts[-1][-1][1].append(group)
            sizes[-1] += rows
    return parts, sizes


def _numbers(column: pa.Array) -> NDArray[np.number]:
    """Return a column as an array; NaN where there is no value."""
    import pyarrow as pa

    if pa.types.is_boolean(column.type) or pa.types.is_decimal(column.type):
        column = column.cast(pa.float64())
    values: NDArray[np.number] = column.to_numpy(zero_copy_only=False)
    return values
