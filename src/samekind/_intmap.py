"""A compiled map from non-negative ints to small ints, for whole arrays at a time or one by one.

A dict costs a Python object for every key; runs of millions of answers look up a few keys for each
of them. This is an open hash table with linear probing, never more than half full.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

__all__ = ["EMPTY", "IntMap", "empty_table", "refill", "size_for", "slot_of"]

EMPTY = -1


@njit(nogil=True, cache=True)
def slot_of(table, key):
    """Return where the key is in the table, or where it would go."""
    scattered = key * -7046029254386353131  # 2^64 divided by the golden ratio, as an int64
    slot = (scattered ^ (scattered >> 32)) & (table.size - 1)
    while table[slot] != key and table[slot] != EMPTY:
        slot = (slot + 1) & (table.size - 1)
    return slot


@njit(nogil=True, cache=True)
def refill(old_keys, old_values, keys, values):
    """Move a table into a larger, empty one. A set passes its keys as values."""
    for i in range(old_keys.size):
        if old_keys[i] != EMPTY:
            slot = slot_of(keys, old_keys[i])
            values[slot] = old_values[i]
            keys[slot] = old_keys[i]


@njit(nogil=True, cache=True)
def _get_one(table, values, key, otherwise):
    slot = slot_of(table, key)
    return values[slot] if table[slot] == key else otherwise


@njit(nogil=True, cache=True)
def _get(table, values, keys, otherwise, out):
    for i in range(keys.size):
        out[i] = _get_one(table, values, keys[i], otherwise)


@njit(nogil=True, cache=True)
def _put_one(table, values, key, value):
    """Set the value of a key; return how many keys are new: 1 or 0."""
    slot = slot_of(table, key)
    values[slot] = value
    if table[slot] == key:
        return 0
    table[slot] = key
    return 1


@njit(nogil=True, cache=True)
def _put(table, values, keys, new):
    added = 0
    for i in range(keys.size):
        added += _put_one(table, values, keys[i], new[i])
    return added


def size_for(n_keys: int, size: int) -> int:
    """Return the size, doubled until a table of it is at most half full with so many keys."""
    while 2 * n_keys > size:
        size *= 2
    return size


def empty_table(size: int) -> NDArray[np.int64]:
    """Return a table without keys; `size` is a power of two."""
    return np.full(size, EMPTY, dtype=np.int64)


class IntMap:
    """A growing map from ints in [0, 2^63) to ints of one byte or more.

    Examples
    --------
    >>> known = IntMap()
    >>> known.put(np.array([7, 9]), np.array([1, 2]))
    >>> known.get(np.array([9, 8]), otherwise=-1)
    array([ 2, -1])
    >>> len(known)
    2
    """

    def __init__(self) -> None:
        self._table = empty_table(64)
        self._values = np.empty(64, dtype=np.int64)
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def get(self, keys: NDArray[np.int64], otherwise: int) -> NDArray[np.int64]:
        """Return the value of each key, or `otherwise`."""
        out = np.empty(keys.size, dtype=np.int64)
        _get(self._table, self._values, keys, otherwise, out)
        return out

    def get_one(self, key: int, otherwise: int) -> int:
        """Return the value of a key, or `otherwise`."""
        value: int = _get_one(self._table, self._values, key, otherwise)
        return value

    def put(self, keys: NDArray[np.int64], values: NDArray[np.signedinteger[Any]]) -> None:
        """Set the value of each key; the last one of a repeated key stays."""
        self._make_room(keys.size)
        self._size += _put(self._table, self._values, keys, values)

    def put_one(self, key: int, value: int) -> None:
        """Set the value of a key."""
        self._make_room(1)
        self._size += _put_one(self._table, self._values, key, value)

    def _make_room(self, n_keys: int) -> None:
        """Grow so that the table is at most half full with so many keys more."""
        size = size_for(self._size + n_keys, self._table.size)
        if size > self._table.size:
            table, held = empty_table(size), np.empty(size, dtype=np.int64)
            refill(self._table, self._values, table, held)
            self._table, self._values = table, held
