"""Parquet files that are read by the workers of a Dask cluster, where their rows stay."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import pandas as pd

from samekind.data.files import Array
from samekind.data.row_features import RowFeatures
from samekind.data.tables import ParquetTable

if TYPE_CHECKING:
    import dask.dataframe as dd
    from distributed import Client

    from samekind.points import Points

__all__ = ["DaskTable"]

T = TypeVar("T")


class DaskTable(ParquetTable):
    """The rows of some Parquet files, read on a cluster; a block is a partition.

    The footers of the files, and single rows to show, are read here: all see them by the same paths.
    """

    def __init__(self, name: str, files: Sequence[Path], client: Client) -> None:
        super().__init__(name, [file.resolve() for file in files])
        self._client = client

    def map(self, function: Callable[[pd.DataFrame], T], columns: Sequence[str]) -> Iterator[T]:
        """Yield what a function returns for each partition of these columns."""
        import dask

        call = dask.delayed(_on_rows)
        parts = self._collection(columns).to_delayed()
        found = self._client.compute([call(function, part) for part in parts])
        yield from (one for one in self._client.gather(found) if one is not None)

    def points(self, features: RowFeatures, report: Callable[[str, float], object]) -> Points:
        """Return the features of all rows, which stay on the workers."""
        from samekind.points import DaskPoints

        rows = self._collection(features.inputs)
        X = rows.map_partitions(_transformed, features, meta=_no_rows(features))
        return DaskPoints(X, client=self._client, report=report)

    def labels(self, name: str) -> Array:
        """Return a column as an array that stays on the workers and knows its parts."""
        import dask
        import dask.array as da

        column, size = dask.delayed(_column), dask.delayed(len)
        pieces = dask.persist(*[column(part) for part in self._collection([name]).to_delayed()])
        sizes = dask.compute(*[size(piece) for piece in pieces])
        known = [(piece, (n,)) for piece, n in zip(pieces, sizes, strict=True) if n]
        found: Array = da.concatenate([da.from_delayed(*one, dtype=object) for one in known])
        return found

    def _collection(self, columns: Sequence[str]) -> dd.DataFrame:
        import dask.dataframe as dd

        return dd.read_parquet(list(map(str, self.files)), columns=list(columns))


def _on_rows(function: Callable[[pd.DataFrame], T], block: pd.DataFrame) -> T | None:
    return function(block) if len(block) else None


def _transformed(block: pd.DataFrame, features: RowFeatures) -> pd.DataFrame:
    if not len(block):
        return _no_rows(features)
    return pd.DataFrame(features.transform(block), columns=features.names)


def _no_rows(features: RowFeatures) -> pd.DataFrame:
    return pd.DataFrame({name: np.empty(0, features.dtype) for name in features.names})


def _column(block: pd.DataFrame) -> Array:
    return block.iloc[:, 0].to_numpy()
