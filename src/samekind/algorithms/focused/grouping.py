"""The groups that the answers make, in one go and whatever their order.

Where answers are certain, rows that "same" connects are one group. Where they may be wrong:

1. From single rows on, join the two groups with the greatest odds of being one while these are positive. The
   odds are the greatest of those with which "same" answers between the two were asked, plus what all answers
   between them say.
2. Cut each group at the link of its tree of "same" answers whose two sides have the most negative odds.
"""

from __future__ import annotations

import heapq

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from samekind.algorithms.focused import _kernels as kernels
from samekind.algorithms.focused.evidence import Evidence
from samekind.algorithms.focused.same import Same
from samekind.flow import BoolArray, FloatArray, IntArray

__all__ = ["UNREACHED", "group_nodes"]

UNREACHED = 0.02  # weight of distances in shares: they decide where hardly any walk arrives


def group_nodes(evidence: Evidence, same: Same) -> tuple[IntArray, IntArray]:
    """Return the nodes that answers are about, ascending, and the number of each one's group."""
    nodes, at = np.unique(evidence.pairs, return_inverse=True)
    at = at.reshape(-1, 2)
    if same.is_certain:
        yes = at[evidence.yes]
        graph = coo_array((np.ones(len(yes)), (yes[:, 0], yes[:, 1])), shape=(nodes.size,) * 2)
        return nodes, _numbered(connected_components(graph, directed=False)[1])
    odds = same.odds(evidence.phi)
    # the likeliest links come first: the tree takes them
    columns = (evidence.yes, evidence.who, at.max(axis=1), at.min(axis=1), -odds)
    order = np.lexsort(columns)
    evidence, at, odds = evidence.some(order), at[order], odds[order]
    weights = evidence.weights(same)
    groups = _agglomerate(nodes.size, at, weights, odds, evidence.is_early, same.says)
    return nodes, _cut(groups, at, weights, odds)


def _numbered(groups: IntArray) -> IntArray:
    """Return the same groups, numbered by their first rows."""
    _, first, numbers = np.unique(groups, return_index=True, return_inverse=True)
    rank = np.empty(first.size, dtype=np.intp)
    rank[np.argsort(first)] = np.arange(first.size)
    return rank[numbers]


def _agglomerate(
    m: int, at: IntArray, weights: FloatArray, prior: FloatArray, early: BoolArray, says: float
) -> IntArray:
    """Join the two groups with the greatest odds until none are positive."""
    size, to = [1] * m, list(range(m))
    # of each group and each other one: evidence, number of early refusals, greatest prior of a "same"
    near: list[dict[int, list[float]]] = [{} for _ in range(m)]
    columns = (at[:, 0], at[:, 1], weights, prior, early)
    for u, v, weight, odds, is_early in zip(*(c.tolist() for c in columns), strict=True):
        link = near[u].setdefault(v, [0.0, 0.0, -np.inf])
        near[v][u] = link
        link[is_early] += 1.0 if is_early else weight
        link[2] = max(link[2], odds if weight > 0 else -np.inf)

    def odds_of(u: int, v: int) -> float:
        net, refused, best = near[u][v]
        return best + net - says * (refused if min(size[u], size[v]) == 1 else min(refused, 1.0))

    heap = [(-odds_of(u, v), u, v) for u in range(m) for v in near[u] if u < v]
    heapq.heapify(heap)
    while heap and heap[0][0] < 0:
        z, u, v = heapq.heappop(heap)
        if to[u] != u or to[v] != v or v not in near[u] or -odds_of(u, v) != z:
            continue
        if len(near[u]) < len(near[v]):
            u, v = v, u
        to[v], was_alone = u, size[u] == 1
        size[u] += size[v]
        del near[u][v], near[v][u]
        for c, link in near[v].items():
            del near[c][v]
            old = near[u].setdefault(c, link)
            if old is not link:
                old[:] = old[0] + link[0], old[1] + link[1], max(old[2], link[2])
            near[c][u] = old
        for c in near[u] if was_alone else near[v]:
            heapq.heappush(heap, (-odds_of(u, c), min(u, c), max(u, c)))
    for g in range(m):
        while to[to[g]] != to[g]:
            to[g] = to[to[g]]
    return _numbered(np.array(to))


def _cut(groups: IntArray, at: IntArray, weights: FloatArray, odds: FloatArray) -> IntArray:
    """Cut groups where the two sides of a link are likelier two than one."""
    groups, n = groups.copy(), int(groups.max()) + 1
    place, (a, b) = np.zeros(len(groups), dtype=np.intp), at.T

    def by_group(chosen: IntArray, keys: IntArray) -> list[IntArray]:
        order = np.argsort(keys, kind="stable")
        return np.split(chosen[order], np.cumsum(np.bincount(keys, minlength=n))[:-1])

    inner = np.flatnonzero(groups[a] == groups[b])
    todo = list(
        zip(
            by_group(np.arange(len(groups)), groups), by_group(inner, groups[a[inner]]), strict=True
        )
    )
    while todo:
        rows, own = todo.pop()
        if rows.size < 2:
            continue
        place[rows] = np.arange(rows.size)
        u, v = place[a[own]], place[b[own]]
        up, by, net, _ = kernels.spanning_tree(rows.size, u, v, weights[own], np.zeros(rows.size))
        of_links = np.where(up < 0, np.inf, odds[own[by]] + net)
        weakest = int(of_links.argmin())
        if of_links[weakest] < 0:
            low = kernels.descendants(up, weakest)
            groups[rows[low]] = n
            n += 1
            todo += [(rows[part], own[part[u] & part[v]]) for part in (low, ~low)]
    return _numbered(groups)
