"""Compiled loops over rows that lie in leaves: small groups of rows that are close together.

A leaf is a run of places in the order that `plant` gives the rows, with the box that holds them. What
cannot change inside a box is skipped, which is exact: the distance from a point to the box is at most its
distance to any row in it.
"""

from __future__ import annotations

import numpy as np
from numba import njit

LEAF = 128
BLOCK = 1024  # leaves whose boxes are looked at together
HUGE = 1e36  # float32 distances beyond it say nothing
# With a step s, a box of width w and rounding by e = 2^-23, a float32 step differs from s by at most
# 2e(|s| + w), a float32 squared distance r from the true one D so that D >= CAUTIOUS r - ROUNDING w².
CAUTIOUS = 0.998
ROUNDING = 1e-10
SAMPLED = 64  # rows of a group that choose along which column it is cut


@njit(nogil=True, cache=True)
def _widest(X, order, first, last):
    """Return the column in which some evenly spaced rows of a group vary most."""
    d = X.shape[1]
    step = max(1, (last - first) // SAMPLED)
    best, widest = -1.0, 0
    for j in range(d):
        total, squares, count = 0.0, 0.0, 0
        origin = X[order[first], j]
        for i in range(first, last, step):
            value = X[order[i], j] - origin
            total += value
            squares += value * value
            count += 1
        spread = squares - total * total / count
        if spread > best:
            best, widest = spread, j
    return widest


@njit(nogil=True, cache=True)
def _select(X, order, column, first, last, middle):
    """Reorder order[first:last] so that no row before `middle` is larger in the column than one after."""
    low, high = first, last - 1
    while low < high:
        pivot = X[order[(low + high) // 2], column]
        i, j = low, high
        while i <= j:
            while X[order[i], column] < pivot:
                i += 1
            while X[order[j], column] > pivot:
                j -= 1
            if i <= j:
                order[i], order[j] = order[j], order[i]
                i += 1
                j -= 1
        if middle <= j:
            high = j
        elif middle >= i:
            low = i
        else:
            return


@njit(nogil=True, cache=True)
def _sampled_median(X, order, column, first, last):
    """Return the median of some evenly spaced rows of a group in a column."""
    step = max(1, (last - first) // SAMPLED)
    values = np.empty((last - first - 1) // step + 1)
    for k in range(values.size):
        values[k] = X[order[first + k * step], column]
    values.sort()
    return values[values.size // 2]


@njit(nogil=True, cache=True)
def cut(X, order, first, last):
    """Part order[first:last] in two near its middle along a column; return where the second part starts."""
    column = _widest(X, order, first, last)
    pivot = _sampled_median(X, order, column, first, last)
    i, j = first, last - 1
    while True:
        while i <= j and X[order[i], column] < pivot:
            i += 1
        while i <= j and X[order[j], column] >= pivot:
            j -= 1
        if i > j:
            break
        order[i], order[j] = order[j], order[i]
    quarter = (last - first) // 4
    if first + quarter <= i <= last - quarter:
        return i
    middle = (first + last) // 2  # many equal values, or an odd sample
    _select(X, order, column, first, last, middle)
    return middle


@njit(nogil=True, cache=True)
def plant(X, order, first, last, starts):
    """Sort order[first:last] into leaves of at most LEAF rows; write where each starts, return how many."""
    stack = [(first, last)]
    leaves = 0
    while len(stack) > 0:
        first, last = stack.pop()
        if last - first <= LEAF:
            starts[leaves] = first
            leaves += 1
            continue
        middle = cut(X, order, first, last)
        stack.append((middle, last))
        stack.append((first, middle))
    return leaves


@njit(nogil=True, cache=True)
def boxes(X, order, place, starts, sorted_X, low, high, near, first, last):
    """Copy the rows of leaves in their order, and write the box of each leaf.

    In `near`, its rows are offsets from the low corner in float32, by columns. `place` inverts the order.
    """
    d = X.shape[1]
    for leaf in range(first, last):
        start, end = starts[leaf], starts[leaf + 1]
        for i in range(start, end):
            place[order[i]] = i
            for j in range(d):
                sorted_X[i, j] = X[order[i], j]
        for j in range(d):
            smallest = largest = sorted_X[start, j]
            for i in range(start + 1, end):
                value = sorted_X[i, j]
                smallest = min(smallest, value)
                largest = max(largest, value)
            low[j, leaf] = smallest
            high[j, leaf] = largest
            column = start * d + j * (end - start)
            for i in range(start, end):
                near[column + i - start] = sorted_X[i, j] - smallest


@njit(nogil=True, cache=True)
def near(X, starts, low, high, x, bounds, places, distances):
    """Write the places of the rows nearest to x, as many as there is room for, nearest first."""
    d, size = low.shape
    k = places.size
    first = 0
    for leaf in range(size):
        bounds[leaf] = 0.0
    for j in range(d):
        for leaf in range(size):
            gap = max(low[j, leaf] - x[j], x[j] - high[j, leaf], 0.0)
            bounds[leaf] += gap * gap
    for leaf in range(size):
        if bounds[leaf] < bounds[first]:
            first = leaf
    distances[:] = np.inf
    for turn in range(size + 1):
        leaf = first if turn == 0 else turn - 1
        if (turn > 0 and leaf == first) or bounds[leaf] >= distances[k - 1]:
            continue
        for i in range(starts[leaf], starts[leaf + 1]):
            distance = 0.0
            for j in range(d):
                step = X[i, j] - x[j]
                distance += step * step
            if distance < distances[k - 1]:
                at = k - 1
                while at > 0 and distances[at - 1] > distance:
                    distances[at] = distances[at - 1]
                    places[at] = places[at - 1]
                    at -= 1
                distances[at] = distance
                places[at] = i


@njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract"})
def _reachable(low, high, farthest, sites, first, last, bounds, reached):
    """Write for sites and leaves first..last-1 whether a row can be closer to the site than to its owner."""
    size = last - first
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
            reached[s, i] = bounds[i] < farthest[first + i]


@njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract"})
def _roughly(columns, offsets, size, rough):
    """Write squared distances in float32, of rows that are stored by columns."""
    for i in range(size):
        rough[i] = np.float32(0.0)
    for j in range(offsets.size):
        offset = offsets[j]
        column = columns[j * size : (j + 1) * size]
        for i in range(size):  # over rows, so that it runs in vector registers
            step = column[i] - offset
            rough[i] += step * step


@njit(nogil=True, cache=True, error_model="numpy")
def claim(
    X,
    near,
    starts,
    low,
    high,
    sites,
    numbers,
    costs,
    owners,
    weights,
    farthest,
    scale,
    places,
    losers,
    first,
    last,
):
    """Let new sites take the rows of the leaves first..last-1 that are closer to them than to their owners.

    Distances are first taken in float32 from the offsets; only rows for which these, less their rounding,
    leave it open are looked at closely. In and out: squared distances and owners (n,), and of each leaf the
    sum of (distance² / scale)² and the largest squared distance. Out: the rows taken and who lost them,
    from the place of the first row on. Returns how many were taken, and how many distances were computed.
    """
    d = X.shape[1]
    safe = np.sqrt(HUGE / (4.0 * d))  # coordinates up to which a float32 distance says something
    rough = np.empty(LEAF, dtype=np.float32)
    limits = np.empty(LEAF, dtype=np.float32)
    offsets = np.empty(d, dtype=np.float32)
    before = np.empty(LEAF, dtype=owners.dtype)
    bounds = np.empty(BLOCK)
    reached = np.empty((sites.shape[0], BLOCK), dtype=np.bool_)
    base = starts[first]
    taken = 0
    computed = 0
    for leaf in range(first, last):
        at = (leaf - first) % BLOCK
        if at == 0:
            _reachable(low, high, farthest, sites, leaf, min(leaf + BLOCK, last), bounds, reached)
        start = starts[leaf]
        size = starts[leaf + 1] - start
        held = costs[start : start + size]
        owned = owners[start : start + size]
        columns = near[start * d : (start + size) * d]
        visited = changed = False
        for s in range(sites.shape[0]):
            if not reached[s, at]:
                continue
            computed += size
            x = sites[s]
            if not visited:
                visited = True
                width = widest = 0.0
                for j in range(d):
                    side = high[j, leaf] - low[j, leaf]
                    width += side * side
                    widest = max(widest, side)
                slip = ROUNDING * width + 1e-30
                for i in range(size):
                    limits[i] = (held[i] * 1.000001 + slip) / CAUTIOUS
            reach = widest
            for j in range(d):
                offset = x[j] - low[j, leaf]
                reach = max(reach, abs(offset))
                offsets[j] = offset
            if reach < safe:
                _roughly(columns, offsets, size, rough)
                open_rows = np.int32(0)
                for i in range(size):
                    open_rows += np.int32(rough[i] < limits[i])
                if open_rows == 0:
                    continue
            else:
                rough[:size] = np.float32(-1.0)
            for i in range(size):
                if rough[i] < limits[i]:
                    distance = 0.0
                    for j in range(d):
                        step = X[start + i, j] - x[j]
                        distance += step * step
                    if distance < held[i]:
                        if not changed:
                            changed = True
                            for k in range(size):
                                before[k] = owned[k]
                        held[i] = distance
                        limits[i] = (distance * 1.000001 + slip) / CAUTIOUS
                        owned[i] = numbers[s]
        if changed:
            total, limit = 0.0, 0.0
            for i in range(size):
                limit = max(limit, held[i])
                share = held[i] / scale
                total += share * share
                if owned[i] != before[i]:
                    places[base + taken] = start + i
                    losers[base + taken] = before[i]
                    taken += 1
            weights[leaf] = total
            farthest[leaf] = limit
    return taken, computed


@njit(nogil=True, cache=True)
def nearer(X, rows, sites, numbers, costs, owners):
    """Lower the costs of these rows, and change owners, where one of some sites is nearer."""
    for p in range(rows.size):
        for s in range(numbers.size):
            distance = 0.0
            for j in range(sites.shape[1]):
                step = X[rows[p], j] - sites[numbers[s], j]
                distance += step * step
            if distance < costs[p]:
                costs[p] = distance
                owners[p] = numbers[s]


@njit(nogil=True, cache=True)
def book(X, origin, owners, places, losers, counts, sums, squares):
    """Move rows from the accounts of those who lost them to their owners'."""
    for k in range(places.size):
        place, old = places[k], losers[k]
        site = owners[place]
        total = 0.0
        for j in range(X.shape[1]):
            value = X[place, j] - origin[j]
            total += value * value
            sums[site, j] += value
            if old >= 0:
                sums[old, j] -= value
        squares[site] += total
        counts[site] += 1
        if old >= 0:
            squares[old] -= total
            counts[old] -= 1


@njit(nogil=True, cache=True)
def reweigh(starts, costs, weights, scale):
    """Write the sum of (cost / scale)² of each leaf."""
    for leaf in range(starts.size - 1):
        total = 0.0
        for i in range(starts[leaf], starts[leaf + 1]):
            share = costs[i] / scale
            total += share * share
        weights[leaf] = total


@njit(nogil=True, cache=True)
def _drawn(starts, costs, weights, prefix, scale, uniform):
    """Return a place, each with a chance proportional to the square of its cost."""
    target = uniform * prefix[-1]
    leaf = min(np.searchsorted(prefix, target, side="right"), weights.size - 1)
    while weights[leaf] == 0.0:
        leaf -= 1
    rest = target - (prefix[leaf] - weights[leaf])
    chosen = -1
    for i in range(starts[leaf], starts[leaf + 1]):
        if costs[i] > 0.0:
            chosen = i
            share = costs[i] / scale
            rest -= share * share
            if rest < 0.0:
                break
    return chosen


@njit(nogil=True, cache=True)
def draw(X, starts, costs, weights, prefix, scale, sites, numbers, uniforms):
    """Return a place, each with a chance proportional to the square of its cost, or its distance from the
    numbered sites if that is less; -1 if all costs are 0, -2 if the uniforms do not suffice.

    A place is drawn by its cost, with one uniform, and kept with another if that is below the share of its
    weight that the sites leave.
    """
    total = 0.0
    for leaf in range(weights.size):
        total += weights[leaf]
        prefix[leaf] = total
    if not total > 0.0:
        return -1
    for k in range(0, uniforms.size, 2):
        place = _drawn(starts, costs, weights, prefix, scale, uniforms[k])
        kept = np.sqrt(uniforms[k + 1]) * costs[place]
        for s in range(numbers.size):
            distance = 0.0
            for j in range(X.shape[1]):
                step = X[place, j] - sites[numbers[s], j]
                distance += step * step
            if distance <= kept:
                break
        else:
            return place
    return -2


@njit(nogil=True, cache=True)
def at_ranks(owners, chosen, ranks, places):
    """Write the places of the rows with these ranks (ascending) among those whose owner is chosen."""
    seen, k = 0, 0
    for i in range(owners.size):
        if chosen[owners[i]]:
            while k < ranks.size and ranks[k] == seen:
                places[k] = i
                k += 1
            if k == ranks.size:
                return
            seen += 1


@njit(nogil=True, cache=True, fastmath={"contract"})
def nearest_of_each(columns, groups, X, best):
    """Write for each row of X the smallest squared distance to a site of each group, (m, groups).

    Sites come by columns, (d, sites). Negative groups are left out; infinity for those without sites.
    """
    distances = np.empty(BLOCK)
    for i in range(X.shape[0]):
        best[i] = np.inf
        for first in range(0, groups.size, BLOCK):
            size = min(BLOCK, groups.size - first)
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
