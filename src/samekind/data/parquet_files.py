"""Parquet files: which ones a user means, whether they fit together, and their rows part by part."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from glob import glob
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from samekind.errors import DataError, Parameter, no_such_file

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "PANDAS_INDEX",
    "ParquetParts",
    "check_same_columns",
    "file_state",
    "find_files",
    "inspect_files",
    "is_pattern",
]

SUFFIXES = (".parquet", ".parq", ".pq")
HIDDEN = (".", "_")  # how files begin that are no data
JOINED_ROWS, JOINED_VALUES = 2**17, 2**21  # up to which row groups are joined
BATCH_ROWS, BATCH_BYTES = 2**16, 2**22  # that are decoded at once, at most
PANDAS_INDEX = re.compile(r"__index_level_\d+__")  # how pandas names the index that it writes


class ParquetFileInfo(NamedTuple):
    """What a file says about itself, and its size and time of change when it was asked."""

    path: Path
    types: dict[str, pa.DataType]
    """By column."""
    group_rows: list[int]
    """How many rows each row group has."""
    state: tuple[int, int]

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return sum(self.group_rows)


def is_pattern(source: str | Path) -> bool:
    """Return whether this is a pattern such as ``folder/*.parquet``, and no file of that name."""
    return any(sign in str(source) for sign in "*?[") and not Path(source).exists()


def find_files(source: str | Path) -> list[Path]:
    """Return the files of a path, a folder and those in it, or a pattern, in order."""
    path = Path(source).expanduser()
    if is_pattern(path):
        found = sorted(map(Path, glob(str(path), recursive=True)), key=_by_number)
        files = [file for one in found for file in (_within(one) if one.is_dir() else [one])]
        if not files:
            raise FileNotFoundError(
                f"no file matches {str(path)!r}. Paths start at the folder that the program was started in."
            )
        return list(dict.fromkeys(files))
    if path.is_dir():
        files = _within(path)
        if not files:
            raise FileNotFoundError(
                f"there is no Parquet file in the folder {path}: none ends in {', '.join(SUFFIXES)}."
            )
        return files
    if not path.exists():
        raise no_such_file(path)
    return [path]


def _within(folder: Path) -> list[Path]:
    """Return the Parquet files in a folder and in those within; not hidden ones, nor notes like _SUCCESS."""
    found = []
    for parent, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(HIDDEN)]
        found += [
            Path(parent, name)
            for name in names
            if name.lower().endswith(SUFFIXES) and not name.startswith(HIDDEN)
        ]
    return sorted(found, key=_by_number)


def _by_number(path: Path) -> list[list[tuple[int, str]]]:
    """Order part.2.parquet before part.10.parquet, as those who wrote them mean it."""
    return [
        [(int(word), "") if word.isdecimal() else (-1, word) for word in re.split(r"(\d+)", part)]
        for part in path.parts
    ]


def inspect_files(files: Sequence[Path]) -> list[ParquetFileInfo]:
    """Return what the files say about themselves; raise if one cannot be read, or if there are no rows."""
    found = [_inspect(path) for path in files]
    if not sum(info.n_rows for info in found):
        which = files[0] if len(files) == 1 else f"the {len(files):,} files, {files[0]} and others,"
        verb = "has" if len(files) == 1 else "have"
        raise DataError(f"{which} {verb} no rows. Points need at least one.")
    return found


def _inspect(path: Path) -> ParquetFileInfo:
    import pyarrow as pa
    from pyarrow import dataset, fs

    try:
        state = file_state(path)
        fragment = dataset.ParquetFileFormat().make_fragment(str(path), fs.LocalFileSystem())
        schema, rows = fragment.physical_schema, [group.num_rows for group in fragment.row_groups]
    except (pa.ArrowException, OSError) as error:
        raise cannot_read(path, error) from error
    if len(set(schema.names)) < len(schema.names):
        twice = next(name for name in schema.names if schema.names.count(name) > 1)
        raise DataError(f"{path} has several columns named {twice!r}. Rename them.")
    types = dict(zip(schema.names, schema.types, strict=True))
    return ParquetFileInfo(path, types, rows, state)


def file_state(path: Path) -> tuple[int, int]:
    """Return the size of a file and when it was changed."""
    found = path.stat()
    return found.st_size, found.st_mtime_ns


def cannot_read(path: Path, error: BaseException) -> DataError:
    """Say that a file cannot be read, and why."""
    reason = str(error).splitlines()[0].rstrip(".") if str(error) else type(error).__name__
    return DataError(
        f"{path} is not a Parquet file that can be read ({reason}). Perhaps it was not written to its "
        "end, or damaged since: write it again, or leave it out."
    )


def check_same_columns(files: Sequence[ParquetFileInfo], names: list[str]) -> None:
    """Raise an error if a file lacks one of these columns of the first, or has others."""
    for info in files:
        own = [name for name in info.types if not PANDAS_INDEX.fullmatch(name)]
        if missing := [name for name in names if name not in info.types]:
            raise _differs(info, files[0], f"has no column {missing[0]!r}")
        if more := [name for name in own if name not in files[0].types]:
            raise _differs(info, files[0], f"has also a column {more[0]!r}")


def _differs(info: ParquetFileInfo, first: ParquetFileInfo, what: str) -> DataError:
    return DataError(
        f"{info.path} {what}, unlike {first.path}. Files that are read together need the same "
        "columns: choose those that all have with ",
        Parameter("columns"),
        ", or leave the file out.",
    )


class ParquetParts:
    """The rows of some Parquet files in parts: a large row group, or some small ones."""

    def __init__(self, files: Sequence[ParquetFileInfo], n_columns: int) -> None:
        self._files = files
        self._parts: list[list[tuple[int, list[int]]]] = []  # files by number, and row groups
        sizes: list[int] = []
        most = max(1, min(JOINED_ROWS, JOINED_VALUES // n_columns))
        for number, info in enumerate(files):
            for group, rows in enumerate(info.group_rows):
                if not rows:
                    continue
                if not sizes or sizes[-1] + rows > most:
                    self._parts.append([])
                    sizes.append(0)
                if not self._parts[-1] or self._parts[-1][-1][0] != number:
                    self._parts[-1].append((number, []))
                self._parts[-1][-1][1].append(group)
                sizes[-1] += rows
        self.first_rows = np.cumsum([0, *sizes], dtype=np.intp)
        """The number of each part's first row, and of one past the last."""

    def tables(self, part: int, columns: list[str]) -> Iterator[pa.Table]:
        """Yield some columns of a part, a table for each of its files."""
        import pyarrow as pa

        for number, groups in self._parts[part]:
            yield pa.Table.from_batches(list(_batches(self._files[number], groups, columns)))


def _batches(
    info: ParquetFileInfo, groups: list[int], columns: list[str]
) -> Iterator[pa.RecordBatch]:
    """Yield columns of row groups of a file, some rows at a time.

    A scanner of pyarrow.dataset decodes more at once, and takes twice the memory and time.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        if file_state(info.path) != info.state:
            raise DataError(f"{info.path} was changed while it was in use. Start again.")
        with pq.ParquetFile(info.path) as opened:
            size = max(1, min(BATCH_ROWS, BATCH_BYTES // (8 * len(columns))))
            yield from opened.iter_batches(size, row_groups=groups, columns=columns)
    except (pa.ArrowException, OSError) as error:
        raise cannot_read(info.path, error) from error
