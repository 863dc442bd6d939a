"""Tables in memory and in Parquet files, which are read a block of rows at a time.

What is learnt about a table (what its columns hold, medians, means, labels) is learnt by mapping a
function over its blocks and joining the results in order. Blocks have the same rows in memory and in
files, so the results are the same.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from glob import glob
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, TypeVar

import numpy as np
import pandas as pd

from samekind.data.picture_paths import natural
from samekind.data.readers import PARQUET_SUFFIXES, Array, Place, check_declared, plain_place
from samekind.errors import DataError, no_such_file

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "FrameTable",
    "ParquetTable",
    "Table",
    "Tick",
    "file_state",
    "find_files",
    "inspect_parquet",
    "is_pattern",
    "row_blocks",
    "silent",
]

T = TypeVar("T")
Table: TypeAlias = "FrameTable | ParquetTable"
Tick: TypeAlias = Callable[[str, int, int], object]
"""Is told the stage of the work, how much of it is done, and of how much."""

BLOCK_VALUES = 2**20  # of a block
BATCH_ROWS, BATCH_BYTES = 2**16, 2**22  # that are decoded at once, at most
_HIDDEN = (".", "_")  # how the names of files begin that are no data
_PANDAS_INDEX = re.compile(r"__index_level_\d+__")  # how pandas names the index that it writes


def silent(stage: str, done: int, total: int) -> None:
    """Tell nobody."""


def row_blocks(n: int, d: int) -> Iterator[slice]:
    """Cut n rows of d values into blocks."""
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
    fingerprint: Callable[[], str] = str
    """Returns a text that changes when the file does."""
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

    def map(self, function: Callable[[pd.DataFrame], T], columns: Sequence[str]) -> Iterator[T]:
        """Yield what a function returns for each block of these columns, in order."""
        chosen = self.frame if list(columns) == self.columns else self.frame[list(columns)]
        for rows in row_blocks(self.n, len(columns)):
            block = chosen.iloc[rows]
            if self.array is not None and not self.array.dtype.isnative:
                block = block.astype(self.array.dtype.newbyteorder("="))
            yield function(block)

    def view(self, row: int) -> dict[str, object]:
        """Return the cells of a row, as they stand in the file."""
        return {str(name): self.frame[name].iloc[row] for name in self.frame.columns}

    def take(self, rows: Array) -> FrameTable:
        """Return some of the rows."""
        array = None if self.array is None else self.array[rows]
        return replace(self, frame=self.frame.iloc[rows].reset_index(drop=True), array=array)


class _ParquetFile(NamedTuple):
    """What a file says about itself, and its size and time of change when it was asked."""

    path: Path
    types: dict[str, pa.DataType]
    """By column."""
    group_rows: list[int]
    """How many rows each row group has."""
    state: tuple[int, int]


class ParquetTable:
    """The rows of some Parquet files with the same columns, of which some are read at a time.

    `tick` is told how far a pass over all rows is.
    """

    has_blanks = True

    def __init__(self, name: str, files: Sequence[Path], tick: Tick = silent) -> None:
        self.name = name
        self.files = list(files)
        self._tick = tick
        self._infos = [inspect_parquet(path) for path in files]
        self._ends = np.cumsum([sum(info.group_rows) for info in self._infos])
        self.n = int(self._ends[-1])
        self.columns = [name for name in self._infos[0].types if not _PANDAS_INDEX.fullmatch(name)]
        if not self.n:
            which = (
                files[0] if len(files) == 1 else f"the {len(files):,} files, {files[0]} and others,"
            )
            verb = "has" if len(files) == 1 else "have"
            raise DataError(f"{which} {verb} no rows. Points need at least one.")
        _check_same_columns(self._infos, self.columns)
        if not self.columns:
            raise DataError(f"{name} has no columns.")
        self.notes = [] if len(files) == 1 else [f"{len(files):,} files are read as one table"]

    def fingerprint(self) -> str:
        """Return a text that changes when a file does."""
        return repr([(str(info.path), info.state) for info in self._infos])

    def place(self, row: int) -> str:
        """Say where a row stands, for a message about it."""
        number, own = self._file_of(row)
        if len(self._infos) == 1:
            return plain_place(row)
        return f"{plain_place(row)} ({plain_place(own)} of {self._infos[number].path})"

    def map(self, function: Callable[[pd.DataFrame], T], columns: Sequence[str]) -> Iterator[T]:
        """Yield what a function returns for each block of these columns, in order."""
        wanted = list(columns)
        batches = (batch for info in self._infos for batch in _frames(info, wanted))
        have = next(batches)
        waiting, count, read = [have], len(have), len(have)
        for rows in row_blocks(self.n, len(wanted)):
            size = rows.stop - rows.start
            while count < size:
                waiting.append(next(batches))
                count += len(waiting[-1])
                read += len(waiting[-1])
                self._tick("reading", read, self.n)
            have = _joined(waiting)
            waiting, count = [have.iloc[size:]], count - size
            yield function(have.iloc[:size])

    def load(self) -> FrameTable:
        """Return all rows of all columns, in memory."""
        frame = _joined(list(self.map(lambda block: block, self.columns)))
        return FrameTable(self.name, frame, self.place, self.notes, self.fingerprint)

    def view(self, row: int) -> dict[str, object]:
        """Return the cells of a row, as they stand in the file; only its row group is decoded."""
        number, own = self._file_of(row)
        info = self._infos[number]
        ends = np.cumsum(info.group_rows)
        group = int(ends.searchsorted(own, side="right"))
        first = int(ends[group]) - info.group_rows[group]
        for block in _frames(info, self.columns, [group]):
            if own < first + len(block):
                return {str(name): value for name, value in block.iloc[own - first].items()}
            first += len(block)
        raise AssertionError("a row group has as many rows as it says")

    def _file_of(self, row: int) -> tuple[int, int]:
        """Return the number of a row's file, and the row's number in it."""
        number = int(self._ends.searchsorted(row, side="right"))
        return number, row - int(self._ends[number - 1] if number else 0)


def _joined(frames: list[pd.DataFrame]) -> pd.DataFrame:
    return frames[0] if len(frames) == 1 else pd.concat(frames, ignore_index=True)


def is_pattern(source: str | Path) -> bool:
    """Return whether this is a pattern such as ``folder/*.parquet``, and no file of that name."""
    return any(sign in str(source) for sign in "*?[") and not Path(source).exists()


def find_files(source: Path) -> list[Path]:
    """Return the files of a path, of a folder and those in it, or of a pattern, in order."""
    if is_pattern(source):
        found = sorted(map(Path, glob(str(source), recursive=True)), key=_by_number)
        files = [file for one in found for file in (_within(one) if one.is_dir() else [one])]
        if not files:
            raise FileNotFoundError(
                f"no file matches {str(source)!r}. Paths start at the folder that the program was started in."
            )
        return list(dict.fromkeys(files))
    if source.is_dir():
        files = _within(source)
        if not files:
            raise FileNotFoundError(
                f"there is no Parquet file in the folder {source}: none ends in "
                f"{', '.join(PARQUET_SUFFIXES)}."
            )
        return files
    if not source.exists():
        raise no_such_file(source)
    return [source]


def _within(folder: Path) -> list[Path]:
    """Return the Parquet files in a folder and below, without hidden ones and notes like _SUCCESS."""
    found = []
    for parent, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(_HIDDEN)]
        found += [
            Path(parent, name)
            for name in names
            if name.lower().endswith(PARQUET_SUFFIXES) and not name.startswith(_HIDDEN)
        ]
    return sorted(found, key=_by_number)


def _by_number(path: Path) -> list[tuple[list[str | int], str]]:
    """Order part.2.parquet before part.10.parquet."""
    return [natural(part) for part in path.parts]


def file_state(path: Path) -> tuple[int, int]:
    """Return the size of a file and when it was changed."""
    found = path.stat()
    return found.st_size, found.st_mtime_ns


def inspect_parquet(path: Path) -> _ParquetFile:
    """Return what a file says about itself; refuse one that is damaged, or far larger than it looks."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        state = file_state(path)
        with pq.ParquetFile(path) as opened:
            schema, about = opened.schema_arrow, opened.metadata
            rows = [about.row_group(group).num_rows for group in range(about.num_row_groups)]
            stored = sum(about.row_group(g).total_byte_size for g in range(about.num_row_groups))
    except (pa.ArrowException, OSError) as error:
        raise _cannot_read(path, error) from error
    if any(count < 0 for count in rows):
        raise _cannot_read(path, ValueError("a row group has a negative number of rows"))
    # Equal values take next to no room in the file, and eight bytes each once they are read.
    check_declared(path, max(stored, 8 * sum(rows) * len(schema.names)))
    if len(set(schema.names)) < len(schema.names):
        twice = next(name for name in schema.names if schema.names.count(name) > 1)
        raise DataError(f"{path} has several columns named {twice!r}. Rename them.")
    return _ParquetFile(path, dict(zip(schema.names, schema.types, strict=True)), rows, state)


def _cannot_read(path: Path, error: BaseException) -> DataError:
    reason = str(error).splitlines()[0].rstrip(".") if str(error) else type(error).__name__
    return DataError(
        f"{path} is not a Parquet file that can be read ({reason}). Perhaps it was not written to its "
        "end, or damaged since: write it again, or leave it out."
    )


def _check_same_columns(files: Sequence[_ParquetFile], names: list[str]) -> None:
    """Raise an error if a file lacks one of these columns of the first, or has others."""
    for info in files:
        what = ""
        if missing := [name for name in names if name not in info.types]:
            what = f"has no column {missing[0]!r}"
        own = [name for name in info.types if not _PANDAS_INDEX.fullmatch(name)]
        if not what and (more := [name for name in own if name not in files[0].types]):
            what = f"has also a column {more[0]!r}"
        if what:
            raise DataError(
                f"{info.path} {what}, unlike {files[0].path}. Files that are read together need the same "
                "columns: leave the file out, or write it anew."
            )


def _frames(
    info: _ParquetFile, columns: list[str], groups: list[int] | None = None
) -> Iterator[pd.DataFrame]:
    """Yield columns of a file, some rows at a time, whatever the size of its row groups."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    if not sum(info.group_rows):
        return
    size = max(1, min(BATCH_ROWS, BATCH_BYTES // (8 * len(columns))))
    try:
        if file_state(info.path) != info.state:
            raise DataError(f"{info.path} was changed while it was in use. Start again.")
        with pq.ParquetFile(info.path) as opened:
            for batch in opened.iter_batches(size, row_groups=groups, columns=columns):
                yield pa.Table.from_batches([batch]).to_pandas(ignore_metadata=True)[columns]
    except (pa.ArrowException, OSError) as error:
        raise _cannot_read(info.path, error) from error
