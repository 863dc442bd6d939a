"""What was read from files, or fetched from workers, and may be needed again: within a bound of memory."""

from __future__ import annotations

import mmap
import os
from collections.abc import Callable
from threading import Condition

import numpy as np
from cachetools import LRUCache

from samekind.points.arrays import Floats, Matrix, Rows

__all__ = ["ByteLRU", "RowCache", "empty_in_own_memory"]

CACHED = 2**25  # bytes of rows


def empty_in_own_memory(n: int, d: int, dtype: np.dtype[np.floating]) -> Matrix:
    """Return a matrix whose memory goes back to the system at once when nobody needs it."""
    private = {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS} if os.name == "posix" else {}
    memory = mmap.mmap(-1, n * d * dtype.itemsize, **private)
    return np.frombuffer(memory, dtype=dtype).reshape(n, d)


class ByteLRU:
    """The arrays that were used last, up to so many bytes. Several threads may use it.

    Room is made before an array is loaded, so that what is kept and what is being loaded are never more, but
    for what single arrays are larger: of these, one is kept alone.
    """

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self.n_loads = 0
        self._kept: LRUCache[int, Matrix] = LRUCache(np.inf, lambda array: array.nbytes)
        self._loading: dict[int, int] = {}  # bytes of what is being loaded
        self._changed = Condition()

    def __contains__(self, key: int) -> bool:
        return key in self._kept

    def get(self, key: int, n_bytes: int, load: Callable[[int], Matrix]) -> Matrix:
        """Return an array of so many bytes; load it if it is not kept. No two threads load the same."""
        with self._changed:
            while key in self._loading:
                self._changed.wait()
            if key in self._kept:
                return self._kept[key]
            self._loading[key] = n_bytes
            while self._kept and self._kept.currsize + sum(self._loading.values()) > self.max_bytes:
                self._kept.popitem()
            self.n_loads += 1
        loaded = None
        try:
            loaded = load(key)
            return loaded
        finally:
            with self._changed:
                del self._loading[key]
                if loaded is not None:
                    self._kept[key] = loaded
                self._changed.notify_all()


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
