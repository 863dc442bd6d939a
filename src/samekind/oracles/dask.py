"""Labels on a Dask cluster, of which only those asked for travel."""

from __future__ import annotations

from collections.abc import Hashable
from functools import cached_property
from typing import Any
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from samekind.oracles.labels import number_labels
from samekind.points.calls import Call
from samekind.points.executor import rows_by_partition
from samekind.points.sources.dask.blocks import Blocks, compute_blocks, find_client, serve_blocks

__all__ = ["DaskLabelCodes"]


def _labels_of(block: NDArray[Any], threads: int) -> NDArray[Any]:
    """Return what answers for a block: the labels themselves."""
    return block


class DaskLabelCodes:
    """Numbers for the labels of a Dask array or series. Those of some rows are had by indexing.

    The column is computed once, when the first label is needed, and stays on the workers.
    """

    def __init__(self, y: Any) -> None:
        if getattr(y, "ndim", None) != 1:
            raise ValueError(
                f"y must be one label for each row, got a Dask {type(y).__name__} of shape "
                f"{getattr(y, 'shape', 'unknown')}. Choose one column."
            )
        self._y = y
        self._known: dict[int, int] = {}
        self._numbers: dict[Hashable, int] = {}

    @cached_property
    def _held(self) -> tuple[Blocks[NDArray[Any]], NDArray[np.intp]]:
        """The blocks, and the number of each one's first row and of one past the last."""
        client, _ = find_client()
        serve_blocks(client)
        run = uuid4().hex
        futures = compute_blocks(client, run, self._y.to_delayed(), np.asarray)
        sizes = client.gather(client.map(len, futures, pure=False))
        held = [future for future, size in zip(futures, sizes, strict=True) if size]
        return Blocks(client, run, held, _labels_of), np.cumsum([0, *filter(None, sizes)])

    def __len__(self) -> int:
        return int(self._held[1][-1])

    def __getitem__(self, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        wanted = rows.ravel().tolist()
        missing = [row for row in dict.fromkeys(wanted) if row not in self._known]
        if missing:
            codes = number_labels(self._fetch(missing), missing, self._numbers)
            self._known.update(zip(missing, codes, strict=True))
        return np.array([self._known[row] for row in wanted], dtype=np.intp).reshape(rows.shape)

    def _fetch(self, rows: list[int]) -> list[Hashable]:
        blocks, firsts = self._held
        if max(rows) >= firsts[-1]:
            raise IndexError(f"row {max(rows)} is asked about, but y has {firsts[-1]} labels.")
        places = rows_by_partition(np.array(rows), firsts)
        found = blocks.run(
            {part: Call(np.ndarray.take, (local,)) for part, (_, local) in places.items()}
        )
        labels: list[Hashable] = [None] * len(rows)
        for part, (at, _) in places.items():
            for place, label in zip(at.tolist(), found[part].tolist(), strict=True):
                labels[place] = label
        return labels
