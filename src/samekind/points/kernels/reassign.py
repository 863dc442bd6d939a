"""New sites take over the rows that are closer to them than to their owners."""

from __future__ import annotations

import numpy as np
from numba import njit

from samekind.points.kernels.costs import (
    BLOCK,
    add_to_blocks,
    bound_bundle,
    largest,
    measure,
    weight_of,
)
from samekind.points.kernels.leaves import LEAF, add_sums, gather_columns
from samekind.points.kernels.reach import ABREAST, buffers_for, leaves_in_reach
from samekind.points.kernels.sketches import DARING, sketch_distances, sketch_slack

FEW = 24  # rows of a leaf that are moved one by one
MANY = 48  # rows of a leaf that come closer, so that a sketch of the next one is not worth a look


@njit(nogil=True, cache=True)
def _any_below(rough, costs, blur):
    """Return whether a sketch leaves open that a row is closer than its cost."""
    found = np.int32(0)
    for i in range(LEAF):
        found += np.int32(rough[i] < costs[i] * DARING + blur)
    return found > 0


@njit(nogil=True, cache=True)
def _count_lower(found, size, costs):
    """Return how many costs would be lower."""
    lower = np.int32(0)
    for i in range(size):
        lower += np.int32(found[i] < costs[i])
    return lower


@njit(nogil=True, cache=True, fastmath={"nnan", "nsz"})
def _lower_costs(found, size, site, costs, taker, per_scale, squared, gained):
    """Lower costs to those with a site where it is closer; note the taker, and the change of weights."""
    taken = np.int32(site)
    for i in range(min(size, taker.size)):
        taker[i] = taken if found[i] < costs[i] else taker[i]
    for i in range(size):
        cost = costs[i]
        lower = found[i] if found[i] < cost else cost
        gained[i] += weight_of(lower, per_scale, squared) - weight_of(cost, per_scale, squared)
        costs[i] = lower


@njit(nogil=True, cache=True)
def _move_sums(columns, size, units, old, new, counted, squares, sums):
    """Move rows from the sums of their old owners to those of new ones; new is -1 for rows that stay."""
    d = columns.shape[0]
    source = target = np.int32(-1)
    for i in range(size):
        if new[i] >= 0:
            source, target = old[i], new[i]
            break
    others, moved = np.int32(0), 0.0
    for i in range(size):
        moves = new[i] >= 0
        counted[i] = 1.0 if moves else 0.0
        moved += counted[i]
        others += np.int32(moves & ((old[i] != source) | (new[i] != target)))
    if others or moved < FEW:
        for i in range(size):
            if new[i] >= 0:
                _move_row(columns, i, units, sums[old[i]], sums[new[i]])
        return
    moving = np.zeros(d + 2, dtype=np.int64)  # most often, all go from one to another
    add_sums(columns, size, counted, units, squares, moving)
    for j in range(d + 2):
        sums[source, j] -= moving[j]
        sums[target, j] += moving[j]


@njit(nogil=True, cache=True, inline="always")
def _move_row(columns, i, units, source, target):
    """Move one row from the sums of one owner to those of another; see `add_sums`."""
    d = columns.shape[0]
    square = 0.0
    for j in range(d):
        value = columns[j, i] - units.origin[j]
        square += value * value * units.per_square
        steps = np.int64(np.rint(value * units.per_coordinate))
        source[j] -= steps
        target[j] += steps
    steps = np.int64(np.rint(square))
    source[d] -= steps
    target[d] += steps
    source[d + 1] -= 1
    target[d + 1] += 1


@njit(nogil=True, cache=True)
def _rows_in_reach(costs, size, within, who, sifted):
    """Write costs of at least `within`, and of which rows; return how many, and the largest other cost."""
    n_sifted, limit = 0, np.float32(0.0)
    for i in range(size):
        who[n_sifted], sifted[n_sifted] = i, costs[i]
        n_sifted += costs[i] >= within
        if costs[i] < within:
            limit = max(limit, costs[i])
    return n_sifted, limit


@njit(nogil=True, cache=True, error_model="numpy")
def reassign_rows(X, leaves, units, sites, numbers, sums, commit, labels, state, first, last):
    """Let new sites own the rows of bundles first..last-1 that are closer to them than to their owners.

    X are the rows, which are read where the leaves do not have them. Distances are first taken from sketches,
    as long as that helps; where there are none, only rows that can change are read.

    In and out, with `commit`: the state, and the sums (sites, d + 2) of the rows that each owns. Without,
    only the sums change, and the owners that rows would get are written to `labels` (places,), if it has
    room. Returns how many distances were computed.
    """
    sketched, kept = leaves.sketches.size > 0, leaves.rows.size > 0
    found = np.empty(LEAF, dtype=np.float32)
    rough, copied = np.empty_like(found), np.empty_like(found)
    gained, counted, distances = np.empty(LEAF), np.empty(LEAF), np.empty(LEAF)
    taker = np.empty(LEAF if state.owners.size else 0, dtype=np.int32)
    old = np.empty_like(taker)
    who = np.arange(LEAF)
    loose = np.empty((X.shape[1], LEAF), dtype=X.dtype)
    loose_rows = np.empty(LEAF, leaves.order.dtype)
    helpful = np.ones(sites.shape[0], dtype=np.bool_)
    buffers = buffers_for(sites.shape[0])
    computed = 0
    for begun in range(first, last, ABREAST):
        n_found = leaves_in_reach(
            leaves, units, state, sites, begun, min(begun + ABREAST, last), buffers
        )
        for k in range(n_found):
            leaf, by, within = buffers[0][k], buffers[1][k], np.float32(buffers[2][k])
            start = leaf * LEAF
            base = start >> leaves.chunk_bits << leaves.chunk_bits
            costs, rows = state.costs[start : start + LEAF], leaves.order[start : start + LEAF]
            mine, size, limit = costs, LEAF, np.float32(0.0)
            columns = leaves.rows[leaf] if kept else loose
            at_hand = kept
            if not sketched:
                mine = copied
                size, limit = _rows_in_reach(costs, rows.size, within, who, mine)
                for i in range(size):
                    loose_rows[i] = rows[who[i]]
                rows = loose_rows[:size]
            elif not commit:
                mine = copied
                for i in range(LEAF):
                    mine[i] = costs[i]
            blur = np.float32(-1.0)
            changed = False
            for s in range(sites.shape[0]):
                if not by[s]:
                    continue
                computed += rows.size
                x = sites[s]
                if sketched and helpful[s]:
                    if blur < 0.0:
                        blur = sketch_slack(leaves.boxes, leaf, units.per_length)
                    sketch_distances(leaves, leaf, units.per_length, x, rough)
                    if not _any_below(rough, mine, blur):
                        continue
                if not at_hand:
                    at_hand = True
                    gather_columns(X, base, rows, loose)
                    size = rows.size
                measure(columns, size, x, units.per_cost, distances, found)
                lower = _count_lower(found, size, mine)
                helpful[s] = lower < MANY
                if not lower:
                    continue
                if not changed:
                    changed = True
                    taker[:] = -1
                    gained[:] = 0.0
                _lower_costs(found, size, s, mine, taker, state.per_scale, state.squared, gained)
            if changed and state.owners.size:
                for i in range(rows.size):
                    at = start + who[i]
                    old[i] = state.owners[at]
                    if taker[i] >= 0:
                        taker[i] = numbers[taker[i]]
                        if commit:
                            state.owners[at] = taker[i]
                        elif labels.size:
                            labels[at] = taker[i]
                _move_sums(columns, rows.size, units, old, taker, counted, distances, sums)
            if commit:
                if changed:
                    add_to_blocks(gained, rows.size, rows, state.block_weights[base // BLOCK :])
                    if not sketched:
                        for i in range(size):
                            costs[who[i]] = mine[i]
                if changed or not kept:
                    state.leaf_max[leaf] = max(limit, largest(mine[:size]))
        if commit:
            for bundle in range(begun, min(begun + ABREAST, last)):
                bound_bundle(state, bundle)
    return computed
