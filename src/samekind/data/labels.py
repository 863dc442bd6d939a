"""The column of labels: what answers in place of a person, or is compared with at the end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api import types

from samekind.data.columns import in_all
from samekind.data.files import Array
from samekind.data.picture_sources import Source
from samekind.data.survey import Series
from samekind.data.tables import FrameTable, Table
from samekind.errors import DataError, Parameter

if TYPE_CHECKING:
    from samekind.data.items import Labels

__all__ = ["read_labels"]


def read_labels(source: Source) -> Labels | None:
    """Return the labels of a source, none of them missing."""
    name, table, others = source.options.labels, source.table, source.others
    if name is None:
        return None
    if table is None:
        raise DataError(
            f"{source.name} has pictures only: ", Parameter("labels"), " needs a table."
        )
    if name in others and others[name].shape != (table.n,):
        raise DataError(
            f"{table.name}: the array {name!r} has shape {others[name].shape}; labels must be one for "
            f"each of the {table.n:,} points."
        )
    if source.is_streamed or not isinstance(table, FrameTable):
        return _categories(table, name)
    series = pd.Series(others[name]) if name in others else table.frame[name]
    missing = series.isna().to_numpy(dtype=bool)
    if missing.any():
        raise _unlabelled(table, name, int(missing.argmax()), int(missing.sum()))
    if table.array is not None:
        return others[name] if name in others else np.array(series)
    return _values(series)


def _unlabelled(table: Table, name: str, row: int, count: int) -> DataError:
    return DataError(
        f"{table.name}: the label column {name!r} has no value in {table.place(row)}{in_all(count)}. "
        "Fill it in, or remove the row."
    )


def _values(series: Series) -> Array:
    """Return labels as an array of ints, floats, bools or texts."""
    if types.is_bool_dtype(series.dtype):
        return series.to_numpy(dtype=np.bool_)
    if types.is_integer_dtype(series.dtype):
        return series.to_numpy(dtype=np.int64)
    if types.is_float_dtype(series.dtype):
        return series.to_numpy(dtype=np.float64)
    return np.array([str(value) for value in series], dtype=np.str_)


def _coded(block: pd.DataFrame) -> tuple[NDArray[np.intp], list[object]]:
    """Return codes of some rows, -1 where there is no value, and what they stand for."""
    codes, values = pd.factorize(block.iloc[:, 0])
    return codes, list(values)


def _categories(table: Table, name: str) -> pd.Categorical[Any]:
    """Put labels of blocks together, as codes and categories."""
    number_of: dict[object, int] = {}
    codes = np.empty(table.n, dtype=np.int32)
    end = 0
    for some, values in table.map(_coded, [name]):
        start, end = end, end + len(some)
        if (some < 0).any():
            raise _unlabelled(table, name, start + int((some < 0).argmax()), 1)
        numbers = [number_of.setdefault(value, len(number_of)) for value in values]
        codes[start:end] = np.array(numbers, dtype=np.int32)[some]
    return pd.Categorical.from_codes(codes, categories=pd.Index(list(number_of)))
