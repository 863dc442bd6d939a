"""From a file to a table of named columns, or to an array."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from samekind.datasets._csv import (
    COMPRESSIONS,
    DECOMPRESSION_ERRORS,
    damaged,
    line_of_row,
    open_text,
    read_csv,
    wrong_encoding,
)
from samekind.errors import DataError, did_you_mean

_TEXT_SUFFIXES = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
}
_BINARY_SUFFIXES = {".parquet": "parquet", ".npy": "npy", ".npz": "npz"}
_POINT_KEYS = ("X", "data")
_NAME_KEYS = ("feature_names", "col_names")


@dataclass
class Records:
    """A table of named columns, and how to tell a person where one of its rows is."""

    frame: pd.DataFrame
    place: Callable[[int], str]
    notes: list[str] = field(default_factory=list)


@dataclass
class Matrix:
    """An array of points with a name for each column, and what else its file holds."""

    X: NDArray[Any]
    names: list[str]
    others: dict[str, NDArray[Any]] = field(default_factory=dict)


def file_kind(path: Path) -> str:
    """Tell the kind of a file from its suffix, and check that it is there."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    compressed = bool(suffixes) and suffixes[-1] in COMPRESSIONS
    suffix = "".join(suffixes[-2:-1] if compressed else suffixes[-1:])
    kind = _TEXT_SUFFIXES.get(suffix) or (None if compressed else _BINARY_SUFFIXES.get(suffix))
    if kind is None and (suffix or path.is_file()):
        known = ", ".join([*_TEXT_SUFFIXES, *_BINARY_SUFFIXES])
        given = repr("".join(path.suffixes[-2:] if compressed else path.suffixes[-1:]))
        raise DataError(
            f"{path} has a suffix that is not known: {given}. Known are {known}; the text formats "
            f"also with {', '.join(COMPRESSIONS)} after it."
        )
    if path.is_dir():
        raise DataError(f"{path} is a folder. Name a file in it.")
    if not path.exists():
        folder = path.parent
        there = [other.name for other in folder.iterdir()] if folder.is_dir() else []
        raise FileNotFoundError(
            f"{path} does not exist.{did_you_mean(path.name, there)} Paths start at the folder "
            "that the program was started in."
        )
    assert kind is not None
    return kind


def read_records(path: Path, kind: str, *, header: bool, labels: str | None) -> Records:
    """Read a CSV, TSV, JSON lines or Parquet file."""
    if kind == "parquet":
        records = _read_parquet(path)
    elif kind == "jsonl":
        records = _read_jsonl(path)
    else:
        given = "\t" if kind == "tsv" else None
        frame, separator = read_csv(path, separator=given, header=header, labels=labels)

        def place(row: int) -> str:
            line = line_of_row(path, separator, header, row)
            return f"row {row + 1:,}" + (f" (line {line:,})" if line else "")

        notes = ["columns are separated by ';'"] if separator == ";" else []
        records = Records(frame, place, notes)
    if records.frame.shape[1] == 0:
        raise DataError(f"{path} has no columns.")
    if len(records.frame) == 0:
        raise DataError(f"{path} has column names but no rows. Add a row for each point.")
    return records


def _read_parquet(path: Path) -> Records:
    from pyarrow import ArrowException

    try:
        frame = pd.read_parquet(path)
    except (ArrowException, OSError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise DataError(f"{path} is not a Parquet file that can be read ({reason}).") from error
    if any(name is not None for name in frame.index.names):
        frame = frame.reset_index()  # pandas hides a column of the file there
    frame.columns = pd.Index([str(name) for name in frame.columns])
    if not frame.columns.is_unique:
        twice = frame.columns[frame.columns.duplicated()][0]
        raise DataError(f"{path} has several columns named {twice!r}. Rename them.")
    return Records(frame, _plain_place)


def _read_jsonl(path: Path) -> Records:
    rows: list[dict[str, Any]] = []
    lines: list[int] = []
    try:
        with open_text(path) as file:
            for number, line in enumerate(file, 1):
                if not line.strip():
                    continue
                row = json.loads(line)
                if not isinstance(row, dict):
                    raise DataError(
                        f"{path}, line {number:,}: expected an object such as "
                        f'{{"height": 1.8}}, got {line.strip()[:60]!r}.'
                    )
                rows.append(row)
                lines.append(number)
    except UnicodeDecodeError as error:
        raise wrong_encoding(path, error) from error
    except json.JSONDecodeError as error:
        raise DataError(
            f"{path}, line {number:,}: not JSON ({error.msg} at column {error.colno}). Every line "
            "must hold one object."
        ) from error
    except DECOMPRESSION_ERRORS as error:
        raise damaged(path, error) from error
    if not rows:
        raise DataError(f"{path} is empty. It needs one JSON object on a line for each point.")
    return Records(pd.DataFrame(rows), lambda row: f"row {row + 1:,} (line {lines[row]:,})")


def _plain_place(row: int) -> str:
    return f"row {row + 1:,}"


def read_matrix(path: Path, kind: str) -> Matrix:
    """Read a NumPy file; a ``.npy`` is mapped into memory, not read."""
    if kind == "npy":
        X = _load(path, lambda: np.load(path, mmap_mode="r", allow_pickle=False))
        return _matrix(path, X, None, {})

    def read_all() -> dict[str, NDArray[Any]]:
        # Opened here, for numpy.load leaves a damaged file open.
        with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
            return {key: archive[key] for key in archive.files}

    arrays = _load(path, read_all)
    key = next((key for key in _POINT_KEYS if key in arrays), None)
    if key is None and len(arrays) == 1:
        (key,) = arrays
    if key is None:
        holds = ", ".join(map(repr, arrays)) or "nothing"
        raise DataError(
            f"{path} has no array named 'X' or 'data'; it holds {holds}. Save the points as X: "
            "numpy.savez(path, X=X, y=y)."
        )
    X = arrays.pop(key)
    names = next((arrays.pop(key) for key in _NAME_KEYS if key in arrays), None)
    return _matrix(path, X, names, arrays)


def _load(path: Path, read: Callable[[], Any]) -> Any:
    try:
        return read()
    except (ValueError, EOFError, zipfile.BadZipFile) as error:
        objects = any(word in str(error) for word in ("allow_pickle", "Python objects"))
        if objects and _looks_like_numpy(path):
            raise DataError(
                f"{path} holds Python objects, which are not read because reading them can run "
                "code. Save an array of numbers."
            ) from error
        reason = str(error).splitlines()[0] if str(error) and not objects else "not its format"
        raise DataError(f"{path} is not a NumPy file that can be read ({reason}).") from error


def _looks_like_numpy(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(6).startswith((b"\x93NUMPY", b"PK\x03\x04"))


def _matrix(
    path: Path, X: NDArray[Any], names: NDArray[Any] | None, others: dict[str, NDArray[Any]]
) -> Matrix:
    if X.dtype.kind not in "fiub":
        raise DataError(
            f"{path} holds an array of type {X.dtype}. Points must be numbers; a table with texts "
            "can be a CSV or Parquet file."
        )
    if X.ndim != 2:
        raise DataError(
            f"{path} holds an array of shape {X.shape}. Points must be rows × columns: reshape it, "
            "for one feature with X.reshape(-1, 1)."
        )
    if 0 in X.shape:
        raise DataError(f"{path} holds no points: its array has shape {X.shape}.")
    if names is not None and names.shape == (X.shape[1],):
        return Matrix(X, [str(name) for name in names], others)
    return Matrix(X, [f"x{i}" for i in range(X.shape[1])], others)
