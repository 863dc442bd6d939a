"""Tables that are read a block of rows at a time, wherever their rows lie.

Whatever is learnt about a table (what its columns hold, medians, means, labels) is learnt by mapping a
function over its blocks and putting the results together in order. So tables in memory and in files are
treated alike.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from samekind.data.files import Array, Place, plain_place
from samekind.data.parquet_files import (
    PANDAS_INDEX,
    ParquetParts,
    check_same_columns,
    inspect_files,
)
from samekind.errors import DataError

__all__ = ["FrameTable", "ParquetTable", "Table", "Tick", "row_blocks", "silent"]

T = TypeVar("T")
Table: TypeAlias = "FrameTable | ParquetTable"
Tick: TypeAlias = Callable[[str, int, int], object]
"""Is told what is being done, how much of it is done, and of how much."""

BLOCK_VALUES = 2**20  # of a block


def silent(stage: str, done: int, total: int) -> None:
    """Tell nobody."""


def row_blocks(n: int, d: int) -> Iterator[slice]:
    """Cut n rows of d values into blocks. They are the same for memory and files, so sums are, too."""
    step = max(1, BLOCK_VALUES // max(1, d))
    for start in range(0, n, step):
        yield slice(start, min(start + step, n))


@dataclass
class FrameTable:
    """A table in memory; or an array, there or mapped from a file, in which NaN is a mistake."""

    name: str
    """What to call it in messages: its path."""
    frame: pd.DataFrame
    place: Place = plain_place
    notes: list[str] = field(default_factory=list)
    fingerprint: str = ""
    """A text that changes when the file does."""
    key: str | None = None
    """Under which the table may be kept beside a project."""
    array: Array | None = None
    """The array that the frame is a view of."""

    @classmethod
    def of_array(cls, name: str, X: Array, columns: list[str]) -> FrameTable:
        """Return an array with names for its columns."""
        return cls(name, pd.DataFrame(X, columns=columns, copy=False), array=X)

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return [str(name) for name in self.frame.columns]

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.frame)

    @property
    def has_blanks(self) -> bool:
        """Whether NaN stands for a missing value."""
        return self.array is None

    @property
    def first_rows(self) -> NDArray[np.intp]:
        """The first row of each part that `read` returns, and one past the last."""
        return np.array([*(r.start for r in row_blocks(*self.frame.shape)), self.n], dtype=np.intp)

    def read(self, part: int, columns: Sequence[str]) -> pd.DataFrame:
        """Return some columns of the rows of a part."""
        return self._block(slice(*self.first_rows[part : part + 2].tolist()), columns)

    def map(self, function: Callable[[pd.DataFrame], T], columns: Sequence[str]) -> Iterator[T]:
        """Yield what a function returns for each block of these columns, in order."""
        for rows in row_blocks(self.n, len(columns)):
            yield function(self._block(rows, columns))

    def view(self, row: int) -> dict[str, object]:
        """Return the cells of a row, as they stand in the file."""
        return {str(name): self.frame[name].iloc[row] for name in self.frame.columns}

    def _block(self, rows: slice, columns: Sequence[str]) -> pd.DataFrame:
        block = self.frame.iloc[rows]
        if list(columns) != self.columns:
            block = block[list(columns)]
        if self.array is not None and not self.array.dtype.isnative:
            block = block.astype(self.array.dtype.newbyteorder("="))
        return block


class ParquetTable:
    """The rows of some Parquet files with the same columns, of which some are read at a time.

    `tick` is told how far a pass over all rows is.
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
        self._parts = ParquetParts(self._infos, len(self.columns))
        self.first_rows = self._parts.first_rows
        self.n = int(self.first_rows[-1])

    @property
    def fingerprint(self) -> str:
        """A text that changes when a file does."""
        return repr([(str(info.path), info.state) for info in self._infos])

    def place(self, row: int) -> str:
        """Say where a row stands, for a message about it."""
        first = 0
        for info in self._infos:
            if row < first + info.n_rows and len(self._infos) > 1:
                return f"{plain_place(row)} ({plain_place(row - first)} of {info.path})"
            first += info.n_rows
        return plain_place(row)

    def read(self, part: int, columns: Sequence[str]) -> pd.DataFrame:
        """Return some columns of the rows of a part."""
        tables = self._parts.tables(part, list(columns))
        return _joined([table.to_pandas(ignore_metadata=True)[list(columns)] for table in tables])

    def map(self, function: Callable[[pd.DataFrame], T], columns: Sequence[str]) -> Iterator[T]:
        """Yield what a function returns for each block of these columns, in order."""
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

    def load(self) -> FrameTable:
        """Return all rows of all columns, in memory."""
        frame = _joined(list(self.map(lambda block: block, self.columns)))
        return FrameTable(self.name, frame, self.place, self.notes, self.fingerprint)

    def view(self, row: int) -> dict[str, object]:
        """Return the cells of a row, as they stand in the file."""
        part = int(self.first_rows.searchsorted(row, side="right")) - 1
        cells = self.read(part, self.columns).iloc[row - int(self.first_rows[part])]
        return {str(name): value for name, value in cells.items()}


def _joined(frames: list[pd.DataFrame]) -> pd.DataFrame:
    return frames[0] if len(frames) == 1 else pd.concat(frames, ignore_index=True)
