"""The groups that the answers make, in one go and whatever their order.

Where answers are certain, rows that "same" connects are one group. Where they may be wrong:

1. From single rows on, join the two groups with the greatest odds of being one while these are positive. The
   odds are the greatest stored ones of the "same" answers between the two, plus what all answers between them
   say. Cut groups by the stored odds.
2. Walks between all asked rows are pushed once; the walk's odds of any two parts are sums of them. Cut each
   group along its tree of "same" answers where the odds of the two sides are negative. Then join groups
   with a "same" between them and positive odds. Repeat until nothing changes.
"""

from __future__ import annotations

import heapq

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from samekind.algorithms.focused import _kernels as kernels
from samekind.algorithms.focused.evidence import Evidence
from samekind.algorithms.focused.means import whitened
from samekind.algorithms.focused.same import FLOOR, Same
from samekind.algorithms.focused.terrain import Terrain
from samekind.flow import BoolArray, FloatArray, IntArray

__all__ = ["UNREACHED", "Walks", "group_nodes"]

UNREACHED = 0.02  # weight of distances in shares: they decide where hardly any walk arrives
WALK_TOLERANCE = 1e-3  # of walks between asked rows
ROUNDS = 3  # of cuts and joins: a few groups alternate for ever
SWEEPS = 20  # of joins, each of pairs that do not overlap


class Walks:
    """Where walks that leave an asked node end: in which asked node they come next.

    What was found is kept: a further asked node changes only the walks that come by it. The result is
    exactly what a new search finds.

    Parameters
    ----------
    terrain : Terrain
        The nodes.
    """

    def __init__(self, terrain: Terrain) -> None:
        self.terrain = terrain
        n = len(terrain.rows)
        self._known = np.full(n, -1)
        self._asked = np.empty(0, dtype=np.intp)
        # of each asked node: the nodes that walks to it come by, those that they leave, and their chances
        self._to: dict[int, tuple[IntArray, IntArray, FloatArray]] = {}
        queue, mark = np.empty(n, dtype=np.int64), np.zeros(n, dtype=np.int8)
        self._buffers = np.zeros(n), np.zeros(n), queue, mark, np.zeros(n)

    def between(self, nodes: IntArray) -> tuple[IntArray, IntArray, FloatArray]:
        """Return walks between asked nodes, as places among them: from, to, and their chances."""
        if not np.isin(self._asked, nodes).all():  # one is not asked about any more
            self._known[:], self._to = -1, {}
        new = nodes[self._known[nodes] < 0]
        self._asked, self._known[nodes] = nodes, 0
        first, to, _ = self.terrain.into
        around = np.zeros(self._known.size, dtype=bool)
        around[new] = True
        for node in new.tolist():
            around[to[first[node] : first[node + 1]]] = True
        for node in nodes.tolist():
            if node not in self._to or around[self._to[node][0]].any():
                self._to[node] = kernels.walks_to(
                    *self.terrain.into, self._known, node, WALK_TOLERANCE, *self._buffers
                )
        found = [self._to[node] for node in nodes.tolist()]
        place = np.empty(self._known.size, dtype=np.intp)
        place[nodes] = np.arange(nodes.size)
        source = place[np.concatenate([left for _, left, _ in found])]
        target = np.repeat(np.arange(nodes.size), [left.size for _, left, _ in found])
        return source, target, np.concatenate([chances for _, _, chances in found])


def group_nodes(walks: Walks, evidence: Evidence, same: Same) -> tuple[IntArray, IntArray]:
    """Return the nodes that answers are about, ascending, and the number of each one's group."""
    nodes, at = np.unique(evidence.pairs, return_inverse=True)
    at = at.reshape(-1, 2)
    order = np.lexsort((evidence.yes, evidence.who, at.max(axis=1), at.min(axis=1)))
    evidence, at = evidence.some(order), at[order]
    if same.is_certain:
        yes = at[evidence.yes]
        graph = coo_array((np.ones(len(yes)), (yes[:, 0], yes[:, 1])), shape=(nodes.size,) * 2)
        return nodes, _numbered(connected_components(graph, directed=False)[1])
    prior = evidence.odds(same)
    likely = np.argsort(-prior, kind="stable")  # the tree takes the likeliest links
    evidence, at, prior = evidence.some(likely), at[likely], prior[likely]
    weights = evidence.weights(same)
    groups = _agglomerate(nodes.size, at, weights, prior, evidence.is_early, same.says)
    parts = _Parts(walks, nodes, at, weights, evidence.is_early, same)
    groups = parts.cut(groups, prior)
    for _ in range(ROUNDS):
        before = groups
        groups = parts.join(parts.cut(groups))
        if (groups == before).all():
            break
    return nodes, groups


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


class _Parts:
    """What walks between asked rows, and answers, say of any two parts of the asked rows."""

    def __init__(
        self,
        walks: Walks,
        nodes: IntArray,
        at: IntArray,
        weights: FloatArray,
        early: BoolArray,
        same: Same,
    ) -> None:
        terrain = walks.terrain
        self.source, self.target, self.chance = walks.between(nodes)
        self.ends = np.bincount(self.source, self.chance, nodes.size)
        self.at, self.weights, self.early, self.same = at, weights, early, same
        self.Z, self.spread = terrain.Z[nodes].astype(float), terrain.spread

    def _look_at(self, groups: IntArray) -> None:
        """Find the sizes and means of groups."""
        self.groups = groups
        self.size = np.bincount(groups).astype(float)
        self.A, self.M = whitened(self.Z, groups, self.spread)

    def _odds(
        self, share: FloatArray, unknown: FloatArray, size: FloatArray, close: FloatArray
    ) -> FloatArray:
        """Return the regression's log odds that a part is one with another."""
        w = self.same.w

        def logit(v: FloatArray) -> FloatArray:
            v = np.clip(v, 0, 1)
            found: FloatArray = np.log((v + FLOOR) / (1 - v + FLOOR))
            return found

        of_group = w[3] + w[5] * np.maximum(close, -50) / 10
        odds: FloatArray = w[0] + w[1] * logit(share) + w[2] * logit(unknown)
        odds += w[4] * np.log(size)
        odds += np.where(size > 1, of_group, 0.0)
        return odds

    def _nearness(self, means: FloatArray) -> FloatArray:
        squares = (means**2).sum(axis=1)[:, None] + (self.M**2).sum(axis=1)
        found: FloatArray = -0.5 * (squares - 2 * means @ self.M.T)
        return found

    def _evidence(self) -> tuple[IntArray, FloatArray, BoolArray]:
        """Return pairs of groups, what answers say of them, and whether one of them said "same"."""
        n = len(self.M)
        groups = np.sort(self.groups[self.at], axis=1)
        apart = groups[:, 0] != groups[:, 1]
        keys, at = np.unique(groups[apart] @ [n, 1], return_inverse=True)
        pairs = np.column_stack(np.divmod(keys, n))
        weights, early = self.weights[apart], self.early[apart]
        net = np.bincount(at[~early], weights[~early], keys.size).astype(float)
        refused = np.bincount(at[early], minlength=keys.size)
        is_lone = (self.size[pairs] == 1).any(axis=1)
        net = net - self.same.says * np.where(is_lone, refused, np.minimum(refused, 1))
        return pairs, net, np.bincount(at, weights > 0, keys.size) > 0

    def join(self, groups: IntArray) -> IntArray:
        """Join groups with a "same" between them and positive odds; the smaller one asks."""
        for _ in range(SWEEPS):
            self._look_at(groups)
            if len(self.M) < 2:
                break
            pairs, odds = self._odds_of_linked()
            pairs, odds = pairs[odds > 0], odds[odds > 0]
            if not odds.size:
                break
            to, free = np.arange(len(self.M)), np.ones(len(self.M), dtype=bool)
            for u, v in pairs[np.argsort(-odds, kind="stable")].tolist():
                if free[u] and free[v]:
                    free[[u, v]], to[v] = False, u
            groups = _numbered(to[groups])
        return groups

    def _odds_of_linked(self) -> tuple[IntArray, FloatArray]:
        """Return pairs of groups with a "same" between them, and their log odds; the smaller group asks."""
        n, size = len(self.M), self.size
        pairs, net, linked = self._evidence()
        keys, at = np.unique(
            self.groups[self.source] * n + self.groups[self.target], return_inverse=True
        )
        chances, keys = np.append(np.bincount(at, self.chance), 0.0), np.append(keys, n * n)
        is_inside = keys // n == keys % n
        inside = np.bincount(keys[is_inside] // n, chances[is_inside], n)
        norm = 1 / np.maximum(size - inside, 1e-6)

        def walks(one: IntArray, other: IntArray) -> FloatArray:
            place = np.searchsorted(keys, one * n + other)
            there: FloatArray = np.where(keys[place] == one * n + other, chances[place], 0.0)
            return there * norm[one]

        away = np.maximum(np.bincount(self.groups[self.source], self.chance, n) - inside, 0) * norm
        left, refused = away.copy(), pairs[net < 0]
        for one, other in (refused.T, refused[:, ::-1].T):
            np.subtract.at(left, one, walks(one, other))
        rest = np.maximum(1 - away, 0)
        unknown = rest / np.maximum(rest + left, 1e-9)
        pairs, net = pairs[linked], net[linked]
        asking, at = np.unique(pairs, return_inverse=True)
        close = self._nearness(((size + 1) / size)[asking, None] * self.M[asking])
        close[np.arange(asking.size), asking] = -np.inf
        close -= close.max(axis=1)[:, None]

        def odds(one: IntArray, other: IntArray, place: IntArray) -> FloatArray:
            there = walks(one, other)
            share = there / (left[one] + UNREACHED + np.where(net < 0, there, 0))
            return self._odds(share, unknown[one], size[one], close[place, other])

        (u, v), (x, y) = pairs.T, at.reshape(-1, 2).T
        one, two = odds(u, v, x), odds(v, u, y)
        both = np.where(size[u] < size[v], one, np.where(size[u] > size[v], two, (one + two) / 2))
        return pairs, both + net

    def cut(self, groups: IntArray, prior: FloatArray | None = None) -> IntArray:
        """Cut groups where the two sides of a link are likelier two than one.

        By the walks of now, or by the stored odds `prior` of the answers.
        """
        groups, n = groups.copy(), int(groups.max()) + 1
        self._look_at(groups.copy())
        place, (a, b) = np.zeros(len(groups), dtype=np.intp), self.at.T

        def by_group(chosen: IntArray, keys: IntArray) -> list[IntArray]:
            order = np.argsort(keys, kind="stable")
            return np.split(chosen[order], np.cumsum(np.bincount(keys, minlength=n))[:-1])

        own = np.flatnonzero(groups[a] == groups[b])
        walks = np.flatnonzero(groups[self.source] == groups[self.target])
        todo = list(
            zip(
                by_group(np.arange(len(groups)), groups),
                by_group(own, groups[a[own]]),
                by_group(walks, groups[self.source[walks]]),
                strict=True,
            )
        )
        while todo:
            rows, own, walks = todo.pop()
            if rows.size < 2:
                continue
            place[rows] = np.arange(rows.size)
            u, v = place[a[own]], place[b[own]]
            x, y = place[self.source[walks]], place[self.target[walks]]
            up, by, net, _ = kernels.spanning_tree(
                rows.size, u, v, self.weights[own], np.zeros(rows.size)
            )
            if prior is None:
                odds = self._link_odds(rows, up, u, v, own, x, y, self.chance[walks])
            else:
                odds = np.where(up < 0, np.inf, prior[own[by]] + net)
            weakest = int(odds.argmin())
            if odds[weakest] < 0:
                low = kernels.descendants(up, weakest)
                groups[rows[low]] = n
                n += 1
                todo += [
                    (rows[part], own[part[u] & part[v]], walks[part[x] & part[y]])
                    for part in (low, ~low)
                ]
        return _numbered(groups)

    def _link_odds(
        self,
        rows: IntArray,
        up: IntArray,
        u: IntArray,
        v: IntArray,
        own: IntArray,
        x: IntArray,
        y: IntArray,
        chance: FloatArray,
    ) -> FloatArray:
        """Return the log odds of the two sides of each link of a tree; the smaller side asks."""
        m, root = rows.size, int(np.flatnonzero(up < 0)[0])
        out = self.ends[rows] - np.bincount(x, chance, m)
        net, refused, rise, fall, size, away, ends, sums = kernels.link_flows(
            up, u, v, self.weights[own], self.early[own], x, y, chance.astype(float), out,
            self.ends[rows], self.A[rows],
        )  # fmt: skip
        low = 2 * size <= m

        def side(values: FloatArray) -> FloatArray:
            is_low = low if values.ndim == 1 else low[:, None]
            found: FloatArray = np.where(is_low, values, values[root] - values)
            return found

        n = np.maximum(np.where(low, size, m - size), 1.0)
        to = np.where(low, rise, fall)
        away, ends, total = side(away), side(ends), side(sums)
        norm = 1 / np.maximum(n - (ends - to - away), 1e-6)
        to, away = to * norm, away * norm
        rest = np.maximum(1 - to - away, 0)
        mean = total / n[:, None]
        other = (sums[root] - total) / (m - n + 1)[:, None]
        near = -0.5 * ((mean - other) ** 2).sum(axis=1)
        every = self._nearness(mean)
        every[:, self.groups[rows[0]]] = near
        odds = self._odds(
            to / (to + away + UNREACHED),
            rest / np.maximum(rest + to + away, 1e-9),
            n,
            near - every.max(axis=1),
        )
        odds += net - self.same.says * np.where(n > 1, np.minimum(refused, 1), refused)
        odds[root] = np.inf
        return odds
