"""Read one file into a table or an array; errors name the file, and the line where there is one."""

from __future__ import annotations

import bz2
import csv
import gzip
import itertools
import json
import lzma
import warnings
import zipfile
import zlib
from collections.abc import Callable, Collection, Generator, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple, TypeAlias, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from samekind.errors import DataError, Parameter, did_you_mean, no_such_file

__all__ = [
    "ARRAY_SUFFIXES",
    "PARQUET_SUFFIXES",
    "Array",
    "Matrix",
    "Place",
    "Records",
    "check_declared",
    "check_table",
    "file_format",
    "map_array",
    "plain_place",
    "read_matrix",
    "read_records",
]

T = TypeVar("T")
Array: TypeAlias = NDArray[Any]
Place: TypeAlias = Callable[[int], str]
"""Says where a row stands in its file, such as "row 3 (line 4)"."""
Records: TypeAlias = tuple[pd.DataFrame, Place, list[str]]
"""A table, the place of each of its rows, and notes."""

PARQUET_SUFFIXES = (".parquet", ".parq", ".pq")
ARRAY_SUFFIXES = (".npy", ".npz")
_TEXT_SUFFIXES = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
}
_BINARY_SUFFIXES = {
    **dict.fromkeys(PARQUET_SUFFIXES, "parquet"),
    ".xlsx": "excel",
    ".xlsm": "excel",
    ".npy": "npy",
    ".npz": "npz",
}
_OPENERS: dict[str, Callable[..., IO[str]]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
_DECOMPRESSION_ERRORS = (OSError, EOFError, lzma.LZMAError, zlib.error)
_MISSING = ["", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "null", "NULL", "None"]
_SEPARATORS = {";": "';'", "\t": "tabs", "|": "'|'"}
_POINT_KEYS = ("X", "data")
_NAME_KEYS = ("feature_names", "col_names")

# A file may hold at most so many times its own size once it is decoded. Real tables stay below 100;
# the files that took all memory in tests declared 500 to 7,000 times their size.
MOST_TIMES = 300
HARMLESS_BYTES = 2**28  # of decoded data, which are read in any case
MOST_CELLS = 10_000_000  # of an Excel sheet: each is a Python object


class Matrix(NamedTuple):
    """An array of points with a name for each column, and the other arrays of its file."""

    X: Array
    names: list[str]
    others: dict[str, Array]


def plain_place(row: int) -> str:
    """Return the number of a row, counted from 1."""
    return f"row {row + 1:,}"


def file_format(path: Path) -> str:
    """Return the format that the suffix of a file stands for; the file must exist."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    compressed = bool(suffixes) and suffixes[-1] in _OPENERS
    suffix = "".join(suffixes[-2:-1] if compressed else suffixes[-1:])
    found = _TEXT_SUFFIXES.get(suffix) or (None if compressed else _BINARY_SUFFIXES.get(suffix))
    if found is None and (suffix or path.is_file()):
        known = ", ".join([*_TEXT_SUFFIXES, *_BINARY_SUFFIXES])
        given = repr("".join(path.suffixes[-2:] if compressed else path.suffixes[-1:]))
        raise DataError(
            f"{path} has a suffix that is not known: {given}. Known are {known}; the text formats "
            f"also with {', '.join(_OPENERS)} after it."
        )
    if path.is_dir():
        raise DataError(f"{path} is a folder. Name a file in it.")
    if found is None or not path.exists():
        raise no_such_file(path)
    return found


def check_declared(path: Path, size: int) -> None:
    """Refuse a file that declares far more data than its own size can honestly hold."""
    own = path.stat().st_size
    if size > max(HARMLESS_BYTES, MOST_TIMES * own):
        raise DataError(
            f"{path} has {own:,} bytes and declares {size:,} bytes of data, more than {MOST_TIMES} times "
            "its size: it is damaged, or made to fill the memory. It is not opened. If you trust it, save "
            "the data without compression, as .csv or .npy."
        )


def check_table(source: str, frame: pd.DataFrame) -> None:
    """Refuse a table without rows or columns, or with two columns of one name."""
    if frame.shape[1] == 0:
        raise DataError(f"{source} has no columns.")
    if len(frame) == 0:
        raise DataError(f"{source} has column names but no rows. Add a row for each point.")
    if not frame.columns.is_unique:
        twice = frame.columns[frame.columns.duplicated()][0]
        raise DataError(f"{source} has several columns named {twice!r}. Rename them.")


def read_records(
    path: Path,
    form: str,
    *,
    header: bool,
    sheet: str | None,
    exact: Collection[str],
    as_text: bool = False,
) -> Records:
    """Read a CSV, TSV, JSON, JSON lines or Excel file.

    In the columns `exact` only an empty cell is missing: the label "NA" may stand for Namibia.
    With `as_text` no cell of a CSV or TSV becomes a number: a postcode keeps its leading zeros.
    """
    if path.suffix.lower() == ".gz":
        with path.open("rb") as file:  # the last four bytes say how much was compressed
            file.seek(max(0, path.stat().st_size - 4))
            check_declared(path, int.from_bytes(file.read(), "little"))
    if form == "jsonl":
        records = _read_jsonl(path)
    elif form == "json":
        records = _read_json(path)
    elif form == "excel":
        records = _read_excel(path, header, sheet, exact)
    else:
        records = _read_csv(path, form, header, exact, as_text)
    check_table(str(path), records[0])
    return records


def _open_text(path: Path) -> IO[str]:
    """Open a text file, compressed or not, as UTF-8 with or without a byte order mark."""
    opener = _OPENERS.get(path.suffix.lower(), open)
    file: IO[str] = opener(path, "rt", encoding="utf-8-sig", newline="")
    return file


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Say why a text file cannot be decoded; errors of the system pass."""
    try:
        yield
    except UnicodeDecodeError as error:
        raise DataError(
            f"{path} is not UTF-8 text (byte 0x{error.object[error.start]:02x}, {error.reason}). "
            "Save it as UTF-8: spreadsheets offer it as 'CSV UTF-8'."
        ) from error
    except (csv.Error, *_DECOMPRESSION_ERRORS) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise DataError(f"{path} is damaged ({error}). Write it anew.") from error


def _read_csv(
    path: Path, form: str, header: bool, exact: Collection[str], as_text: bool
) -> Records:
    with _readable(path), warnings.catch_warnings():
        warnings.simplefilter("error", pd.errors.ParserWarning)
        separator = "\t" if form == "tsv" else _sniff_separator(path)
        with closing(_csv_records(path, separator)) as records:
            _, first = next(records, (0, []))
        names = _column_names(path, first, header=header, separator=separator)
        try:
            frame = pd.read_csv(
                path,
                sep=separator,
                header=0 if header else None,
                names=names,
                index_col=False,
                encoding="utf-8-sig",
                skipinitialspace=True,
                low_memory=False,
                keep_default_na=False,
                na_values={name: [""] if name in exact else _MISSING for name in names},
                dtype="str" if as_text else None,
            )
        except (pd.errors.ParserError, pd.errors.ParserWarning) as error:
            raise _ragged(path, separator, len(names), error) from error

    def place(row: int) -> str:
        line = _line_of_row(path, separator, row + header)
        return plain_place(row) + (f" (line {line:,})" if line else "")

    odd = form == "csv" and separator in _SEPARATORS
    return frame, place, [f"columns are separated by {_SEPARATORS[separator]}"] if odd else []


def _csv_records(path: Path, separator: str) -> Generator[tuple[int, list[str]]]:
    """Yield the records that are not blank, each with the line it begins on."""
    with _open_text(path) as file:
        reader = csv.reader(file, delimiter=separator, skipinitialspace=True)
        line = 1
        for record in reader:
            if len(record) > 1 or any(field.strip() for field in record):
                yield line, record
            line = reader.line_num + 1


def _line_of_row(path: Path, separator: str, number: int) -> int | None:
    """Return the line on which a record begins; texts in quotes may span several lines."""
    try:
        found = next(itertools.islice(_csv_records(path, separator), number, None), None)
    except (csv.Error, *_DECOMPRESSION_ERRORS):
        return None
    return None if found is None else found[0]


def _sniff_separator(path: Path) -> str:
    with _open_text(path) as file:
        first = next((line for line in file if line.strip()), "")
    return next((separator for separator in ",;\t|" if separator in first), ",")


def _column_names(path: Path, first: list[str], *, header: bool, separator: str = ",") -> list[str]:
    """Return the names of the columns: the first line of a table, or x0, x1, … without a header."""
    if not first:
        raise DataError(f"{path} is empty. It needs a line of column names, then a line per point.")
    if not header:
        return [f"x{i}" for i in range(len(first))]
    names = [name.strip() or f"column {i}" for i, name in enumerate(first, 1)]
    if _are_values(names):
        shown = separator.join(names[:6]) + (separator + "…" if len(names) > 6 else "")
        raise DataError(
            f"{path} seems to have no line of column names: its first line is {shown!r}. "
            "Add one, or pass ",
            *(Parameter("header", False), "."),
        )
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise DataError(
            f"{path} has several columns named {', '.join(map(repr, twice))}. Rename them so that "
            "every column has a name of its own."
        )
    return names


def _are_values(names: list[str]) -> bool:
    """Whether all names are numbers, except 0, 1, 2, …: those are names that pandas made up."""
    try:
        numbers = [float(name) for name in names]
    except ValueError:
        return False
    return any(after - before != 1 for before, after in itertools.pairwise(numbers))


def _ragged(path: Path, separator: str, expected: int, error: Exception) -> DataError:
    try:
        for line, record in _csv_records(path, separator):
            if len(record) > expected:
                return DataError(
                    f"{path}, line {line}: {len(record)} fields where the first line has "
                    f"{expected}. Put texts that contain {separator!r} in double quotes, or remove "
                    "what is too much."
                )
    except csv.Error:
        pass
    reason = str(error).removeprefix("Error tokenizing data. C error: ").strip()
    return DataError(f"{path} cannot be split into columns: {reason}. Check its quotes.")


def _read_excel(path: Path, header: bool, sheet: str | None, exact: Collection[str]) -> Records:
    try:
        import openpyxl
    except ImportError as error:
        raise DataError(
            f"{path} is an Excel file, which needs openpyxl. Install it: pip install "
            "'samekind[excel]', or save the sheet as CSV UTF-8."
        ) from error
    try:
        check_declared(path, _declared_in_zip(path))
        book = openpyxl.load_workbook(path, read_only=True, data_only=True, keep_links=False)
        with closing(book):
            sheets = [str(one.title) for one in book.worksheets]
            if sheet is not None and sheet not in sheets:
                raise DataError(
                    f"{path} has no sheet {sheet!r}.{did_you_mean(sheet, sheets)} Its sheets are "
                    f"{', '.join(map(repr, sheets))}."
                )
            chosen = sheets[0] if sheet is None else sheet
            rows = _excel_rows(path, book[chosen])
    except DataError:
        raise
    except Exception as error:  # of openpyxl, zipfile and XML parsers, each with its own
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise DataError(f"{path} is not an Excel file that can be read ({reason}).") from error
    first = ["" if value is np.nan else str(value) for value in rows[0]] if rows else []
    width = max(map(len, rows), default=0)
    names = _column_names(path, first + [""] * (width - len(first)), header=header)
    frame = pd.DataFrame(rows[1:] if header else rows, columns=range(width), dtype=object)
    frame = frame.infer_objects().set_axis(names, axis=1)
    for name in frame.columns.difference(list(exact)):
        frame[name] = frame[name].mask(frame[name].isin(_MISSING)).infer_objects()
    others = ", the first" if sheet is None else ""
    notes = [f"read is the sheet {chosen!r}{others} of {len(sheets)}"] if len(sheets) > 1 else []
    return frame, plain_place, notes


def _excel_rows(path: Path, sheet: Any) -> list[list[object]]:
    """Return the rows of a sheet that hold anything, each up to its last cell that does."""
    sheet.reset_dimensions()  # what the file says about them may be wrong
    rows: list[list[object]] = []
    cells = 0
    for row in sheet.iter_rows():
        values = [_excel_value(cell) for cell in row]
        while values and values[-1] is np.nan:
            values.pop()
        cells += len(values)
        if cells > MOST_CELLS:
            raise DataError(
                f"{path} has a sheet of more than {MOST_CELLS:,} cells, which is too large for this "
                "format. Save it as CSV UTF-8 or Parquet."
            )
        if values:
            rows.append(values)
    return rows


def _excel_value(cell: Any) -> object:
    value = cell.value
    if value is None or value == "" or cell.data_type == "e":  # "e": an error such as #DIV/0!
        return np.nan
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _declared_in_zip(path: Path) -> int:
    with path.open("rb") as file, zipfile.ZipFile(file) as archive:
        return sum(member.file_size for member in archive.infolist())


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
    with _readable(path), _open_text(path) as file:
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

    check_declared(path, _numpy(path, lambda: _declared_in_zip(path)))
    arrays = _numpy(path, read_all)
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
    return _numpy(path, lambda: np.load(path, mmap_mode="r", allow_pickle=False))


def _numpy(path: Path, read: Callable[[], T]) -> T:
    """Read from a NumPy file, and say what is wrong with it."""
    try:
        return read()
    except (ValueError, EOFError, MemoryError, zipfile.BadZipFile, zlib.error) as error:
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
