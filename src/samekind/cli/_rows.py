"""Rows of a run, as things to look at."""

from __future__ import annotations

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
    ) -> None:
        self.X = X
        self.n = len(X)
        self.source = source
        self.feature_names = feature_names
        self.frame = frame
        self.images = images
        self.medium = "row" if images is None else "image"
        self.notes = []

    def show(self, row: int) -> Shown:
        """Return what a person sees of a row."""
        names: list[str] = []
        cells: list[Any] = []
        if self.frame is not None:
            names, cells = list(self.frame.columns), self.frame.iloc[row].tolist()
        elif self.images is None:
            names, cells = self.feature_names, np.asarray(self.X[row]).tolist()
        fields = [(str(name), _text(cell)) for name, cell in zip(names, cells, strict=True)]
        return Shown(row, f"row {row}", None, fields, self.images is not None)


def _text(cell: Any) -> str:
    whole = isinstance(cell, float) and cell.is_integer() and abs(cell) < 1e15
    return str(int(cell)) if whole else str(cell)
