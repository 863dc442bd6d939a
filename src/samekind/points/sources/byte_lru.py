"""What was read from files and may be needed again, within a bound of memory."""

from __future__ import annotations

import mmap
import os
from collections.abc import Callable
from threading import Condition

import numpy as np
from cachetools import LRUCache

from samekind.points.arrays import Matrix

__all__ = ["ByteLRU", "empty_in_own_memory"]


def empty_in_own_memory(n: int, d: int, dtype: np.dtype[np.floating]) -> Matrix:
    """Return a matrix whose memory goes back to the system at once when nobody needs it."""
    private = {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS} if os.name == "posix" else {}
    memory = mmap.mmap(-1, n * d * dtype.itemsize, **private)
    return np.frombuffer(memory, dtype=dtype).reshape(n, d)


class ByteLRU:
    """The arrays that were used last, up to so many bytes. Several threads may use it.

    Parameters
    ----------
    max_bytes : int
        Of arrays to keep. Room is made before an array is loaded, so that what is kept and what is being
        loaded are never more, but for what single arrays are larger: of these, one is kept alone.
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
