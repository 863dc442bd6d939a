"""What was read from files and may be needed again, within a bound of memory."""

from __future__ import annotations

import mmap
import os
from collections.abc import Callable
from threading import Condition
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Shelf", "room_for"]


def room_for(n: int, d: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return an array of zeros whose memory goes back to the system at once when nobody needs it."""
    private = {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS} if os.name == "posix" else {}
    memory = mmap.mmap(-1, n * d * dtype.itemsize, **private)
    return np.frombuffer(memory, dtype=dtype).reshape(n, d)


class Shelf:
    """Arrays that were used last. Several threads may use it.

    Parameters
    ----------
    room : int
        Bytes of arrays to keep. Room is made before an array is loaded, so that what is kept and what is
        being loaded are never more, but for what single arrays are larger.
    """

    def __init__(self, room: int) -> None:
        self.room = room
        self.n_loads = 0
        self._held: dict[int, NDArray[Any]] = {}  # the one that was used last comes last
        self._sizes: dict[int, int] = {}  # of these, and of those being loaded
        self._changed = Condition()

    def __contains__(self, key: int) -> bool:
        return key in self._held

    def get(self, key: int, size: int, load: Callable[[int], NDArray[Any]]) -> NDArray[Any]:
        """Return an array of so many bytes; load it if it is not at hand. No two threads load the same."""
        with self._changed:
            while key in self._sizes and key not in self._held:
                self._changed.wait()  # another thread loads it
            if key in self._held:
                found = self._held[key] = self._held.pop(key)
                return found
            self._sizes[key] = size
            for oldest in list(self._held):
                if sum(self._sizes.values()) <= self.room:
                    break
                del self._held[oldest], self._sizes[oldest]
            self.n_loads += 1
        try:
            loaded = load(key)
        except BaseException:
            with self._changed:
                del self._sizes[key]
                self._changed.notify_all()
            raise
        with self._changed:
            self._held[key] = loaded
            self._changed.notify_all()
        return loaded
