"""Rows that stay in their files: they become points whenever they are read."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from samekind.data.columns import ColumnUse
from samekind.data.dask_table import DaskTable
from samekind.data.files import Array
from samekind.data.parquet_table import ParquetTable
from samekind.data.row_features import RowFeatures, fit_rows
from samekind.data.tables import BLOCK_VALUES, ArrayTable, Table, Tick
from samekind.points import ArrayPoints, ParquetPoints, Points, StreamedPoints

__all__ = ["FeatureReader", "fit_streamed"]


class FeatureReader:
    """Reads the features of rows in files, part by part, as `StreamedPoints` asks for them."""

    def __init__(self, table: ParquetTable | ArrayTable, features: RowFeatures) -> None:
        self.names = features.names
        self.dtype = features.dtype
        self._table = table
        self._features = features
        self.first_rows: NDArray[np.intp]
        if isinstance(table, ParquetTable):
            self.first_rows = table.first_rows
        else:
            step = max(1, BLOCK_VALUES // len(self.names))
            self.first_rows = np.append(np.arange(0, table.n, step), table.n)

    def load(self, part: int) -> Array:
        """Return the features of the rows of a part."""
        if isinstance(self._table, ParquetTable):
            block = self._table.read(part, self._features.inputs)
        else:
            rows = slice(int(self.first_rows[part]), int(self.first_rows[part + 1]))
            block = self._table.block(rows, self._features.inputs)
        return np.ascontiguousarray(self._features.transform(block))

    def place(self, row: int) -> str:
        """Say where a row stands."""
        return self._table.place(row)


def fit_streamed(
    table: Table, columns: list[ColumnUse], *, standardize: bool, tick: Tick
) -> tuple[RowFeatures, Points]:
    """Learn features of rows that stay where they are; return them, and the rows as points."""

    def report(what: str, share: float) -> None:
        tick(what, round(1_000 * share), 1_000)

    features, _ = fit_rows(table, columns, standardize=standardize, in_memory=False)
    if isinstance(table, DaskTable):
        return features, table.points(features, report)
    plain = not standardize
    if isinstance(table, ArrayTable):
        X = table.X
        plain = plain and X.dtype == features.dtype and X.dtype.isnative and X.flags.c_contiguous
        if plain and features.inputs == table.columns:
            return features, ArrayPoints(X, report=report)
    else:
        assert isinstance(table, ParquetTable)
        if plain and not any(column.categories or column.blanks for column in features.columns):
            return features, ParquetPoints(table.files, features.inputs, report=report)
    return features, StreamedPoints(FeatureReader(table, features), report=report)
