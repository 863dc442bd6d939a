"""Rows in the coordinates of a working space, and sums of rows by their labels.

No sum is contracted or reordered, and no row depends on those beside it: coordinates are the same
on every machine, for any number of threads, and however the rows are partitioned.
"""

from __future__ import annotations

import numpy as np
from numba import njit

ROUNDING = 1e-5  # the share of a squared length that is rounding, not a distance from the span


@njit(nogil=True, cache=True, error_model="numpy")
def _squared_length(x):
    """Return the sum of the squares of a row, of every fourth column together: that is quicker."""
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    whole = x.size // 4 * 4
    for j in range(0, whole, 4):
        a += np.float64(x[j]) * np.float64(x[j])
        b += np.float64(x[j + 1]) * np.float64(x[j + 1])
        c += np.float64(x[j + 2]) * np.float64(x[j + 2])
        d += np.float64(x[j + 3]) * np.float64(x[j + 3])
    for j in range(whole, x.size):
        a += np.float64(x[j]) * np.float64(x[j])
    return (a + b) + (c + d)


@njit(nogil=True, cache=True, error_model="numpy")
def _per_length(x):
    """Return 1 / the length of a row; 0 for a row of zeros."""
    square = _squared_length(x)
    return 1.0 / np.sqrt(square) if square > 0.0 else 0.0


@njit(nogil=True, cache=True, error_model="numpy")
def normalize(X, out, first, last):
    """Write rows first..last-1 of X with length 1; rows of zeros stay as they are."""
    for i in range(first, last):
        factor = _per_length(X[i])
        for j in range(X.shape[1]):
            out[i, j] = X[i, j] * factor


@njit(nogil=True, cache=True, error_model="numpy")
def project(X, unit, origin, components, out, first, last):
    """Write the coordinates of rows first..last-1 of X, (n, k + 1).

    The last one is the distance from the span of the `components` (d, k) at the `origin`. With
    `unit`, rows are brought to length 1 before.
    """
    d, k = components.shape
    whole = d // 4 * 4
    rows = np.zeros((2, d), dtype=np.float32)
    sums = np.empty((2, k), dtype=np.float32)
    one, two = rows[0], rows[1]
    p, q = sums[0], sums[1]
    for start in range(first, last, 2):  # two at a time, as components are read once for both then
        size = min(2, last - start)
        for a in range(size):
            x = X[start + a]
            factor = _per_length(x) if unit else 1.0
            for j in range(d):
                rows[a, j] = np.float32(np.float64(x[j]) * factor - origin[j])
        sums[:] = 0.0
        for j in range(0, whole, 4):
            a0, a1, a2, a3 = components[j], components[j + 1], components[j + 2], components[j + 3]
            x0, x1, x2, x3 = one[j], one[j + 1], one[j + 2], one[j + 3]
            y0, y1, y2, y3 = two[j], two[j + 1], two[j + 2], two[j + 3]
            for c in range(k):  # over components, so that it runs in vector registers
                p[c] = (((p[c] + x0 * a0[c]) + x1 * a1[c]) + x2 * a2[c]) + x3 * a3[c]
                q[c] = (((q[c] + y0 * a0[c]) + y1 * a1[c]) + y2 * a2[c]) + y3 * a3[c]
        for j in range(whole, d):
            for c in range(k):
                p[c] += one[j] * components[j, c]
                q[c] += two[j] * components[j, c]
        for a in range(size):
            length = _squared_length(rows[a])
            left = length - _squared_length(sums[a])
            for c in range(k):  # an assignment of slices takes seconds to compile
                out[start + a, c] = sums[a, c]
            out[start + a, k] = np.sqrt(left) if left > ROUNDING * length else 0.0


@njit(nogil=True, cache=True, error_model="numpy")
def add_by_label(X, labels, units, sums, first, last):
    """Add rows first..last-1 to the sums of their labels, (labels, d + 2): coordinates, squares, ones.

    All are integers, in the units of the data. Negative labels are left out.
    """
    d = X.shape[1]
    for i in range(first, last):
        if labels[i] < 0:
            continue
        own = sums[labels[i]]
        square = 0.0
        for j in range(d):
            value = X[i, j] - units.origin[j]
            square += value * value
            own[j] += np.int64(np.rint(value * units.per_coordinate))
        own[d] += np.int64(np.rint(square * units.per_square))
        own[d + 1] += 1
