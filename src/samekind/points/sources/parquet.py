"""Rows of Parquet files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from samekind.errors import DataError
from samekind.points.sources.byte_lru import empty_in_own_memory
from samekind.points.sources.parquet_files import (
    ColumnChoice,
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


class RowGroupRange(NamedTuple):
    """Row groups of one file that follow each other."""

    file: int
    first: int
    """The number of the first row."""
    row_in_file: int
    groups: list[int]
    n: int


class ParquetReader:
    """Reads some columns of Parquet files; a partition is one large row group, or some small ones."""

    def __init__(self, files: Sequence[ParquetFileInfo], chosen: ColumnChoice) -> None:
        self.names = chosen.names
        self.dtype = chosen.dtype
        self.files = [info.path for info in files]
        self._states = [info.state for info in files]
        self._parts = _join(files, len(chosen.names) * chosen.dtype.itemsize)
        ends = np.cumsum([0, *(sum(piece.n for piece in part) for part in self._parts)])
        self.first_rows: NDArray[np.intp] = ends.astype(np.intp)
        self._released = 0.0
        self._footer = lru_cache(FOOTERS)(self._read_footer)

    def load(self, part: int) -> NDArray[np.floating]:
        """Return the rows of a partition."""
        import pyarrow as pa

        n = int(self.first_rows[part + 1] - self.first_rows[part])
        X = empty_in_own_memory(n, len(self.names), self.dtype)
        end = 0
        for piece in self._parts[part]:
            for batch in self.batches(piece.file, piece.groups, self.names):
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
            yield pa.Table.from_batches(list(self.batches(piece.file, piece.groups, columns)))

    def place(self, row: int) -> str:
        """Say where a row stands."""
        part = self._parts[int(self.first_rows.searchsorted(row, side="right")) - 1]
        piece = next(piece for piece in reversed(part) if piece.first <= row)
        if len(self.files) == 1:
            return ""
        return f"row {row - piece.first + piece.row_in_file} of {self.files[piece.file]}"

    def batches(
        self, file: int, groups: list[int] | None, columns: list[str]
    ) -> Iterator[pa.RecordBatch]:
        """Yield columns of some or all row groups of a file, some rows at a time.

        Not by a scanner of pyarrow.dataset: it decodes more at once, and takes twice the memory and time.
        """
        import pyarrow as pa
        import pyarrow.parquet as pq

        path = self.files[file]
        try:
            if file_state(path) != self._states[file]:
                raise DataError(f"{path} was changed while it was in use. Start again.")
            with pq.ParquetFile(path, metadata=self._footer(file)) as opened:
                size = max(1, min(BATCH_ROWS, BATCH_BYTES // (8 * len(columns))))
                yield from opened.iter_batches(size, row_groups=groups, columns=columns)
        except (pa.ArrowException, OSError) as error:
            raise cannot_read(path, error) from error

    def _read_footer(self, file: int) -> pq.FileMetaData:
        import pyarrow.parquet as pq

        return pq.read_metadata(self.files[file])


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
        super().__init__(
            ParquetReader(files, choose_numbers(files, columns)),
            threads=threads,
            cache=cache,
            report=report,
        )


def _join(files: Sequence[ParquetFileInfo], row_bytes: int) -> list[list[RowGroupRange]]:
    """Return the partitions: large row groups, and small ones joined, even over files."""
    most = max(1, min(JOINED_ROWS, JOINED_BYTES // row_bytes))
    parts: list[list[RowGroupRange]] = []
    first = 0
    size = most  # of the last partition
    for file, info in enumerate(files):
        row_in_file = 0
        for group, rows in enumerate(info.group_rows):
            if not rows:
                continue
            if size + rows > most:
                parts.append([])
                size = 0
            pieces = parts[-1]
            if pieces and pieces[-1].file == file:
                last = pieces.pop()
                pieces.append(last._replace(groups=[*last.groups, group], n=last.n + rows))
            else:
                pieces.append(RowGroupRange(file, first, row_in_file, [group], rows))
            first += rows
            row_in_file += rows
            size += rows
    return parts


def _numbers(column: pa.Array) -> NDArray[np.number]:
    """Return a column as an array; NaN where there is no value."""
    import pyarrow as pa

    if pa.types.is_boolean(column.type) or pa.types.is_decimal(column.type):
        column = column.cast(pa.float64())
    values: NDArray[np.number] = column.to_numpy(zero_copy_only=False)
    return values
