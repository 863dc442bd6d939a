"""Labels on a Dask cluster, of which only those asked for travel."""

from __future__ import annotations

from collections.abc import Hashable
from functools import cached_property
from typing import Any
from uuid import uuid4

import dask
import numpy as np
from numpy.typing import NDArray

from samekind.points.calls import call
from samekind.points.sources.dask.blocks import Blocks, find_client, serve_blocks

__all__ = ["DaskLabels"]


class LabelColumn:
    """The labels of a block."""

    def __init__(self, values: NDArray[Any], threads: int) -> None:
        self._values = values

    def take(self, rows: NDArray[np.intp]) -> list[Hashable]:
        """Return the labels of some rows."""
        taken: list[Hashable] = self._values[rows].tolist()
        return taken


class DaskLabels:
    """The labels of a Dask array or series. Those of some rows are had by indexing.

    The column is computed once, when the first label is needed, and stays on the workers.
    """

    def __init__(self, y: Any) -> None:
        if getattr(y, "ndim", None) != 1:
            raise ValueError(
                f"y must be one label for each row, got a Dask {type(y).__name__} of shape "
                f"{getattr(y, 'shape', 'unknown')}. Choose one column."
            )
        self._y = y
        self._known: dict[int, Hashable] = {}

    @cached_property
    def _held(self) -> tuple[Blocks[LabelColumn], NDArray[np.intp]]:
        """The blocks, and the number of each one's first row and of one past the last."""
        client, _ = find_client()
        serve_blocks(client)
        run = uuid4().hex
        block = dask.delayed(np.asarray, pure=False)
        futures = client.compute(
            [
                block(partition, dask_key_name=f"samekind-labels-{run}-{number}")
                for number, partition in enumerate(self._y.to_delayed())
            ]
        )
        sizes = client.gather(client.map(len, futures, pure=False))
        held = [future for future, size in zip(futures, sizes, strict=True) if size]
        return Blocks(client, run, held, LabelColumn), np.cumsum([0, *filter(None, sizes)])

    def __len__(self) -> int:
        return int(self._held[1][-1])

    def of(self, rows: NDArray[np.intp]) -> list[Hashable]:
        """Return the labels of some rows."""
        wanted = rows.tolist()
        missing = [row for row in dict.fromkeys(wanted) if row not in self._known]
        if missing:
            self._fetch(missing)
        return [self._known[row] for row in wanted]

    def _fetch(self, rows: list[int]) -> None:
        blocks, firsts = self._held
        if max(rows) >= firsts[-1]:
            raise IndexError(f"row {max(rows)} is asked about, but y has {firsts[-1]} labels.")
        calls: dict[int, list[int]] = {}
        for row, part in zip(rows, firsts.searchsorted(rows, side="right") - 1, strict=True):
            calls.setdefault(int(part), []).append(row)
        found = blocks.run(
            {
                part: call(LabelColumn.take, np.array(some) - firsts[part])
                for part, some in calls.items()
            }
        )
        for part, some in calls.items():
            self._known.update(zip(some, found[part], strict=True))
