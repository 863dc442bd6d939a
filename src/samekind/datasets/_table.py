"""Read a user's own file of points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from samekind._validation import check_positive_int
from samekind.datasets._standardize import Floats, row_chunks, standardize_columns
from samekind.errors import DataError, no_such_column
from samekind.points.scaling import Scaling

# pandas takes as long to import as all else together: the functions that need it import it.
if TYPE_CHECKING:
    import pandas as pd

    from samekind.datasets._files import Matrix


@dataclass(frozen=True, repr=False, eq=False)
class Table:
    """The points of a file, as :func:`read_points` returns them.

    Attributes
    ----------
    X : ndarray of shape (n, d)
        The features, float64 (float32 where the file is a float32 array).
    labels : ndarray of shape (n,) or None
        The label column, where one was named.
    feature_names : list of str
        A name for each column of X.
    frame : pandas.DataFrame or None
        The table as it stands in the file, labels included, to show to a person; None for NumPy
        files.
    notes : list of str
        What was done with the columns, for a person to read.
    source : str
        The path that was read.
    scaling : Scaling or None
        How the columns were standardised, if they were.
    """

    X: Floats
    labels: NDArray[Any] | None
    feature_names: list[str]
    frame: pd.DataFrame | None
    notes: list[str]
    source: str
    scaling: Scaling | None = None

    def __repr__(self) -> str:
        n, d = self.X.shape
        kinds = "" if self.labels is None else f", labels of {len(np.unique(self.labels)):,} kinds"
        return f"Table({self.source!r}: {n:,} points, {d:,} features{kinds})"

    def in_file_units(self, points: ArrayLike) -> NDArray[np.float64]:
        """Return points of X's kind, such as centres, in the units of the file."""
        values = np.asarray(points, dtype=np.float64)
        if self.scaling is None:
            return values
        return self.scaling.in_file_units(values)

    def summary(self) -> str:
        """Return a few lines that say what was read and what was done with it."""
        n, d = self.X.shape
        lines = [f"{self.source}: {n:,} points, {d:,} feature{'s' * (d != 1)}"]
        if self.labels is not None:
            lines.append(f"  labels of {len(np.unique(self.labels)):,} kinds")
        return "\n".join(lines + [f"  {note}" for note in self.notes])


def read_points(
    path: str | Path,
    *,
    labels: str | None = None,
    columns: Sequence[str] | str | None = None,
    exclude: Sequence[str] | str = (),
    standardize: bool = True,
    max_categories: int = 20,
    header: bool = True,
    fill_blanks: bool = False,
) -> Table:
    r"""Read the points of a CSV, TSV, JSON lines, Parquet, ``.npy`` or ``.npz`` file.

    Numeric columns are used as they are. Columns of few different texts are one-hot encoded.
    Columns of many different texts, dates, lists, and a column that only numbers the rows are left
    out, and a note says so. A value that is missing, infinite or no number, in a column that is
    otherwise numeric, is an error that names its place: no point is dropped or made up in silence.

    Parameters
    ----------
    path : str or Path
        The file. Text formats may be compressed (``.csv.gz``, ``.bz2``, ``.xz``). A ``.csv`` may
        be separated by commas or semicolons. Texts must be UTF-8.
    labels : str, default=None
        Name of the column that holds the labels; it never becomes a feature. In a ``.npz``, the
        name of an array. The columns of an array without names are x0, x1, ….
    columns : sequence of str, default=None
        The columns to use; None uses all that can be.
    exclude : sequence of str, default=()
        Columns not to use.
    standardize : bool, default=True
        Whether to give each column mean 0 and variance 1; the variances of the one-hot columns of
        one text column add up to 1, so that it weighs as much as a numeric one. Constant columns
        become 0.
    max_categories : int, default=20
        Columns with more different texts than this are left out. So are columns whose texts are
        all different: those are names, not kinds.
    header : bool, default=True
        Whether the first line of a CSV or TSV file holds the names of the columns. Without,
        they are x0, x1, ….
    fill_blanks : bool, default=False
        Whether missing numbers of a table are taken to be the median of their column, with a note,
        instead of being an error.

    Returns
    -------
    table : Table
        With ``X``, ``labels``, ``feature_names``, ``frame``, ``notes`` and ``source``. With
        ``standardize=False``, the X of a ``.npy`` of float32 or float64 in C order is a read-only
        memory map, whatever its size.

    Raises
    ------
    DataError
        A ValueError whose message says what is wrong, where, and what to do.
    FileNotFoundError
        If there is no such file.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from samekind.datasets import read_points
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "flowers.csv"
    >>> _ = path.write_text("name,height,colour,kind\n"
    ...                     "Ann,1,red,rose\nBob,2,red,rose\nCyd,3,blue,iris\n")
    >>> table = read_points(path, labels="kind", standardize=False)
    >>> table.feature_names
    ['height', 'colour=blue', 'colour=red']
    >>> table.X
    array([[1., 0., 1.],
           [2., 0., 1.],
           [3., 1., 0.]])
    >>> table.labels
    array(['rose', 'rose', 'iris'], dtype='<U4')
    >>> for note in table.notes:
    ...     print(note)
    1 numeric column kept
    column 'colour' one-hot encoded into 2 columns
    column 'name' left out: 3 different texts in 3 rows
    """
    from samekind.datasets import _columns, _files

    max_categories = check_positive_int("max_categories", max_categories, minimum=0)
    if labels is not None and not isinstance(labels, str):
        raise ValueError(f"labels must be the name of a column or None, got {labels!r}.")
    columns = _names("columns", columns) if columns is not None else None
    exclude = _names("exclude", exclude)
    path = Path(path).expanduser()
    source = str(path)
    kind = _files.file_kind(path)
    if kind in ("npy", "npz"):
        matrix = _files.read_matrix(path, kind)
        return _table_of_matrix(source, matrix, labels, columns, exclude, standardize)

    records = _files.read_records(path, kind, header=header, labels=labels)
    frame, place, notes = records.frame, records.place, records.notes
    names = [str(name) for name in frame.columns]
    y = None
    if labels is not None:
        if labels not in names:
            raise no_such_column(source, "labels", labels, names)
        y = _columns.label_values(source, frame[labels], labels, place)
    used = _columns.choose_columns(source, names, labels=labels, columns=columns, exclude=exclude)
    features = _columns.encode_columns(
        source,
        frame,
        used,
        place=place,
        asked_for=columns is not None,
        max_categories=max_categories,
        fill_blanks=fill_blanks,
    )
    X = features.X
    notes = notes + features.notes
    scaling = None
    if standardize:
        scaling = standardize_columns(X, X, features.blocks)
        notes += scaling_notes(scaling, features.names)
    return Table(X, y, features.names, frame, notes, source, scaling)


def _table_of_matrix(
    source: str,
    matrix: Matrix,
    labels: str | None,
    columns: list[str] | None,
    exclude: list[str],
    standardize: bool,
) -> Table:
    from samekind.datasets import _columns

    X, names, others = matrix.X, matrix.names, matrix.others
    y = None
    notes = []
    if labels in others:
        y = others[labels]
        if y.shape != (len(X),):
            raise DataError(
                f"{source}: the array {labels!r} has shape {y.shape}; labels must be one for each "
                f"of the {len(X):,} points."
            )
    elif labels in names:
        y = np.array(X[:, names.index(labels)])
    elif labels is not None:
        raise no_such_column(source, "labels", labels, [*others, *names])
    if y is not None and y.dtype.kind == "f" and not np.isfinite(y).all():
        row = int(np.flatnonzero(~np.isfinite(y))[0])
        raise DataError(f"{source}: the label of row {row + 1:,} is {y[row]}. Give it a label.")
    if unused := [key for key in others if key != labels]:
        notes.append(f"not used: {', '.join(map(repr, unused))}")

    used = _columns.choose_columns(source, names, labels=labels, columns=columns, exclude=exclude)
    if not used:
        raise DataError(f"{source} has no column left to be used as a feature.")
    if used != names:
        X = X[:, [names.index(name) for name in used]]
    dtype = X.dtype.newbyteorder("=") if X.dtype.kind == "f" else np.dtype(np.float64)
    if dtype not in (np.float32, np.float64):
        dtype = np.dtype(np.float64)
    X = np.asarray(X, dtype=dtype, order="C")  # no copy of what is a C-ordered float already
    for rows in row_chunks(*X.shape):
        if not np.isfinite(X[rows]).all():
            worst = np.argwhere(~np.isfinite(X[rows]))[0, 1]
            raise _columns.bad_number(
                source, used[worst], X[:, worst], lambda row: f"row {row + 1:,}"
            )
    notes.append(f"{len(used)} numeric column{'s' * (len(used) != 1)} kept")
    scaling = None
    if standardize:
        Z = np.empty(X.shape, dtype=dtype)
        scaling = standardize_columns(X, Z)
        notes += scaling_notes(scaling, used)
        X = Z
    return Table(X, y, used, None, notes, source, scaling)


def scaling_notes(scaling: Scaling, names: list[str]) -> list[str]:
    """Say that columns were standardised, and which are constant."""
    notes = ["standardised: every column has mean 0 and variance 1"]
    if flat := [name for name, same in zip(names, scaling.constant, strict=True) if same]:
        shown = ", ".join(map(repr, flat[:5])) + (", …" if len(flat) > 5 else "")
        notes.append(f"constant, and now 0: {shown}")
    return notes


def _names(parameter: str, given: Any) -> list[str]:
    names = [given] if isinstance(given, str) else list(given)
    for name in names:
        if not isinstance(name, str):
            raise ValueError(f"{parameter} must hold names of columns, got {name!r}.")
    return names
