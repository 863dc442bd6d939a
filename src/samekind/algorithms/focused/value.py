"""Which questions to ask: those that are expected to put most rows right.

A question is worth P(the state is wrong) times the rows that hang on it:

- of a fresh row and its likeliest group, the doubt of all rows whose walks would end in it, times the chance
  that a refusal puts them right: that they are in the next likeliest group, or in a new one. Where the row
  is far surer than an answer (`TELLS`) that counts in proportion: a surprising answer about such a row is
  likelier a mistake, and puts nothing right;
- of two groups, P(same) times the rows of the smaller one;
- of a link inside a group, P(different) times the rows on its smaller side.

A fixed share of questions is about rows drawn far from all known ones (D²): rows put right say nothing about
tiny clusters far away. Nothing here changes the state.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

import numpy as np
from scipy.spatial.distance import cdist

from samekind.algorithms.focused import _kernels as kernels
from samekind.algorithms.focused.evidence import Kind
from samekind.algorithms.focused.labels import expected_wrong
from samekind.algorithms.focused.state import State
from samekind.flow import BoolArray, FloatArray, IntArray

__all__ = ["UNSURE_COST", "Choice", "Chooser"]

LUCK = 0.1  # by which values differ at random, so that other seeds ask other questions
TELLS = 0.5  # times the error rate: a row with less doubt is surer than an answer. With 0, digits with 10 %
# wrong answers end with 1.2 % of the rows wrong, not .1 %; with 1, one of 16 runs fails at 26 %
DRAWS = 9  # of two rows until a pair is found that was not asked before
UNSURE_COST = 0.25  # factor of a question's value for each time that somebody was not sure


class Choice(NamedTuple):
    """Two nodes to ask about, and what kind of question that is."""

    a: int
    b: int
    kind: int
    value: float


class Chooser:
    """Chooses questions from a state.

    Parameters
    ----------
    state : State
        What is known.
    closed : ndarray of bool
        Nodes that are not to be asked about afresh: those of the audit, skipped ones, given-up ones.
    unsure : dict
        How often somebody was not sure of a node.
    undecided : dict
        Pairs of nodes that somebody was not sure of, and by what factor that lowers the value of a question
        about their groups.
    rng : numpy.random.Generator
        Where luck comes from.
    """

    def __init__(
        self,
        state: State,
        closed: BoolArray,
        unsure: dict[int, int],
        undecided: dict[tuple[int, int], float],
        rng: np.random.Generator,
        seed: int,
    ) -> None:
        self.state, self.unsure, self.undecided, self.rng = state, unsure, undecided, rng
        self.heard = state.heard.union(undecided)
        self.placed = state.evidence.share_placed
        self.fresh = (state.group < 0) & ~closed
        self.open = self.fresh.copy()
        self.any_fresh = bool(self.fresh.any())
        self.luck = 1 + LUCK * np.random.default_rng([seed, 1]).random(state.n)

    def choose(
        self, count: int, taken: Collection[int], far_share: float, most_worth: float = np.inf
    ) -> list[Choice]:
        """Return the best questions that do not overlap each other or what is taken.

        One at least; and no more once another one, worth as much as the last, would let them be worth more
        than `most_worth` rows together.
        """
        found: list[Choice] = []
        worth = 0.0
        rows = [x for x in taken if self.state.group[x] < 0]
        busy = {int(self.state.group[x]) for x in taken if self.state.group[x] >= 0}
        for _ in range(count):
            choice = self._best(rows, busy, far_share)
            if choice is None:
                break
            found.append(choice)
            worth += choice.value
            if worth + choice.value > most_worth:
                break
            for node in (choice.a, choice.b):
                if self.state.group[node] < 0:
                    rows.append(node)
                    self.fresh[node] = False
                elif choice.kind in (Kind.GROUPS, Kind.LINK):
                    busy.add(int(self.state.group[node]))
        return found

    def compare(self, count: int, taken: Collection[int], least: float) -> list[Choice]:
        """Return the best questions about groups that are worth more than `least`."""
        busy = {int(self.state.group[x]) for x in taken if self.state.group[x] >= 0}
        found: list[Choice] = []
        while len(found) < count:
            choice = self._best_groups(busy, least)
            if choice is None:
                break
            found.append(choice)
            busy.update(self.state.group[[choice.a, choice.b]].tolist())
        return found

    def test(self, count: int, taken: Collection[int], labels: IntArray) -> list[Choice]:
        """Return draws of the paper's test: rows by their squared distance to the nearest centre."""
        state = self.state
        X, weight = state.terrain.sample.X, state.terrain.weight
        mass = np.bincount(labels, weight, state.n_groups)
        sums = np.stack([np.bincount(labels, weight * x, mass.size) for x in X.T], axis=1)
        centers = sums[mass > 0] / mass[mass > 0, None]
        cost = cdist(X, centers, "sqeuclidean").min(axis=1) * weight
        cost = np.where(self.open, cost, 0.0)
        cost[list(taken)] = 0.0
        found: list[Choice] = []
        while len(found) < count and cost.sum() > 0:
            node = self._draw(cost)
            cost[node] = 0.0
            _, member = self._pair([node], state.members[int(labels[node])])
            if member >= 0:
                found.append(Choice(node, member, Kind.TEST, 0.0))
        return found

    def _draw(self, chances: FloatArray) -> int:
        """Return a node, drawn with these chances."""
        upto = np.cumsum(chances)
        return int(min(np.searchsorted(upto, self.rng.random() * upto[-1]), upto.size - 1))

    def _best(self, rows: list[int], busy: set[int], far_share: float) -> Choice | None:
        state = self.state
        free_rows = self.fresh.copy()
        free_rows[rows] = False
        if state.n_groups == 0:
            return self._first(rows, free_rows)
        is_far = self.rng.random() < far_share
        node, value = self._far_row(free_rows) if is_far else (-1, 0.0)
        if node < 0:  # rows that are equal to known ones are not far
            is_far = False
            node, value = self._best_row(rows, free_rows)
        if is_far:
            b = self._member(node)
            if b >= 0:
                return Choice(node, b, Kind.FAR, value)
        pair = self._best_groups(busy, value)
        if pair is not None:
            return pair
        while node >= 0:
            b = self._member(node)
            if b >= 0:
                return Choice(node, b, Kind.ROW, value)
            self.fresh[node] = free_rows[node] = False  # every member was asked about
            node, value = self._best_row(rows, free_rows)
        return None

    def _first(self, rows: list[int], free: BoolArray) -> Choice | None:
        """Return the first question: two rows that stand for most others."""
        a, value = self._best_row(rows, free)
        while a >= 0:
            free[a] = False
            others = free.copy()
            others[[x for pair in self.heard if a in pair for x in pair]] = False
            b, _ = self._best_row([*rows, a], others)
            if b >= 0:
                return Choice(b, a, Kind.ROW, value)
            a, value = self._best_row(rows, free)
        return None

    def _best_row(self, taken: list[int], free: BoolArray) -> tuple[int, float]:
        """Return the fresh row whose label is expected to put most rows right, and how many; -1: none."""
        state = self.state
        tells = np.minimum(expected_wrong(state) / (TELLS * state.same.rate), 1.0)
        # who places a row elsewhere puts right more than who refuses it
        tells *= (self.placed + (1 - self.placed) * state.mended) * self.luck
        value = np.where(free, state.spread_visits() * tells, -1.0)
        for node, times in self.unsure.items():
            value[node] *= UNSURE_COST**times
        for node in taken:  # whose walks mostly meet a row that is asked about now
            near, h = state.hits(node)
            value[near] *= 1 - h
        value[~free] = -np.inf
        node = int(value.argmax())
        if not free[node]:
            return -1, -1.0
        near, h = state.hits(node)  # the estimate ranks rows; beside groups it is too high
        worth = float((h * state.doubt[near]).sum()) * tells[node]
        worth *= UNSURE_COST ** self.unsure.get(node, 0)
        return node, min(worth, float(value[node])) if taken else worth

    def _far_row(self, free: BoolArray) -> tuple[int, float]:
        """Return a row drawn with a chance proportional to its squared distance from all known ones."""
        far = np.where(free, self.state.far() * self.state.terrain.weight, 0.0)
        return (self._draw(far), 0.0) if far.sum() > 0 else (-1, 0.0)

    def _member(self, node: int) -> int:
        """Return a member of a row's likeliest group that it was not compared with; -1: there is none."""
        shares = self.state.row_shares(node)
        for group in np.argsort(-shares, kind="stable")[:3].tolist():
            _, b = self._pair([node], self.state.members[group])
            if b >= 0:
                return b
        return -1

    def _best_groups(self, busy: set[int], least: float) -> Choice | None:
        """Return the best question about two groups or a link, if it is worth more than `least`."""
        state = self.state
        k = state.n_groups
        free = state.alive[:k].copy()
        free[list(busy)] = False
        links: dict[int, FloatArray] = {}
        state.score_pairs()
        mass, chances = state.masses(), dict[int, FloatArray]()
        while True:
            v, g, c = self._best_pair(free, mass, chances)
            w, group, link = (0.0, -1, -1) if state.same.is_certain else self._link(free, links)
            if max(v, w) <= max(least, 0.0):
                return None
            if v >= w:
                a, b = self._pair(state.members[g], state.members[c])
                if a >= 0:
                    return Choice(a, b, Kind.GROUPS, v)
                chances[g][c] = 0.0
            else:
                tree = state.trees[group]
                low = kernels.descendants(tree.up, link)
                a, b = self._pair(tree.nodes[low].tolist(), tree.nodes[~low].tolist())
                if a >= 0:
                    return Choice(a, b, Kind.LINK, w)
                links[group][link] = 0.0

    def _best_pair(
        self, free: BoolArray, mass: FloatArray, chances: dict[int, FloatArray]
    ) -> tuple[float, int, int]:
        """Return the pair with the greatest P(same) times rows of the smaller group: value, that, the larger.

        `chances` keeps P(same) of the groups that were looked at.
        """
        best = 0.0, -1, -1
        most = np.where(free, self.state.most[: free.size] * mass, 0.0)
        places = np.arange(free.size)
        for g in np.argsort(-most, kind="stable").tolist():
            if most[g] <= best[0]:
                break
            if g not in chances:
                chances[g] = self._chances(g)
            larger = free & ((mass > mass[g]) | ((mass == mass[g]) & (places > g)))
            value = np.where(larger, chances[g] * mass[g], 0.0)
            c = int(value.argmax())
            best = max(best, (float(value[c]), g, c), key=lambda found: found[0])
        return best

    def _chances(self, group: int) -> FloatArray:
        """Return P(same) of a group with every other one, less where nobody could tell."""
        found = self.state.chances(group)
        for pair, factor in self.undecided.items():
            one, other = self.state.group[list(pair)].tolist()
            if group in (one, other) and min(one, other) >= 0:
                found[other if group == one else one] *= factor
        return found

    def _link(self, free: BoolArray, values: dict[int, FloatArray]) -> tuple[float, int, int]:
        """Return the link whose question is worth most: value, group, place in its tree."""
        state = self.state
        best = 0.0, -1, -1
        for c in np.flatnonzero(free & (state.size[: state.n_groups] > 1)).tolist():
            if c not in state.trees:
                state.trees[c] = state.tree(c)
            value = values.setdefault(c, state.trees[c].value.copy())
            link = int(value.argmax())
            best = max(best, (float(value[link]), c, link))
        return best

    def _pair(self, one: list[int], other: list[int]) -> tuple[int, int]:
        """Return a node of each that were not compared yet, drawn at random; (-1, -1) if none is found."""
        for _ in range(DRAWS):
            a, b = int(self.rng.choice(one)), int(self.rng.choice(other))
            if (min(a, b), max(a, b)) not in self.heard:
                return a, b
        if len(one) * len(other) <= 4 * DRAWS**2:
            left = [(a, b) for a in one for b in other if (min(a, b), max(a, b)) not in self.heard]
            if left:
                return left[int(self.rng.integers(len(left)))]
        return -1, -1
