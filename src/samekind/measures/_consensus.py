"""What answers about pairs say together: the grouping of rows that most of them agree with."""

from __future__ import annotations

from heapq import heapify, heappop, heappush

import numpy as np

from samekind.flow import Pairs
from samekind.measures._grouped import Floats, Integers

__all__ = ["Consensus"]

MOST_SWEEPS = 20
STEPS = 2  # by which doubt about a row reaches those that it was compared with
SUREST = 30.0  # log-odds; beyond it tanh is 1


class Consensus:
    """Groups of rows by the weighted majority of what is said about pairs of them.

    That is correlation clustering, by greedy additive edge contraction (Keuper et al., ICCV 2015) and moves
    of single rows after it.

    Parameters
    ----------
    pairs : (m, 2) array
        Pairs of row numbers, each once.

    Examples
    --------
    >>> consensus = Consensus(np.array([[0, 1], [0, 2], [1, 2], [0, 3], [1, 3]]))
    >>> evidence = np.array([2.0, 2.0, 2.0, -2.0, -2.0])  # log-odds that a pair is the same
    >>> consensus.groups(evidence)
    array([0, 0, 0, 3])
    >>> consensus.log_odds(evidence).round(1)  # what all but its own says of a pair
    array([ 0.9,  0.9,  0.9, -1.6, -1.6])
    """

    def __init__(self, pairs: Pairs) -> None:
        rows, numbers = np.unique(pairs, return_inverse=True)
        self._n = len(rows)
        self._pairs = numbers.reshape(-1, 2)

    def groups(self, evidence: Floats) -> Integers:
        """Return the group of each row that occurs in a pair, in the order of row numbers."""
        pairs = self._pairs.tolist()
        near: list[dict[int, float]] = [{} for _ in range(self._n)]
        for (a, b), weight in zip(pairs, evidence.tolist(), strict=True):
            near[a][b] = near[b][a] = weight
        group = _contract([dict(weights) for weights in near])
        for _ in range(MOST_SWEEPS):
            if not _move_rows(near, group):
                break
        return np.array(group, dtype=np.intp)

    def log_odds(self, evidence: Floats) -> Floats:
        """Return for each pair the log-odds that it is the same, by the evidence on all other pairs.

        They compare the grouping with the best one in which the pair is together instead of apart, or apart
        instead of together, because one of the rows has moved or their groups are joined. What is said of a
        row and another counts the less, the less sure the group of that other is: as in belief propagation,
        a few steps of it.
        """
        if not self._n:
            return np.zeros(0)
        group = self.groups(evidence)
        row, other = self._pairs.ravel(), self._pairs[:, ::-1].ravel()  # each pair from both sides
        said = np.repeat(np.clip(evidence, -SUREST, SUREST), 2)
        together = group[row] == group[other]
        alone = np.bincount(group, minlength=self._n)[group] == 1
        tally = _Tally(row, group[other], group)
        counted = said
        for _ in range(STEPS):
            tally.count(counted)
            from_row = counted.reshape(-1, 2)[:, ::-1].ravel()  # the pair itself, seen by the other
            sure = (tally.home - tally.elsewhere)[other] - np.where(together, from_row, 0.0)
            sure = np.where(alone[other], SUREST, np.clip(sure, 0.0, SUREST))
            counted = 2 * np.arctanh(np.tanh(said / 2) * np.tanh(sure / 2))
        tally.count(counted)
        there = tally.support[tally.place] - counted  # for the group of the other, without the pair
        loss = np.where(together, there - tally.elsewhere[row], tally.home[row] - there)
        loss = loss.reshape(-1, 2).min(axis=1)
        between = np.sort(group[self._pairs], axis=1) @ (self._n, 1)
        of_groups = np.unique(between, return_inverse=True)[1]
        joined = np.bincount(of_groups, said[::2])[of_groups]
        joining = said[::2] - joined  # the loss if groups join
        odds: Floats = np.where(together[::2], loss, -np.minimum(loss, joining))
        return odds


class _Tally:
    """How much speaks for each row being of each group that something is said about."""

    def __init__(self, row: Integers, its_group: Integers, group: Integers) -> None:
        self._n = len(group)
        places, self.place = np.unique(row * self._n + its_group, return_inverse=True)
        self._row, groups = np.divmod(places, self._n)
        self._at_home = groups == group[self._row]

    def count(self, counted: Floats) -> None:
        """Add up; `home` is for a row's own group, `elsewhere` for the best other one, at least 0."""
        at_home = self._at_home
        self.support = np.bincount(self.place, counted)
        self.home, self.elsewhere = np.zeros(self._n), np.zeros(self._n)
        self.home[self._row[at_home]] = self.support[at_home]
        np.maximum.at(self.elsewhere, self._row[~at_home], self.support[~at_home])


def _contract(near: list[dict[int, float]]) -> list[int]:
    """Join what most speaks for joining, again and again, while anything does; uses `near` up."""
    heap = [
        (-w, a, b) for a, weights in enumerate(near) for b, w in weights.items() if w > 0 and a < b
    ]
    heapify(heap)
    joined = list(range(len(near)))
    while heap:
        weight, a, b = heappop(heap)
        if near[a].get(b) != -weight:  # has changed since
            continue
        keep, gone = (a, b) if len(near[a]) >= len(near[b]) else (b, a)
        joined[gone] = keep
        del near[keep][gone], near[gone][keep]
        for c, more in near[gone].items():
            total = near[keep].get(c, 0.0) + more
            near[keep][c] = near[c][keep] = total
            del near[c][gone]
            if total > 0:
                heappush(heap, (-total, min(keep, c), max(keep, c)))
        near[gone] = {}
    for row in range(len(joined)):
        group = row
        while joined[group] != group:
            group = joined[group]
        joined[row] = group
    return joined


def _move_rows(near: list[dict[int, float]], group: list[int]) -> bool:
    """Let every row go where most speaks for it, to be alone if nothing does; return whether any went."""
    moved = False
    sizes = np.bincount(group, minlength=len(group)).tolist()
    for row, weights in enumerate(near):
        support = {group[row]: 0.0}
        for other, weight in weights.items():
            support[group[other]] = support.get(group[other], 0.0) + weight
        best = max(support, key=lambda g: (support[g], g == group[row], -g))
        if support[best] < 0 and sizes[group[row]] > 1:
            best = sizes.index(0)
        if support.get(best, 0.0) > support[group[row]]:
            sizes[group[row]] -= 1
            sizes[best] += 1
            group[row] = best
            moved = True
    return moved
