"""Compiled loops over candidate pairs. Callers own the buffers."""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from samekind._union_find import find_root

__all__ = [
    "code_levels",
    "greedy_merge",
    "join_components",
    "move_records",
    "score_all",
    "score_few",
]


@njit(nogil=True, cache=True, parallel=True)
def code_levels(comparisons, edges, codes):
    """Write the level of each comparison: 0 where it is missing, else 1 and the edges that it reaches."""
    for i in prange(comparisons.shape[0]):
        for j in range(comparisons.shape[1]):
            value = comparisons[i, j]
            if np.isnan(value):
                codes[i, j] = 0
            else:
                level = 1
                while level <= edges.size and value >= edges[level - 1]:
                    level += 1
                codes[i, j] = level


@njit(nogil=True, cache=True, parallel=True)
def score_all(codes, weights, bias, out):
    """Write the log-odds of every pair."""
    for i in prange(codes.shape[0]):
        total = bias
        for j in range(codes.shape[1]):
            total += weights[j, codes[i, j]]
        out[i] = total


@njit(nogil=True, cache=True)
def score_few(codes, weights, bias, out):
    """Do the same in one thread."""
    for i in range(codes.shape[0]):
        total = bias
        for j in range(codes.shape[1]):
            total += weights[j, codes[i, j]]
        out[i] = total


@njit(nogil=True, cache=True)
def join_components(pairs, weights, parent):
    """Join the rows of all pairs with a positive weight; afterwards every row points to its root."""
    for i in range(pairs.shape[0]):
        if weights[i] > 0:
            a, b = find_root(parent, pairs[i, 0]), find_root(parent, pairs[i, 1])
            if a < b:
                parent[b] = a
            elif b < a:
                parent[a] = b
    for row in range(parent.size):
        parent[row] = find_root(parent, row)


@njit(nogil=True, cache=True)
def _between(root, small, large, following, start, neighbor, weight):
    """Return the sum of the weights between two clusters."""
    total = 0.0
    member = small
    while member >= 0:
        for e in range(start[member], start[member + 1]):
            if root[neighbor[e]] == large:
                total += weight[e]
        member = following[member]
    return total


@njit(nogil=True, cache=True)
def greedy_merge(order, pairs, start, neighbor, weight, files, root):
    """Merge clusters along the edges, likeliest first, where all edges between them together say so.

    `files` has a bit for the file of each record: clusters that share one are not merged; 0 does not matter.
    """
    n = root.size
    size = np.ones(n, dtype=np.int64)
    following = np.full(n, -1, dtype=np.int64)
    last = np.arange(n)
    bits = files.copy()
    changed = True
    while changed:
        changed = False
        for i in order:
            a, b = root[pairs[i, 0]], root[pairs[i, 1]]
            if a == b or bits[a] & bits[b]:
                continue
            if size[a] < size[b]:
                a, b = b, a
            if _between(root, b, a, following, start, neighbor, weight) <= 0:
                continue
            member = b
            while member >= 0:
                root[member] = a
                member = following[member]
            following[last[a]] = b
            last[a] = last[b]
            size[a] += size[b]
            bits[a] |= bits[b]
            changed = True


@njit(nogil=True, cache=True)
def move_records(start, neighbor, weight, files, root, sweeps):
    """Move single records to where they belong more, or out to be one by themselves, until none gains."""
    n = root.size
    count = np.zeros(n, dtype=np.int64)
    bits = np.zeros(n, dtype=np.int64)
    for row in range(n):
        count[root[row]] += 1
        bits[root[row]] |= files[row]
    free = np.empty(n, dtype=np.int64)
    n_free = 0
    for label in range(n):
        if count[label] == 0:
            free[n_free] = label
            n_free += 1
    pull = np.zeros(n)
    for _ in range(sweeps):
        moved = False
        for row in range(n):
            own = root[row]
            for e in range(start[row], start[row + 1]):
                pull[root[neighbor[e]]] += weight[e]
            best, gain = own, max(pull[own], 0.0 if count[own] > 1 else pull[own])
            if count[own] > 1 and pull[own] < -1e-9:
                best = -1  # by itself
            for e in range(start[row], start[row + 1]):
                other = root[neighbor[e]]
                if other != own and pull[other] > gain + 1e-9 and not bits[other] & files[row]:
                    best, gain = other, pull[other]
            for e in range(start[row], start[row + 1]):
                pull[root[neighbor[e]]] = 0.0
            if best == own or (best == -1 and n_free == 0):
                continue
            if best == -1:
                n_free -= 1
                best = free[n_free]
            count[own] -= 1
            bits[own] &= ~files[row]
            if count[own] == 0:
                free[n_free] = own
                n_free += 1
            root[row] = best
            count[best] += 1
            bits[best] |= files[row]
            moved = True
        if not moved:
            return
