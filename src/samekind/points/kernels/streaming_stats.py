"""Compiled loops over rows in their order, however they are partitioned."""

from __future__ import annotations

import numpy as np
from numba import njit

PRIME = np.uint64(0x9E3779B97F4A7C15)
SHIFT = np.uint64(29)


@njit(nogil=True, cache=True, error_model="numpy")
def moments(X, count, means, variances):
    """Take more rows into the means and variances of `count` rows; return how many they are then."""
    for i in range(X.shape[0]):
        count += 1
        share = 1.0 / count
        for j in range(X.shape[1]):
            away = X[i, j] - means[j]
            means[j] += away * share
            variances[j] += (away * (X[i, j] - means[j]) - variances[j]) * share
    return count


@njit(nogil=True, cache=True)
def checksum(words, state):
    """Return the checksum of more words. It depends on their order, and shows any change of a single one."""
    for k in range(words.size):
        state = (state ^ np.uint64(words[k])) * PRIME
        state ^= state >> SHIFT
    return state


@njit(nogil=True, cache=True, error_model="numpy")
def standardize(X, offset, scale):
    """Subtract the offset and divide by the scale of each column, in place."""
    for i in range(X.shape[0]):
        for j in range(X.shape[1]):
            X[i, j] = (X[i, j] - offset[j]) / scale[j]
