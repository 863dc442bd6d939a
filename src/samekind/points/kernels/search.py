"""Passes over all rows: unusable values, a checksum, nearest centres, the rows nearest to a point."""

from __future__ import annotations

import numpy as np
from numba import njit

from samekind.points.kernels.leaves import BUNDLE, LEAF
from samekind.points.kernels.reach import box_distances
from samekind.points.kernels.sketches import DARING, sketch_distances, sketch_slack

ABREAST = 16  # rows that are looked at together
PRIME, SHIFT = np.uint64(0x9E3779B97F4A7C15), np.uint64(29)  # of checksums
SURELY = 1.0 - 1e-9  # a bound, less what rounding can add


@njit(nogil=True, cache=True)
def _extremes(values, low, high):
    """Lower `low` and raise `high` to values that come in rows of their size; return how many are NaN."""
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
    is_beyond = missing > 0
    for j in range(d):
        smallest, largest = lows[j], highs[j]
        for k in range(j + d, lows.size, d):
            smallest, largest = min(smallest, lows[k]), max(largest, highs[k])
        low[j], high[j] = smallest, largest
        is_beyond = is_beyond or smallest < -limit or largest > limit
    if is_beyond:
        for k in range(values.size):
            if not abs(values[k]) <= limit:
                return first * d + k
    return -1


@njit(nogil=True, cache=True)
def checksum(words, state):
    """Return the checksum of more words. It depends on their order, and shows any change of a single one."""
    for k in range(words.size):
        state = (state ^ np.uint64(words[k])) * PRIME
        state ^= state >> SHIFT
    return state


@njit(nogil=True, cache=True, error_model="numpy")
def nearest_centers(X, centers, labels, first, last):
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


@njit(nogil=True, cache=True)
def _nearest_in_leaf(X, leaves, units, leaf, x, rough, rows, distances):
    """Put the rows of a leaf that are nearer to x in their places among the nearest so far."""
    n, d = X.shape
    k = rows.size
    start = leaf * LEAF
    base = start >> leaves.chunk_bits << leaves.chunk_bits
    limit, blur = np.float32(np.inf), np.float32(0.0)
    sketched = leaves.sketches.size > 0
    if sketched:
        sketch_distances(leaves, leaf, units.per_length, x, rough)
        blur = sketch_slack(leaves.boxes, leaf, units.per_length)
        limit = np.float32(distances[k - 1] * units.per_cost) * DARING + blur
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
            limit = np.float32(distances[k - 1] * units.per_cost) * DARING + blur


@njit(nogil=True, cache=True)
def _nearest_in_bundle(X, leaves, units, bundle, x, rough, rows, distances):
    """Put the rows of a bundle that are nearer to x in their places, the nearest leaf first."""
    first = bundle * BUNDLE
    last = min(first + BUNDLE, leaves.boxes.low.shape[1])
    bounds = np.empty(last - first)
    box_distances(leaves.boxes, x, first, last, bounds)
    bounds *= SURELY
    for i in np.argsort(bounds):
        if bounds[i] > distances[-1]:
            break
        _nearest_in_leaf(X, leaves, units, first + i, x, rough, rows, distances)


@njit(nogil=True, cache=True)
def nearest_rows(X, leaves, units, x, rows, distances):
    """Write the rows nearest to x, as many as there is room for, nearest first, and of equals the first.

    Distances are first taken from sketches of the rows, where there are any.
    """
    distances[:] = np.inf
    rows[:] = X.shape[0]
    rough = np.zeros(LEAF, dtype=np.float32)
    bounds = np.empty(leaves.bundles.low.shape[1])
    box_distances(leaves.bundles, x, 0, bounds.size, bounds)
    bounds *= SURELY
    closest = np.argmin(bounds)
    _nearest_in_bundle(X, leaves, units, closest, x, rough, rows, distances)
    bounds[closest] = np.nan
    others = np.flatnonzero(bounds <= distances[-1])
    for bundle in others[np.argsort(bounds[others])]:
        if bounds[bundle] > distances[-1]:
            break
        _nearest_in_bundle(X, leaves, units, bundle, x, rough, rows, distances)
