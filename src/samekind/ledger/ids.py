"""The ids that rows of a table have in a database, beside the numbers that they have in memory."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

__all__ = ["RowIds"]


class RowIds:
    """Ids in ascending order, with gaps where rows were deleted; a row's number is its place among them.

    Examples
    --------
    >>> ids = RowIds()
    >>> ids.extend([1, 2, 5])
    >>> ids.next, ids[2], ids.number(5)
    (6, 5, 2)
    """

    def __init__(self) -> None:
        self._ids = array("q")

    def __len__(self) -> int:
        return len(self._ids)

    def __getitem__(self, number: int) -> int:
        return self._ids[number]

    @property
    def last(self) -> int:
        """The last id, or 0."""
        return self._ids[-1] if self._ids else 0

    @property
    def next(self) -> int:
        """The id of the row to come."""
        return self.last + 1

    def extend(self, ids: Iterable[int]) -> None:
        """Add ids, each larger than all before."""
        self._ids.extend(ids)

    def truncate(self, size: int) -> None:
        """Keep the first so many."""
        del self._ids[size:]

    def number(self, row_id: int) -> int:
        """Return the number of the row with an id; a KeyError says that there is none."""
        place = bisect_left(self._ids, row_id)
        if place == len(self._ids) or self._ids[place] != row_id:
            raise KeyError(row_id)
        return place

    def to_array(self) -> NDArray[np.int64]:
        """Return a copy of all ids."""
        return np.array(self._ids, dtype=np.int64)
