"""Parquet files as one table, of which some rows are read at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np
import pandas as pd

from samekind.data.files import plain_place
from samekind.data.tables import FrameTable, Tick, row_blocks, silent
from samekind.errors import DataError
from samekind.points.sources.parquet_files import INDEX, Leaf, cannot_read, read_footers, state_of

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["ParquetTable", "is_large"]

T = TypeVar("T")

LARGE = 2**30  # bytes of values from which on a table stays in its files
PART_VALUES = 2**20  # values up to which row groups are joined to a part


class RowGroups(NamedTuple):
    """Row groups of one file that follow each other."""

    file: int
    groups: list[int]
    n: int


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
        self.tick = tick
        self._leaves = read_footers(files)
        _check_same(self._leaves)
        self.columns = [name for name in self._leaves[0].types if not INDEX.fullmatch(name)]
        if not self.columns:
            raise DataError(f"{name} has no columns.")
        self.notes = [] if len(files) == 1 else [f"{len(files):,} files are read as one table"]
        self._parts = self._joined()
        sizes = [sum(piece.n for piece in part) for part in self._parts]
        self.firsts = np.cumsum([0, *sizes]).astype(np.intp)
        self.n = int(self.firsts[-1])

    @property
    def files(self) -> list[Path]:
        """Where they are."""
        return [leaf.path for leaf in self._leaves]

    @property
    def schema(self) -> dict[str, pa.DataType]:
        """Return the types of the columns."""
        return {name: self._leaves[0].types[name] for name in self.columns}

    @property
    def fingerprint(self) -> str:
        """Return a text that changes when a file does."""
        return repr([(str(leaf.path), leaf.state) for leaf in self._leaves])

    def place(self, row: int) -> str:
        """Say where a row stands."""
        if len(self._leaves) == 1:
            return plain_place(row)
        first = 0
        for leaf in self._leaves:
            if row < first + sum(leaf.rows):
                return f"{plain_place(row)} (row {row - first + 1:,} of {leaf.path})"
            first += sum(leaf.rows)
        raise IndexError(row)

    def map(self, function: Callable[[pd.DataFrame], T], columns: Sequence[str]) -> Iterator[T]:
        """Yield what a function returns for each block of these columns."""
        waiting: list[pd.DataFrame] = []
        part = 0
        for rows in row_blocks(self.n, len(columns)):
            while self.firsts[part] < rows.stop:
                waiting.append(self.read(part, columns))
                part += 1
                self.tick("reading", int(self.firsts[part]), self.n)
            have = waiting[0] if len(waiting) == 1 else pd.concat(waiting, ignore_index=True)
            size = rows.stop - rows.start
            waiting = [have.iloc[size:]]
            yield function(have.iloc[:size])

    def read(self, part: int, columns: Sequence[str]) -> pd.DataFrame:
        """Return some columns of the rows of a part."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        tables = []
        for piece in self._parts[part]:
            leaf = self._leaves[piece.file]
            try:
                if state_of(leaf.path) != leaf.state:
                    raise DataError(f"{leaf.path} was changed while it was in use. Start again.")
                with pq.ParquetFile(leaf.path) as file:
                    tables.append(file.read_row_groups(piece.groups, columns=list(columns)))
            except (pa.ArrowException, OSError) as error:
                raise cannot_read(leaf.path, error) from error
        frames = [_to_pandas(table)[list(columns)] for table in tables]
        return frames[0] if len(frames) == 1 else pd.concat(frames, ignore_index=True)

    def load(self) -> FrameTable:
        """Return all rows of all columns, in memory."""
        frames = []
        for part in range(len(self._parts)):
            frames.append(self.read(part, self.columns))
            self.tick("reading", int(self.firsts[part + 1]), self.n)
        frame = frames[0] if len(frames) == 1 else pd.concat(frames, ignore_index=True)
        return FrameTable(self.name, frame, self.place, self.notes, fingerprint=self.fingerprint)

    def view(self, row: int) -> dict[str, object]:
        """Return the cells of a row."""
        part = int(self.firsts.searchsorted(row, side="right")) - 1
        cells = self.read(part, self.columns).iloc[row - int(self.firsts[part])]
        return {str(name): value for name, value in cells.items()}

    def _joined(self) -> list[list[RowGroups]]:
        """Return the parts: large row groups, and small ones joined, even over files."""
        most = max(1, PART_VALUES // len(self.columns))
        parts: list[list[RowGroups]] = []
        size = most
        for number, leaf in enumerate(self._leaves):
            for group, rows in enumerate(leaf.rows):
                if not rows:
                    continue
                if size + rows > most:
                    parts.append([])
                    size = 0
                pieces, size = parts[-1], size + rows
                if pieces and pieces[-1].file == number:
                    last = pieces.pop()
                    pieces.append(RowGroups(number, [*last.groups, group], last.n + rows))
                else:
                    pieces.append(RowGroups(number, [group], rows))
        return parts


def is_large(table: ParquetTable) -> bool:
    """Return whether the values of a table had better stay in their files."""
    return table.n * len(table.columns) * 8 >= LARGE


def _to_pandas(table: pa.Table) -> pd.DataFrame:
    frame: pd.DataFrame = table.to_pandas(ignore_metadata=True)
    return frame


def _check_same(leaves: Sequence[Leaf]) -> None:
    first = leaves[0]
    for leaf in leaves:
        missing = [name for name in first.types if name not in leaf.types]
        more = [name for name in leaf.types if name not in first.types]
        if missing or more:
            what = f"has no column {missing[0]!r}" if missing else f"has also a column {more[0]!r}"
            raise DataError(
                f"{leaf.path} {what}, unlike {first.path}. Files that are read together need the "
                "same columns: leave the file out."
            )
