"""The column of labels: what answers in place of a person, or is compared with at the end."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api import types

from samekind.data.columns import in_all
from samekind.data.dask_table import DaskTable
from samekind.data.files import Array
from samekind.data.picture_sources import Source
from samekind.data.survey import Series
from samekind.data.tables import ArrayTable, FrameTable
from samekind.errors import DataError, no_such_column

if TYPE_CHECKING:
    from samekind.data.items import Labels

__all__ = ["read_labels"]

Coded: TypeAlias = tuple[NDArray[np.intp], list[object]]
"""Codes of some rows, -1 where there is no value, and what they stand for."""


def read_labels(source: Source) -> Labels | None:
    """Return the labels of a source, none of them missing."""
    name, table = source.options.labels, source.table
    if name is None:
        return None
    if table is None:
        raise DataError(f"{source.name} has pictures only: labels needs a table.")
    if isinstance(table, ArrayTable):
        return _of_array(table, name, source.others, source.is_streamed)
    if name not in table.columns:
        raise no_such_column(table.name, "labels", name, table.columns)
    if isinstance(table, FrameTable):
        return _values(table, name)
    if isinstance(table, DaskTable):
        return table.labels(name)
    return _categories(table.map(_coded, [name]), table.n, name, table.name)


def _of_array(table: ArrayTable, name: str, others: dict[str, Array], is_streamed: bool) -> Labels:
    if name in others:
        y = others[name]
        if y.shape != (table.n,):
            raise DataError(
                f"{table.name}: the array {name!r} has shape {y.shape}; labels must be one for each "
                f"of the {table.n:,} points."
            )
    elif name in table.columns:
        if is_streamed:
            return _categories(table.map(_coded, [name]), table.n, name, table.name)
        y = np.array(table.X[:, table.columns.index(name)])
    else:
        raise no_such_column(table.name, "labels", name, [*others, *table.columns])
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        row = int(np.flatnonzero(~np.isfinite(y))[0])
        raise DataError(f"{table.name}: the label of row {row + 1:,} is {y[row]}. Give it a label.")
    return y


def _values(table: FrameTable, name: str) -> Array:
    """Return labels as an array of ints, floats, bools or texts."""
    series = table.frame[name]
    missing = np.flatnonzero(series.isna().to_numpy(dtype=bool))
    if len(missing):
        raise DataError(
            f"{table.name}: the label column {name!r} has no value in "
            f"{table.place(int(missing[0]))}{in_all(len(missing))}. Fill it in, or remove the row."
        )
    if types.is_bool_dtype(series.dtype):
        return series.to_numpy(dtype=np.bool_)
    if types.is_integer_dtype(series.dtype):
        return series.to_numpy(dtype=np.int64)
    if types.is_float_dtype(series.dtype):
        return series.to_numpy(dtype=np.float64)
    return np.array([str(value) for value in series], dtype=np.str_)


def _coded(block: pd.DataFrame) -> Coded:
    series: Series = block.iloc[:, 0]
    codes, values = pd.factorize(series)
    return codes, list(values)


def _categories(parts: Iterable[Coded], n: int, name: str, source: str) -> pd.Categorical[Any]:
    """Put labels of blocks together, as codes and categories."""
    number_of: dict[object, int] = {}
    codes = np.empty(n, dtype=np.int32)
    end = 0
    for some, values in parts:
        start, end = end, end + len(some)
        if (some < 0).any():
            row = start + int((some < 0).argmax())
            raise DataError(
                f"{source}: the label column {name!r} has no value in row {row + 1:,}. Fill it in, or "
                "remove the row."
            )
        numbers = [number_of.setdefault(value, len(number_of)) for value in values]
        codes[start:end] = np.array(numbers, dtype=np.int32)[some]
    return pd.Categorical.from_codes(codes, categories=pd.Index(list(number_of)))
