"""Data that stay in their files: which columns are used, and the labels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from samekind.errors import DataError

if TYPE_CHECKING:
    import pandas as pd

    from samekind.points import ArrayPoints, StreamedPoints
    from samekind.points.sources.parquet_files import ColumnChoice, ParquetFileInfo
    from samekind.points.threads import ReportProgress

__all__ = ["LARGE", "StreamedTable", "choose_parquet", "is_large", "is_many", "open_points"]

LARGE = 2**30  # bytes of values from which on data stay in their files
COUNTED = 20  # rows from which on a column of 0, 1, 2, … numbers them
PIECE = 2**18  # labels of an array that are looked at together


@dataclass(frozen=True, repr=False, eq=False)
class StreamedTable:
    """The points of files, as :func:`open_points` returns them.

    Attributes
    ----------
    points : StreamedPoints or ArrayPoints
        The features.
    labels : pandas.Categorical or None
        The label column, where one was named.
    feature_names : list of str
        A name for each column.
    notes : list of str
        What was done with the columns, for a person to read.
    source : str
        What was read.
    """

    points: StreamedPoints | ArrayPoints
    labels: pd.Categorical[Any] | None
    feature_names: list[str]
    notes: list[str]
    source: str

    def summary(self) -> str:
        """Return a few lines that say what was read and what was done with it."""
        n, d = self.points.n, self.points.d
        lines = [f"{self.source}: {n:,} points, {d:,} feature{'s' * (d != 1)}, read as needed"]
        if self.labels is not None:
            lines.append(f"  labels of {len(self.labels.categories):,} kinds")
        return "\n".join(lines + [f"  {note}" for note in self.notes])


def is_many(path: Path) -> bool:
    """Return whether a path is a folder, or a pattern of several files."""
    from samekind.points.sources.parquet_files import is_pattern

    return is_pattern(path) or path.is_dir()


def is_large(path: Path) -> bool:
    """Return whether a file had better stay where it is: of ``.npy`` and Parquet files only."""
    if not path.is_file():
        return False
    if path.suffix.lower() == ".npy":
        return path.stat().st_size >= LARGE
    if path.suffix.lower() == ".parquet":
        from samekind.points.sources.parquet_files import inspect_files

        (leaf,) = inspect_files([path])
        return leaf.n_rows * len(leaf.types) * 8 >= LARGE
    return False


def open_points(
    path: str | Path,
    *,
    labels: str | None = None,
    columns: Sequence[str] | None = None,
    exclude: Sequence[str] = (),
    standardize: bool = True,
    report: ReportProgress | None = None,
) -> StreamedTable:
    """Open a ``.npy`` or Parquet file, a folder of Parquet files or a pattern, and load none of it.

    Parameters
    ----------
    path : str or Path
        What to open.
    labels : str or None
        Name of the column that holds the labels.
    columns, exclude : sequence of str
        The columns to use, and those not to use. Columns that are no numbers, and one that only numbers
        the rows, are left out, and a note says so.
    standardize : bool
        Give each column mean 0 and variance 1, whenever rows are read.
    report : callable or None
        Is told about the progress of passes over all rows.

    Returns
    -------
    StreamedTable

    Examples
    --------
    >>> import tempfile, pathlib, pandas as pd
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> table = pd.DataFrame({"height": [1.0, 2.0], "kind": ["rose", "iris"], "name": ["Ann", "Bob"]})
    >>> table.to_parquet(folder / "flowers.parquet")
    >>> table = open_points(folder, labels="kind", standardize=False)
    >>> table.feature_names, table.labels.tolist()
    (['height'], ['rose', 'iris'])
    >>> table.notes
    ['1 numeric column kept', "column 'name' left out: it holds texts"]
    """
    path = Path(path).expanduser()
    if path.suffix.lower() == ".npy" and not is_many(path):
        return _open_array(path, labels, columns, exclude, standardize, report)
    return _open_parquet(path, labels, columns, exclude, standardize, report)


def _open_parquet(
    path: Path,
    labels: str | None,
    columns: Sequence[str] | None,
    exclude: Sequence[str],
    standardize: bool,
    report: ReportProgress | None,
) -> StreamedTable:
    from samekind.points import StreamedPoints
    from samekind.points.sources.parquet import ParquetReader

    leaves, chosen, notes = choose_parquet(path, labels, columns, exclude)
    reader = ParquetReader(leaves, chosen)
    y = None
    if labels is not None:
        y = _categories(_labels_of(reader, labels), int(reader.first_rows[-1]), labels, str(path))
    points = StreamedPoints(reader, standardize=standardize, report=report)
    return _table(points, y, chosen.names, notes, path)


def choose_parquet(
    path: Path, labels: str | None, columns: Sequence[str] | None, exclude: Sequence[str]
) -> tuple[list[ParquetFileInfo], ColumnChoice, list[str]]:
    """Return the files, the columns of them to use, and notes on these for a person to read."""
    from samekind.datasets._columns import choose_columns
    from samekind.errors import no_such_column
    from samekind.points.sources.parquet_files import (
        choose_numbers,
        find_files,
        inspect_files,
        type_in_words,
    )

    leaves = inspect_files(find_files(path))
    names = list(leaves[0].types)
    if labels is not None and labels not in names:
        raise no_such_column(str(path), "labels", labels, names)
    choose_columns(str(path), names, labels=labels, columns=columns, exclude=exclude)
    counted = [] if columns is not None else _row_number_columns(leaves)
    counted = [name for name in counted if name != labels and name not in exclude]
    without = [*exclude, *counted, *([] if labels is None else [labels])]
    chosen = choose_numbers(leaves, columns, without, skip=True)
    files = "" if len(leaves) == 1 else f", of {len(leaves):,} files"
    notes = [f"{_numeric(len(chosen.names))} kept{files}"]
    notes += [
        f"column {name!r} left out: it holds {type_in_words(leaves[0].types[name])}"
        for name in chosen.left_out
    ]
    notes += [f"column {name!r} left out: it only numbers the rows" for name in counted]
    return leaves, chosen, notes


def _row_number_columns(leaves: Sequence[ParquetFileInfo]) -> list[str]:
    """Return the columns that only number the rows, from 0 or 1, as far as the files tell."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    ranges: dict[str, list[tuple[int, int]]] = {
        name: [] for name, kind in leaves[0].types.items() if pa.types.is_integer(kind)
    }
    for leaf in leaves:
        footer = pq.read_metadata(leaf.path)
        flat = [footer.schema.column(k).path for k in range(footer.num_columns)]
        for group in (footer.row_group(k) for k in range(footer.num_row_groups)):
            for name in [name for name in ranges if group.num_rows]:
                told = group.column(flat.index(name)).statistics if name in flat else None
                if (
                    told is None
                    or not told.has_min_max
                    or told.max - told.min != group.num_rows - 1
                ):
                    del ranges[name]
                else:
                    ranges[name].append((told.min, told.max))
    return [
        name
        for name, ends in ranges.items()
        if ends
        and ends[0][0] in (0, 1)
        and all(low == high + 1 for (_, high), (low, _) in pairwise(ends))
        and ends[-1][1] - ends[0][0] + 1 >= COUNTED
    ]


def _open_array(
    path: Path,
    labels: str | None,
    columns: Sequence[str] | None,
    exclude: Sequence[str],
    standardize: bool,
    report: ReportProgress | None,
) -> StreamedTable:
    from samekind.datasets import _files
    from samekind.datasets._columns import choose_columns
    from samekind.errors import no_such_column
    from samekind.points import ArrayPoints, MappedPoints

    matrix = _files.read_matrix(path, _files.file_kind(path))
    X, names = matrix.X, matrix.names
    if labels is not None and labels not in names:
        raise no_such_column(str(path), "labels", labels, names)
    used = choose_columns(str(path), names, labels=labels, columns=columns, exclude=exclude)
    if not used:
        raise DataError(f"{path} has no column left to be used as a feature.")
    y = None
    if labels is not None:
        column = names.index(labels)
        pieces = (X[first : first + PIECE, column] for first in range(0, len(X), PIECE))
        y = _categories(map(_coded, pieces), len(X), labels, str(path))
    plain = X.dtype.kind == "f" and X.dtype.itemsize in (4, 8) and X.dtype.isnative
    points: StreamedPoints | ArrayPoints
    if plain and not standardize and used == names and X.flags.c_contiguous:
        points = ArrayPoints(X, report=report)
    else:
        places = [names.index(name) for name in used]
        points = MappedPoints(X, used, places, standardize=standardize, report=report)
    return _table(points, y, used, [f"{_numeric(len(used))} kept"], path)


def _table(
    points: StreamedPoints | ArrayPoints,
    labels: pd.Categorical[Any] | None,
    names: list[str],
    notes: list[str],
    path: Path,
) -> StreamedTable:
    from samekind.datasets._table import scaling_notes

    scaling = getattr(points, "scaling", None)
    if scaling is not None:
        notes = notes + scaling_notes(scaling, names)
    return StreamedTable(points, labels, names, notes, str(path))


def _numeric(count: int) -> str:
    return f"{count} numeric column{'s' * (count != 1)}"


Coded = tuple[NDArray[Any], list[Any]]
"""Some codes, -1 where there is no value, and what they stand for."""


def _labels_of(reader: Any, name: str) -> Iterable[Coded]:
    import pyarrow as pa

    for file in range(len(reader.files)):
        for batch in reader.batches(file, None, [name]):
            column = batch.column(name)
            if not pa.types.is_dictionary(column.type):
                column = column.dictionary_encode()
            codes = column.indices.fill_null(-1).to_numpy(zero_copy_only=False)
            yield codes, column.dictionary.to_pylist()


def _coded(values: NDArray[Any]) -> Coded:
    found, codes = np.unique(values, return_inverse=True)
    return codes, found.tolist()


def _categories(pieces: Iterable[Coded], n: int, name: str, source: str) -> pd.Categorical[Any]:
    """Put pieces of labels together; none may be missing."""
    import pandas as pd

    number_of: dict[Any, int] = {}
    codes = np.empty(n, dtype=np.int32)
    end = 0
    for some, values in pieces:
        start, end = end, end + len(some)
        missing = [k for k, value in enumerate(values) if value is None or value != value]
        absent = (some < 0) | np.isin(some, missing)
        if absent.any():
            row = start + int(absent.argmax())
            raise DataError(
                f"{source}: the label column {name!r} has no value in row {row + 1:,}. Fill it in, or "
                "remove the row."
            )
        number = partial(_number, number_of)
        codes[start:end] = np.array([number(value) for value in values], dtype=np.int32)[some]
    return pd.Categorical.from_codes(codes, categories=pd.Index(list(number_of)))


def _number(numbers: dict[Any, int], value: Any) -> int:
    return numbers.setdefault(value, len(numbers))
