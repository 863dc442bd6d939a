"""Rows that were fetched from files or workers, so that hardly one is fetched twice."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from samekind.points.arrays import Floats, Rows

__all__ = ["RowCache"]

CACHED = 2**25  # bytes of rows


class RowCache:
    """The rows that were fetched last.

    Examples
    --------
    >>> cache = RowCache(2)
    >>> cache.remember(np.array([7]), np.array([[0.0, 1.0]]))
    >>> cache.rows(np.array([7, 7]), fetch=None)
    array([[0., 1.],
           [0., 1.]])
    """

    def __init__(self, d: int) -> None:
        self._d = d
        self._most = max(1024, CACHED // (8 * d))
        self._kept: dict[int, Floats] = {}

    def remember(self, rows: Rows, X: Floats) -> None:
        """Keep some rows."""
        if rows.size > self._most:
            return
        self._kept.update(zip(rows.tolist(), X, strict=True))
        if len(self._kept) > 2 * self._most:
            for row in list(self._kept)[: -self._most]:
                del self._kept[row]

    def kept(self, index: Rows) -> Floats | None:
        """Return rows, if all of them are kept."""
        kept, wanted = self._kept, index.tolist()
        if not all(row in kept for row in wanted):
            return None
        return np.array([kept[row] for row in wanted]).reshape(-1, self._d)

    def rows(self, index: Rows, fetch: Callable[[Rows], Floats]) -> Floats:
        """Return rows, (m, d); `fetch` gets those that are not kept."""
        if index.size > self._most:
            return fetch(index)
        wanted = index.tolist()
        missing = [row for row in dict.fromkeys(wanted) if row not in self._kept]
        found = {row: self._kept[row] for row in wanted if row in self._kept}
        if missing:
            new = np.array(missing, dtype=np.intp)
            X = fetch(new)
            found.update(zip(missing, X, strict=True))
            self.remember(new, X)
        return np.array([found[row] for row in wanted]).reshape(-1, self._d)
