"""A label column on a Dask cluster, of which only the labels of rows asked about travel."""

from __future__ import annotations

from collections.abc import Hashable
from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from samekind.oracles.labels import number_labels
from samekind.points.dask import Blocks

__all__ = ["DaskLabelCodes"]


class DaskLabelCodes:
    """Numbers for the labels of a Dask array or series. Those of some rows are had by indexing.

    The column is computed once, when the first label is needed, and stays on the workers.
    """

    def __init__(self, y: Any, client: Any = None) -> None:
        if getattr(y, "ndim", None) != 1:
            raise ValueError(
                f"y must be one label for each row, got a Dask {type(y).__name__} of shape "
                f"{getattr(y, 'shape', 'unknown')}. Choose one column."
            )
        self._y, self._client = y, client
        self._known: dict[int, int] = {}  # by row
        self._numbers: dict[Hashable, int] = {}  # by label

    @cached_property
    def _held(self) -> tuple[Blocks, list[int]]:
        """The labels, and the running sums of how many each block has."""
        labels = Blocks(self._y.to_delayed(), self._client)
        return labels, list(accumulate(labels.call(len)))

    def __len__(self) -> int:
        return self._held[1][-1]

    def __getitem__(self, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        wanted = rows.ravel().tolist()
        missing = [row for row in dict.fromkeys(wanted) if row not in self._known]
        if missing:
            codes = number_labels(self._fetch(missing), missing, self._numbers)
            self._known.update(zip(missing, codes, strict=True))
        return np.array([self._known[row] for row in wanted], dtype=np.intp).reshape(rows.shape)

    def _fetch(self, rows: list[int]) -> list[Hashable]:
        labels, ends = self._held
        if max(rows) >= ends[-1]:
            raise IndexError(f"row {max(rows)} is asked about, but y has {ends[-1]} labels.")
        found: list[Hashable] = [None] * len(rows)
        for places, some in labels.look_up(ends, rows, _take).values():
            for place, label in zip(places, some, strict=True):
                found[place] = label
        return found


def _take(block: Any, rows: list[int]) -> list[Hashable]:
    taken: list[Hashable] = np.asarray(block)[rows].tolist()
    return taken
