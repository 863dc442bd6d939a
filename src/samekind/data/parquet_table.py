"""Parquet files as one table, of which some rows are read at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from samekind.data.files import plain_place
from samekind.data.tables import FrameTable, Tick, row_blocks, silent
from samekind.errors import DataError
from samekind.points.sources.parquet import ParquetReader
from samekind.points.sources.parquet_files import (
    PANDAS_INDEX,
    ColumnChoice,
    check_same_columns,
    inspect_files,
)

__all__ = ["LARGE", "ParquetTable", "is_large"]

T = TypeVar("T")

LARGE = 2**30  # bytes of values from which on a table stays in its files


class ParquetTable:
    """The rows of some Parquet files with the same columns.

    Parameters
    ----------
    name : str
        What the user calls it.
    files : sequence of Path
        The files, in order.
    tick : callable
        Is told how far a pass over all rows is.
    """

    has_blanks = True

    def __init__(self, name: str, files: Sequence[Path], tick: Tick = silent) -> None:
        self.name = name
        self.files = list(files)
        self.tick = tick
        self._infos = inspect_files(files)
        self.columns = [name for name in self._infos[0].types if not PANDAS_INDEX.fullmatch(name)]
        check_same_columns(self._infos, self.columns)
        if not self.columns:
            raise DataError(f"{name} has no columns.")
        self.notes = [] if len(files) == 1 else [f"{len(files):,} files are read as one table"]
        choice = ColumnChoice(self.columns, np.dtype(np.float64))
        self._reader = ParquetReader(self._infos, choice)
        self.first_rows: NDArray[np.intp] = self._reader.first_rows
        self.n = int(self.first_rows[-1])

    @property
    def fingerprint(self) -> str:
        """A text that changes when a file does."""
        return repr([(str(info.path), info.state) for info in self._infos])

    def place(self, row: int) -> str:
        """Say where a row stands."""
        first = 0
        for info in self._infos:
            if row < first + info.n_rows and len(self._infos) > 1:
                return f"{plain_place(row)} ({plain_place(row - first)} of {info.path})"
            first += info.n_rows
        return plain_place(row)

    def map(self, function: Callable[[pd.DataFrame], T], columns: Sequence[str]) -> Iterator[T]:
        """Yield what a function returns for each block of these columns."""
        waiting: list[pd.DataFrame] = []
        part = 0
        for rows in row_blocks(self.n, len(columns)):
            while self.first_rows[part] < rows.stop:
                waiting.append(self.read(part, columns))
                part += 1
                self.tick("reading", int(self.first_rows[part]), self.n)
            have = _joined(waiting)
            size = rows.stop - rows.start
            waiting = [have.iloc[size:]]
            yield function(have.iloc[:size])

    def read(self, part: int, columns: Sequence[str]) -> pd.DataFrame:
        """Return some columns of the rows of a part."""
        tables = self._reader.tables(part, list(columns))
        return _joined([table.to_pandas(ignore_metadata=True)[list(columns)] for table in tables])

    def load(self) -> FrameTable:
        """Return all rows of all columns, in memory."""
        frames = []
        for part, last in enumerate(self.first_rows[1:].tolist()):
            frames.append(self.read(part, self.columns))
            self.tick("reading", last, self.n)
        return FrameTable(
            self.name, _joined(frames), self.place, self.notes, fingerprint=self.fingerprint
        )

    def view(self, row: int) -> dict[str, object]:
        """Return the cells of a row."""
        part = int(self.first_rows.searchsorted(row, side="right")) - 1
        cells = self.read(part, self.columns).iloc[row - int(self.first_rows[part])]
        return {str(name): value for name, value in cells.items()}


def is_large(table: ParquetTable) -> bool:
    """Return whether the values of a table had better stay in their files."""
    return table.n * len(table.columns) * 8 >= LARGE


def _joined(frames: list[pd.DataFrame]) -> pd.DataFrame:
    return frames[0] if len(frames) == 1 else pd.concat(frames, ignore_index=True)
