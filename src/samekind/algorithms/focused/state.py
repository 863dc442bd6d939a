"""The live state: who is with whom, and where walks from every node end.

Three statements of `focused` are kept here. *Labels*: every node that was asked about is in a group, and a
lone node that others refused has a posterior over what remains likely for it. *Belief*: P(group | any node)
is where a walk from it ends, with a leak for "unknown". *Evidence*: groups join where their log odds are
positive, and are cut at a link whose sides' odds are negative.

One more answer changes the belief by local pushes. If node x ends walks from now on, the belief of y changes
by h(y) (what x is - belief of x), where h(y) is the chance that a walk from y meets x first.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from samekind.algorithms.focused import _kernels as kernels
from samekind.algorithms.focused.between import Between, laid_out
from samekind.algorithms.focused.evidence import Evidence, Kind
from samekind.algorithms.focused.grouping import UNREACHED
from samekind.algorithms.focused.means import spread_inside
from samekind.algorithms.focused.same import FLOOR, Same, features, fit_same, sigmoid
from samekind.algorithms.focused.terrain import Terrain
from samekind.flow import BoolArray, FloatArray, IntArray

__all__ = ["About", "State", "Tree"]

SLOTS = 16  # groups remembered for a node; 8 lose .05 of ARI on letter, 32 gain nothing
TOLERANCE = 5e-4  # below which a walk is not followed: 2e-4 gains nothing
MOST_PUSHES = 20_000  # for one node: a bound on the time of an answer
FIRST_PUSHES = 50  # times the nodes, when all visits are found anew
VISIT_TOLERANCE = 0.02  # of the estimate of visits, in rows
REACH = 12.0  # log-likelihood up to which means tell groups apart: they are no Gaussians
FIRST_MEANS = 20  # known nodes from which on means are fitted,
MEANS_GROWTH = 1.2  # and by how many times as many they are fitted anew
REFIT = 1.05  # growth of the answers after which P(same) is fitted anew
HANG_STEPS = 60  # of walks, whose length is about 50
MOST_TILT = 2.0


class About(NamedTuple):
    """What a question about two nodes concerns."""

    kind: int
    one: int
    """The smaller part: a group, or -1 for a fresh node."""
    other: int
    phi: FloatArray
    net: float
    """What answers said of the two parts, as log odds."""


class Tree(NamedTuple):
    """The links that hold a group together, one above each of its nodes but the root."""

    nodes: IntArray
    up: IntArray
    """The node above each, as a place in `nodes`."""
    by: IntArray
    """The answer that is the link."""
    net: FloatArray
    """What answers across it say."""
    odds: FloatArray
    """Log odds that its two sides are one cluster."""
    value: FloatArray
    """Rows that a question about it is expected to put right."""


class State:
    """Groups of nodes, what is known of pairs of them, and the belief about all nodes.

    Parameters
    ----------
    terrain : Terrain
        The nodes.
    told : float or None
        The share of answers that are wrong; 0 is certainty, None estimates it.
    evidence, same : Evidence, Same
        The answers, and P(same) as learnt from them.
    nodes, groups : ndarray of shape (m,)
        Nodes, and the group of each: what follows from the answers, whatever their order.
    equal_clusters : bool
        Whether every cluster counts the same in the value of a question, instead of every row.
    """

    def __init__(
        self,
        terrain: Terrain,
        told: float | None,
        evidence: Evidence,
        same: Same,
        nodes: IntArray,
        groups: IntArray,
        *,
        equal_clusters: bool,
    ) -> None:
        self.terrain, self.told, self.equal_clusters = terrain, told, equal_clusters
        self.n = n = len(terrain.rows)
        self.evidence, self.same = evidence, same
        self._refit_at = max(3, int(evidence.size * REFIT) + 1)
        self.heard = set(map(tuple, np.sort(evidence.pairs, axis=1).tolist()))
        self.group = np.full(n, -1)  # of each node; -1: not known
        self.known = np.empty(0, dtype=np.intp)  # nodes
        self.members: list[list[int]] = []
        self.between = Between()
        self._room(64)
        self.ids = np.full((n, SLOTS), -1, dtype=np.int32)
        self.shares = np.zeros((n, SLOTS), dtype=np.float32)
        self.total = np.zeros(n, dtype=np.float32)
        self.likeliest = np.full(n, -1)
        self.doubt, self.visits, self._rest = np.zeros(n), np.zeros(n), np.zeros(n)
        self.mended = np.ones(n)  # chance that a node which its group refuses is right after that
        self.weight = terrain.weight.copy()
        self._queue, self._queued = np.empty(n, dtype=np.int64), np.zeros(n, dtype=bool)
        self._in_queue = np.zeros(2, dtype=np.int64)
        queue, mark = np.empty(n, dtype=np.int64), np.zeros(n, dtype=np.int8)
        self._buffers = np.zeros(n), np.zeros(n), queue, mark
        self._hits: dict[int, tuple[IntArray, NDArray[np.float32]]] = {}
        self._stale: set[int] = set()  # groups whose pairs must be scored anew
        self.trees: dict[int, Tree] = {}
        self.hang = np.zeros(n)  # rows whose walks end in each known node
        self.A, self.tilt, self.ramp = terrain.Z, 0.0, 0.0
        self._to_white = np.eye(terrain.Z.shape[1])
        self._means_at = FIRST_MEANS
        self._far, self._far_upto = np.full(n, np.inf, dtype=np.float32), 0
        self._place = np.zeros(n, dtype=np.int64)
        if nodes.size:
            self._put_in_groups(nodes, groups)
        for _ in range(1 + equal_clusters):  # what a row weighs depends on the labels
            self.update_doubts()
        self._push_visits(FIRST_PUSHES * n)
        self.score_pairs()  # now: what is chosen must not depend on who looked when

    @property
    def n_groups(self) -> int:
        """How many numbers of groups there are, those merged away included."""
        return len(self.members)

    def _room(self, cap: int) -> None:
        """Make room for more groups."""

        def grown(name: str, shape: tuple[int, ...], fill: float, dtype: type) -> None:
            new: NDArray[Any] = np.full(shape, fill, dtype)
            old = getattr(self, name, None)
            if old is not None:
                new[tuple(slice(0, size) for size in old.shape)] = old
            setattr(self, name, new)

        grown("alive", (cap,), False, bool)
        for name in ("size", "most", "basin"):
            grown(name, (cap,), 0, float)
        grown("sums", (cap, self.terrain.Z.shape[1]), 0, float)
        grown("M", (cap, self.terrain.Z.shape[1]), 0, np.float32)
        self._cap = cap

    alive: NDArray[np.bool_]
    size: FloatArray  # known nodes
    most: FloatArray  # the greatest P(same) of a group with another one
    basin: FloatArray  # rows that a lone node would take with it
    sums: FloatArray  # of the coordinates of known nodes
    M: NDArray[np.float32]  # whitened means

    # What a question is about

    def about(self, a: int, b: int) -> About:
        """Return what an answer about two nodes concerns."""
        if self.group[a] >= 0 > self.group[b]:
            a, b = b, a
        g, c = int(self.group[a]), int(self.group[b])
        if c < 0:
            return self._about_strangers(a, b)
        if g < 0:
            share, close = self._share_of(a, c)
            lone = bool(self.size[c] == 1)
            phi = features(share, 1 - float(self.total[a]), close=close, lone=lone)
            return About(Kind.ROW, g, c, phi, 0.0)
        if g != c:
            mass = self.masses()
            if mass[g] > mass[c]:
                g, c = c, g
            unknown, shares, near, _ = self._score([g])
            phi = features(
                float(shares[c]), unknown,
                group=True, members=float(self.size[g]), close=float(near[c]),
            )  # fmt: skip
            return About(Kind.GROUPS, g, c, phi, self.between.net[g].get(c, 0.0))
        tree = self.tree(c)  # the weakest link between the two
        self._place[tree.nodes] = np.arange(len(tree.nodes))
        above = [kernels.ancestors(tree.up, int(self._place[x])) for x in (a, b)]
        links = np.flatnonzero(above[0] != above[1])
        weakest = links[tree.odds[links].argmin()]
        phi = self.evidence.phi[tree.by[weakest]]
        kind = Kind.LINK_OF_GROUPS if phi[3] else Kind.LINK
        return About(kind, g, c, phi, float(tree.net[weakest]))

    def _about_strangers(self, a: int, b: int) -> About:
        """Return what an answer concerns about two nodes of which nothing is known."""
        nodes, chances = self.hits(b)
        here = np.flatnonzero(nodes == a)
        h = float(chances[here[0]]) if here.size else 0.0
        total = float(self.total[a]) + h * (1 - float(self.total[b]))
        share = (h + UNREACHED) / (total + UNREACHED) if self.n_groups else h / max(total, 1e-9)
        return About(Kind.ROW, -1, -1, features(share, 1 - total, lone=True), 0.0)

    def _share_of(self, node: int, group: int) -> tuple[float, float]:
        """Return the share of a node's walk that ends in a group, and the means' odds against its rival."""
        walk = self.walk_shares(node)
        close = 0.0
        if self.ramp > 0:
            rival = walk.copy()
            rival[group] = -1
            other = int(rival.argmax())
            if rival[other] > 0:
                gaps = [float(((self.A[node] - self.M[g]) ** 2).sum()) for g in (group, other)]
                close = self.ramp * float(np.clip((gaps[1] - gaps[0]) / 20, -3, 3))
        return float(walk[group]), close

    def walk_shares(self, node: int) -> FloatArray:
        """Return the share of each group in a node's walk; distances decide where hardly any walk arrives."""
        found = np.zeros(self.n_groups)
        there = self.shares[node] > 0
        found[self.ids[node][there]] = self.shares[node][there]
        alive = self.alive[: self.n_groups]
        gap = np.sqrt(((self._means() - self.terrain.Z[node]) ** 2).sum(axis=1))
        near = alive * ((gap[alive].min() + 1e-9) / (gap + 1e-9)) ** 8
        share: FloatArray = found * alive + UNREACHED * near / near.sum()
        share /= share.sum()
        return share

    def row_shares(self, node: int) -> FloatArray:
        """Return the belief that a node is in each group: the walk's shares, weighed by size and means."""
        shares = self.walk_shares(node)
        shares[self.size[: self.n_groups] == 1] *= self.same.lone
        if self.tilt > 0:
            near = -0.5 * ((self.A[node] - self.M[: self.n_groups]) ** 2).sum(axis=1)
            rivals = shares >= shares.max() * np.exp(-REACH * self.tilt)
            near = np.maximum(near - near[rivals].max(), -REACH)
            before = shares[rivals].sum()
            shares[rivals] *= np.exp(self.tilt * near[rivals])
            shares[rivals] *= before / shares[rivals].sum()
        return shares

    # Belief

    def update_doubts(self, nodes: IntArray | None = None) -> None:
        """Find the likeliest groups of nodes, or of all, and how many rows are expected to be wrong."""
        if nodes is None:
            self._weigh()
            nodes = np.arange(self.n)
            self._stale.update(range(self.n_groups))
        kernels.update_doubts(
            nodes, self.ids, self.shares, self.total, self.group, self.weight, self.same.w, FLOOR,
            UNREACHED, self.A, self.M, self.size, self.same.lone, self.tilt, REACH, self.ramp,
            self.likeliest, self.doubt, self.mended, self._rest, self._queue, self._queued,
            self._in_queue, VISIT_TOLERANCE,
        )  # fmt: skip

    def _weigh(self) -> None:
        """Let every cluster count the same: a row weighs 1 / the size of a cluster that it may be in."""
        if not self.equal_clusters or self.n_groups < 3:
            return
        put, counts = self.likeliest >= 0, self.terrain.weight
        size = np.bincount(self.likeliest[put], counts[put], minlength=self.n_groups)
        share = counts.sum() / max(1, self.alive.sum()) / np.maximum(size, 1)
        reached = self.shares.sum(axis=1)
        mean = (self.shares * share[self.ids]).sum(axis=1) / np.maximum(reached, 1e-9)
        self.weight = counts * np.where(put & (reached > 0), mean, 1.0)

    def _push_visits(self, most: int) -> None:
        """Bring up to date how much doubt passes each node."""
        kernels.push_visits(
            *self.terrain.out, self.group, self.visits, self._rest, self._queue, self._queued,
            self._in_queue, VISIT_TOLERANCE, most,
        )  # fmt: skip

    def spread_visits(self) -> FloatArray:
        """Return about how much doubt passes each node, which a label there would end."""
        found: FloatArray = self.visits * self.terrain.once
        return found

    def hits(self, node: int) -> tuple[IntArray, NDArray[np.float32]]:
        """Return nodes from which walks meet a node first, and their chances; kept while they hold."""
        if node not in self._hits:
            self._hits[node] = kernels.hits(
                *self.terrain.into, self.group, np.array([node]), np.ones(1), TOLERANCE,
                MOST_PUSHES, *self._buffers,
            )  # fmt: skip
        return self._hits[node]

    def _set_posterior(self, node: int, groups: IntArray, chances: FloatArray) -> float:
        """Let walks that meet a node end there in a posterior; return how many rows' walks do."""
        old = self.shares[node] > 0
        g = np.concatenate([self.ids[node][old], groups]).astype(np.int64)
        v = np.concatenate([-self.shares[node][old], chances])
        g, at = np.unique(g, return_inverse=True)
        v = np.bincount(at, v).astype(np.float32)
        nodes, h = self.hits(node)
        seen_by = np.zeros(self.n_groups)
        kernels.walks_into(*self.terrain.into, self.group, nodes, h, seen_by)
        for group in np.flatnonzero(seen_by > 1e-6).tolist():
            self.between.walk(group, g, seen_by[group] * v)
            self._stale.add(group)
        kernels.change_beliefs(self.ids, self.shares, self.total, nodes, h, g, v)
        self._put(node, groups, chances)
        self.update_doubts(nodes)
        return float((h * self.weight[nodes]).sum())

    def _put(self, node: int, groups: IntArray, chances: FloatArray) -> None:
        self.ids[node], self.shares[node], self.total[node] = -1, 0, 1
        self.ids[node, : len(groups)], self.shares[node, : len(groups)] = groups, chances

    def _means(self) -> FloatArray:
        """Return the means of groups."""
        k = self.n_groups
        found: FloatArray = self.sums[:k] / np.maximum(self.size[:k, None], 1)
        return found

    def _place_mean(self, c: int) -> None:
        """Find the whitened mean of a group, drawn to that of all rows."""
        self.M[c] = self.sums[c] @ self._to_white / (self.size[c] + 1)

    def far(self) -> FloatArray:
        """Return the squared distance of each node to the nearest known one; 0 for known ones."""
        Z, new = self.terrain.Z, self.known[self._far_upto :]
        if new.size:
            squares = (Z[new] ** 2).sum(axis=1)
            own = (Z**2).sum(axis=1)
            for some in np.array_split(np.arange(new.size), -(-new.size // 64)):
                cross = (squares[some] - 2 * Z @ Z[new[some]].T).min(axis=1)
                np.minimum(self._far, np.maximum(cross + own, 0), out=self._far)
            self._far_upto = len(self.known)
        return np.where(self.group >= 0, 0.0, self._far).astype(float)

    def _find_hang(self) -> None:
        """Find the rows whose walks end in each known node."""
        free = self.group < 0
        first, to, step = self.terrain.into
        back = sp.csr_array((step, to, first), shape=(self.n, self.n))
        walking = self.weight.copy()
        self.hang = np.where(free, 0, self.weight)
        for _ in range(HANG_STEPS):
            walking = back @ np.where(free, walking, 0)
            self.hang += np.where(free, 0, walking)

    def masses(self) -> FloatArray:
        """Return the rows that each group is believed to hold."""
        put = self.likeliest >= 0
        right = (self.weight - self.doubt)[put]
        mass: FloatArray = np.bincount(self.likeliest[put], right, self.n_groups).astype(float)
        lone = (self.size[: self.n_groups] == 1) & (self.basin[: self.n_groups] > 0)
        for c in np.flatnonzero(lone):
            node = self.members[c][0]
            other = self.shares[node][self.ids[node] != c].max(initial=0)
            mass[c] = max(mass[c], self.basin[c] * (1 - other))
        return mass

    def score_pairs(self) -> None:
        """Bring the greatest P(same) of groups up to date."""
        if self._stale:
            self._score(sorted(self._stale))
            self._stale.clear()

    def chances(self, group: int) -> FloatArray:
        """Return P(same) of a group with every other one."""
        return self._score([group])[3]

    def _score(self, groups: list[int]) -> tuple[float, FloatArray, FloatArray, FloatArray]:
        """Find the greatest P(same) of some groups; return the features and P(same) of the last one."""
        found: tuple[float, FloatArray, FloatArray, FloatArray] = kernels.score_pairs(
            np.array(groups), *laid_out(self.between.flow, groups),
            *laid_out(self.between.net, groups), self.alive[: self.n_groups], self.size,
            self._means(), self.same.w, FLOOR, UNREACHED, self.M, self.ramp > 0, self.most,
        )  # fmt: skip
        return found

    # What an answer changes

    def add(self, pairs: IntArray, said: Evidence) -> None:
        """Take in clear answers about a node and others, with what was stored of them."""
        fitted, refused = False, list[int]()
        for i, (a, b) in enumerate(pairs.tolist()):
            fitted |= self._hear(a, b, said.some(np.array([i])), refused)
        for group in dict.fromkeys(refused):
            self._soften(group)
        if self._fit_means() or fitted:
            self.update_doubts()
        if fitted:
            self.trees.clear()
            if not self.same.is_certain:  # or else nothing is asked about links
                self._find_hang()
        self._push_visits(self.n)
        self.score_pairs()

    def _hear(self, a: int, b: int, one: Evidence, refused: list[int]) -> bool:
        """Take in an answer about two nodes; return whether P(same) was fitted anew.

        Adds the groups that it tells apart to `refused`: where walks end that meet them is found at the end.
        """
        pair = (min(a, b), max(a, b))
        self.heard.add(pair)
        if self.group[b] < 0:
            a, b = b, a
        if self.group[b] < 0:
            self._found(b)
        self.evidence = self.evidence.plus(one)
        if self.same.is_certain and self.group[a] == self.group[b]:
            return False  # it follows from other answers
        about = self.about(a, b)
        fitted = self._learn()
        weight = float(one.weights(self.same)[0])
        is_one = weight > 0 and float(about.phi @ self.same.w) + about.net + weight > 0
        if self.group[a] < 0:
            c = int(self.group[b])
            if is_one:
                self._join(a, c)
            else:
                g = self._found(a)
                self._tell(g, c, weight)
                refused.append(g)
        elif about.one == about.other:
            self.trees.pop(about.other, None)
            self._settle(about.other)
        else:
            g, c = about.one, about.other
            self._tell(g, c, weight)
            if is_one:
                self._merge(g, c)
                self._settle(int(self.group[a]))
            else:
                refused += [g, c]
        return fitted

    def _tell(self, g: int, c: int, weight: float) -> None:
        self.between.tell(g, c, weight)
        self._stale.update((g, c))

    def _learn(self) -> bool:
        """Fit P(same) anew when there are enough new answers; return whether that was done."""
        if self.evidence.size < self._refit_at:
            return False
        self._refit_at = int(self.evidence.size * REFIT) + 1
        self.same = fit(self.evidence, self.told, self.same.w)
        self._set_tilt()
        return True

    def _set_tilt(self) -> None:
        """Let the means count as much, beside the walk, as P(same) has learnt."""
        w = self.same.w
        self.tilt = self.ramp * float(np.clip(w[6] / max(w[1], 0.1) / 10, 0, MOST_TILT))

    def _join(self, node: int, c: int) -> None:
        """Let a node be of group c."""
        kernels.take_out(
            *self.terrain.out, self.group, node, self.visits, self._rest, self.doubt,
            self._queue, self._queued, self._in_queue, VISIT_TOLERANCE,
        )  # fmt: skip
        if self.size[c] == 1:
            self._no_longer_alone(c)
        self.hang[node] = self._set_posterior(node, np.array([c]), np.ones(1))
        self.group[node] = self.likeliest[node] = c
        self.trees.pop(c, None)
        self._hits = {r: h for r, h in self._hits.items() if r != node and node not in h[0]}
        self.members[c].append(node)
        self.sums[c] += self.terrain.Z[node]
        self.size[c] += 1
        self._place_mean(c)
        if self.size[c] == 2:
            self._count(c)
        self.known = np.append(self.known, node)
        self.between.walk(c, *self._step_from(node))
        self._stale.add(c)

    def _step_from(self, node: int) -> tuple[IntArray, FloatArray]:
        """Return the groups in which walks from a node end, as seen after one step, and their chances."""
        first, to, step = self.terrain.out
        edges = slice(first[node], first[node + 1])
        shares = self.shares[to[edges]] * step[edges, None]
        groups, at = np.unique(self.ids[to[edges]][shares > 0], return_inverse=True)
        chances = np.bincount(at, shares[shares > 0], groups.size)
        return groups.astype(np.intp), chances.astype(float)

    def _new_group(self) -> int:
        if self.n_groups == self._cap:
            self._room(2 * self._cap)
        self.members.append([])
        self.between.found()
        self.alive[self.n_groups - 1] = True
        return self.n_groups - 1

    def _found(self, node: int) -> int:
        """Let a node be the first of a new group."""
        c = self._new_group()
        self._join(node, c)
        return c

    def _posterior(self, c: int) -> tuple[IntArray, FloatArray]:
        """Return where walks end that meet a lone node: in what did not refuse it, and in itself."""
        groups, b = self._step_from(self.members[c][0])
        groups, b = groups[groups != c], b[groups != c]
        new = max(0.0, 1 - b.sum())
        b *= np.exp(np.minimum(self.between.said(c, groups), 0))
        likely = np.argsort(-b, kind="stable")[: SLOTS - 1]
        likely = likely[(b[likely] > 0) & self.alive[groups[likely]]]
        groups, b = groups[likely], b[likely]
        total = b.sum() + new + 1e-9
        return np.append(groups, c), np.append(b / total, 1 - b.sum() / total)

    def _soften(self, c: int) -> None:
        """Let a lone refused node pass on what remains likely for it."""
        if self.size[c] == 1:
            self.basin[c] = self._set_posterior(self.members[c][0], *self._posterior(c))

    def _no_longer_alone(self, c: int) -> None:
        self._set_posterior(self.members[c][0], np.array([c]), np.ones(1))

    def _merge(self, a: int, b: int) -> None:
        """Make groups a and b one."""
        if self.size[a] < self.size[b]:
            a, b = b, a
        for g in (a, b):
            if self.size[g] == 1:
                self._no_longer_alone(g)
        kernels.merge_beliefs(self.ids, self.shares, b, a)
        self.likeliest[self.likeliest == b] = a
        self.group[self.members[b]] = a
        self.members[a] += self.members[b]
        self.sums[a] += self.sums[b]
        self.size[a] += self.size[b]
        self._place_mean(a)
        self.members[b], self.size[b], self.sums[b], self.alive[b] = [], 0, 0, False
        self._stale.update([*self.between.merge(a, b), a])
        self._count(a)
        self.trees.pop(a, None)
        self.trees.pop(b, None)
        self.most[b] = 0

    def _count(self, c: int) -> None:
        """Find what answers say of a group and all others; early refusals count as one at most."""
        u, v = self.group[self.evidence.pairs].T
        other = np.where(u == c, v, u)
        own = (u == c) != (v == c)
        own &= other >= 0
        early = own & self.evidence.is_early & (self.size[c] > 1) & (self.size[other] > 1)
        weights = self.evidence.some(own).weights(self.same)
        others, net = _told(other[own], weights, early[own], self.same.says)
        self.between.told(c, dict(zip(others.tolist(), net.tolist(), strict=True)))

    # Links, and cuts at them

    def tree(self, c: int) -> Tree:
        """Return the links of a group: the first answers "same" that span it."""
        nodes = np.array(self.members[c])
        inner = np.flatnonzero((self.group[self.evidence.pairs] == c).all(axis=1))
        self._place[nodes] = np.arange(nodes.size)
        ends = self._place[self.evidence.pairs[inner]]
        weights = self.evidence.some(inner).weights(self.same)
        up, by, net, mass = kernels.spanning_tree(
            nodes.size, ends[:, 0], ends[:, 1], weights, self.hang[nodes]
        )
        by = inner[by]
        odds = np.where(up < 0, np.inf, self.evidence.some(by).odds(self.same) + net)
        value = sigmoid(-odds) * np.minimum(mass, mass.max() - mass)
        return Tree(nodes, up, by, net, odds, np.where(up < 0, 0, value))

    def _settle(self, c: int) -> None:
        """Cut a group where its parts are likelier two than one."""
        if self.size[c] < 2 or self.same.is_certain:
            return
        tree = self.tree(c)
        weakest = int(tree.odds.argmin())
        if tree.odds[weakest] < 0:
            low = kernels.descendants(tree.up, weakest)
            part = tree.nodes[low] if 2 * low.sum() <= low.size else tree.nodes[~low]
            new = self._split(c, part)
            self._settle(c)
            self._settle(new)

    def _split(self, c: int, part: IntArray) -> int:
        """Let some nodes of a group be a new group; return its number."""
        g, gone = self._new_group(), set(part.tolist())
        self.members[c] = [x for x in self.members[c] if x not in gone]
        self.members[g] = part.tolist()
        for x in part.tolist():
            groups, chances = self._step_from(x)
            self.between.walk(g, groups, chances)
            self.between.walk(c, groups, -chances)
        self.group[part] = g
        for x in part.tolist():
            self.basin[g] = self._set_posterior(x, np.array([g]), np.ones(1))
        for one in (g, c):
            own = self.members[one]
            self.size[one] = len(own)
            self.sums[one] = self.terrain.Z[own].astype(float).sum(axis=0)
            self._place_mean(one)
        for one in (g, c):
            self._count(one)
            self.trees.pop(one, None)
            self._soften(one)
        self._stale.update(np.flatnonzero(self.alive[: self.n_groups]).tolist())
        return g

    # Means

    def _fit_means(self) -> bool:
        """Whiten by the spread inside groups, when enough nodes are known; return whether that was done."""
        if len(self.known) < self._means_at:
            return False
        self._means_at = int(len(self.known) * MEANS_GROWTH) + 1
        Z, k = self.terrain.Z, self.n_groups
        self._to_white, _ = spread_inside(
            Z[self.known].astype(float), self.group[self.known], self.terrain.spread
        )
        self.A = np.ascontiguousarray(Z @ self._to_white, dtype=np.float32)
        self.M[:k] = self.sums[:k] @ self._to_white / (self.size[:k, None] + 1)
        self.ramp = len(self.known) / (len(self.known) + Z.shape[1])
        self._set_tilt()
        return True

    # The whole state at once

    def _put_in_groups(self, nodes: IntArray, groups: IntArray) -> None:
        """Let nodes be in groups, and find the belief that follows."""
        k = int(groups.max()) + 1
        if k > self._cap:
            self._room(2 ** int(np.ceil(np.log2(k + 1))))
        size = np.bincount(groups, minlength=k)
        order = np.argsort(groups, kind="stable")
        self.members = [part.tolist() for part in np.split(nodes[order], np.cumsum(size)[:-1])]
        for _ in range(k):
            self.between.found()
        self.known, self.group[nodes] = nodes, groups
        self.alive[:k], self.size[:k] = True, size
        np.add.at(self.sums, groups, self.terrain.Z[nodes])
        self.M[:k] = self.sums[:k] / (self.size[:k, None] + 1)
        self._count_all()
        self.ids[nodes, 0], self.shares[nodes, 0] = groups, 1
        lone = np.flatnonzero(size == 1)
        self._build_belief()
        if lone.size and k > 1:  # more sweeps change nothing
            for c in lone.tolist():
                self._put(self.members[c][0], *self._posterior(c))
            self._build_belief()
        self._find_hang()
        self.basin[lone] = self.hang[[self.members[c][0] for c in lone]]
        self._fit_means()

    def _count_all(self) -> None:
        """Find what answers say of every two groups."""
        groups = np.sort(self.group[self.evidence.pairs], axis=1)
        apart = groups[:, 0] != groups[:, 1]
        u, v = groups[apart].T
        some = self.evidence.some(apart)
        early = some.is_early & (self.size[u] > 1) & (self.size[v] > 1)
        keys, net = _told(u * self.n_groups + v, some.weights(self.same), early, self.same.says)
        for key, amount in zip(keys.tolist(), net.tolist(), strict=True):
            one, other = divmod(key, self.n_groups)
            self.between.tell(one, other, amount)

    def _build_belief(self) -> None:
        """Build the belief from the posteriors of known nodes: one push of many sources for each group."""
        known = self.known
        node = np.repeat(known, SLOTS)
        g, chance = self.ids[known].ravel(), self.shares[known].ravel()
        kept_ids, kept = self.ids[known].copy(), self.shares[known].copy()
        there = chance > 0
        node, g, chance = node[there], g[there], chance[there]
        order = np.argsort(g, kind="stable")
        node, g, chance = node[order], g[order], chance[order]
        self.ids[:], self.shares[:], self.total[:] = -1, 0, 0
        ends = np.searchsorted(g, np.arange(self.n_groups + 1))
        for c in np.flatnonzero(np.diff(ends)).tolist():
            own = slice(ends[c], ends[c + 1])
            nodes, h = kernels.hits(
                *self.terrain.into, self.group, node[own], chance[own].astype(float),
                3 * TOLERANCE, 10**9, *self._buffers,
            )  # fmt: skip
            kernels.change_beliefs(
                self.ids, self.shares, self.total, nodes, h, np.array([c]),
                np.ones(1, dtype=np.float32),
            )  # fmt: skip
        self.ids[known], self.shares[known], self.total[known] = kept_ids, kept, 1
        self._find_flow()
        self._hits.clear()

    def _find_flow(self) -> None:
        """Find where walks from the known nodes of each group end, as seen after one step."""
        k, n, known = self.n_groups, self.n, self.known
        first, to, step = self.terrain.out
        there = self.shares > 0
        ends = np.concatenate([[0], np.cumsum(there.sum(axis=1))])
        belief = sp.csr_array((self.shares[there], self.ids[there], ends), shape=(n, k))
        own = sp.csr_array((np.ones(len(known)), (self.group[known], known)), shape=(k, n))
        flow = own @ sp.csr_array((step, to, first), shape=(n, n)) @ belief
        for group, (start, end) in enumerate(pairwise(flow.indptr)):
            groups, chances = flow.indices[start:end].tolist(), flow.data[start:end].tolist()
            self.between.flow[group] = dict(zip(groups, chances, strict=True))


def _told(
    keys: IntArray, weights: FloatArray, early: BoolArray, says: float
) -> tuple[IntArray, FloatArray]:
    """Return what answers say, for each of their keys; early refusals count as one at most."""
    keys, at = np.unique(keys, return_inverse=True)
    net = np.bincount(at[~early], weights[~early], keys.size).astype(float)
    return keys, net - says * np.minimum(1, np.bincount(at[early], minlength=keys.size))


def fit(evidence: Evidence, told: float | None, start: FloatArray) -> Same:
    """Return P(same), learnt from the answers that somebody was asked for, in an order of their own."""
    asked = evidence.was_asked & (evidence.phi[:, 0] > 0)
    some = evidence.some(asked)
    order = np.lexsort((some.yes, some.who, some.pairs.max(axis=1), some.pairs.min(axis=1)))
    some = some.some(order)
    trust = some.stage / max(some.stage.max(initial=1.0), 1.0)
    came_true = some.yes & ~some.is_elsewhere
    return fit_same(some.phi, some.net, came_true, some.who, trust, told, start)
