"""The cost of every row: its squared distance to the nearest of a growing set of centres.

Rules that keep results the same for any number of threads, and however the rows are partitioned:

- a squared distance is summed in float64, column by column, and kept as a float32 in units of `cost_unit`;
- everything that is summed over rows is an integer, so no order of additions matters;
- rows are drawn by the running sum of their weights in the order of their numbers;
- costs and owners lie in the order of the leaves, where they are needed together; `place` leads there;
- what cannot change is skipped, which is exact: a point's distance to a box is at most its distance to any
  row in it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from samekind.points.kernels.leaves import BUNDLE, LEAF

BLOCK = 128  # rows whose weights are summed together
SPAN = 32  # blocks
BITS = 45  # a weight is below 2^45, so the sum over a span is an int64


class CostState(NamedTuple):
    """The cost of every row, and the centre that owns it: the nearest, of equals the first."""

    costs: NDArray[np.float32]
    """(places,) 0 at places of the last leaf that hold no row."""
    owners: NDArray[np.integer]
    """(places,) numbers of centres; or empty, where nobody needs them."""
    leaf_max: NDArray[np.float32]
    """(leaves,) a bound of the costs in each leaf,"""
    bundle_max: NDArray[np.float32]
    """(bundles,) and in each bundle."""
    block_weights: NDArray[np.float64]
    """(blocks,) the weight of each block of rows in the order of their numbers; integers all the same."""
    per_scale: float
    """1 / the cost of the highest weight."""
    squared: bool
    """Whether the weight of a row is the square of its cost, not the cost itself."""


@njit(nogil=True, cache=True, inline="always")
def weight_of(cost, per_scale, squared):
    """Return the weight of a row: an integer, at least 1 where the cost is positive.

    As a float64, for vector registers.
    """
    share = np.float64(cost) * per_scale
    if squared:
        share *= share
    weight = max(np.floor(share * 2.0**BITS), 1.0)
    return weight if cost > 0.0 else 0.0


@njit(nogil=True, cache=True, fastmath={"nnan", "nsz"})
def weights_of(costs, size, per_scale, squared, weights):
    """Write the weights of some rows."""
    for i in range(size):
        weights[i] = weight_of(costs[i], per_scale, squared)


@njit(nogil=True, cache=True, error_model="numpy")
def measure(columns, size, x, per_cost, distances, found):
    """Write the costs that some rows, by columns, have with a centre x."""
    distances[:size] = 0.0
    for j in range(x.size):
        column, value = columns[j], x[j]
        for i in range(size):  # over rows, so that it runs in vector registers
            step = column[i] - value
            distances[i] += step * step
    for i in range(size):
        found[i] = distances[i] * per_cost


@njit(nogil=True, cache=True, fastmath={"nnan", "nsz"})
def largest(values):
    """Return the largest of some costs; 0 if there are none."""
    found = np.float32(0.0)
    for i in range(values.size):
        found = max(found, values[i])
    return found


@njit(nogil=True, cache=True)
def bound_bundle(state, bundle):
    """Write the bound of a bundle: the largest of its leaves."""
    state.bundle_max[bundle] = largest(state.leaf_max[bundle * BUNDLE : (bundle + 1) * BUNDLE])


@njit(nogil=True, cache=True, error_model="numpy")
def first_center(leaves, units, x, state, first, last):
    """Write the state with a single centre x for bundles first..last-1, from the rows in the leaves."""
    n_leaves = state.leaf_max.size
    distances, weights = np.empty(LEAF), np.empty(LEAF)
    for bundle in range(first, last):
        for leaf in range(bundle * BUNDLE, min((bundle + 1) * BUNDLE, n_leaves)):
            start = leaf * LEAF
            size = min(LEAF, leaves.order.size - start)
            costs = state.costs[start : start + LEAF]
            measure(leaves.rows[leaf], LEAF, x, units.per_cost, distances, costs)
            costs[size:] = 0.0
            state.leaf_max[leaf] = largest(costs)
            weights_of(costs, size, state.per_scale, state.squared, weights)
            base = start >> leaves.chunk_bits << leaves.chunk_bits
            add_to_blocks(weights, size, leaves.order[start:], state.block_weights[base // BLOCK :])
        bound_bundle(state, bundle)


@njit(nogil=True, cache=True)
def add_to_blocks(weights, size, rows, blocks):
    """Add the weights of rows to their blocks."""
    for i in range(size):
        blocks[rows[i] // BLOCK] += weights[i]


@njit(nogil=True, cache=True, error_model="numpy")
def first_center_by_rows(X, units, x, state, leaves, first, last):
    """Write costs and weights with a single centre x for blocks first..last-1, from the rows X."""
    d = x.size
    found = np.empty(BLOCK, dtype=np.float32)
    weights = np.empty(BLOCK)
    squares, repeated = np.empty(BLOCK * d), np.empty(BLOCK * d)
    for k in range(BLOCK * d):
        repeated[k] = x[k % d]
    for block in range(first, last):
        start = block * BLOCK
        values = X[start : start + BLOCK].reshape(-1)
        for k in range(values.size):  # over all values, so that it runs in vector registers
            step = values[k] - repeated[k]
            squares[k] = step * step
        for i in range(values.size // d):
            distance = 0.0
            for j in range(i * d, (i + 1) * d):
                distance += squares[j]
            found[i] = distance * units.per_cost
        costs = state.costs[start >> leaves.chunk_bits << leaves.chunk_bits :]
        there = leaves.place[start : start + BLOCK]
        for i in range(there.size):
            costs[there[i]] = found[i]
        weights_of(found, there.size, state.per_scale, state.squared, weights)
        state.block_weights[block] = weights[: there.size].sum()


@njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract"})
def bound_by_corners(leaves, units, state, x):
    """Write the bounds of leaves and bundles: the cost of the farthest corner of each box."""
    low, high = leaves.boxes
    for leaf in range(state.leaf_max.size):
        bound = 0.0
        for j in range(x.size):
            gap = max(abs(low[j, leaf] - x[j]), abs(high[j, leaf] - x[j]))
            bound += gap * gap
        state.leaf_max[leaf] = np.float32(bound * units.per_cost * 1.000001)
    for bundle in range(state.bundle_max.size):
        bound_bundle(state, bundle)


@njit(nogil=True, cache=True)
def weigh_blocks(leaves, state, first, last):
    """Write the weight of blocks first..last-1."""
    found = np.empty(BLOCK, dtype=np.float32)
    weights = np.empty(BLOCK)
    for block in range(first, last):
        start = block * BLOCK
        costs = state.costs[start >> leaves.chunk_bits << leaves.chunk_bits :]
        there = leaves.place[start : start + BLOCK]
        for i in range(there.size):
            found[i] = costs[there[i]]
        weights_of(found, there.size, state.per_scale, state.squared, weights)
        state.block_weights[block] = weights[: there.size].sum()


@njit(nogil=True, cache=True)
def rows_at_weights(leaves, state, spans, targets, rows):
    """Write the row of each target: where the running sum of the weights of its span first exceeds it."""
    for k in range(targets.size):
        rest = targets[k]
        block = spans[k] * SPAN
        while rest >= np.int64(state.block_weights[block]):
            rest -= np.int64(state.block_weights[block])
            block += 1
        row = block * BLOCK
        costs = state.costs[row >> leaves.chunk_bits << leaves.chunk_bits :]
        while True:
            weight = np.int64(weight_of(costs[leaves.place[row]], state.per_scale, state.squared))
            if rest < weight:
                break
            rest -= weight
            row += 1
        rows[k] = row


@njit(nogil=True, cache=True)
def label_rows(leaves, owners, of_owners, labels, first, last):
    """Write the labels of rows first..last-1: those of their owners."""
    for i in range(first, last):
        base = i >> leaves.chunk_bits << leaves.chunk_bits
        labels[i] = of_owners[owners[base + leaves.place[i]]]
