"""Rows that stay in their files: they become points whenever they are read."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from samekind.data.dask_table import DaskTable
from samekind.data.files import Array
from samekind.data.row_features import RowFeatures
from samekind.data.tables import FrameTable, Table
from samekind.points import ArrayPoints, ParquetPoints, Points, StreamedPoints

__all__ = ["FeatureReader", "points_in"]


class FeatureReader:
    """Reads the features of rows in files, part by part, as `StreamedPoints` asks for them."""

    def __init__(self, table: Table, features: RowFeatures) -> None:
        self.names = features.names
        self.dtype = features.dtype
        self.first_rows = table.first_rows
        self.place = table.place
        self._table = table
        self._features = features

    def load(self, part: int) -> Array:
        """Return the features of the rows of a part."""
        block = self._table.read(part, self._features.inputs)
        return np.ascontiguousarray(self._features.transform(block))


def points_in(
    table: Table, features: RowFeatures, report: Callable[[str, float], object]
) -> Points:
    """Return the features of rows that stay where they are."""
    if isinstance(table, DaskTable):
        return table.points(features, report)
    if isinstance(table, FrameTable):
        if (X := features.unchanged(table)) is not None:
            return ArrayPoints(X, report=report)
    elif not (features.scalers or any(c.categories or c.blanks for c in features.columns)):
        return ParquetPoints(table.files, features.inputs, report=report)
    return StreamedPoints(FeatureReader(table, features), report=report)
