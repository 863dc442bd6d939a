"""Distances between some rows and all sites, of which there are few."""

from __future__ import annotations

import numpy as np
from numba import njit

TOGETHER = 512  # sites, or
WIDE = 1024  # for distances to groups, that are looked at together


@njit(nogil=True, cache=True, error_model="numpy")
def nearer_site(x, sites, numbers, per_cost, cost, owner):
    """Return cost and owner of a row x: those given, or with the nearest of some sites if that is nearer."""
    for s in range(numbers.size):
        distance = 0.0
        for j in range(x.size):
            step = x[j] - sites[numbers[s], j]
            distance += step * step
        found = np.float32(distance * per_cost)
        if found < cost:
            cost, owner = found, np.int64(numbers[s])
    return cost, owner


@njit(nogil=True, cache=True, error_model="numpy")
def lower_to_nearer(X, sites, numbers, per_cost, costs, owners):
    """Lower the costs of the rows X where one of some sites is nearer, and change their owners, if any."""
    for i in range(X.shape[0]):
        owner = np.int64(owners[i]) if owners.size else -1
        costs[i], owner = nearer_site(X[i], sites, numbers, per_cost, costs[i], owner)
        if owners.size:
            owners[i] = owner


@njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract"})
def _is_accepted(x, cost, coin, columns, n_sites, per_cost, distances):
    """Return whether a row that was drawn at this cost is accepted with the sites there are now.

    The chance is the share of its weight, the square of its cost, that is left. Sites come by columns.
    """
    kept = np.sqrt(coin) * cost / per_cost
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
def first_accepted(X, costs, coins, first, columns, n_sites, per_cost):
    """Return the first of the rows from `first` on that is accepted, or how many there are."""
    distances = np.empty(TOGETHER)
    for k in range(first, costs.size):
        if _is_accepted(X[k], costs[k], coins[k], columns, n_sites, per_cost, distances):
            return k
    return costs.size


@njit(nogil=True, cache=True, fastmath={"contract"})
def group_distances(columns, groups, X, best):
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
def nearest_site(sites, groups, group, x):
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
