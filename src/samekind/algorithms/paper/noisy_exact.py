"""The paper's algorithm for an oracle that errs (its appendix, Algorithm "Noisy")."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, log, sqrt

import numpy as np

from samekind.algorithms.base import ErrorRate, check_rate
from samekind.algorithms.paper.base import Draws
from samekind.algorithms.paper.exact import ExactAlgorithm, ExactParams, Round, heavy_bands
from samekind.algorithms.paper.majority import Panel, voters
from samekind.algorithms.paper.planted_partition import find_blocks, observed_error
from samekind.algorithms.state import UNKNOWN
from samekind.errors import Parameter, ParameterError
from samekind.flow import UNSURE, Answers, Flow, IntArray
from samekind.points import Points

__all__ = ["NoisyExact", "least_block", "nodes_needed"]

# What the paper leaves open, chosen by runs; docs/paper.md describes them.
RISK = 0.01  # that any CheckCluster of a run is wrong, or any row that FindClusters places
SPREAD = 2  # at the guess q, a cluster that holds 1/(SPREAD·q) of the new rows is to be found
STANDS_OUT = 2.2  # a block FindClusters may count on, in units of the deviation of the noise
PER_CLUSTER = 8  # samples of each cluster, times 1/ε, before x* is chosen
MOST_NODES = 4096  # rows that FindClusters sees at most: eight million questions

# "estimate": blocks are sought as if ASSUMED were the error rate, at the pace of FIRST_GUESS.
ASSUMED = 0.3
FIRST_GUESS = 0.2
TELLING_BLOCK = 10  # nodes of a block from which the error rate is learnt
LARGEST_ERROR = 0.45


@dataclass(frozen=True, kw_only=True)
class NoisyExactParams(ExactParams):
    """Parameters of "noisy-exact".

    Attributes
    ----------
    error_rate : float or "estimate"
        The share of answers that are wrong, or a bound on it. "estimate" learns it from the first blocks
        found, two deviations on the safe side; tried up to 0.3.
    """

    error_rate: ErrorRate | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_rate(self.error_rate)
        if self.error_rate is None:
            raise ParameterError(
                "'noisy-exact' must know how often answers are wrong. Pass ",
                *(Parameter("error_rate", 0.1), " or ", Parameter("error_rate", "estimate"), "."),
            )

    @property
    def trusts_answers(self) -> bool:
        """Whether every answer is true: no."""
        return False


class NoisyExact(ExactAlgorithm[NoisyExactParams]):
    """Recover the clusters though answers err with a chance p < 1/2; right with probability 0.6.

    Errors may persist: nothing is asked twice. A row is placed by a majority of a cluster's known members
    (`Panel`), and new clusters are blocks in the graph of all answers among rows that fit nowhere
    (`find_blocks`). A cluster must show at least `least_block` rows; it stops with "unplaced" when
    what is left is in smaller ones.

    Slips of the paper's pseudocode are mended as its text requires: x_j* is the argmin over the rows
    known to be of cluster j, Q is emptied when nothing new is seen, and p̂_i is the share among the samples
    outside I; if that makes no band heavy, as most of them are of clusters not found, it is the share among
    those of clusters found. FindClusters sees only samples outside I, and is called when there are enough of
    those; the paper's T assumes the worst, that they are but a share ε/4 of all. If they are less than ε/8
    of many, what Phase 1 took for new was an error or too small to matter. The guesses of q end, too, when
    most samples outside I are of clusters found.
    """

    name = "noisy-exact"
    Params = NoisyExactParams

    def __init__(self, points: Points, params: NoisyExactParams, rng: np.random.Generator) -> None:
        super().__init__(points, params, rng)
        rate = params.error_rate
        self._estimates = rate == "estimate"
        self.panel = Panel(self, rate if isinstance(rate, int | float) else FIRST_GUESS, RISK)

    def clusters_of(self, rows: IntArray) -> Flow[IntArray]:
        """Return the cluster of each row, by majorities; UNKNOWN where every cluster refused it."""
        return self.panel.place(rows)

    def run(self) -> Flow[str]:
        """Run the rounds of the pseudocode."""
        points, state, params, sampler = self.points, self.state, self.params, self.sampler
        epsilon = params.epsilon
        k = r = 0
        K = 0.5
        while True:
            K *= 2
            while True:
                r += 1
                state.n_rounds = r
                this = _NoisyRound(self)  # Q, S ← ∅
                if sampler.total == 0:
                    return "covered"

                # Phase 1: is there anything left to recover?
                yield from self.look_for_new(this, k)

                # Phase 2: find clusters of the heavy bands, for guesses of q.
                q = 0.5
                while this.outside and not this.knows_enough(q):
                    q *= 2
                    need = nodes_needed(q, self.panel.error)
                    most = 8 / epsilon * max(need, 8 * log(10 * (k + 1)))
                    while (missing := need - len(this.outside)) > 0 and this.size <= most:
                        this.add((yield from this.sample(missing)))
                    if missing > 0 and sum(this.outside.values()) < epsilon / 8 * this.size:
                        this.forget()
                        break
                    yield from self._find_clusters(this)
                    if need > min(points.n, MOST_NODES):
                        break
                if this.outside and not this.counts:
                    return self._left_over(this)
                if not this.counts:  # Q = ∅
                    break
                outside = sum(this.outside.values())
                # Where most of those are of clusters not found yet, no band may be heavy among all.
                W = heavy_bands(this.counts, outside) or heavy_bands(this.counts)

                # Phase 3: find a reference point x_j*, kept by the round, for each of them.
                while any(this.counts[j] < PER_CLUSTER / epsilon for j in W):
                    this.add((yield from this.sample(np.inf)))

                # Phase 4: collect uniform samples.
                yield from self.recover_all(this, W, K)
                k += len(W)
                if params.target is not None and k >= params.target:
                    return "target"
                if k >= K:
                    break
            if not this.counts and k <= K:
                return self.nothing_left(this, k)

    def _find_clusters(self, this: _NoisyRound) -> Flow[None]:
        """FindClusters: ask all about the unplaced rows of a round; the blocks among them are clusters."""
        rows = this.unplaced()[:MOST_NODES]
        if not rows.size:
            return
        graph = yield from self.panel.graph(rows)
        if self._estimates:
            self._estimate(graph)
        blocks = find_blocks(graph, self.panel.error, least_block(rows.size, self.panel.error))
        told_apart: list[list[int]] = []
        for block in blocks:
            if all((graph[np.ix_(block, other)] != UNSURE).any() for other in told_apart):
                told_apart.append(block)
        for block in told_apart:
            X = self.points.rows(rows[block])
            cluster = self.state.discover(int(rows[block[0]]), X[0])
            others = rows[block[1:]]
            self.state.add_members(others, np.full(others.size, cluster))
            self.state.centers[cluster] = X[0] + (X - X[0]).mean(axis=0)
            this.take_in(cluster)

    def _estimate(self, graph: Answers) -> None:
        """Learn the error rate, two deviations on the safe side, from the blocks that can be seen."""
        blocks = find_blocks(graph, ASSUMED, TELLING_BLOCK)
        if blocks:
            wrong, total = observed_error(graph, blocks)
            self.panel.error = min((wrong + 2 * sqrt(wrong + 1)) / total, LARGEST_ERROR)
            self._estimates = False
            self.state.note(
                f"Among the first {total:,} answers that can be judged, {wrong / total:.1%} are wrong."
            )

    def _left_over(self, this: _NoisyRound) -> str:
        """Say that the rest cannot be told from noise."""
        rows, error = this.unplaced().size, self.panel.error
        self.state.note(
            f"{rows:,} rows fit in no cluster found. With an error rate of {error:.2g}, a cluster "
            f"among them needs {least_block(rows, error):,} rows to be seen."
        )
        return "unplaced"


def least_block(m: int, error: float) -> int:
    """Return the least number of nodes that a block must have to be found among m.

    So many that majorities of them place all m nodes, and that it stands out against the noise; the paper's
    Ω(√m log m).

    Examples
    --------
    >>> least_block(400, 0.2), least_block(400, 0.1), least_block(400, 0.0)
    (48, 21, 1)
    """
    noise = sqrt(m * error * (1 - error)) / (1 - 2 * error)
    return max(voters(error, RISK / max(m, 1)), ceil(STANDS_OUT * noise))


def nodes_needed(q: float, error: float) -> int:
    """Return how many nodes show q blocks, the least with 1/(SPREAD·q) of the nodes: Õ(q²).

    Examples
    --------
    >>> [nodes_needed(q, 0.1) for q in (1, 2, 4)]
    [32, 72, 152]
    """
    m = 1
    while m < (more := ceil(SPREAD * q * least_block(m, error))):
        m = more
    return m


class _NoisyRound(Round):
    """A round whose samples are placed by majorities; it remembers those outside I."""

    def __init__(self, algorithm: NoisyExact) -> None:
        super().__init__(algorithm)
        self._sampler = algorithm.sampler
        self.outside: dict[int, int] = {}  # samples of each row outside I

    @property
    def is_new(self) -> bool:
        """Whether S shows anything outside I."""
        return bool(self.outside)

    def add(self, draws: Draws) -> None:
        """Put draws into S, and their clusters into Q where they are not recovered."""
        super().add(draws)
        new = (draws.clusters == UNKNOWN) | self._state.is_open(draws.clusters)
        for row in draws.rows[new].tolist():
            self.outside[row] = self.outside.get(row, 0) + 1

    def unplaced(self) -> IntArray:
        """Return the rows in S that no cluster holds."""
        rows = np.array(list(self.outside), dtype=np.intp)
        left: IntArray = rows[self._state.cluster_of(rows) == UNKNOWN]
        return left

    def take_in(self, cluster: int) -> None:
        """Put a cluster just found into Q, with the samples of it in S."""
        rows = np.array(self._state.members[cluster])
        self.counts[cluster] = sum(self.outside[row] for row in rows.tolist())
        self.smallest[cluster] = float(self._sampler.cost(rows).min())

    def knows_enough(self, q: float) -> bool:
        """Return whether at least q/2 clusters are found, or most samples outside I are of those found."""
        most = 2 * self.counts.total() > sum(self.outside.values())
        return q >= 1 and self.q > 0 and (self.q >= q / 2 or most)

    def forget(self) -> None:
        """Empty Q and what is outside I."""
        self.counts.clear()
        self.outside.clear()
