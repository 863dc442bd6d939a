"""Compiled loops over rows in their order, however they are partitioned."""

from __future__ import annotations

import numpy as np
from numba import njit

PRIME = np.uint64(0x9E3779B97F4A7C15)
SHIFT = np.uint64(29)


@njit(nogil=True, cache=True)
def checksum(words, state):
    """Return the checksum of more words. It depends on their order, and shows any change of a single one."""
    for k in range(words.size):
        state = (state ^ np.uint64(words[k])) * PRIME
        state ^= state >> SHIFT
    return state
