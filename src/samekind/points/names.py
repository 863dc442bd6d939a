"""What rows are called in the end."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Names"]


class Names(NamedTuple):
    """What the rows with each number are called, but for some rows, which are called something else.

    The last name is that of the number -1, too.

    Examples
    --------
    >>> Names(np.array([7, 8]), np.array([2]), np.array([9])).call(np.array([0, 1, 1, 0]))
    array([7, 8, 9, 7])
    """

    of: NDArray[np.intp]
    rows: NDArray[np.intp]
    values: NDArray[np.intp]

    @classmethod
    def by_number(cls, size: int) -> Names:
        """Return names that are the numbers themselves."""
        nothing = np.empty(0, dtype=np.intp)
        return cls(np.arange(size), nothing, nothing)

    def call(self, numbers: NDArray[np.integer]) -> NDArray[np.intp]:
        """Return what every row is called."""
        found: NDArray[np.intp] = self.of[numbers]
        found[self.rows] = self.values
        return found

    def after(self, numbers: NDArray[np.intp]) -> Names:
        """Return names for what has these numbers."""
        return self._replace(of=self.of[numbers])
