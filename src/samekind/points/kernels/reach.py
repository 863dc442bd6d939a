"""Which leaves have a row that can be closer to a new site than to its owner: boxes tell without the rows."""

from __future__ import annotations

import numpy as np
from numba import njit

from samekind.points.kernels.leaves import BUNDLE, LEAF

ABREAST = 64  # bundles that are looked at together
SURELY = 1.0 - 2.5e-7  # a bound, less the rounding of costs to float32,
LEAST = 1e-44  # also of the smallest


@njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract"})
def box_distances(boxes, x, first, last, found):
    """Write the squared distances of x to boxes first..last-1."""
    found[: last - first] = 0.0
    for j in range(x.size):
        value, lows, highs = x[j], boxes.low[j, first:last], boxes.high[j, first:last]
        for i in range(last - first):  # over boxes, so that it runs in vector registers
            gap = max(max(lows[i] - value, value - highs[i]), 0.0)
            found[i] += gap * gap


@njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract"})
def _boxes_in_reach(boxes, max_costs, sites, who, per_cost, first, last, buffers):
    """Write for boxes first..last-1 and sites whether a row can be as close to the site as to its owner.

    And the least cost that a row of each box can have. Returns how many (site, box) can.
    """
    bounds, least, reached = buffers
    size, found = last - first, 0
    least[:size] = np.inf
    for s in who:
        box_distances(boxes, sites[s], first, last, bounds)
        for i in range(size):
            bound = bounds[i] * per_cost * SURELY - LEAST
            least[i] = min(least[i], bound)
            reached[s, i] = bound <= max_costs[first + i]
            found += reached[s, i]
    return found


@njit(nogil=True, cache=True)
def buffers_for(n_sites):
    """Return buffers for `leaves_in_reach`: what it finds, and what it needs on the way."""
    most = ABREAST * BUNDLE
    found = np.empty(most, dtype=np.int64)
    by = np.empty((most, n_sites), dtype=np.bool_)
    lowest = np.empty(most)
    bounds, least = np.empty(ABREAST), np.empty(ABREAST)
    reached = np.zeros((n_sites, ABREAST), dtype=np.bool_)
    return found, by, lowest, (bounds, least, reached), (bounds, least, np.zeros_like(reached))


@njit(nogil=True, cache=True)
def leaves_in_reach(leaves, units, state, sites, first, last, buffers):
    """Find the leaves of bundles first..last-1 with a row that can be closer to a site than to its owner.

    Write to `buffers` which leaves, by which sites, (leaves, sites), and the least cost that a row of each
    can have with one of them. Returns how many leaves.
    """
    found, by, lowest, of_bundles, of_leaves = buffers
    _, least, inside = of_leaves
    per_cost = units.per_cost
    n_sites, size = sites.shape[0], 0
    everyone, some = np.arange(n_sites), np.empty(n_sites, dtype=np.int64)
    if not _boxes_in_reach(
        leaves.bundles, state.bundle_max, sites, everyone, per_cost, first, last, of_bundles
    ):
        return 0
    for bundle in range(first, last):
        n_some = 0
        for s in range(n_sites):
            some[n_some] = s
            n_some += of_bundles[2][s, bundle - first]
        if not n_some:
            continue
        start, end = bundle * BUNDLE, min((bundle + 1) * BUNDLE, state.leaf_max.size)
        if not _boxes_in_reach(
            leaves.boxes, state.leaf_max, sites, some[:n_some], per_cost, start, end, of_leaves
        ):
            continue
        for i in range(end - start):
            if least[i] > state.leaf_max[start + i]:
                continue
            found[size], lowest[size] = start + i, least[i]
            by[size] = False
            for k in range(n_some):
                by[size, some[k]] = inside[some[k], i]
            size += 1
    return size


@njit(nogil=True, cache=True)
def any_leaf_in_reach(leaves, units, state, sites):
    """Return whether a row of any leaf can be closer to one of the sites than to its owner."""
    buffers = buffers_for(sites.shape[0])
    for first in range(0, state.bundle_max.size, ABREAST):
        last = min(first + ABREAST, state.bundle_max.size)
        if leaves_in_reach(leaves, units, state, sites, first, last, buffers):
            return True
    return False


@njit(nogil=True, cache=True)
def rows_of_owners(leaves, units, state, sites, chosen, rows, first, last):
    """Write the rows of bundles first..last-1 whose owner is a chosen one, unordered; return how many."""
    buffers = buffers_for(sites.shape[0])
    n, size = leaves.order.size, 0
    for begun in range(first, last, ABREAST):
        n_found = leaves_in_reach(
            leaves, units, state, sites, begun, min(begun + ABREAST, last), buffers
        )
        for leaf in buffers[0][:n_found]:
            for at in range(leaf * LEAF, min(n, (leaf + 1) * LEAF)):
                if chosen[state.owners[at]]:
                    rows[size] = (at >> leaves.chunk_bits << leaves.chunk_bits) + leaves.order[at]
                    size += 1
    return size
