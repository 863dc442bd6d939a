"""Compiled loops that group rows into leaves: small groups of rows that are close together.

A tree of cuts is grown on a sample. Chunk by chunk, rows are sorted by where they fall in it, and cut into
leaves of equal size: leaf l holds the places l * LEAF … of the order. So the rows of a leaf are never far
apart in memory.
"""

from __future__ import annotations

import numpy as np
from numba import njit

CHUNK = 18  # bits of the number of rows that are sorted at once
MAPPED_CHUNK = (
    16  # the same for rows that are read from a file: an order takes two bytes a row then
)
LEAF = 128
DEPTH = 16  # the most cuts on the way down the tree
FINEST = 64  # rows of the data in a leaf of the tree, at least
SAMPLED = 4  # rows of the sample in a leaf of the tree
TRIED = 32  # rows of a group that choose where it is cut
ABREAST = 64  # rows that go down the tree together


@njit(nogil=True, cache=True)
def _widest(X, first, last):
    """Return the column in which some evenly spaced rows of a group vary most."""
    step = max(1, (last - first) // TRIED)
    best, widest = -1.0, 0
    for j in range(X.shape[1]):
        total, squares, count = 0.0, 0.0, 0
        for i in range(first, last, step):
            value = np.float64(X[i, j]) - np.float64(X[first, j])
            total += value
            squares += value * value
            count += 1
        spread = squares - total * total / count
        if spread > best:
            best, widest = spread, j
    return widest


@njit(nogil=True, cache=True)
def grow(X, depth, columns, limits):
    """Grow a tree of cuts on a sample, which is reordered; node i has the children 2i + 1 and 2i + 2."""
    firsts = np.zeros(2 ** (depth + 1), dtype=np.int64)
    lasts = np.zeros(2 ** (depth + 1), dtype=np.int64)
    lasts[0] = X.shape[0]
    swap = np.empty_like(X)
    for node in range(2**depth - 1):
        first, last = firsts[node], lasts[node]
        middle = first
        if last > first:
            column = _widest(X, first, last)
            values = np.sort(X[first : last : max(1, (last - first) // TRIED), column])
            limit = values[values.size // 2]
            columns[node], limits[node] = column, limit
            end = last
            for i in range(first, last):
                if X[i, column] < limit:
                    swap[middle] = X[i]
                    middle += 1
                else:
                    end -= 1
                    swap[end] = X[i]
            X[first:last] = swap[first:last]
        firsts[2 * node + 1], lasts[2 * node + 1] = first, middle
        firsts[2 * node + 2], lasts[2 * node + 2] = middle, last


@njit(nogil=True, cache=True)
def descend(X, columns, limits, depth, keys, first, last):
    """Write where rows first..last-1 end up in the tree."""
    nodes = np.empty(ABREAST, dtype=np.int32)
    for i in range(first, last, ABREAST):
        some = min(ABREAST, last - i)
        nodes[:some] = 0
        for _ in range(depth):
            for k in range(some):  # rows do not wait for each other
                node = nodes[k]
                right = X[i + k, columns[node]] >= limits[node]
                nodes[k] = 2 * node + 1 + np.int32(right)
        for k in range(some):
            keys[i + k] = nodes[k] - (2**depth - 1)


@njit(nogil=True, cache=True)
def arrange(keys, n_keys, shift, order, place, first, last):
    """Write the order of the rows of chunks first..last-1 by their keys, and where each row comes in it.

    Both are counted from the first row of the chunk.
    """
    places = np.empty(n_keys + 1, dtype=np.int64)
    for number in range(first, last):
        base = number << shift
        end = min(base + (1 << shift), keys.size)
        places[:] = 0
        for i in range(base, end):
            places[keys[i] + 1] += 1
        for key in range(n_keys):
            places[key + 1] += places[key]
        for i in range(base, end):
            at = places[keys[i]]
            places[keys[i]] += 1
            order[base + at] = i - base
            place[i] = at


@njit(nogil=True, cache=True)
def gather(X, order, base, start, who, size, columns):
    """Write the rows of some places from `start` on by columns, (d, LEAF)."""
    last = X.shape[1] - 1
    for i in range(size):  # rows do not wait for each other on their way from memory
        row = base + order[start + who[i]]
        columns[0, i] = X[row, 0]
        columns[last, i] = X[row, last]
    for i in range(size):
        row = base + order[start + who[i]]
        for j in range(1, last):
            columns[j, i] = X[row, j]


@njit(nogil=True, cache=True)
def sketch(columns, size, low, high, leaf, offsets):
    """Write rows that were gathered by columns, as offsets from the low corner in 255ths of the box."""
    for j in range(columns.shape[0]):
        corner = low[j, leaf]
        side = high[j, leaf] - corner
        finer = 255.0 / side if side > 0.0 else 0.0
        for i in range(size):
            offsets[j * size + i] = np.int32((columns[j, i] - corner) * finer + 0.5)


@njit(nogil=True, cache=True, fastmath={"nnan", "nsz"})
def boxes(
    X,
    order,
    shift,
    origin,
    per_step,
    per_square,
    low,
    high,
    near,
    Z,
    account,
    first,
    last,
):
    """Write the corners of the box around each of the leaves first..last-1, (d, leaves).

    Write also a sketch of its rows to `near`, leaf by leaf, and the rows themselves to Z in the order of
    places, unless these are empty. Add all rows to an account; see `_cover.book`. Sums over a leaf are exact
    as float64, too, which is quicker.
    """
    n, d = X.shape
    columns = np.empty((d, LEAF), dtype=X.dtype)
    who = np.arange(LEAF)
    squares = np.empty(LEAF)
    for leaf in range(first, last):
        start = leaf * LEAF
        size = min(LEAF, n - start)
        gather(X, order, start >> shift << shift, start, who, size, columns)
        squares[:] = 0.0
        for j in range(d):
            smallest = largest = columns[j, 0]
            for i in range(1, size):
                smallest = min(smallest, columns[j, i])
                largest = max(largest, columns[j, i])
            low[j, leaf], high[j, leaf] = smallest, largest
            total = 0.0
            for i in range(size):
                value = columns[j, i] - origin[j]
                squares[i] += value * value * per_square
                total += np.rint(value * per_step)
            account[j] += np.int64(total)
        total = 0.0
        for i in range(size):
            total += np.rint(squares[i])
        account[d] += np.int64(total)
        account[d + 1] += size
        if near.size:
            sketch(columns, size, low, high, leaf, near[start * d :])
            for i in range(size):
                for j in range(d):
                    Z[start + i, j] = columns[j, i]
