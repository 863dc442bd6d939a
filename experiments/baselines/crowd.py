"""Published ways to choose pairs of records for a crowd, over the same candidate pairs.

Each is a flow that asks about one pair at a time, and leaves out what follows from earlier answers. What
nobody was asked about is taken to be different, except by `CrowdNoisy`. All of them start from the same
likelihoods, which a machine computes before anybody is asked (`match_odds`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from heapq import heapify, heappop, heappush
from math import log
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.special import expit
from sklearn.isotonic import isotonic_regression

from experiments.baselines.answered_pairs import AnsweredPairs
from samekind.algorithms.records import entities_of
from samekind.flow import DIFFERENT, SAME, FloatArray, Flow, IntArray, Reply
from samekind.points import CandidatePairs, RecordPoints

__all__ = [
    "CROWD_ORDERS",
    "CrowdGroups",
    "CrowdNodes",
    "CrowdNoisy",
    "CrowdOnline",
    "CrowdOrder",
    "CrowdTransitive",
    "match_odds",
]

Pair = tuple[int, int]


class CrowdOrder(ABC):
    """An order of candidate pairs, and the entities that the answers make.

    Parameters
    ----------
    records : RecordPoints
        The records, with their candidate pairs.
    rng : numpy.random.Generator
        Breaks ties between pairs of equal likelihood.
    """

    name: ClassVar[str]
    trusts_answers: ClassVar[bool] = True

    def __init__(self, records: RecordPoints, rng: np.random.Generator) -> None:
        self.records = records
        self.pairs = records.candidates.pairs
        self.odds = match_odds(records)
        self.likelihood: NDArray[np.float32] = expit(self.odds)
        self.answers = AnsweredPairs(records, infers=self.trusts_answers)
        self._luck = rng.permutation(len(self.pairs))
        self._by_likelihood: IntArray = np.lexsort((self._luck, -self.likelihood))

    @abstractmethod
    def next_pair(self) -> Pair | None:
        """Return the pair to ask about next; None when nothing is left to ask."""

    def run(self) -> Flow[None]:
        """Ask about one pair after another."""
        while (pair := self.next_pair()) is not None:
            reply: Reply = yield np.array([pair], dtype=np.intp)
            self.answers.add(*pair, int(reply.answers[0]))

    def entities(self) -> IntArray:
        """Return the entity of each record."""
        root = np.arange(self.records.n)
        for rows in self.answers.groups():
            root[rows] = min(rows)
        return np.asarray(np.unique(root, return_inverse=True)[1], dtype=np.intp)

    def _pair(self, number: int) -> Pair:
        a, b = self.pairs[number].tolist()
        return a, b


class CrowdTransitive(CrowdOrder):
    """WLK13: Wang, Li, Kraska, Franklin, Feng, *Leveraging Transitive Relations for Crowdsourced Joins*
    (SIGMOD 2013).

    Asks about the likeliest pair that does not follow from answers: A = B and B = C make A = C, A = B and
    B ≠ C make A ≠ C. Matches leave the fewest pairs, and the likeliest pairs are the best guess at them.
    """

    name = "crowd-transitive"

    def __init__(self, records: RecordPoints, rng: np.random.Generator) -> None:
        super().__init__(records, rng)
        self._at = 0

    def next_pair(self) -> Pair | None:
        """Return the likeliest pair that nothing is known of."""
        order, decided = self._by_likelihood, self.answers.decided
        while self._at < len(order) and decided[order[self._at]]:
            self._at += 1
        return self._pair(order[self._at]) if self._at < len(order) else None


class CrowdNodes(CrowdOrder):
    """VBD14: Vesdapunt, Bellare, Dalvi, *Crowdsourcing Algorithms for Entity Resolution* (VLDB 2014).

    Takes records by their expected cluster size, the sum of the likelihoods of their pairs, largest first.
    Compares each with the clusters of the records before it, the likeliest first. As large clusters come
    first, records find theirs early.
    """

    name = "crowd-nodes"

    def __init__(self, records: RecordPoints, rng: np.random.Generator) -> None:
        super().__init__(records, rng)
        n = records.n
        a, b = self.pairs.T
        expected = np.bincount(a, self.likelihood, n) + np.bincount(b, self.likelihood, n)
        self._order = np.argsort(-expected, kind="stable")
        self._rank = np.empty(n, dtype=np.intp)
        self._rank[self._order] = np.arange(n)
        self._at = 0

    def next_pair(self) -> Pair | None:
        """Return a pair of the first record that still has one to ask about."""
        while self._at < len(self._order):
            pair = self._question(int(self._order[self._at]))
            if pair is not None:
                return pair
            self._at += 1
        return None

    def _earlier(self, row: int) -> tuple[IntArray, IntArray]:
        """Return the open pairs of a record with records before it, and those records."""
        numbers, others = self.answers.incidence.others(row)
        may = (self._rank[others] < self._rank[row]) & ~self.answers.decided[numbers]
        return numbers[may], others[may]

    def _question(self, row: int) -> Pair | None:
        numbers, others = self._earlier(row)
        if not numbers.size:
            return None
        best = int(np.lexsort((self._luck[numbers], -self.likelihood[numbers]))[0])
        return row, int(others[best])


class CrowdOnline(CrowdNodes):
    """FSS16: Firmani, Saha, Srivastava, *Online Entity Resolution Using an Oracle* (VLDB 2016).

    To find many matches early, a question is worth what it is expected to bring. Their hybrid goes through
    the records as VBD14 does, but compares a record only with the few clusters that are worth it, by the sum
    of the likelihoods of its pairs with each. The other pairs come last, in the order of
    |cluster| · |cluster| · likelihood. The two constants are ours.
    """

    name = "crowd-online"
    worth = 0.3  # likelihood of a match below which a pair waits
    most_compared = 3  # clusters that a record is compared with at first

    def __init__(self, records: RecordPoints, rng: np.random.Generator) -> None:
        super().__init__(records, rng)
        self._heap: list[tuple[float, int, int]] | None = None

    def next_pair(self) -> Pair | None:
        """Return the pair of a record with a cluster that is worth it, or else the best of the rest."""
        return super().next_pair() or self._best_edge()

    def _question(self, row: int) -> Pair | None:
        numbers, others = self._earlier(row)
        known = set(self.answers.incidence.others(row)[1].tolist())
        refused = sum(self.answers.root(other) in self.answers.apart(row) for other in known)
        if not numbers.size or refused >= self.most_compared:
            return None
        roots = np.array([self.answers.root(other) for other in others.tolist()])
        _, place = np.unique(roots, return_inverse=True)
        benefit = np.bincount(place, self.likelihood[numbers])
        own = place == int(benefit.argmax())
        best = int(np.flatnonzero(own)[self.likelihood[numbers][own].argmax()])
        if self.likelihood[numbers[best]] < self.worth:
            return None
        return row, int(others[best])

    def _best_edge(self) -> Pair | None:
        """Return the pair that is expected to bring most matches; the heap is corrected as it is read."""
        if self._heap is None:
            self._heap = [
                (-self._expected(number), int(self._luck[number]), number)
                for number in np.flatnonzero(~self.answers.decided).tolist()
            ]
            heapify(self._heap)
        while self._heap:
            value, luck, number = heappop(self._heap)
            if self.answers.decided[number]:
                continue
            now = -self._expected(number)
            if now == value:
                return self._pair(number)
            heappush(self._heap, (now, luck, number))  # its clusters have grown
        return None

    def _expected(self, number: int) -> float:
        a, b = self._pair(number)
        sizes = len(self.answers.members(a)) * len(self.answers.members(b))
        return sizes * float(self.likelihood[number])


class CrowdNoisy(CrowdOrder):
    """VG15: Verroios, Garcia-Molina, *Entity Resolution with Crowd Errors* (ICDE 2015).

    Answers may be wrong, so nothing follows from a single one. The entities are the likeliest ones, given the
    machine's likelihoods and all answers; theirs come from connected components and spectral cuts, ours from
    correlation clustering with the same likelihood. Asks where that clustering is least certain: between two
    entities, or between a record and the rest of its own, whichever total of log-odds is nearest to zero. Of
    the pairs there it takes the likeliest one that was not asked about.

    Parameters
    ----------
    error_rate : float
        The probability that an answer is wrong.
    """

    name = "crowd-noisy"
    trusts_answers = False

    def __init__(
        self, records: RecordPoints, rng: np.random.Generator, error_rate: float = 0.05
    ) -> None:
        super().__init__(records, rng)
        self._told = log((1 - error_rate) / error_rate)

    def entities(self) -> IntArray:
        """Return the most likely entities."""
        single = np.arange(self.records.n)
        return entities_of(single, self.pairs, self._evidence(), files=self.records.files)

    def _evidence(self) -> NDArray[np.float32]:
        weights = self.odds.copy()
        for (a, b), answer in self.answers.given.items():
            number = self.answers.incidence.number_of(a, b)
            if number >= 0 and answer in (SAME, DIFFERENT):
                weights[number] += self._told if answer == SAME else -self._told
        return weights

    def next_pair(self) -> Pair | None:
        """Return the likeliest open pair where the entities are least certain."""
        open_pairs = np.flatnonzero(~self.answers.decided)
        if not open_pairs.size:
            return None
        weights, n = self._evidence(), self.records.n
        entities = entities_of(np.arange(n), self.pairs, weights, files=self.records.files)
        one, other = np.sort(entities[self.pairs], axis=1).T
        within = one == other
        # between two entities: the sum over their pairs; within: over those of the less certain record
        _, place = np.unique(one.astype(np.int64) * n + other, return_inverse=True)
        between = np.bincount(place, weights)[place]
        a, b = self.pairs.T
        own = np.where(within, weights, 0.0)
        held = np.bincount(a, own, n) + np.bincount(b, own, n)
        certain = np.where(within, np.minimum(held[a], held[b]), -between)[open_pairs]
        order = np.lexsort((self._luck[open_pairs], -self.likelihood[open_pairs], certain))
        return self._pair(open_pairs[order[0]])


class CrowdGroups(CrowdOrder):
    """WKF12: Wang, Kraska, Franklin, Feng, *CrowdER: Crowdsourcing Entity Resolution* (VLDB 2012).

    The crowd is shown groups of records that together cover all candidate pairs. To need the fewest groups is
    NP-hard; theirs is a heuristic in two tiers: a connected component that is too large is cut into groups
    that grow greedily by the record with most pairs to the group and fewest to others; small components are
    packed together. Here a group is asked about pair by pair.
    """

    name = "crowd-groups"
    size = 10  # records in a group

    def __init__(self, records: RecordPoints, rng: np.random.Generator) -> None:
        super().__init__(records, rng)
        self._left = [pair for group in self._cover() for pair in group][::-1]

    def next_pair(self) -> Pair | None:
        """Return the next pair of the groups that does not follow from answers."""
        while self._left:
            pair = self._left.pop()
            if self.answers.relation(*pair) is None:
                return pair
        return None

    def _cover(self) -> list[list[Pair]]:
        """Return the pairs of each group, the groups with the likeliest pair first."""
        kept = self.pairs[self._by_likelihood]
        n = self.records.n
        graph = coo_array((np.ones(len(kept)), (kept[:, 0], kept[:, 1])), shape=(n, n))
        _, part = connected_components(graph, directed=False)
        neighbors: dict[int, set[int]] = {}
        components: dict[int, list[int]] = {}
        for a, b in kept.tolist():
            for one, other in ((a, b), (b, a)):
                if one not in neighbors:
                    components.setdefault(int(part[one]), []).append(one)
                neighbors.setdefault(one, set()).add(other)
        found: list[list[Pair]] = []
        packed: list[tuple[int, list[Pair]]] = []  # records in it, and its pairs
        for rows in components.values():
            if len(rows) > self.size:  # top tier
                found += self._cut(rows, neighbors)
                continue
            pairs = [(a, b) for a in rows for b in sorted(neighbors[a]) if a < b]
            fits = [i for i, (used, _) in enumerate(packed) if used + len(rows) <= self.size]
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

    def _cut(self, rows: list[int], neighbors: dict[int, set[int]]) -> list[list[Pair]]:
        """Cut a component into groups that cover its pairs, each grown from the record with most left."""
        left = {row: set(neighbors[row]) for row in rows}
        found: list[list[Pair]] = []
        while left:
            seed = max(left, key=lambda row: (len(left[row]), -row))
            group, border = [seed], dict.fromkeys(left[seed], 1)
            while len(group) < self.size and border:
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


CROWD_ORDERS: dict[str, type[CrowdOrder]] = {
    order.name: order
    for order in (CrowdTransitive, CrowdNodes, CrowdOnline, CrowdNoisy, CrowdGroups)
}

# The likelihoods

EDGES = np.array([0.3, 0.5, 0.65, 0.75, 0.82, 0.88, 0.94, 0.9995], dtype=np.float32)
N_LEVELS = len(EDGES) + 2  # missing, below all edges, …, equal
MOST_TOLD = 6.0  # log-odds that one field tells at most
TRUST = 0.5  # in what the fields tell together: they are never independent


def match_odds(records: RecordPoints) -> NDArray[np.float32]:
    """Return the log-odds that each candidate pair is a match, from its comparisons alone.

    Fellegi and Sunter's model: pairs are a mixture of matches and others, and within each of the two the
    levels of the fields are independent. EM finds the shares (Winkler, 1988). It starts from the most similar
    pairs, and a higher level never speaks against a match, so that it finds no other mixture.
    """
    candidates, n = records.candidates, records.n
    codes = _levels(candidates)
    m, n_fields = codes.shape
    if not m:
        return np.zeros(0, dtype=np.float32)
    compared = candidates.comparisons
    present = ~np.isnan(compared)
    alike = np.where(present, compared, 0).sum(axis=1) + candidates.similarity
    first = max(1, min(m // 2, int(0.3 * n)))
    matches = np.zeros(m)
    matches[np.argsort(-alike / (present.sum(axis=1) + 1), kind="stable")[:first]] = 1.0
    share, told = 0.0, np.zeros(m)
    for _ in range(60):
        before, share = share, float(np.clip(matches.mean(), 1 / m, 0.95))
        weights = np.array([_level_odds(codes[:, j], matches) for j in range(n_fields)])
        told = weights[np.arange(n_fields), codes].sum(axis=1)
        matches = expit(log(share / (1 - share)) + told)
        if abs(share - before) < 1e-4 * share:
            break
    told *= TRUST
    bias: float = brentq(lambda bias: expit(told + bias).mean() - share, -60, 60)
    return (told + bias).astype(np.float32)  # pairs with equal levels stay equal to the last bit


def _levels(candidates: CandidatePairs) -> NDArray[np.intp]:
    """Return the level of each field of each pair, 0 if it is missing; the last field is the similarity."""
    compared, overall = candidates.comparisons, candidates.similarity
    codes = np.where(np.isnan(compared), 0, 1 + np.searchsorted(EDGES, compared, side="right"))
    if not len(codes):
        return np.empty((0, codes.shape[1] + 1), dtype=np.intp)
    shares = 1 - 0.5 ** np.arange(1, len(EDGES) + 1)  # finer towards the likely matches
    edges = np.quantile(overall, shares).astype(np.float32)
    return np.column_stack([codes, 1 + np.searchsorted(edges, overall, side="left")])


def _level_odds(codes: NDArray[np.intp], matches: FloatArray) -> FloatArray:
    """Return log P(level | match) - log P(level | other) of each level of a field."""
    counts = np.bincount(codes, minlength=N_LEVELS).astype(float)
    of_matches = np.bincount(codes, weights=matches, minlength=N_LEVELS)
    overall = (counts + 1) / (counts.sum() + N_LEVELS)  # so that no share is 0
    own = of_matches + overall * N_LEVELS
    rest = counts - of_matches + overall * N_LEVELS
    told = np.log(own / own.sum()) - np.log(rest / rest.sum())
    told[1:] = isotonic_regression(told[1:], sample_weight=counts[1:] + 1)
    return np.asarray(np.clip(told, -MOST_TOLD, MOST_TOLD))
