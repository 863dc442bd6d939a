"""Points in an array that is larger than memory, some columns of it, or of another type."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from samekind.points.sources.byte_lru import empty_in_own_memory
from samekind.points.sources.streamed import CACHE, StreamedPoints
from samekind.points.threads import ReportProgress

__all__ = ["MappedPoints"]

PARTITION_ROWS, PARTITION_BYTES = 2**17, 2**24


class MappedReader:
    """Reads some columns of an array that lies in a file."""

    def __init__(self, X: NDArray[np.number], names: Sequence[str], columns: Sequence[int]) -> None:
        self.names = list(names)
        single = X.dtype.kind == "f" and X.dtype.itemsize <= 4
        self.dtype: np.dtype[np.floating] = np.dtype(np.float32 if single else np.float64)
        self._X = X
        self._columns = None if list(columns) == list(range(X.shape[1])) else list(columns)
        size = max(
            1, min(PARTITION_ROWS, PARTITION_BYTES // (self.dtype.itemsize * len(self.names)))
        )
        self.first_rows: NDArray[np.intp] = np.append(np.arange(0, len(X), size), len(X))

    def load(self, part: int) -> NDArray[np.floating]:
        """Return the rows of a partition."""
        some = self._X[self.first_rows[part] : self.first_rows[part + 1]]
        chosen = some if self._columns is None else some[:, self._columns]
        X = empty_in_own_memory(len(chosen), chosen.shape[1], self.dtype)
        X[...] = chosen
        return X

    def place(self, row: int) -> str:
        """Say where a row stands."""
        return ""


class MappedPoints(StreamedPoints):
    """Rows of a memory map, standardised or turned into floats as they are read.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Any numbers. An array of floats that is used as it is needs no more than `ArrayPoints`.
    names : sequence of str
        LabelMap of the columns to use.
    columns : sequence of int
        Which they are.
    standardize, threads, cache, report
        As of `ParquetPoints`.
    """

    def __init__(
        self,
        X: NDArray[np.number],
        names: Sequence[str],
        columns: Sequence[int],
        *,
        standardize: bool = False,
        threads: int | None = None,
        cache: int = CACHE,
        report: ReportProgress | None = None,
    ) -> None:
        super().__init__(
            MappedReader(X, names, columns),
            standardize=standardize,
            threads=threads,
            cache=cache,
            report=report,
        )
