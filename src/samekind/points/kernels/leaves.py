"""Compiled loops that group rows into leaves: small groups of rows that are close together.

A tree of cuts is grown on a sample. Chunk by chunk, rows are sorted by where they fall in it, and cut into
leaves of equal size: leaf l holds the places l * LEAF … of the order. So the rows of a leaf are never far
apart in memory. Leaves that follow one another lie close together, too: some of them are a bundle.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

RESIDENT_CHUNK = 18  # bits of the number of rows that are sorted at once
STREAMED_CHUNK = 16  # the same for rows that are read from files: two bytes a row for an order
LEAF = 128
BUNDLE = 16  # leaves
DEPTH = 16  # the most cuts on the way down the tree
FINEST = 64  # rows of the data in a leaf of the tree, at least
SAMPLED = 4  # rows of the sample in a leaf of the tree
TRIED = 32  # rows of a group that choose where it is cut
ABREAST = 64  # rows that go down the tree together


class Boxes(NamedTuple):
    """Boxes around groups of rows."""

    low: NDArray[np.floating]
    """(d, groups) low corners."""
    high: NDArray[np.floating]


class Leaves(NamedTuple):
    """The order of n rows, and the leaves they are cut into."""

    chunk_bits: int
    """Bits of the number of rows in a chunk."""
    order: NDArray[np.unsignedinteger]
    """(n,) which row comes at a place, counted from the first of its chunk."""
    place: NDArray[np.unsignedinteger]
    """(n,) the place of a row, counted in the same way."""
    boxes: Boxes
    """Around the leaves,"""
    bundles: Boxes
    """and around bundles of them."""
    rows: NDArray[np.floating]
    """(leaves, d, LEAF) the rows by columns, or empty. A last leaf that is not full repeats its first row."""
    sketches: NDArray[np.uint8]
    """(leaves, d, LEAF) the same, each number as an offset in 255ths of the box; or empty."""


def allocate_leaves(X: NDArray[np.floating], chunk_bits: int, *, resident: bool) -> Leaves:
    """Return room for the leaves of some rows; with room for sketches if the rows are resident.

    And for the rows themselves if they are float32: of float64, that takes too much for what it saves.
    """
    n, d = X.shape
    size = -(-n // LEAF)
    order, place = np.empty((2, n), dtype=np.uint16 if chunk_bits <= 16 else np.uint32)
    sketched = size if resident else 0
    kept = sketched if X.dtype == np.float32 else 0
    return Leaves(
        chunk_bits,
        order,
        place,
        Boxes(*np.empty((2, d, size), dtype=X.dtype)),
        Boxes(*np.empty((2, d, -(-size // BUNDLE)), dtype=X.dtype)),
        np.empty((kept, d, LEAF), dtype=X.dtype),
        np.empty((sketched, d, LEAF), dtype=np.uint8),
    )


class CutTree(NamedTuple):
    """A binary tree of cuts; node i, from 1 on, has children 2i and 2i + 1."""

    depth: int
    columns: NDArray[np.unsignedinteger]
    limits: NDArray[np.floating]
    """Of each node: rows with a smaller value in its column go to its first child."""


def grow_tree(X: NDArray[np.floating], chunk_bits: int) -> CutTree:
    """Return a tree that cuts a sample of the rows into groups of equal size."""
    n, d = X.shape
    depth = min(DEPTH, max(0, (min(n, 1 << chunk_bits) // FINEST).bit_length() - 1))
    columns = np.zeros(2**depth, dtype=np.uint16 if d < 2**16 else np.uint64)
    limits = np.zeros(2**depth, dtype=X.dtype)
    sample = np.linspace(0, n - 1, min(n, SAMPLED << depth)).astype(np.intp)
    _grow(X[sample], depth, columns, limits)
    return CutTree(depth, columns, limits)


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
def _middle(X, first, last, column, values):
    """Return the middle one of some evenly spaced values of a group; np.sort takes seconds to compile."""
    size = 0
    for i in range(first, last, max(1, (last - first) // TRIED)):
        value, k = X[i, column], size
        while k > 0 and values[k - 1] > value:
            values[k] = values[k - 1]
            k -= 1
        values[k] = value
        size += 1
    return values[size // 2]


@njit(nogil=True, cache=True)
def _copy_row(X, row, out, place):
    """Copy a row; an assignment of slices takes seconds to compile, for the sake of its error message."""
    for j in range(X.shape[1]):
        out[place, j] = X[row, j]


@njit(nogil=True, cache=True)
def _grow(X, depth, columns, limits):
    """Write the cuts of a tree that is grown on a sample, which is reordered."""
    firsts = np.zeros(2 ** (depth + 1), dtype=np.int64)
    lasts = np.zeros(2 ** (depth + 1), dtype=np.int64)
    lasts[1] = X.shape[0]
    swap, values = np.empty_like(X), np.empty(2 * TRIED + 1, dtype=X.dtype)
    for node in range(1, 2**depth):
        first, last = firsts[node], lasts[node]
        middle = first
        if last > first:
            column = _widest(X, first, last)
            limit = _middle(X, first, last, column, values)
            columns[node], limits[node] = column, limit
            end = last
            for i in range(first, last):
                if X[i, column] < limit:
                    _copy_row(X, i, swap, middle)
                    middle += 1
                else:
                    end -= 1
                    _copy_row(X, i, swap, end)
            for i in range(first, last):
                _copy_row(swap, i, X, i)
        firsts[2 * node], lasts[2 * node] = first, middle
        firsts[2 * node + 1], lasts[2 * node + 1] = middle, last


@njit(nogil=True, cache=True)
def _descend(X, columns, limits, depth, keys, first):
    """Write where the rows from `first` on end up in the tree, as many as there is room for."""
    values, d = X.reshape(-1), np.uint64(X.shape[1])  # unsigned numbers never count from the end
    nodes = np.empty(ABREAST, dtype=np.uint64)
    for i in range(0, keys.size, ABREAST):
        some = np.uint64(min(ABREAST, keys.size - i))
        mine = values[(first + i) * X.shape[1] :]
        for k in range(some):
            nodes[k] = np.uint64(1)
        for _ in range(depth):
            for k in range(some):  # rows do not wait for each other
                node = nodes[k]
                value = mine[np.uint64(k) * d + np.uint64(columns[node])]
                nodes[k] = node + node + np.uint64(value >= limits[node])
        for k in range(some):
            keys[i + k] = nodes[k] - np.uint64(2**depth)


@njit(nogil=True, cache=True)
def _arrange(keys, n_keys, order, place):
    """Write the order of the rows of a chunk by their keys, and where each row comes in it."""
    places = np.zeros(n_keys + 1, dtype=np.int64)
    for i in range(keys.size):
        places[keys[i] + 1] += 1
    for key in range(n_keys):
        places[key + 1] += places[key]
    for i in range(keys.size):
        at = places[keys[i]]
        places[keys[i]] += 1
        order[at] = i
        place[i] = at


@njit(nogil=True, cache=True)
def gather_columns(X, base, rows, columns):
    """Write rows, which are counted from `base`, by columns, (d, LEAF)."""
    last = X.shape[1] - 1
    for i in range(rows.size):  # rows do not wait for each other on their way from memory
        row = base + rows[i]
        columns[0, i] = X[row, 0]
        columns[last, i] = X[row, last]
    for i in range(rows.size):
        row = base + rows[i]
        for j in range(1, last):
            columns[j, i] = X[row, j]


@njit(nogil=True, cache=True)
def _sketch(columns, boxes, leaf, offsets):
    """Write rows that were gathered by columns, as offsets from the low corner in 255ths of the box."""
    for j in range(columns.shape[0]):
        corner = np.float64(boxes.low[j, leaf])
        side = boxes.high[j, leaf] - corner
        finer = 255.0 / side if side > 0.0 else 0.0
        for i in range(LEAF):
            offsets[j, i] = np.int32((columns[j, i] - corner) * finer + 0.5)


@njit(nogil=True, cache=True)
def _squares(columns, size, units, squares):
    """Write the squared distances of the rows of a leaf from the origin."""
    squares[:size] = 0.0
    for j in range(columns.shape[0]):
        column, middle = columns[j], units.origin[j]
        for i in range(size):
            value = column[i] - middle
            squares[i] += value * value * units.per_square


@njit(nogil=True, cache=True, fastmath={"nnan", "nsz", "reassoc"})
def add_sums(columns, size, counted, units, squares, sums):
    """Add the rows of a leaf that are counted (1.0, and others 0.0) to the sums (d + 2,).

    These are d sums of coordinates, a sum of squares and a count, all integers. The sum over a leaf is exact
    as float64, too, and quicker.
    """
    d = columns.shape[0]
    for j in range(d):
        column, middle, total = columns[j], units.origin[j], 0.0
        for i in range(size):
            total += np.rint((column[i] - middle) * units.per_coordinate) * counted[i]
        sums[j] += np.int64(total)
    _squares(columns, size, units, squares)
    total, count = 0.0, 0.0
    for i in range(size):
        total += np.rint(squares[i]) * counted[i]
        count += counted[i]
    sums[d] += np.int64(total)
    sums[d + 1] += np.int64(count)


@njit(nogil=True, cache=True, fastmath={"nnan", "nsz"})
def _enclose(X, leaves, units, sums, first, last):
    """Write boxes, and where there is room rows and sketches, of bundles first..last-1; add to the sums."""
    low, high = leaves.boxes
    d, n_leaves = low.shape
    loose = np.empty((d, LEAF), dtype=X.dtype)
    squares, all_of_them = np.empty(LEAF), np.ones(LEAF)
    for bundle in range(first, last):
        for leaf in range(bundle * BUNDLE, min((bundle + 1) * BUNDLE, n_leaves)):
            start = leaf * LEAF
            rows = leaves.order[start : start + LEAF]
            columns = leaves.rows[leaf] if leaves.rows.size else loose
            gather_columns(X, start >> leaves.chunk_bits << leaves.chunk_bits, rows, columns)
            for j in range(d):
                column = columns[j]
                column[rows.size :] = column[0]
                smallest = largest = column[0]
                for i in range(LEAF):
                    smallest = min(smallest, column[i])
                    largest = max(largest, column[i])
                low[j, leaf], high[j, leaf] = smallest, largest
            add_sums(columns, rows.size, all_of_them, units, squares, sums)
            if leaves.sketches.size:
                _sketch(columns, leaves.boxes, leaf, leaves.sketches[leaf])
        start, end = bundle * BUNDLE, min((bundle + 1) * BUNDLE, n_leaves)
        for j in range(d):
            smallest, largest = low[j, start], high[j, start]
            for leaf in range(start + 1, end):
                smallest = min(smallest, low[j, leaf])
                largest = max(largest, high[j, leaf])
            leaves.bundles.low[j, bundle], leaves.bundles.high[j, bundle] = smallest, largest


@njit(nogil=True, cache=True)
def build_leaves(X, tree, leaves, units, sums, chunk):
    """Write the leaves of a chunk, and add all its rows to the sums; see `add_sums`."""
    start, end = chunk << leaves.chunk_bits, min((chunk + 1) << leaves.chunk_bits, X.shape[0])
    keys = np.empty(end - start, dtype=np.uint16)
    _descend(X, tree.columns, tree.limits, tree.depth, keys, start)
    _arrange(keys, 2**tree.depth, leaves.order[start:end], leaves.place[start:end])
    per_bundle = LEAF * BUNDLE
    _enclose(X, leaves, units, sums, start // per_bundle, -(-end // per_bundle))
