"""Compiled loops that keep every row's squared distance to the nearest of a growing set of centres.

Rules that keep results the same for any number of threads, and however the rows are cut into parts:

- a squared distance is summed in float64, column by column, and kept as a float32 in units of `unit`;
- everything that is summed over rows is an integer, so no order of additions matters;
- rows are drawn by the running sum of their weights in the order of their numbers;
- costs and owners lie in the order of the leaves, where they are needed together; `place` leads there;
- what cannot change is skipped, which is exact: a point's distance to a box is at most its distance to any
  row in it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from samekind.points.kernels.leaves import BUNDLE, LEAF, add_up, gather

BLOCK = 128  # rows whose weights are summed together
SPAN = 32  # blocks
BITS = 45  # a weight is below 2^45, so the sum over a span is an int64
TOGETHER = 512  # sites, or
ABREAST = 64  # bundles that are looked at together
# A sketch is off by at most half a 255th of each side of the box, so its distance from a point by at most
# b = BLUR times the box's diagonal, with room for the rounding of float32. Whether the true distance is less
# than c is open if its square is below (c + b)², which is at most (1 + 1/64) c² + 65 b².
BLUR = 0.0021
DARING = np.float32(1.0 + 1.0 / 64.0 + 1e-5)
FEW = 24  # rows of a leaf that are booked one by one
MANY = 48  # rows of a leaf that come closer, so that a sketch of the next one is not worth a look
SURELY = 1.0 - 2.5e-7  # a bound, less the rounding of costs to float32,
LEAST = 1e-44  # also of the smallest


class Held(NamedTuple):
    """What is known of the rows with respect to a set of centres."""

    costs: NDArray[np.float32]
    """(places,) of each row; 0 at places of the last leaf that hold no row."""
    owners: NDArray[Any]
    """(places,) the centre that is nearest, a small integer; or empty."""
    farthest: NDArray[np.float32]
    """(leaves,) what no cost of a leaf exceeds,"""
    wide: NDArray[np.float32]
    """(bundles,) or of a bundle."""
    blocks: NDArray[np.float64]
    """(blocks,) the weight of each block of rows, in the order of their numbers: integers all the same."""


@njit(nogil=True, cache=True, inline="always")
def _weight(cost, per_scale, squared):
    """Return the weight of a row: an integer, at least 1 where the cost is positive.

    As a float64, for vector registers.
    """
    share = np.float64(cost) * per_scale
    if squared:
        share *= share
    weight = max(np.floor(share * 2.0**BITS), 1.0)
    return weight if cost > 0.0 else 0.0


@njit(nogil=True, cache=True, fastmath={"nnan", "nsz"})
def _weights(costs, size, per_scale, squared, weights):
    """Write the weights of some rows."""
    for i in range(size):
        weights[i] = _weight(costs[i], per_scale, squared)


@njit(nogil=True, cache=True, error_model="numpy")
def _measure(columns, size, x, per_unit, distances, found):
    """Write the costs that some rows, by columns, have with a centre x."""
    distances[:size] = 0.0
    for j in range(x.size):
        column, value = columns[j], x[j]
        for i in range(size):  # over rows, so that it runs in vector registers
            step = column[i] - value
            distances[i] += step * step
    for i in range(size):
        found[i] = distances[i] * per_unit


@njit(nogil=True, cache=True, fastmath={"nnan", "nsz"})
def largest(values):
    """Return the largest of some costs; 0 if there are none."""
    found = np.float32(0.0)
    for i in range(values.size):
        found = max(found, values[i])
    return found


@njit(nogil=True, cache=True)
def _bound(held, bundle):
    """Write what no cost of a bundle exceeds."""
    held.wide[bundle] = largest(held.farthest[bundle * BUNDLE : (bundle + 1) * BUNDLE])


@njit(nogil=True, cache=True, error_model="numpy")
def begin(leaves, units, held, x, per_scale, squared, first, last):
    """Write all that is held with a single centre x for the rows of bundles first..last-1.

    Only where the leaves have the rows.
    """
    n_leaves = held.farthest.size
    distances, weights = np.empty(LEAF), np.empty(LEAF)
    for bundle in range(first, last):
        for leaf in range(bundle * BUNDLE, min((bundle + 1) * BUNDLE, n_leaves)):
            start = leaf * LEAF
            size = min(LEAF, leaves.order.size - start)
            costs = held.costs[start : start + LEAF]
            _measure(leaves.rows[leaf], LEAF, x, units.per_unit, distances, costs)
            costs[size:] = 0.0
            held.farthest[leaf] = largest(costs)
            _weights(costs, size, per_scale, squared, weights)
            base = start >> leaves.shift << leaves.shift
            _spread(weights, size, leaves.order[start:], held.blocks[base // BLOCK :])
        _bound(held, bundle)


@njit(nogil=True, cache=True)
def _spread(weights, size, rows, blocks):
    """Add the weights of rows to their blocks."""
    for i in range(size):
        blocks[rows[i] // BLOCK] += weights[i]


@njit(nogil=True, cache=True, error_model="numpy")
def begin_by_rows(X, leaves, units, held, x, per_scale, squared, first, last):
    """Write costs and weights with a single centre x for the rows of blocks first..last-1, as they come."""
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
            found[i] = distance * units.per_unit
        costs = held.costs[start >> leaves.shift << leaves.shift :]
        there = leaves.place[start : start + BLOCK]
        for i in range(there.size):
            costs[there[i]] = found[i]
        _weights(found, there.size, per_scale, squared, weights)
        held.blocks[block] = weights[: there.size].sum()


@njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract"})
def corners(leaves, units, held, x):
    """Write of leaves and bundles what no row's cost exceeds: that of the farthest corner of the box."""
    low, high = leaves.low, leaves.high
    for leaf in range(held.farthest.size):
        bound = 0.0
        for j in range(x.size):
            gap = max(abs(low[j, leaf] - x[j]), abs(high[j, leaf] - x[j]))
            bound += gap * gap
        held.farthest[leaf] = np.float32(bound * units.per_unit * 1.000001)
    for bundle in range(held.wide.size):
        _bound(held, bundle)


@njit(nogil=True, cache=True)
def weigh(leaves, held, per_scale, squared, first, last):
    """Write the weight of blocks first..last-1."""
    found = np.empty(BLOCK, dtype=np.float32)
    weights = np.empty(BLOCK)
    for block in range(first, last):
        start = block * BLOCK
        costs = held.costs[start >> leaves.shift << leaves.shift :]
        there = leaves.place[start : start + BLOCK]
        for i in range(there.size):
            found[i] = costs[there[i]]
        _weights(found, there.size, per_scale, squared, weights)
        held.blocks[block] = weights[: there.size].sum()


@njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract"})
def _reachable(low, high, farthest, sites, who, per_unit, first, bounds, reached, least):
    """Write for boxes from `first` on whether a row of it can be as close to some of the sites as its cost.

    And for each box the least cost that a row can have with one of these. Returns in how many cases one can.
    """
    size = least.size
    found = 0
    least[:] = np.inf
    for s in who:
        bounds[:size] = 0.0
        for j in range(sites.shape[1]):
            x = sites[s, j]
            lows, highs = low[j, first : first + size], high[j, first : first + size]
            for i in range(size):  # over boxes, so that it runs in vector registers
                gap = max(max(lows[i] - x, x - highs[i]), 0.0)
                bounds[i] += gap * gap
        for i in range(size):
            bound = bounds[i] * per_unit * SURELY - LEAST
            least[i] = min(least[i], bound)
            reached[s, i] = bound <= farthest[first + i]
            found += reached[s, i]
    return found


@njit(nogil=True, cache=True)
def _room_for(n_sites):
    """Return room for `_reach`: what it finds, and what it needs on the way."""
    most = ABREAST * BUNDLE
    found = np.empty(most, dtype=np.int64)
    by = np.empty((most, n_sites), dtype=np.bool_)
    lowest = np.empty(most)
    bounds, least = np.empty(ABREAST), np.empty(ABREAST)
    reached = np.zeros((n_sites, ABREAST), dtype=np.bool_)
    return found, by, lowest, bounds, least, reached, np.zeros_like(reached)


@njit(nogil=True, cache=True)
def _reach(leaves, units, held, sites, first, last, room):
    """Find the leaves of bundles first..last-1 with a row that can be closer to a site than its cost.

    Write to `room` which they are, for each of them by which sites, (leaves, sites), and the least cost that
    a row can have with one. Returns how many.
    """
    found, by, lowest, bounds, least, reached, inside = room
    n_sites, size = sites.shape[0], 0
    everyone, some = np.arange(n_sites), np.empty(n_sites, dtype=np.int64)
    if not _reachable(
        leaves.wide_low,
        leaves.wide_high,
        held.wide,
        sites,
        everyone,
        units.per_unit,
        first,
        bounds,
        reached,
        least[: last - first],
    ):
        return 0
    for bundle in range(first, last):
        n_some = 0
        for s in range(n_sites):
            some[n_some] = s
            n_some += reached[s, bundle - first]
        if not n_some:
            continue
        start = bundle * BUNDLE
        n_inside = min(BUNDLE, held.farthest.size - start)
        if not _reachable(
            leaves.low,
            leaves.high,
            held.farthest,
            sites,
            some[:n_some],
            units.per_unit,
            start,
            bounds,
            inside,
            least[:n_inside],
        ):
            continue
        for i in range(n_inside):
            if least[i] > held.farthest[start + i]:
                continue
            found[size], lowest[size] = start + i, least[i]
            by[size] = False
            for k in range(n_some):
                by[size, some[k]] = inside[some[k], i]
            size += 1
    return size


@njit(nogil=True, cache=True)
def reaches(leaves, units, held, sites):
    """Return whether a row of any leaf can be closer to one of the sites than to its owner."""
    room = _room_for(sites.shape[0])
    for first in range(0, held.wide.size, ABREAST):
        last = min(first + ABREAST, held.wide.size)
        if _reach(leaves, units, held, sites, first, last, room):
            return True
    return False


@njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract"})
def roughly(sketch, low, high, leaf, shrink, x, rough):
    """Write about how far the rows of a sketch are from x, squared, in float32."""
    rough[:] = np.float32(0.0)
    for j in range(x.size):
        offset = np.float32((x[j] - low[j, leaf]) * shrink)
        step = np.float32((np.float64(high[j, leaf]) - low[j, leaf]) * shrink / 255.0)
        column = sketch[j]
        for i in range(LEAF):  # over rows, so that it runs in vector registers
            gap = np.float32(column[i]) * step - offset
            rough[i] += gap * gap


@njit(nogil=True, cache=True, error_model="numpy")
def blur_of(low, high, leaf, shrink):
    """Return what to add to DARING times a cost, so that rough ones below it leave it open."""
    width = 0.0
    for j in range(low.shape[0]):
        side = (np.float64(high[j, leaf]) - low[j, leaf]) * shrink
        width += side * side
    return np.float32(65.0 * BLUR * BLUR * width + 1e-36)


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
def _lower(found, size, site, costs, taker, per_scale, squared, gained):
    """Lower costs to those with a site where it is closer; note where, and add to what weights gain."""
    taken = np.int32(site)
    for i in range(min(size, taker.size)):
        taker[i] = taken if found[i] < costs[i] else taker[i]
    for i in range(size):
        cost = costs[i]
        lower = found[i] if found[i] < cost else cost
        gained[i] += _weight(lower, per_scale, squared) - _weight(cost, per_scale, squared)
        costs[i] = lower


@njit(nogil=True, cache=True)
def _hand_over(columns, size, units, old, new, counted, squares, accounts):
    """Move rows from the accounts of their old owners to those of new ones, or -1 for rows that stay."""
    d = columns.shape[0]
    giver = receiver = np.int32(-1)
    for i in range(size):
        if new[i] >= 0:
            giver, receiver = old[i], new[i]
            break
    others, moved = np.int32(0), 0.0
    for i in range(size):
        moves = new[i] >= 0
        counted[i] = 1.0 if moves else 0.0
        moved += counted[i]
        others += np.int32(moves & ((old[i] != giver) | (new[i] != receiver)))
    if others or moved < FEW:
        for i in range(size):
            if new[i] >= 0:
                _book(columns, i, units, accounts[old[i]], accounts[new[i]])
        return
    account = np.zeros(d + 2, dtype=np.int64)  # most often, all go from one to another
    add_up(columns, size, counted, units, squares, account)
    for j in range(d + 2):
        accounts[giver, j] -= account[j]
        accounts[receiver, j] += account[j]


@njit(nogil=True, cache=True, inline="always")
def _book(columns, i, units, giver, receiver):
    """Move one row from one account to another; see `add_up`."""
    d = columns.shape[0]
    square = 0.0
    for j in range(d):
        value = columns[j, i] - units.origin[j]
        square += value * value * units.per_square
        steps = np.int64(np.rint(value * units.per_step))
        giver[j] -= steps
        receiver[j] += steps
    steps = np.int64(np.rint(square))
    giver[d] -= steps
    receiver[d] += steps
    giver[d + 1] -= 1
    receiver[d + 1] += 1


@njit(nogil=True, cache=True)
def _sift(costs, size, within, who, sifted):
    """Write the costs that are not below `within`, and which they are; return how many, and the next one."""
    n_sifted, limit = 0, np.float32(0.0)
    for i in range(size):
        who[n_sifted], sifted[n_sifted] = i, costs[i]
        n_sifted += costs[i] >= within
        if costs[i] < within:
            limit = max(limit, costs[i])
    return n_sifted, limit


@njit(nogil=True, cache=True, error_model="numpy")
def claim(
    X,
    leaves,
    units,
    held,
    sites,
    numbers,
    per_scale,
    squared,
    accounts,
    commit,
    labels,
    first,
    last,
):
    """Let new sites take the rows of bundles first..last-1 that are closer to them than to their owners.

    X are the rows, which are read where the leaves do not have them. Distances are first taken from sketches,
    as long as that helps; where there are none, only rows that can change are read.

    In and out, with `commit`: what is held; accounts (sites, d + 2) of the rows that each owns. Without, only
    the accounts change, and the owners that rows would get are written to `labels` (places,), if it has room.
    Returns how many distances were computed.
    """
    sketched, kept = leaves.sketches.size > 0, leaves.rows.size > 0
    found = np.empty(LEAF, dtype=np.float32)
    rough, copied = np.empty_like(found), np.empty_like(found)
    gained, counted, distances = np.empty(LEAF), np.empty(LEAF), np.empty(LEAF)
    taker = np.empty(LEAF if held.owners.size else 0, dtype=np.int32)
    old = np.empty_like(taker)
    who = np.arange(LEAF)
    loose, loose_rows = (
        np.empty((X.shape[1], LEAF), dtype=X.dtype),
        np.empty(LEAF, leaves.order.dtype),
    )
    helpful = np.ones(sites.shape[0], dtype=np.bool_)
    room = _room_for(sites.shape[0])
    computed = 0
    for begun in range(first, last, ABREAST):
        n_found = _reach(leaves, units, held, sites, begun, min(begun + ABREAST, last), room)
        for k in range(n_found):
            leaf, by, within = room[0][k], room[1][k], np.float32(room[2][k])
            start = leaf * LEAF
            base = start >> leaves.shift << leaves.shift
            costs, rows = held.costs[start : start + LEAF], leaves.order[start : start + LEAF]
            mine, size, limit = costs, LEAF, np.float32(0.0)
            columns = leaves.rows[leaf] if kept else loose
            at_hand = kept
            if not sketched:
                mine = copied
                size, limit = _sift(costs, rows.size, within, who, mine)
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
                        blur = blur_of(leaves.low, leaves.high, leaf, units.shrink)
                    sketch = leaves.sketches[leaf]
                    roughly(sketch, leaves.low, leaves.high, leaf, units.shrink, x, rough)
                    if not _any_below(rough, mine, blur):
                        continue
                if not at_hand:
                    at_hand = True
                    gather(X, base, rows, loose)
                    size = rows.size
                _measure(columns, size, x, units.per_unit, distances, found)
                lower = _count_lower(found, size, mine)
                helpful[s] = lower < MANY
                if not lower:
                    continue
                if not changed:
                    changed = True
                    taker[:] = -1
                    gained[:] = 0.0
                _lower(found, size, s, mine, taker, per_scale, squared, gained)
            if changed and held.owners.size:
                for i in range(rows.size):
                    at = start + who[i]
                    old[i] = held.owners[at]
                    if taker[i] >= 0:
                        taker[i] = numbers[taker[i]]
                        if commit:
                            held.owners[at] = taker[i]
                        elif labels.size:
                            labels[at] = taker[i]
                _hand_over(columns, rows.size, units, old, taker, counted, distances, accounts)
            if commit:
                if changed:
                    _spread(gained, rows.size, rows, held.blocks[base // BLOCK :])
                    if not sketched:
                        for i in range(size):
                            costs[who[i]] = mine[i]
                if changed or not kept:
                    held.farthest[leaf] = max(limit, largest(mine[:size]))
        if commit:
            for bundle in range(begun, min(begun + ABREAST, last)):
                _bound(held, bundle)
    return computed


@njit(nogil=True, cache=True)
def locate(leaves, held, per_scale, squared, spans, targets, rows):
    """Write the row of each target: where the running sum of the weights of its span first exceeds it."""
    for k in range(targets.size):
        rest = targets[k]
        block = spans[k] * SPAN
        while rest >= np.int64(held.blocks[block]):
            rest -= np.int64(held.blocks[block])
            block += 1
        row = block * BLOCK
        costs = held.costs[row >> leaves.shift << leaves.shift :]
        while True:
            weight = np.int64(_weight(costs[leaves.place[row]], per_scale, squared))
            if rest < weight:
                break
            rest -= weight
            row += 1
        rows[k] = row


@njit(nogil=True, cache=True, error_model="numpy")
def nearer(x, sites, numbers, per_unit, cost, owner):
    """Return cost and owner of a row x, which has these, or those of the one of some sites that is nearer."""
    for s in range(numbers.size):
        distance = 0.0
        for j in range(x.size):
            step = x[j] - sites[numbers[s], j]
            distance += step * step
        found = np.float32(distance * per_unit)
        if found < cost:
            cost, owner = found, np.int64(numbers[s])
    return cost, owner


@njit(nogil=True, cache=True, error_model="numpy")
def nearer_of_each(X, sites, numbers, per_unit, costs, owners):
    """Lower the costs of the rows X, and change owners (or none), where one of some sites is nearer."""
    for i in range(X.shape[0]):
        owner = np.int64(owners[i]) if owners.size else -1
        costs[i], owner = nearer(X[i], sites, numbers, per_unit, costs[i], owner)
        if owners.size:
            owners[i] = owner


@njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract"})
def _stays(x, cost, coin, columns, n_sites, per_unit, distances):
    """Return whether a row that was drawn at this cost stays drawn with the sites there are now.

    The chance is the share of its weight, the square of its cost, that is left. Sites come by columns.
    """
    kept = np.sqrt(coin) * cost / per_unit
    for last in range(n_sites, 0, -TOGETHER):  # the latest first
        first = max(last - TOGETHER, 0)
        size = last - first
        distances[:size] = 0.0
        for j in range(x.size):
            value, column = x[j], columns[j, first:last]
            for s in range(size):  # over sites, so that it runs in vector registers
                step = column[s] - value
                distances[s] += step * step
        near = 0
        for s in range(size):
            near += distances[s] <= kept
        if near > 0:
            return False
    return True


@njit(nogil=True, cache=True)
def first_to_stay(X, costs, coins, first, columns, n_sites, per_unit):
    """Return the first of the rows from `first` on that stays drawn, or how many there are."""
    distances = np.empty(TOGETHER)
    for k in range(first, costs.size):
        if _stays(X[k], costs[k], coins[k], columns, n_sites, per_unit, distances):
            return k
    return costs.size


@njit(nogil=True, cache=True)
def owned(leaves, units, held, sites, chosen, rows, first, last):
    """Write the rows of bundles first..last-1 whose owner is one of the chosen `sites`; return how many.

    They are written as they are found.
    """
    room = _room_for(sites.shape[0])
    n, size = leaves.order.size, 0
    for begun in range(first, last, ABREAST):
        n_found = _reach(leaves, units, held, sites, begun, min(begun + ABREAST, last), room)
        for leaf in room[0][:n_found]:
            for at in range(leaf * LEAF, min(n, (leaf + 1) * LEAF)):
                if chosen[held.owners[at]]:
                    rows[size] = (at >> leaves.shift << leaves.shift) + leaves.order[at]
                    size += 1
    return size


@njit(nogil=True, cache=True)
def name(leaves, owners, kinds, labels, first, last):
    """Write the kind of the owner of rows first..last-1."""
    for i in range(first, last):
        base = i >> leaves.shift << leaves.shift
        labels[i] = kinds[owners[base + leaves.place[i]]]
