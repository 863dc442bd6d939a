"""CrowdER's grouped questions (Wang, Kraska, Franklin, Feng, VLDB 2012; the paper's WKF12).

Machines weed out the unlikely pairs; the crowd is shown groups of up to `size` records, and marks those that
are one. The groups are to cover all pairs that are left with as few groups as can be, which is NP-hard;
theirs is a heuristic in two tiers: a connected component that is too large is cut into groups that are grown
greedily by the record with most pairs to the group, fewest to others; small components are then packed
together.
Here a group is asked about pair by pair, and what follows from answers is not asked.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from samekind._validation import check_fraction, check_positive_int
from samekind.algorithms.base import Params
from samekind.algorithms.crowd.base import CrowdAlgorithm

__all__ = ["CrowdGroups"]


@dataclass(frozen=True, kw_only=True)
class GroupParams(Params):
    """Parameters of "crowd-groups".

    Attributes
    ----------
    size : int
        Records in a group.
    threshold : float or None
        The likelihood below which a pair is never asked about; None asks about all candidate pairs.
    """

    size: int = 10
    threshold: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_positive_int("size", self.size, minimum=2)
        check_fraction("threshold", self.threshold, none="ask about all candidate pairs")


class CrowdGroups(CrowdAlgorithm[GroupParams]):
    """Asks about groups of records."""

    name: ClassVar[str] = "crowd-groups"
    Params = GroupParams

    def _next_pairs(self, count: int) -> list[tuple[int, int]]:
        if not self.answers.given:
            self._groups = self._cover()
            self._group: list[tuple[int, int]] = []
        while True:
            still = [pair for pair in self._group if self.answers.relation(*pair) is None]
            if still or not self._groups:
                return self._independent(still, count)
            self._group = self._groups.pop(0)

    def _cover(self) -> list[list[tuple[int, int]]]:
        """Return the pairs of each group, the groups with the likeliest pair first."""
        least = self.params.threshold or 0.0
        order = self._by_likelihood(np.flatnonzero(self.likelihood >= least))
        kept = self.pairs[order]
        n = self.points.n
        graph = coo_array((np.ones(len(kept)), (kept[:, 0], kept[:, 1])), shape=(n, n))
        _, part = connected_components(graph, directed=False)
        neighbors: dict[int, set[int]] = {}
        components: dict[int, list[int]] = {}
        for a, b in kept.tolist():
            for one, other in ((a, b), (b, a)):
                if one not in neighbors:
                    components.setdefault(int(part[one]), []).append(one)
                neighbors.setdefault(one, set()).add(other)
        found: list[list[tuple[int, int]]] = []
        packed: list[tuple[int, list[tuple[int, int]]]] = []  # records in it, and its pairs
        for rows in components.values():
            if len(rows) > self.params.size:  # top tier
                found += self._cut(rows, neighbors)
                continue
            pairs = [(a, b) for a in rows for b in sorted(neighbors[a]) if a < b]
            fits = [
                place
                for place, (used, _) in enumerate(packed)
                if used + len(rows) <= self.params.size
            ]
            if fits:  # bottom tier: into the fullest group that has room
                place = max(fits[-64:], key=lambda place: packed[place][0])
                packed[place] = packed[place][0] + len(rows), packed[place][1] + pairs
            else:
                packed.append((len(rows), pairs))
        found += [pairs for _, pairs in packed]
        rank = {pair: place for place, pair in enumerate(map(tuple, kept.tolist()))}
        for pairs in found:
            pairs.sort(key=rank.__getitem__)
        return sorted(found, key=lambda pairs: rank[pairs[0]])

    def _cut(self, rows: list[int], neighbors: dict[int, set[int]]) -> list[list[tuple[int, int]]]:
        """Cut a component into groups that cover its pairs, each grown from the record with most left."""
        left = {row: set(neighbors[row]) for row in rows}
        found: list[list[tuple[int, int]]] = []
        while left:
            seed = max(left, key=lambda row: (len(left[row]), -row))
            group, border = [seed], dict.fromkeys(left[seed], 1)
            while len(group) < self.params.size and border:
                best = max(border, key=lambda row: (border[row], -len(left[row]), -row))
                del border[best]
                group.append(best)
                for other in left[best]:
                    if other not in group:
                        border[other] = border.get(other, 0) + 1
            inside = set(group)
            pairs = [(a, b) for a in group for b in sorted(left[a] & inside) if a < b]
            for a, b in pairs:
                left[a].discard(b)
                left[b].discard(a)
            for row in group:
                if not left[row]:
                    del left[row]
            found.append(pairs)
        return found
