"""Compiled searches: unusable values, nearest centres, nearest rows, nearest sites."""

from __future__ import annotations

import numpy as np
from numba import njit

from samekind.points.kernels.leaves import BUNDLE, LEAF
from samekind.points.kernels.nearest import DARING, blur_of, roughly

WIDE = 1024  # sites, or
ABREAST = 16  # rows that are looked at together


@njit(nogil=True, cache=True)
def _extremes(values, low, high):
    """Lower `low` and raise `high`, place by place, to values that come in rows of their size.

    Return how many of the values are NaN.
    """
    missing = 0
    for first in range(0, values.size, low.size):
        row = values[first : first + low.size]
        for k in range(row.size):  # many places, so that it runs in vector registers
            value, smallest, largest = row[k], low[k], high[k]
            low[k] = value if value < smallest else smallest
            high[k] = value if value > largest else largest
        for k in range(row.size):
            missing += row[k] != row[k]
    return missing


@njit(nogil=True, cache=True)
def scan(X, limit, low, high, first, last):
    """Write the smallest and largest value of each column of rows first..last-1.

    Return the position (row * d + column) of the first NaN or |value| > limit instead, or -1.
    """
    d = X.shape[1]
    values = X[first:last].reshape(-1)
    lows = np.full(d * ABREAST, np.inf, dtype=X.dtype)
    highs = np.full(d * ABREAST, -np.inf, dtype=X.dtype)
    missing = _extremes(values, lows, highs)
    for j in range(d):
        low[j], high[j] = lows[j::d].min(), highs[j::d].max()
    if missing or low.min() < -limit or high.max() > limit:
        for k in range(values.size):
            if not abs(values[k]) <= limit:
                return first * d + k
    return -1


@njit(nogil=True, cache=True, error_model="numpy")
def nearest(X, centers, labels, first, last):
    """Write to `labels` the nearest of `centers` for rows first..last-1; the first one wins a tie."""
    d = X.shape[1]
    for i in range(first, last):
        best = -1.0
        for c in range(centers.shape[0]):
            distance = 0.0
            for j in range(d):
                step = X[i, j] - centers[c, j]
                distance += step * step
            if best < 0.0 or distance < best:
                best = distance
                labels[i] = c


@njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract"})
def _gaps(low, high, x, first, bounds):
    """Write the squared distance of x to each of some boxes, with room for rounding."""
    bounds[:] = 0.0
    for j in range(x.size):
        value = x[j]
        lows, highs = low[j, first : first + bounds.size], high[j, first : first + bounds.size]
        for i in range(bounds.size):  # over boxes, so that it runs in vector registers
            gap = max(max(lows[i] - value, value - highs[i]), 0.0)
            bounds[i] += gap * gap
    for i in range(bounds.size):
        bounds[i] *= 1.0 - 1e-9


@njit(nogil=True, cache=True)
def _near_in(X, leaves, units, leaf, x, rough, rows, distances):
    """Put the rows of a leaf that are nearer to x in their place among the nearest."""
    n, d = X.shape
    k = rows.size
    start = leaf * LEAF
    base = start >> leaves.shift << leaves.shift
    limit, blur = np.float32(np.inf), np.float32(0.0)
    sketched = leaves.sketches.size > 0
    if sketched:
        sketch = leaves.sketches[leaf]
        roughly(sketch, leaves.low, leaves.high, leaf, units.shrink, x, rough)
        blur = blur_of(leaves.low, leaves.high, leaf, units.shrink)
        limit = np.float32(distances[k - 1] * units.per_unit) * DARING + blur
    for i in range(min(LEAF, n - start)):
        if not rough[i] <= limit:
            continue
        row = base + leaves.order[start + i]
        distance = 0.0
        for j in range(d):
            step = X[row, j] - x[j]
            distance += step * step
        if distance > distances[k - 1] or (distance == distances[k - 1] and row > rows[k - 1]):
            continue
        at = k - 1
        while at > 0 and (
            distances[at - 1] > distance or (distances[at - 1] == distance and rows[at - 1] > row)
        ):
            distances[at] = distances[at - 1]
            rows[at] = rows[at - 1]
            at -= 1
        distances[at] = distance
        rows[at] = row
        if sketched:
            limit = np.float32(distances[k - 1] * units.per_unit) * DARING + blur


@njit(nogil=True, cache=True)
def _near_in_bundle(X, leaves, units, bundle, x, rough, rows, distances):
    """Do so for a bundle, the nearest leaf first."""
    first = bundle * BUNDLE
    bounds = np.empty(min(BUNDLE, leaves.low.shape[1] - first))
    _gaps(leaves.low, leaves.high, x, first, bounds)
    for i in np.argsort(bounds):
        if bounds[i] > distances[-1]:
            break
        _near_in(X, leaves, units, first + i, x, rough, rows, distances)


@njit(nogil=True, cache=True)
def near(X, leaves, units, x, rows, distances):
    """Write the rows nearest to x, as many as there is room for, nearest first, and of equals the first.

    Distances are first taken from sketches of the rows, where there are any.
    """
    distances[:] = np.inf
    rows[:] = X.shape[0]
    rough = np.zeros(LEAF, dtype=np.float32)
    bounds = np.empty(leaves.wide_low.shape[1])
    _gaps(leaves.wide_low, leaves.wide_high, x, 0, bounds)
    closest = np.argmin(bounds)
    _near_in_bundle(X, leaves, units, closest, x, rough, rows, distances)
    bounds[closest] = np.nan
    others = np.flatnonzero(bounds <= distances[-1])
    for bundle in others[np.argsort(bounds[others])]:
        if bounds[bundle] > distances[-1]:
            break
        _near_in_bundle(X, leaves, units, bundle, x, rough, rows, distances)


@njit(nogil=True, cache=True, fastmath={"contract"})
def nearest_of_each(columns, groups, X, best):
    """Write for each row of X the smallest squared distance to a site of each group, (m, groups).

    Sites come by columns, (d, sites). Negative groups are left out; infinity for those without sites.
    """
    distances = np.empty(WIDE)
    for i in range(X.shape[0]):
        best[i] = np.inf
        for first in range(0, groups.size, WIDE):
            size = min(WIDE, groups.size - first)
            distances[:size] = 0.0
            for j in range(columns.shape[0]):
                x = X[i, j]
                column = columns[j, first : first + size]
                for s in range(size):  # over sites, so that it runs in vector registers
                    step = column[s] - x
                    distances[s] += step * step
            for s in range(size):
                g = groups[first + s]
                if g >= 0:
                    best[i, g] = min(best[i, g], distances[s])


@njit(nogil=True, cache=True)
def nearest_of(sites, groups, group, x):
    """Return the site of a group that is nearest to x, or -1 if it has none."""
    found, best = -1, np.inf
    for s in range(groups.size):
        if groups[s] == group:
            distance = 0.0
            for j in range(x.size):
                step = sites[s, j] - x[j]
                distance += step * step
            if distance < best:
                found, best = s, distance
    return found
