"""Compiled searches: unusable values, nearest centres, nearest rows, nearest sites."""

from __future__ import annotations

import numpy as np
from numba import njit

from samekind.points._cover import DARING, blur_of, roughly
from samekind.points._plant import LEAF

WIDE = 1024  # sites that are looked at together


@njit(nogil=True, cache=True)
def scan(X, limit, low, high, first, last):
    """Write the smallest and largest value of each column of rows first..last-1.

    Return the position (row * d + column) of the first NaN or |value| > limit instead, or -1.
    """
    d = X.shape[1]
    low[:], high[:] = X[first], X[first]
    for i in range(first, last):
        usable = True
        for j in range(d):
            value = X[i, j]
            usable &= abs(value) <= limit
            low[j] = min(low[j], value)
            high[j] = max(high[j], value)
        if not usable:
            for j in range(d):
                if not abs(X[i, j]) <= limit:
                    return i * d + j
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
def _gaps(low, high, x, bounds):
    """Write the squared distance of x to each box."""
    for leaf in range(bounds.size):
        bounds[leaf] = 0.0
    for j in range(x.size):
        lows, highs, value = low[j], high[j], x[j]
        for leaf in range(bounds.size):  # over leaves, so that it runs in vector registers
            gap = max(max(lows[leaf] - value, value - highs[leaf]), 0.0)
            bounds[leaf] += gap * gap


@njit(nogil=True, cache=True)
def near(Z, order, shift, low, high, sketches, shrink, x, bounds, rows, distances):
    """Write the rows nearest to x, as many as there is room for, nearest first, and of equals the first.

    Distances are first taken from sketches of the rows, where there are any; the rows Z are sorted then.
    """
    n, d = Z.shape
    size, k = bounds.size, rows.size
    rough = np.zeros(LEAF, dtype=np.float32)
    _gaps(low, high, x, bounds)
    closest = 0
    for leaf in range(size):
        if bounds[leaf] < bounds[closest]:
            closest = leaf
    distances[:] = np.inf
    rows[:] = n
    turns = np.full(1, closest)
    turn = -1
    while turn + 1 < turns.size:
        turn += 1
        leaf = turns[turn]
        if bounds[leaf] * (1.0 - 1e-9) > distances[k - 1]:
            break
        start = leaf * LEAF
        base = start >> shift << shift
        some = min(LEAF, n - start)
        limit = np.float32(np.inf)
        if sketches.size:
            rows_of_leaf = sketches[start * d : (start + some) * d]
            roughly(rows_of_leaf, some, low, high, leaf, shrink, x, rough)
            blur = blur_of(low, high, leaf, shrink)
            limit = np.float32(distances[k - 1] * shrink * shrink) * DARING + blur
        for i in range(some):
            if not rough[i] <= limit:
                continue
            row = base + order[start + i]
            z = start + i if sketches.size else row
            distance = 0.0
            for j in range(d):
                step = Z[z, j] - x[j]
                distance += step * step
            if distance > distances[k - 1] or (distance == distances[k - 1] and row > rows[k - 1]):
                continue
            at = k - 1
            while at > 0 and (
                distances[at - 1] > distance
                or (distances[at - 1] == distance and rows[at - 1] > row)
            ):
                distances[at] = distances[at - 1]
                rows[at] = rows[at - 1]
                at -= 1
            distances[at] = distance
            rows[at] = row
            if sketches.size:
                limit = np.float32(distances[k - 1] * shrink * shrink) * DARING + blur
        if leaf == closest:  # then all others that it leaves open, nearest first
            bounds[closest] = np.inf
            turns = np.flatnonzero(bounds * (1.0 - 1e-9) <= distances[k - 1])
            turns = turns[np.argsort(bounds[turns])]
            turn = -1


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
