"""From one file to a table in memory, or to an array: what the suffix says, and what is wrong."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from samekind.data.csv_files import (
    COMPRESSIONS,
    MISSING,
    column_names,
    line_of_row,
    open_text,
    read_csv,
    readable,
)
from samekind.errors import DataError, did_you_mean, no_such_file

__all__ = ["Array", "Matrix", "Place", "Records", "file_format", "read_matrix", "read_records"]

T = TypeVar("T")
Array: TypeAlias = NDArray[Any]
Place: TypeAlias = Callable[[int], str]
"""Says where a row stands in its file, such as "row 3 (line 4)"."""
Records: TypeAlias = tuple[pd.DataFrame, Place, list[str]]
"""A table, how to tell a person where one of its rows is, and notes."""

TEXT_SUFFIXES = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
}
PARQUET_SUFFIXES = (".parquet", ".parq", ".pq")
ARRAY_SUFFIXES = (".npy", ".npz")
BINARY_SUFFIXES = {
    **dict.fromkeys(PARQUET_SUFFIXES, "parquet"),
    ".xlsx": "excel",
    ".xlsm": "excel",
    ".npy": "npy",
    ".npz": "npz",
}
SEPARATORS = {";": "';'", "\t": "tabs", "|": "'|'"}
_POINT_KEYS = ("X", "data")
_NAME_KEYS = ("feature_names", "col_names")


class Matrix(NamedTuple):
    """An array of points with a name for each column, and what else its file holds."""

    X: Array
    names: list[str]
    others: dict[str, Array]


def plain_place(row: int) -> str:
    """Return the number of a row as people count."""
    return f"row {row + 1:,}"


def file_format(path: Path) -> str:
    """Tell the format of a file from its suffix, and check that it is there."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    compressed = bool(suffixes) and suffixes[-1] in COMPRESSIONS
    suffix = "".join(suffixes[-2:-1] if compressed else suffixes[-1:])
    found = TEXT_SUFFIXES.get(suffix) or (None if compressed else BINARY_SUFFIXES.get(suffix))
    if found is None and (suffix or path.is_file()):
        known = ", ".join([*TEXT_SUFFIXES, *BINARY_SUFFIXES])
        given = repr("".join(path.suffixes[-2:] if compressed else path.suffixes[-1:]))
        raise DataError(
            f"{path} has a suffix that is not known: {given}. Known are {known}; the text formats "
            f"also with {', '.join(COMPRESSIONS)} after it."
        )
    if path.is_dir():
        raise DataError(f"{path} is a folder. Name a file in it.")
    if found is None or not path.exists():
        raise no_such_file(path)
    return found


def read_records(
    path: Path,
    form: str,
    *,
    header: bool,
    sheet: str | None,
    exact: Collection[str],
    as_text: bool = False,
) -> Records:
    """Read a CSV, TSV, JSON, JSON lines or Excel file; in the columns `exact`, "NA" is a text.

    With `as_text`, cells of a CSV or TSV stay texts.
    """
    if form == "jsonl":
        records = _read_jsonl(path)
    elif form == "json":
        records = _read_json(path)
    elif form == "excel":
        records = _read_excel(path, header, sheet, exact)
    else:
        given = "\t" if form == "tsv" else None
        frame, separator = read_csv(
            path, separator=given, header=header, exact=exact, as_text=as_text
        )

        def place(row: int) -> str:
            line = line_of_row(path, separator, header, row)
            return plain_place(row) + (f" (line {line:,})" if line else "")

        odd = given is None and separator in SEPARATORS
        notes = [f"columns are separated by {SEPARATORS[separator]}"] if odd else []
        records = frame, place, notes
    check_table(str(path), records[0])
    return records


def check_table(source: str, frame: pd.DataFrame) -> None:
    """Refuse a table without rows or columns, or with two columns of one name."""
    if frame.shape[1] == 0:
        raise DataError(f"{source} has no columns.")
    if len(frame) == 0:
        raise DataError(f"{source} has column names but no rows. Add a row for each point.")
    if not frame.columns.is_unique:
        twice = frame.columns[frame.columns.duplicated()][0]
        raise DataError(f"{source} has several columns named {twice!r}. Rename them.")


def _read_excel(path: Path, header: bool, sheet: str | None, exact: Collection[str]) -> Records:
    try:
        import openpyxl  # noqa: F401  (what pandas reads .xlsx with)
    except ImportError as error:
        raise DataError(
            f"{path} is an Excel file, which needs openpyxl. Install it: pip install "
            "'samekind[excel]', or save the sheet as CSV UTF-8."
        ) from error
    try:
        with pd.ExcelFile(path, engine="openpyxl") as book:
            sheets = [str(name) for name in book.sheet_names]
            if sheet is not None and sheet not in sheets:
                raise DataError(
                    f"{path} has no sheet {sheet!r}.{did_you_mean(sheet, sheets)} Its sheets are "
                    f"{', '.join(map(repr, sheets))}."
                )
            chosen = sheets[0] if sheet is None else sheet
            cells = pd.read_excel(
                book, sheet_name=chosen, header=None, keep_default_na=False, na_values=[""]
            )
    except DataError:
        raise
    except Exception as error:  # of openpyxl, zipfile and XML parsers, each with its own
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise DataError(f"{path} is not an Excel file that can be read ({reason}).") from error
    cells = cells.dropna(how="all").reset_index(drop=True)  # lines that only hold formatting
    first = ["" if pd.isna(value) else str(value) for value in cells.iloc[0]] if len(cells) else []
    names = column_names(path, first, header=header)
    frame = cells.iloc[1:].reset_index(drop=True).infer_objects() if header else cells
    frame.columns = pd.Index(names)
    for name in frame.columns.difference(list(exact)):
        frame[name] = frame[name].mask(frame[name].isin(MISSING)).infer_objects()
    others = ", the first" if sheet is None else ""
    notes = [f"read is the sheet {chosen!r}{others} of {len(sheets)}"] if len(sheets) > 1 else []
    return frame, plain_place, notes


def _read_json(path: Path) -> Records:
    found = _parsed(path, json.loads)
    fits = isinstance(found, list) and all(isinstance(row, dict) for row in found)
    if isinstance(found, dict):  # a list for each column
        lists = [value for value in found.values() if isinstance(value, list)]
        fits = len(lists) == len(found) and len({len(values) for values in lists}) == 1
    if fits:
        return pd.DataFrame(found), plain_place, []
    raise DataError(
        f'{path} must hold a list of objects, such as [{{"height": 1.8}}, …], or one object with a '
        "list of equal length for each column."
    )


def _read_jsonl(path: Path) -> Records:
    lines: list[int] = []

    def parse(text: str) -> list[dict[str, object]]:
        rows: list[dict[str, object]] = []
        for number, line in enumerate(text.split("\n"), 1):
            if not line.strip():
                continue
            where = f"{path}, line {number:,}"
            try:
                row = json.loads(line)
            except json.JSONDecodeError as error:
                what = f"{error.msg} at column {error.colno}"
                raise DataError(
                    f"{where}: not JSON ({what}). Every line must hold one object."
                ) from error
            if not isinstance(row, dict):
                got = repr(line.strip()[:60])
                raise DataError(
                    f'{where}: expected an object such as {{"height": 1.8}}, got {got}.'
                )
            rows.append(row)
            lines.append(number)
        return rows

    rows = _parsed(path, parse)
    return pd.DataFrame(rows), lambda row: f"{plain_place(row)} (line {lines[row]:,})", []


def _parsed(path: Path, parse: Callable[[str], T]) -> T:
    """Read a text file through and parse it."""
    with readable(path), open_text(path) as file:
        text = file.read()
    if not text.strip():
        raise DataError(f"{path} is empty. It needs a JSON object for each point.")
    try:
        return parse(text)
    except json.JSONDecodeError as error:
        raise DataError(
            f"{path}, line {error.lineno:,}: not JSON ({error.msg} at column {error.colno})."
        ) from error


def read_matrix(path: Path) -> Matrix:
    """Read a NumPy file; a ``.npy`` is mapped into memory, not read."""
    if path.suffix.lower() == ".npy":
        return _matrix(path, map_array(path), None, {})

    def read_all() -> dict[str, Array]:
        # Opened here, for numpy.load leaves a damaged file open.
        with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
            return {key: archive[key] for key in archive.files}

    arrays = _checked(path, read_all)
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


def map_array(path: Path) -> Array:
    """Map a ``.npy`` file into memory."""
    return _checked(path, lambda: np.load(path, mmap_mode="r", allow_pickle=False))


def _checked(path: Path, read: Callable[[], T]) -> T:
    try:
        return read()
    except (ValueError, EOFError, zipfile.BadZipFile) as error:
        objects = any(word in str(error) for word in ("allow_pickle", "Python objects"))
        with path.open("rb") as file:
            is_numpy = file.read(6).startswith((b"\x93NUMPY", b"PK\x03\x04"))
        if objects and is_numpy:
            raise DataError(
                f"{path} holds Python objects, which are not read because reading them can run "
                "code. Save an array of numbers."
            ) from error
        reason = str(error).splitlines()[0] if str(error) and not objects else "not its format"
        raise DataError(f"{path} is not a NumPy file that can be read ({reason}).") from error


def _matrix(path: Path, X: Array, names: Array | None, others: dict[str, Array]) -> Matrix:
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
    if names is None or names.shape != (X.shape[1],):
        return Matrix(X, [f"x{i}" for i in range(X.shape[1])], others)
    return Matrix(X, [str(name) for name in names], others)
