"""From the columns of a table to features: which are used, how, and why not the others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api import types

from samekind.errors import DataError, no_such_column

Place: TypeAlias = Callable[[int], str]

# A whole column of 0, 1, 2, … or 1, 2, 3, … in at least so many rows numbers the rows.
_COUNTER_ROWS = 20
_MISSING_CATEGORY = "(missing)"
_NUMBER_WITH_COMMA = r"\s*[+-]?\d[\d.]*,\d+\s*"


@dataclass
class Features:
    """The features, which block of columns each belongs to, and what was done."""

    X: NDArray[np.float64]
    names: list[str]
    blocks: NDArray[np.intp]
    notes: list[str]
    medians: dict[str, float] = field(default_factory=dict)  # where blanks are filled


@dataclass
class _Column:
    """One column's features: numbers, or the number of each row's category."""

    names: list[str]
    numbers: NDArray[np.float64] | None = None
    codes: NDArray[np.intp] | None = None
    notes: list[str] = field(default_factory=list)
    median: float | None = None


class _UnusableError(Exception):
    """A column is not used; the message says why."""


def choose_columns(
    source: str,
    names: list[str],
    *,
    labels: str | None,
    columns: Sequence[str] | None,
    exclude: Sequence[str],
) -> list[str]:
    """Return the names of the columns to look at, in order; the labels are never among them."""
    asked = [("columns", name) for name in columns or ()] + [("exclude", name) for name in exclude]
    for parameter, name in asked:
        if name not in names:
            raise no_such_column(source, parameter, name, names)
    if columns is None:
        return [name for name in names if name != labels and name not in exclude]
    if labels in columns:
        raise DataError(
            f"columns must not name the labels, got {labels!r}: labels are what is to be found "
            "out, never a feature."
        )
    if both := [name for name in columns if name in exclude]:
        raise DataError(f"columns and exclude must not both name a column, got {both[0]!r}.")
    if len(set(columns)) < len(columns):
        raise DataError(f"columns must name every column once, got {list(columns)!r}.")
    return list(columns)


def encode_columns(
    source: str,
    frame: pd.DataFrame,
    names: list[str],
    *,
    place: Place,
    asked_for: bool,
    max_categories: int,
    fill_blanks: bool = False,
) -> Features:
    """Turn the named columns into features; with `asked_for`, none of them may be left out.

    With `fill_blanks`, missing numbers are the median of their column, and a note says so.
    """
    used: list[_Column] = []
    left_out: list[str] = []
    for name in names:
        try:
            used.append(
                _encode(source, frame[name], name, place, asked_for, max_categories, fill_blanks)
            )
        except _UnusableError as reason:
            if asked_for:
                raise DataError(
                    f"{source}: column {name!r} cannot be used: {reason}. Leave it out of columns."
                ) from None
            left_out.append(f"column {name!r} left out: {reason}")
    if not used:
        why = "; ".join(left_out) or "the file has only the labels, and what exclude names"
        raise DataError(f"{source} has no column that can be used as a feature: {why}.")

    X = np.zeros((len(frame), sum(len(column.names) for column in used)))
    blocks = np.repeat(np.arange(len(used)), [len(column.names) for column in used])
    for block, column in enumerate(used):
        first = int(np.searchsorted(blocks, block))
        if column.numbers is not None:
            X[:, first] = column.numbers
        if column.codes is not None:
            X[np.arange(len(frame)), first + column.codes] = 1.0
    n_numeric = sum(column.numbers is not None for column in used)
    notes = [f"{n_numeric} numeric column{'s' * (n_numeric != 1)} kept"] if n_numeric else []
    notes += [note for column in used for note in column.notes]
    names = [name for column in used for name in column.names]
    medians = {column.names[0]: column.median for column in used if column.median is not None}
    return Features(X, names, blocks, notes + left_out, medians)


def label_values(source: str, series: pd.Series[Any], name: str, place: Place) -> NDArray[Any]:
    """Return the labels as an array of ints, floats, bools or texts; none may be missing."""
    missing = np.flatnonzero(series.isna().to_numpy(dtype=bool))
    if len(missing):
        raise DataError(
            f"{source}: the label column {name!r} has no value in {place(int(missing[0]))}"
            f"{_in_all(len(missing))}. Fill it in, or remove the row."
        )
    if types.is_bool_dtype(series.dtype):
        return series.to_numpy(dtype=np.bool_)
    if types.is_integer_dtype(series.dtype):
        return series.to_numpy(dtype=np.int64)
    if types.is_float_dtype(series.dtype):
        return series.to_numpy(dtype=np.float64)
    return np.array([str(value) for value in series], dtype=np.str_)


def _encode(
    source: str,
    series: pd.Series[Any],
    name: str,
    place: Place,
    asked_for: bool,
    max_categories: int,
    fill_blanks: bool,
) -> _Column:
    present = series.notna().to_numpy(dtype=bool)
    if not present.any():
        raise _UnusableError("it is empty")
    if types.is_datetime64_any_dtype(series.dtype) or types.is_timedelta64_dtype(series.dtype):
        raise _UnusableError("dates and times are not used; to use them, write them as numbers")
    numbers = _as_numbers(series, present)
    if numbers is None:
        return _encode_texts(series, present, name, max_categories)
    must_be_finite = present if fill_blanks else np.ones(len(series), dtype=bool)
    if (bad := must_be_finite & ~np.isfinite(numbers)).any():
        raise bad_number(source, name, numbers, place, series.iloc, bad)
    if not asked_for and _counts_rows(numbers):
        raise _UnusableError(
            f"it only numbers the rows; to use it, name it in columns=[{name!r}, …]"
        )
    if not fill_blanks:
        return _Column([name], numbers=numbers)
    median = _median(numbers[present])
    blanks = len(series) - int(present.sum())
    notes = [blanks_note(blanks, name, "its median", median)] if blanks else []
    return _Column([name], np.where(present, numbers, median), notes=notes, median=median)


def blanks_note(count: int, name: str, what: str, value: float) -> str:
    """Say what the blanks of a column were taken to be."""
    blanks = "1 blank" if count == 1 else f"{count:,} blanks"
    verb = "was" if count == 1 else "were"
    return f"{blanks} in {name!r} {verb} taken to be {what}, {value:g}"


def _median(numbers: NDArray[np.float64]) -> float:
    """Return the median; halves are taken first, because a sum may exceed the largest float64."""
    ordered, last = np.sort(numbers), len(numbers) - 1
    return float(ordered[last // 2] / 2 + ordered[(last + 1) // 2] / 2)


def _as_numbers(series: pd.Series[Any], present: NDArray[np.bool_]) -> NDArray[np.float64] | None:
    """Return the values as float64, NaN where one is missing or no number, or None for texts."""
    dtype = series.dtype
    if types.is_bool_dtype(dtype) or (
        types.is_numeric_dtype(dtype) and not types.is_complex_dtype(dtype)
    ):
        return series.to_numpy(dtype=np.float64, na_value=np.nan)
    if isinstance(dtype, pd.CategoricalDtype):
        return None
    parsed = pd.to_numeric(series, errors="coerce")
    if types.is_complex_dtype(parsed.dtype):
        return None
    numbers = parsed.to_numpy(dtype=np.float64, na_value=np.nan)
    unclear = series[present & np.isnan(numbers)].astype(str)
    with_comma = int(unclear.str.fullmatch(_NUMBER_WITH_COMMA).sum())
    # Mostly numbers: then what is none is a slip, and the column is no list of kinds.
    meant_as_numbers = int(present.sum()) - len(unclear) + with_comma
    return numbers if 2 * meant_as_numbers > present.sum() else None


def _encode_texts(
    series: pd.Series[Any], present: NDArray[np.bool_], name: str, max_categories: int
) -> _Column:
    if any(isinstance(value, list | dict | set | np.ndarray) for value in series[present]):
        raise _UnusableError("its values are lists or objects")
    texts = series.astype(object).where(present, _MISSING_CATEGORY).astype(str)
    codes, distinct = pd.factorize(texts, sort=True)
    n_rows = len(series)
    if len(distinct) > max_categories or 1 < len(distinct) == n_rows:
        raise _UnusableError(f"{len(distinct):,} different texts in {n_rows:,} rows")
    columns = "1 column" if len(distinct) == 1 else f"{len(distinct)} columns"
    note = f"column {name!r} one-hot encoded into {columns}"
    if not present.all():
        missing = n_rows - int(present.sum())
        note += f", one of them for the {missing:,} missing value{'s' * (missing != 1)}"
    names = [f"{name}={text}" for text in distinct]
    return _Column(names, codes=np.asarray(codes, dtype=np.intp), notes=[note])


def _counts_rows(numbers: NDArray[np.float64]) -> bool:
    known = np.flatnonzero(~np.isnan(numbers))
    starts = numbers[known] - known
    return (
        len(known) >= _COUNTER_ROWS
        and starts[0] in (0.0, 1.0)
        and bool((starts == starts[0]).all())
    )


def bad_number(
    source: str,
    name: str,
    numbers: NDArray[Any],
    place: Place,
    raw: Any = None,
    where: NDArray[np.bool_] | None = None,
) -> DataError:
    """Say where the first value that is no finite number stands, and how many there are."""
    bad = np.flatnonzero(~np.isfinite(numbers) if where is None else where)
    row = int(bad[0])
    value = numbers[row].item() if raw is None else raw[row]
    if raw is not None and pd.isna(value):
        what, mend = "has no value", "Fill it in"
    elif isinstance(value, str) and not np.isinf(numbers[row]):
        what, mend = f"has {value!r}, which is no number,", "Correct it"
        if pd.Series([value]).str.fullmatch(_NUMBER_WITH_COMMA).all():
            mend = "Write numbers with a decimal point and no other separator"
    else:
        what, mend = f"has {value}, which is not finite,", "Correct it"
    return DataError(
        f"{source}: column {name!r} {what} in {place(row)}{_in_all(len(bad))}. {mend}, or leave "
        f"the column out with exclude=[{name!r}]."
    )


def _in_all(count: int) -> str:
    return f", and such values in {count:,} rows in all" if count > 1 else ""
