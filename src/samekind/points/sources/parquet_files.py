"""Which Parquet files a user means, and whether they fit together."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from glob import glob
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from samekind.errors import DataError, no_such_column, no_such_file

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "ParquetFileInfo",
    "cannot_read",
    "check_same_columns",
    "choose_numbers",
    "file_state",
    "find_files",
    "inspect_files",
    "is_pattern",
    "type_in_words",
]

SUFFIXES = (".parquet", ".parq", ".pq")
HIDDEN = (".", "_")  # how files begin that are no data
SMALL_TYPES = ("float", "halffloat", "bool", "int8", "int16", "uint8", "uint16")
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


def find_files(source: str | Path | Sequence[str | Path]) -> list[Path]:
    """Return the files of a path, a folder and those in it, a pattern, or a list of these, in order."""
    if isinstance(source, str | os.PathLike):
        return _files_of(source)
    if not isinstance(source, Iterable):
        raise TypeError(f"source must be a path, a pattern or a list of paths, got {source!r}.")
    files = [file for one in source for file in _files_of(one)]
    if not files:
        raise ValueError("source is an empty list. Name at least one Parquet file.")
    return files


def _files_of(source: str | Path) -> list[Path]:
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


def choose_numbers(
    files: Sequence[ParquetFileInfo], columns: Sequence[str] | None
) -> tuple[list[str], np.dtype[np.floating]]:
    """Return the columns to use, these or all, and the type of all of them together."""
    first = files[0]
    if columns is None:
        names = [name for name in first.types if not PANDAS_INDEX.fullmatch(name)]
        check_same_columns(files, names)
    else:
        names = list(columns)
        for name in names:
            if name not in first.types:
                raise no_such_column(str(first.path), "columns", name, list(first.types))
        if not names or len(set(names)) < len(names):
            raise DataError(f"columns must name at least one column, and each once, got {names!r}.")
        for info in files:
            if missing := [name for name in names if name not in info.types]:
                raise _differs(info, first, f"has no column {missing[0]!r}")
    texts = [name for name in names if not _is_number(first.types[name])]
    if texts:
        raise _no_numbers(first, texts, [name for name in names if name not in texts])
    if not names:
        raise DataError(f"{first.path} has no column of numbers that can be used.")
    for info in files:
        for name in names:
            if not _is_number(info.types[name]):
                what = f"has {type_in_words(info.types[name])} in column {name!r}, not numbers"
                raise _differs(info, first, what)
    small = all(str(info.types[name]) in SMALL_TYPES for info in files for name in names)
    return names, np.dtype(np.float32 if small else np.float64)


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
        "columns: choose those that all have with columns=[…], or leave the file out."
    )


def _no_numbers(info: ParquetFileInfo, texts: list[str], numbers: list[str]) -> DataError:
    shown = ", ".join(f"{name!r} ({type_in_words(info.types[name])})" for name in texts[:10])
    shown += ", …" if len(texts) > 10 else ""
    listed = ", ".join(map(repr, numbers[:10])) + (", …" if len(numbers) > 10 else "")
    advice = "Turn them into numbers first."
    if numbers:
        advice = f"Choose columns of numbers: columns=[{listed}]."
    are = "a column that is" if len(texts) == 1 else "columns that are"
    return DataError(f"{info.path} has {are} not of numbers: {shown}. {advice}")


def type_in_words(kind: pa.DataType) -> str:
    """Say what a column that is not of numbers holds."""
    import pyarrow as pa

    of = pa.types
    if of.is_dictionary(kind):
        kind = kind.value_type
    if of.is_string(kind) or of.is_large_string(kind) or of.is_string_view(kind):
        return "texts"
    return "dates and times" if of.is_temporal(kind) else f"values of type {kind}"


def _is_number(kind: pa.DataType) -> bool:
    import pyarrow as pa

    of = pa.types
    return bool(
        of.is_floating(kind) or of.is_integer(kind) or of.is_boolean(kind) or of.is_decimal(kind)
    )
