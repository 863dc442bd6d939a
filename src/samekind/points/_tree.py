"""Compiled loops over rows that lie in leaves: small groups of rows that are close together.

A leaf is a run of rows in the order that `plant` makes, with the box that holds them. What cannot change
inside a box is skipped, which is exact: the distance from a point to the box is at most its distance to any
row in it.
"""

from __future__ import annotations

import numpy as np
from numba import njit

LEAF = 128
HUGE = np.float32(1e36)  # float32 distances beyond it say nothing
CAUTIOUS = np.float32(0.998)  # with this factor a float32 distance is a lower bound
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
def plant(X, order, starts):
    """Sort `order` into leaves of at most LEAF rows; write where each starts, return how many."""
    stack = [(0, order.size)]
    leaves = 0
    while len(stack) > 0:
        first, last = stack.pop()
        if last - first <= LEAF:
            starts[leaves] = first
            leaves += 1
            continue
        middle = (first + last) // 2
        _select(X, order, _widest(X, order, first, last), first, last, middle)
        stack.append((middle, last))
        stack.append((first, middle))
    starts[leaves] = order.size
    return leaves


@njit(nogil=True, cache=True)
def boxes(X, starts, low, high, near):
    """Write the box of each leaf, and its rows as float32 offsets from the low corner, by columns."""
    d = X.shape[1]
    for leaf in range(starts.size - 1):
        first, last = starts[leaf], starts[leaf + 1]
        for j in range(d):
            smallest = largest = X[first, j]
            for i in range(first + 1, last):
                value = X[i, j]
                smallest = min(smallest, value)
                largest = max(largest, value)
            low[j, leaf] = smallest
            high[j, leaf] = largest
            column = first * d + j * (last - first)
            for i in range(first, last):
                near[column + i - first] = X[i, j] - smallest


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


@njit(nogil=True, cache=True, error_model="numpy")
def claim(
    X,
    near,
    starts,
    low,
    high,
    sites,
    first_site,
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
    rough = np.empty(LEAF, dtype=np.float32)
    limits = np.empty(LEAF, dtype=np.float32)
    before = np.empty(LEAF, dtype=owners.dtype)
    base = starts[first]
    taken = 0
    computed = 0
    for leaf in range(first, last):
        start = starts[leaf]
        size = starts[leaf + 1] - start
        held = costs[start : start + size]
        owned = owners[start : start + size]
        visited = changed = False
        for s in range(sites.shape[0]):
            x = sites[s]
            bound = 0.0
            for j in range(d):
                gap = max(low[j, leaf] - x[j], x[j] - high[j, leaf], 0.0)
                bound += gap * gap
            if bound >= farthest[leaf]:
                continue
            computed += size
            if not visited:
                visited = True
                for i in range(size):
                    limits[i] = held[i] * 1.000001
            for i in range(size):
                rough[i] = 0.0
            slack = 0.0
            for j in range(d):
                offset = np.float32(x[j] - low[j, leaf])
                slip = 1.2e-7 * (abs(offset) + high[j, leaf] - low[j, leaf])
                slack += slip * slip
                column = near[start * d + j * size : start * d + (j + 1) * size]
                for i in range(size):  # over rows, so that it runs in vector registers
                    step = column[i] - offset
                    rough[i] += step * step
            slip32 = np.float32(1e3 * slack + 1e-30)
            open_rows = np.int32(0)
            for i in range(size):
                near_enough = rough[i] * CAUTIOUS - slip32 < limits[i]
                unknown = not rough[i] < HUGE
                open_rows += np.int32(near_enough) | np.int32(unknown)
            if open_rows == 0:
                continue
            for i in range(size):
                if rough[i] * CAUTIOUS - slip32 < limits[i] or not rough[i] < HUGE:
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
                        limits[i] = distance * 1.000001
                        owned[i] = first_site + s
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
def nearer(X, places, sites, first_site, costs, owners):
    """Lower the costs of the rows at these places, and change owners, where a site is nearer."""
    for p in range(places.size):
        for s in range(sites.shape[0]):
            distance = 0.0
            for j in range(sites.shape[1]):
                step = X[places[p], j] - sites[s, j]
                distance += step * step
            if distance < costs[p]:
                costs[p] = distance
                owners[p] = first_site + s


@njit(nogil=True, cache=True)
def book(X, origin, owners, places, losers, counts, sums, squares):
    """Move rows from the accounts of those who lost them to their owners'."""
    for k in range(places.size):
        row, old = places[k], losers[k]
        site = owners[row]
        total = 0.0
        for j in range(X.shape[1]):
            value = X[row, j] - origin[j]
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
def draw(starts, costs, weights, prefix, scale, uniform):
    """Return a place, each with a chance proportional to the square of its cost; -1 if all costs are 0."""
    total = 0.0
    for leaf in range(weights.size):
        total += weights[leaf]
        prefix[leaf] = total
    if not total > 0.0:
        return -1
    target = uniform * total
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


@njit(nogil=True, cache=True)
def nearest_of_each(sites, groups, X, best, found):
    """Write for each row of X the smallest squared distance to a site of each group, and that site.

    `best` (m, groups) and `found` come in as infinity and -1. Negative groups are left out.
    """
    d = X.shape[1]
    for i in range(X.shape[0]):
        for s in range(groups.size):
            g = groups[s]
            if g < 0:
                continue
            distance = 0.0
            for j in range(d):
                step = sites[s, j] - X[i, j]
                distance += step * step
            if distance < best[i, g]:
                best[i, g] = distance
                found[i, g] = s
