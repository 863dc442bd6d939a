"""Rows of a run, as things to look at."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from samekind.things import Shown, Things

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Rows"]


class Rows(Things):
    """Rows of an array, shown as they stand in the user's table, as pictures, or as numbers."""

    def __init__(
        self,
        X: Any,
        source: str,
        feature_names: list[str],
        *,
        frame: pd.DataFrame | None = None,
        images: NDArray[Any] | None = None,
        in_file_units: Callable[[NDArray[np.float64]], NDArray[np.float64]] | None = None,
    ) -> None:
        self.X = X
        self.n = X.n if hasattr(X, "sampler") else len(X)
        self.source = source
        self.feature_names = feature_names
        self.frame = frame
        self.images = images
        self.medium = "row" if images is None else "image"
        self.notes = []
        self._in_file_units = in_file_units

    def show(self, row: int) -> Shown:
        """Return what a person sees of a row."""
        names: list[str] = []
        cells: list[Any] = []
        if self.frame is not None:
            names, cells = list(self.frame.columns), self.frame.iloc[row].tolist()
        elif self.images is None:
            names, cells = self.feature_names, self._numbers(row)
        fields = [(str(name), _text(cell)) for name, cell in zip(names, cells, strict=True)]
        return Shown(row, f"row {row}", None, fields, self.images is not None)

    def _numbers(self, row: int) -> list[Any]:
        if not hasattr(self.X, "sampler"):
            return list(np.asarray(self.X[row]).tolist())
        points: Any = self.X  # of data that stay in their files
        x = points.rows(np.array([row]))[0]
        return list((x if self._in_file_units is None else self._in_file_units(x)).tolist())


def _text(cell: Any) -> str:
    whole = isinstance(cell, float) and cell.is_integer() and abs(cell) < 1e15
    return str(int(cell)) if whole else str(cell)
