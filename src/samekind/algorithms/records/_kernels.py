"""Compiled loops over candidate pairs. Callers own the buffers."""

from __future__ import annotations

import heapq

import numpy as np
from numba import njit, prange

from samekind._union_find import find_root

__all__ = [
    "add_on_paths",
    "average_linkage",
    "fit_logistic",
    "grow_forest",
    "join_components",
    "predict_forest",
    "weakest_on_paths",
]

BLOCK = 512  # rows that one tree looks at in a row, while it is in the processor's cache
LEAF = 2  # samples of a leaf, at least: one answer, perhaps a wrong one, decides nothing


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
def _mean_odds(total, count, one, other, missing, reach):
    """Return the mean of the log-odds between two clusters, in which pairs that are no candidates count, too.

    All of them where one is small; of large ones each record need meet `reach` others only.
    """
    due = max(float(count), min(float(one) * other, reach * min(one, other)))
    return (total + (due - count) * missing) / due


@njit(nogil=True, cache=True)
def average_linkage(pairs, total, count, said, size, files, missing, reach, parent):
    """Merge the two clusters with the largest log-odds while these are positive.

    The log-odds are the mean of the model's and the sum of what answers say: one answer speaks for all.

    Parameters
    ----------
    pairs, total, count
        The clusters that candidate pairs connect: each two once, the sum of their log-odds, how many pairs.
    said
        The log-odds that answers about each two tell.
    size, files
        Of each cluster: how many records it has, and a bit for the file of each; clusters that share one are
        not merged.
    missing, reach
        See `_mean_odds`.
    parent
        The cluster that each becomes part of; afterwards every one points to its root.
    """
    m = len(pairs)
    alive = np.ones(m, dtype=np.bool_)
    stamp = np.zeros(m, dtype=np.int64)
    # A cluster's links are a list of ends: 2 e and 2 e + 1 are those of pair e.
    head = np.full(parent.size, -1, dtype=np.int64)
    tail = np.full(parent.size, -1, dtype=np.int64)
    following = np.full(2 * m, -1, dtype=np.int64)
    heap = [(0.0, 0, 0)]
    heap.pop()
    for e in range(m):
        for side in range(2):
            own = pairs[e, side]
            if head[own] < 0:
                head[own] = 2 * e + side
            else:
                following[tail[own]] = 2 * e + side
            tail[own] = 2 * e + side
        a, b = pairs[e, 0], pairs[e, 1]
        odds = said[e] + _mean_odds(total[e], count[e], size[a], size[b], missing, reach)
        if odds > 0 and not files[a] & files[b]:
            heap.append((-odds, e, 0))
    heapq.heapify(heap)
    link = np.full(parent.size, -1, dtype=np.int64)
    while len(heap):
        _, e, at = heapq.heappop(heap)
        if stamp[e] != at or not alive[e]:
            continue
        a, b = find_root(parent, pairs[e, 0]), find_root(parent, pairs[e, 1])
        a, b = min(a, b), max(a, b)
        parent[b] = a
        size[a] += size[b]
        files[a] |= files[b]
        following[tail[a]] = head[b]
        tail[a] = tail[b]
        end, before = head[a], -1
        while end >= 0:  # two links to the same cluster become one
            f = end // 2
            other = find_root(parent, pairs[f, 1 - end % 2])
            if alive[f] and other != a and link[other] < 0:
                link[other] = f
                before = end
            else:
                if alive[f] and other != a:
                    total[link[other]] += total[f]
                    count[link[other]] += count[f]
                    said[link[other]] += said[f]
                alive[f] = False
                if before < 0:
                    head[a] = following[end]
                else:
                    following[before] = following[end]
                if tail[a] == end:
                    tail[a] = before
            end = following[end]
        end = head[a]
        while end >= 0:
            f = end // 2
            other = find_root(parent, pairs[f, 1 - end % 2])
            link[other] = -1
            stamp[f] += 1
            odds = said[f] + _mean_odds(total[f], count[f], size[a], size[other], missing, reach)
            if odds > 0 and not files[a] & files[other]:
                heapq.heappush(heap, (-odds, f, stamp[f]))
            end = following[end]
    for row in range(parent.size):
        parent[row] = find_root(parent, row)


@njit(nogil=True, cache=True)
def add_on_paths(pairs, up, depth, values, sums):
    """Add the values of each pair to all links of a tree between its rows; a link is its lower row."""
    for i in range(len(pairs)):
        a, b = pairs[i]
        while a != b:
            if depth[a] < depth[b]:
                a, b = b, a
            sums[a] += values[i]
            a = up[a]


@njit(nogil=True, cache=True)
def weakest_on_paths(pairs, up, depth, odds):
    """Return the link with the least odds between the two rows of each pair."""
    found = np.full(len(pairs), -1)
    for i in range(len(pairs)):
        a, b = pairs[i]
        while a != b:
            if depth[a] < depth[b]:
                a, b = b, a
            if found[i] < 0 or odds[a] < odds[found[i]]:
                found[i] = a
            a = up[a]
    return found


@njit(nogil=True, cache=True)
def fit_logistic(X, target, weight, ridge):
    """Return the intercept and weights of a ridge logistic regression, by Newton's method.

    In plain loops: a linear algebra library adds in an order that depends on the processor.
    """
    m, d = X.shape
    theta = np.zeros(d + 1)
    for _ in range(15):
        slope = np.zeros(d + 1)
        curve = np.zeros((d + 1, d + 1))
        row = np.ones(d + 1)
        for i in range(m):
            row[1:] = X[i]
            z = 0.0
            for j in range(d + 1):
                z += theta[j] * row[j]
            p = 1 / (1 + np.exp(-min(max(z, -30.0), 30.0)))
            off, bend = weight[i] * (target[i] - p), weight[i] * p * (1 - p)
            for j in range(d + 1):
                slope[j] += off * row[j]
                own = bend * row[j]
                for k in range(j + 1):
                    curve[j, k] += own * row[k]
        for j in range(d + 1):
            curve[j, j] += ridge if j else 1e-6
            slope[j] -= ridge * theta[j] if j else 0.0
        for j in range(d + 1):  # Cholesky
            for k in range(j + 1):
                total = curve[j, k]
                for q in range(k):
                    total -= curve[j, q] * curve[k, q]
                curve[j, k] = np.sqrt(max(total, 1e-12)) if j == k else total / curve[k, k]
        step = slope.copy()
        for j in range(d + 1):
            for k in range(j):
                step[j] -= curve[j, k] * step[k]
            step[j] /= curve[j, j]
        largest = 0.0
        for j in range(d, -1, -1):
            for k in range(j + 1, d + 1):
                step[j] -= curve[k, j] * step[k]
            step[j] /= curve[j, j]
            largest = max(largest, abs(step[j]))
        damped = min(1.0, 2.0 / max(largest, 1e-12))
        for j in range(d + 1):
            theta[j] += damped * step[j]
        if largest < 1e-4:
            break
    return theta


@njit(nogil=True, cache=True)
def _random(state):
    """Return the next state, and a number in [0, 1) (splitmix64)."""
    state += np.uint64(0x9E3779B97F4A7C15)
    z = state
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return state, float(z >> np.uint64(11)) * 2.0**-53


@njit(nogil=True, cache=True)
def _leaf_of(x, feature, threshold, left):
    node = 0
    while feature[node] >= 0:
        node = left[node] + (x[feature[node]] > threshold[node])
    return node


@njit(nogil=True, cache=True)
def _split(X, target, weight, rows, order, state, wanted):
    """Return the best of some random splits: its feature (-1: none), its threshold, the random state."""
    best, best_feature, best_threshold = np.inf, -1, np.float32(0.0)
    tried = 0
    for k in range(order.size):
        if tried == wanted:
            break
        state, u = _random(state)
        other = k + int(u * (order.size - k))
        order[k], order[other] = order[other], order[k]
        j = order[k]
        low = high = X[rows[0], j]
        for row in rows:
            low, high = min(low, X[row, j]), max(high, X[row, j])
        if high <= low:
            continue
        tried += 1
        state, u = _random(state)
        cut = np.float32(low + u * (high - low))
        if cut >= high:
            cut = low
        mass = np.zeros((2, 2))
        count = np.zeros(2, np.int64)
        for row in rows:
            side = int(X[row, j] > cut)
            mass[side, int(target[row])] += weight[row]
            count[side] += 1
        if min(count[0], count[1]) < LEAF:
            continue
        impurity = 0.0
        for side in range(2):
            impurity += mass[side, 0] * mass[side, 1] / (mass[side, 0] + mass[side, 1])
        if impurity < best:
            best, best_feature, best_threshold = impurity, j, cut
    return best_feature, best_threshold, state


@njit(nogil=True, cache=True, parallel=True)
def grow_forest(X, target, weight, seed, feature, threshold, left, value, said):
    n, d = X.shape
    wanted = max(1, int(np.sqrt(d)))
    for tree in prange(feature.shape[0]):
        state = np.uint64(seed) * np.uint64(0x2545F4914F6CDD1D) + np.uint64(tree)
        drawn = np.zeros(n)
        for _ in range(n):
            state, u = _random(state)
            drawn[int(u * n)] += 1
        own = drawn * weight
        rows = np.flatnonzero(drawn)
        order = np.arange(d)
        starts = np.zeros(feature.shape[1], np.int64)
        ends = np.zeros(feature.shape[1], np.int64)
        ends[0] = rows.size
        n_nodes, node = 1, 0
        while node < n_nodes:
            here = rows[starts[node] : ends[node]]
            total = same = 0.0
            for row in here:
                total += own[row]
                same += own[row] * target[row]
            value[tree, node] = same / total
            if here.size >= 2 * LEAF and 0 < same < total:
                j, cut, state = _split(X, target, own, here, order, state, wanted)
                if j >= 0:
                    feature[tree, node], threshold[tree, node] = j, cut
                    left[tree, node] = n_nodes
                    low, high = 0, here.size
                    while low < high:
                        if X[here[low], j] > cut:
                            high -= 1
                            here[low], here[high] = here[high], here[low]
                        else:
                            low += 1
                    middle = starts[node] + low
                    starts[n_nodes], ends[n_nodes] = starts[node], middle
                    starts[n_nodes + 1], ends[n_nodes + 1] = middle, ends[node]
                    n_nodes += 2
            node += 1
        for row in range(n):
            if drawn[row] == 0:
                leaf = _leaf_of(X[row], feature[tree], threshold[tree], left[tree])
                said[tree, row] = value[tree, leaf]


@njit(nogil=True, cache=True, parallel=True)
def predict_forest(X, feature, threshold, left, value, out):
    for block in prange((X.shape[0] + BLOCK - 1) // BLOCK):
        rows = range(block * BLOCK, min(X.shape[0], (block + 1) * BLOCK))
        for tree in range(feature.shape[0]):
            asked, cut, child = feature[tree], threshold[tree], left[tree]
            for i in rows:
                out[i] += value[tree, _leaf_of(X[i], asked, cut, child)] / feature.shape[0]
