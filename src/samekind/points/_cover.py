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

import numpy as np
from numba import njit

from samekind.points._plant import LEAF, gather, sketch

BLOCK = 64  # rows whose weights are summed together
SPAN = 256  # blocks
BITS = 45  # a weight is below 2^45, so the sum over a span is an int64
TOGETHER = 512  # leaves whose boxes are looked at together
# A sketch is off by at most half a 255th of each side of the box, so its distance from a point by at most
# b = BLUR times the box's diagonal, with room for the rounding of float32. Whether the true distance is less
# than c is open if its square is below (c + b)², which is at most (1 + 1/64) c² + 65 b².
BLUR = 0.0021
DARING = np.float32(1.0 + 1.0 / 64.0 + 1e-5)
FEW = 32  # rows that are looked at together
SURELY = 1.0 - 2.5e-7  # a bound, less the rounding of costs to float32,
LEAST = 1e-44  # also of the smallest


@njit(nogil=True, cache=True, inline="always")
def weight_of(cost, per_scale, squared):
    """Return the weight of a row as an integer: at least 1 where the cost is positive."""
    if cost <= 0.0:
        return np.int64(0)
    share = np.float64(cost) * per_scale
    if squared:
        share *= share
    return max(np.int64(1), np.int64(share * 2.0**BITS))


@njit(nogil=True, cache=True, error_model="numpy")
def _measure(rows, x, per_unit, found):
    """Write the costs of some rows with a single centre x."""
    for i in range(rows.shape[0]):
        distance = 0.0
        for j in range(x.size):
            step = rows[i, j] - x[j]
            distance += step * step
        found[i] = distance * per_unit


@njit(nogil=True, cache=True, fastmath={"reassoc", "nnan", "nsz"})
def _sum_of_weights(costs, size, per_scale, squared):
    """Return the weight of some rows, no more than a block: a sum that is exact as float64, too."""
    total = 0.0
    for i in range(size):  # as `weight_of`, but in vector registers
        share = np.float64(costs[i]) * per_scale
        if squared:
            share *= share
        weight = max(np.floor(share * 2.0**BITS), 1.0)
        total += weight if costs[i] > 0.0 else 0.0
    return np.int64(total)


@njit(nogil=True, cache=True, error_model="numpy")
def begin(X, place, shift, x, per_unit, per_scale, squared, costs, blocks, first, last):
    """Write the costs of the rows of blocks first..last-1 with a single centre x, and their weights."""
    found = np.empty(BLOCK, dtype=np.float32)
    for block in range(first, last):
        start = block * BLOCK
        rows = X[start : start + BLOCK]
        _measure(rows, x, per_unit, found)
        base = start >> shift << shift
        mine, there = costs[base:], place[start : start + BLOCK]
        for i in range(rows.shape[0]):
            mine[there[i]] = found[i]
        blocks[block] = _sum_of_weights(found, rows.shape[0], per_scale, squared)


@njit(nogil=True, cache=True, error_model="numpy")
def sweep(X, place, shift, centers, per_unit, per_scale, squared, costs, blocks, first, last):
    """Lower the costs of the rows of blocks first..last-1 by some more centres, row by row.

    Nothing is skipped, which is quicker than `claim` where most rows change.
    """
    found = np.empty(BLOCK, dtype=np.float32)
    best = np.empty(BLOCK, dtype=np.float32)
    for block in range(first, last):
        start = block * BLOCK
        rows = X[start : start + BLOCK]
        base = start >> shift << shift
        mine, there = costs[base:], place[start : start + BLOCK]
        for i in range(rows.shape[0]):
            best[i] = mine[there[i]]
        for c in range(centers.shape[0]):
            _measure(rows, centers[c], per_unit, found)
            for i in range(rows.shape[0]):
                best[i] = min(best[i], found[i])
        for i in range(rows.shape[0]):
            mine[there[i]] = best[i]
        blocks[block] = _sum_of_weights(best, rows.shape[0], per_scale, squared)


@njit(nogil=True, cache=True)
def gains(X, place, shift, centers, per_unit, costs, step):
    """Return how many of some evenly spaced rows are closer to one of some more centres."""
    found = 0
    for i in range(0, X.shape[0], step):
        cost = costs[(i >> shift << shift) + place[i]]
        for c in range(centers.shape[0]):
            distance = 0.0
            for j in range(X.shape[1]):
                gap = X[i, j] - centers[c, j]
                distance += gap * gap
            if np.float32(distance * per_unit) < cost:
                found += 1
                break
    return found


@njit(nogil=True, cache=True)
def weigh(costs, place, shift, per_scale, squared, blocks, first, last):
    """Write the weight of blocks first..last-1."""
    found = np.empty(BLOCK, dtype=np.float32)
    for block in range(first, last):
        start = block * BLOCK
        mine, there = costs[start >> shift << shift :], place[start : start + BLOCK]
        for i in range(there.size):
            found[i] = mine[there[i]]
        blocks[block] = _sum_of_weights(found, there.size, per_scale, squared)


@njit(nogil=True, cache=True)
def highest_of(costs, first, last):
    """Return the largest cost of rows first..last-1."""
    found = np.float32(0.0)
    for i in range(first, last):
        found = max(found, costs[i])
    return found


@njit(nogil=True, cache=True, inline="always")
def book(X, row, origin, per_step, per_square, old, new):
    """Move a row from one account to another: d sums of coordinates, a sum of squares, a count."""
    total = 0.0
    d = X.shape[1]
    for j in range(d):
        value = X[row, j] - origin[j]
        total += value * value * per_square
        steps = np.int64(np.rint(value * per_step))
        old[j] -= steps
        new[j] += steps
    steps = np.int64(np.rint(total))
    old[d] -= steps
    new[d] += steps
    old[d + 1] -= 1
    new[d + 1] += 1


@njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract"})
def corners(low, high, x, per_unit, farthest, first, last):
    """Lower for leaves first..last-1 what no row's cost exceeds to that of the farthest corner of the box."""
    for leaf in range(first, last):
        bound = 0.0
        for j in range(x.size):
            gap = max(abs(low[j, leaf] - x[j]), abs(high[j, leaf] - x[j]))
            bound += gap * gap
        farthest[leaf] = min(farthest[leaf], np.float32(bound * per_unit * 1.000001))


@njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract"})
def _reachable(low, high, farthest, sites, per_unit, first, last, bounds, reached, least):
    """Write for sites and leaves first..last-1 whether a row can be as close to the site; return how many.

    Write also for each leaf the least cost that a row can have with one of the sites.
    """
    size = last - first
    found = 0
    for i in range(size):
        least[i] = np.inf
    for s in range(sites.shape[0]):
        for i in range(size):
            bounds[i] = 0.0
        for j in range(sites.shape[1]):
            x = sites[s, j]
            lows, highs = low[j, first:last], high[j, first:last]
            for i in range(size):  # over leaves, so that it runs in vector registers
                gap = max(max(lows[i] - x, x - highs[i]), 0.0)
                bounds[i] += gap * gap
        for i in range(size):
            bound = bounds[i] * per_unit * SURELY - LEAST
            least[i] = min(least[i], bound)
            reached[s, i] = bound <= farthest[first + i]
            found += reached[s, i]
    return found


@njit(nogil=True, cache=True)
def reaches(low, high, farthest, sites, per_unit):
    """Return whether a row of any leaf can be closer to one of the sites than to its owner."""
    bounds, least = np.empty(TOGETHER), np.empty(TOGETHER)
    reached = np.empty((sites.shape[0], TOGETHER), dtype=np.bool_)
    for first in range(0, farthest.size, TOGETHER):
        last = min(first + TOGETHER, farthest.size)
        if _reachable(low, high, farthest, sites, per_unit, first, last, bounds, reached, least):
            return True
    return False


@njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract"})
def roughly(rows, size, low, high, leaf, shrink, x, rough):
    """Write about how far the rows of a sketch are from x, squared, in float32."""
    for i in range(size):
        rough[i] = np.float32(0.0)
    for j in range(x.size):
        offset = np.float32((x[j] - low[j, leaf]) * shrink)
        step = np.float32((high[j, leaf] - low[j, leaf]) * shrink / 255.0)
        column = rows[j * size : (j + 1) * size]
        for i in range(size):  # over rows, so that it runs in vector registers
            gap = np.float32(column[i]) * step - offset
            rough[i] += gap * gap


@njit(nogil=True, cache=True, error_model="numpy")
def blur_of(low, high, leaf, shrink):
    """Return what to add to DARING times a cost, so that rough ones below it leave it open."""
    width = 0.0
    for j in range(low.shape[0]):
        side = (high[j, leaf] - low[j, leaf]) * shrink
        width += side * side
    return np.float32(65.0 * BLUR * BLUR * width + 1e-36)


@njit(nogil=True, cache=True, error_model="numpy")
def claim(
    Z,
    order,
    shift,
    low,
    high,
    near,
    shrink,
    sites,
    numbers,
    costs,
    owners,
    farthest,
    blocks,
    per_scale,
    squared,
    origin,
    per_step,
    per_square,
    accounts,
    commit,
    labels,
    first,
    last,
):
    """Let new sites take the rows of the leaves first..last-1 that are closer to them than to their owners.

    Distances are first taken from a sketch of the rows: the one in `near`, or made as they are read where it
    is empty. Only rows for which it leaves it open are looked at closely. Z are the rows, sorted where there
    is a sketch.

    In and out, with `commit`: costs and owners (n,), or no owners; of each leaf what no cost exceeds; the
    change of the weight of each block; accounts (sites, d + 2) of the rows that each owns. Without, only the
    accounts change, and the owners that rows would get are written to `labels` (n,), if it has room.
    Returns how many distances were computed.
    """
    n, d = Z.shape
    per_unit = shrink * shrink
    rough = np.empty(LEAF, dtype=np.float32)
    limits = np.empty(LEAF, dtype=np.float32)
    held = np.empty(LEAF, dtype=np.float32)
    taker = np.empty(LEAF, dtype=np.int32)
    who = np.arange(LEAF)
    doubtful = np.empty(LEAF + 1, dtype=np.int64)
    buffer = np.empty(LEAF * d, dtype=np.uint8)
    loose = np.empty((d, LEAF), dtype=Z.dtype)
    bounds, least = np.empty(TOGETHER), np.empty(TOGETHER)
    reached = np.empty((sites.shape[0], TOGETHER), dtype=np.bool_)
    computed = 0
    for begun in range(first, last, TOGETHER):
        ended = min(begun + TOGETHER, last)
        if not _reachable(
            low, high, farthest, sites, per_unit, begun, ended, bounds, reached, least
        ):
            continue
        for leaf in range(begun, ended):
            if least[leaf - begun] > farthest[leaf]:
                continue
            start = leaf * LEAF
            base = start >> shift << shift
            size = min(LEAF, n - start)
            columns = buffer
            limit = np.float32(0.0)
            if near.size:
                columns = near[start * d : (start + size) * d]
            else:  # read only rows that can change
                within = np.float32(least[leaf - begun])
                some = 0
                for i in range(size):
                    cost = costs[start + i]
                    who[some] = i
                    some += cost >= within
                    if cost < within:
                        limit = max(limit, cost)
                size = some
                gather(Z, order, base, start, who, size, loose)
                sketch(loose, size, low, high, leaf, buffer)
            blur = blur_of(low, high, leaf, shrink)
            mine = costs[start : start + LEAF]
            if near.size:
                for i in range(size):
                    held[i] = mine[i]
            else:
                for i in range(size):
                    held[i] = mine[who[i]]
            for i in range(size):
                limits[i] = held[i] * DARING + blur
                taker[i] = -1
            changed = False
            for s in range(sites.shape[0]):
                if not reached[s, leaf - begun]:
                    continue
                computed += size
                x = sites[s]
                roughly(columns, size, low, high, leaf, shrink, x, rough)
                n_open = 0
                for begin_of_few in range(0, size, FEW):
                    end_of_few = min(begin_of_few + FEW, size)
                    found = np.int32(0)
                    for i in range(begin_of_few, end_of_few):
                        found += np.int32(rough[i] < limits[i])
                    if found:
                        for i in range(begin_of_few, end_of_few):
                            doubtful[n_open] = i
                            n_open += rough[i] < limits[i]
                for k in range(n_open):
                    i = doubtful[k]
                    z = start + i if near.size else base + order[start + who[i]]
                    distance = 0.0
                    for j in range(d):
                        step = Z[z, j] - x[j]
                        distance += step * step
                    cost = np.float32(distance * per_unit)
                    if cost < held[i]:
                        changed = True
                        held[i] = cost
                        taker[i] = s
                        limits[i] = cost * DARING + blur
            if changed:
                for i in range(size):
                    if taker[i] < 0:
                        continue
                    at = start + who[i]
                    row = base + order[at]
                    if owners.size:
                        new = numbers[taker[i]]
                        old = accounts[owners[at]]
                        z = at if near.size else row
                        book(Z, z, origin, per_step, per_square, old, accounts[new])
                        if commit:
                            owners[at] = new
                        elif labels.size:
                            labels[at] = new
                    if commit:
                        before = weight_of(costs[at], per_scale, squared)
                        blocks[row // BLOCK] += weight_of(held[i], per_scale, squared) - before
                        costs[at] = held[i]
            if commit:
                for i in range(size):
                    limit = max(limit, held[i])
                farthest[leaf] = limit
    return computed


@njit(nogil=True, cache=True)
def locate(blocks, costs, place, shift, per_scale, squared, spans, targets, rows):
    """Write the row of each target: where the running sum of the weights of its span first exceeds it."""
    for k in range(targets.size):
        rest = targets[k]
        block = spans[k] * SPAN
        while rest >= blocks[block]:
            rest -= blocks[block]
            block += 1
        row = block * BLOCK
        while True:
            cost = costs[(row >> shift << shift) + place[row]]
            weight = weight_of(cost, per_scale, squared)
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
def held(X, sites, numbers, per_unit, costs, owners):
    """Lower the costs of the rows X, and change owners, where one of some sites is nearer."""
    for i in range(X.shape[0]):
        costs[i], owners[i] = nearer(X[i], sites, numbers, per_unit, costs[i], np.int64(owners[i]))


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
def owned(low, high, farthest, sites, per_unit, order, shift, owners, chosen, rows, first, last):
    """Write the rows of leaves first..last-1 whose owner is one of the chosen `sites`; return how many.

    They are written as they are found.
    """
    bounds, least = np.empty(TOGETHER), np.empty(TOGETHER)
    reached = np.empty((sites.shape[0], TOGETHER), dtype=np.bool_)
    found = 0
    for begun in range(first, last, TOGETHER):
        ended = min(begun + TOGETHER, last)
        if not _reachable(
            low, high, farthest, sites, per_unit, begun, ended, bounds, reached, least
        ):
            continue
        for leaf in range(begun, ended):
            if least[leaf - begun] > farthest[leaf]:
                continue
            for at in range(leaf * LEAF, min(owners.size, (leaf + 1) * LEAF)):
                if chosen[owners[at]]:
                    rows[found] = (at >> shift << shift) + order[at]
                    found += 1
    return found


@njit(nogil=True, cache=True)
def name(owners, place, shift, kinds, labels, first, last):
    """Write the kind of the owner of rows first..last-1."""
    for i in range(first, last):
        labels[i] = kinds[owners[(i >> shift << shift) + place[i]]]
