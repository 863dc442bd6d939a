"""Read CSV and TSV files, and say on which line of the file something is wrong."""

from __future__ import annotations

import bz2
import csv
import gzip
import itertools
import lzma
import warnings
import zlib
from collections.abc import Callable, Container, Generator, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import IO

import pandas as pd

from samekind.errors import DataError, Parameter

MISSING = ["", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "null", "NULL", "None"]

_OPENERS: dict[str, Callable[..., IO[str]]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
COMPRESSIONS = tuple(_OPENERS)
DECOMPRESSION_ERRORS = (OSError, EOFError, lzma.LZMAError, zlib.error)


def open_text(path: Path) -> IO[str]:
    """Open a text file, compressed or not, as UTF-8 with or without a byte order mark."""
    opener = _OPENERS.get(path.suffix.lower(), open)
    file: IO[str] = opener(path, "rt", encoding="utf-8-sig", newline="")
    return file


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Say why a text file cannot be read through; what the system refuses is passed on as it is."""
    try:
        yield
    except UnicodeDecodeError as error:
        raise DataError(
            f"{path} is not UTF-8 text (byte 0x{error.object[error.start]:02x}, {error.reason}). "
            "Save it as UTF-8: spreadsheets offer it as 'CSV UTF-8'."
        ) from error
    except (csv.Error, *DECOMPRESSION_ERRORS) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise DataError(f"{path} is damaged ({error}). Write it anew.") from error


def read_csv(
    path: Path,
    *,
    separator: str | None,
    header: bool,
    exact: Container[str] = (),
    as_text: bool = False,
) -> tuple[pd.DataFrame, str]:
    """Return the table and its separator; without `separator`, the first line tells it.

    In the columns `exact` only an empty cell is missing: the label "NA" may well stand for Namibia.
    With `as_text` no cell becomes a number: a postcode keeps its leading zeros.
    """
    with readable(path), warnings.catch_warnings():
        warnings.simplefilter("error", pd.errors.ParserWarning)
        separator = separator or _sniff_separator(path)
        with closing(_records(path, separator)) as records:
            _, first = next(records, (0, []))
        names = column_names(path, first, header=header, separator=separator)
        missing = {name: [""] if name in exact else MISSING for name in names}
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
                na_values=missing,
                dtype="str" if as_text else None,
            )
        except (pd.errors.ParserError, pd.errors.ParserWarning) as error:
            raise _ragged(path, separator, len(names), error) from error
    return frame, separator


def line_of_row(path: Path, separator: str, header: bool, row: int) -> int | None:
    """Find the line on which a row (from 0) begins; texts in quotes may span several lines."""
    try:
        for number, (line, _) in enumerate(_records(path, separator)):
            if number == row + header:
                return line
    except (csv.Error, *DECOMPRESSION_ERRORS):
        pass
    return None


def _records(path: Path, separator: str) -> Generator[tuple[int, list[str]]]:
    """Yield the records that are not blank, each with the line it begins on."""
    with open_text(path) as file:
        reader = csv.reader(file, delimiter=separator, skipinitialspace=True)
        line = 1
        for record in reader:
            if len(record) > 1 or any(field.strip() for field in record):
                yield line, record
            line = reader.line_num + 1


def _sniff_separator(path: Path) -> str:
    with open_text(path) as file:
        first = next((line for line in file if line.strip()), "")
    return next((separator for separator in ",;\t|" if separator in first), ",")


def column_names(path: Path, first: list[str], *, header: bool, separator: str = ",") -> list[str]:
    """Return the names of the columns: the first line of a table, or x0, x1, … where it has none."""
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
    """Whether all names are numbers; 0, 1, 2, … are the names of a table without any."""
    try:
        numbers = [float(name) for name in names]
    except ValueError:
        return False
    return any(after - before != 1 for before, after in itertools.pairwise(numbers))


def _ragged(path: Path, separator: str, expected: int, error: Exception) -> DataError:
    try:
        for line, record in _records(path, separator):
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
