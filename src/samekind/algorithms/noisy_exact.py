"""The paper's algorithm for an oracle that errs (its appendix, Algorithm "Noisy")."""

from __future__ import annotations

from math import ceil, log, sqrt

import numpy as np
from numpy.typing import NDArray

from samekind.algorithms.blocks import find_blocks, observed_error
from samekind.algorithms.exact import Round, rejection_sample
from samekind.algorithms.improved_exact import heavy_bands
from samekind.algorithms.kinds import UNKNOWN, Kinds
from samekind.algorithms.majority import Panel, voters
from samekind.algorithms.sampling import Draws, Settings
from samekind.flow import UNSURE, Answers, Flow
from samekind.points import Points, Sampler

__all__ = ["least_block", "nodes_needed", "noisy_exact"]

# What the paper leaves open, chosen by the runs that docs/algorithms.md reports.
RISK = 0.01  # that any CheckCluster of a run is wrong, or any row that FindClusters places
SPREAD = 2  # at the guess q, a cluster that holds 1/(SPREAD·q) of the new rows is to be found
STANDS_OUT = 2.2  # a block FindClusters may count on, in units of the deviation of the noise
PER_KIND = 8  # samples of each cluster, times 1/ε, before x* is chosen
MOST_NODES = 4096  # rows that FindClusters sees at most: eight million questions

# "estimate": blocks are sought as if ASSUMED were the error rate, at the pace of FIRST_GUESS.
ASSUMED = 0.3
FIRST_GUESS = 0.2
TELLING_BLOCK = 10  # nodes of a block from which the error rate is learnt
LARGEST_ERROR = 0.45


def noisy_exact(
    points: Points, kinds: Kinds, rng: np.random.Generator, settings: Settings
) -> Flow[str]:
    """Recover the clusters though answers err with a chance p < 1/2; right with probability 0.6.

    Errors may persist: nothing is asked twice. A row is placed by a majority of a cluster's known members
    (`Panel`), and new clusters are blocks in the graph of all answers among rows that fit nowhere
    (`find_blocks`). A cluster must show at least `least_block` rows; it stops with "unplaced" when
    what is left is in smaller ones.

    ``error_rate`` is p or a bound on it. "estimate" learns it from the first blocks found, two deviations
    on the safe side; tried up to p = 0.3.

    Slips of the paper's pseudocode are mended as its text requires: x_j* is the argmin over the rows
    known to be of cluster j, Q is emptied when nothing new is seen, and p̂_i is the share among the samples
    outside I. FindClusters sees only samples outside I, and is called when there are enough of those; the
    paper's T assumes the worst, that they are but a share ε/4 of all. If they are less than ε/8 of many,
    what Phase 1 took for new was an error or too small to matter. The guesses of q end, too, when most
    samples outside I are of clusters found.
    """
    if settings.error_rate is None:
        raise ValueError(
            "'noisy-exact' must know how often answers are wrong. Pass error_rate, such as "
            'error_rate=0.1, or error_rate="estimate".'
        )
    return _noisy_exact(points, kinds, rng, settings)


def _noisy_exact(
    points: Points, kinds: Kinds, rng: np.random.Generator, settings: Settings
) -> Flow[str]:
    epsilon = settings.epsilon
    assert epsilon is not None
    sampler = kinds.sampler = points.sampler()
    finder = _Finder(points, kinds, settings)
    k = r = 0
    K = 0.5
    while True:
        K *= 2
        while True:
            r += 1
            kinds.n_rounds = r
            this = _NoisyRound(points, sampler, kinds, rng, settings, finder.panel)  # Q, S ← ∅
            if sampler.total == 0:
                return "covered"

            # Phase 1: is there anything left to recover?
            T1 = 8 / epsilon * log(10 * (k + 1))
            while not this.outside and this.size <= T1:
                this.add((yield from this.sample(T1 - this.size + 1)))

            # Phase 2: find clusters of the heavy bands, for guesses of q.
            q = 0.5
            while this.outside and not this.knows_enough(q):
                q *= 2
                need = nodes_needed(q, finder.error)
                most = 8 / epsilon * max(need, 8 * log(10 * (k + 1)))
                while (missing := need - len(this.outside)) > 0 and this.size <= most:
                    this.add((yield from this.sample(missing)))
                if missing > 0 and sum(this.outside.values()) < epsilon / 8 * this.size:
                    this.forget()
                    break
                yield from finder.find(this)
                if need > min(points.n, MOST_NODES):
                    break
            if this.outside and not this.counts:
                return finder.left_over(this)
            if not this.counts:  # Q = ∅
                break
            W = heavy_bands(this.counts)

            # Phase 3: find a reference point x_j*, kept by the round, for each of them.
            while any(this.counts[j] < PER_KIND / epsilon for j in W):
                this.add((yield from this.sample(np.inf)))

            # Phase 4: collect uniform samples.
            T3 = 30 * K / epsilon
            yield from rejection_sample(this, points, kinds, rng, epsilon, T3, W)
            sampler.add(kinds.recover(W))
            k += len(W)
            if settings.target is not None and k >= settings.target:
                return "target"
            if k >= K:
                break
        if not this.counts and k <= K:
            return "reducible"


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

    def __init__(
        self,
        points: Points,
        sampler: Sampler,
        kinds: Kinds,
        rng: np.random.Generator,
        settings: Settings,
        panel: Panel,
    ) -> None:
        super().__init__(points, sampler, kinds, rng, settings)
        self._sampler = sampler
        self._rng = rng
        self._panel = panel
        self.outside: dict[int, int] = {}  # samples of each row outside I

    def _draw(self, n: int) -> Flow[Draws]:
        """Draw n rows and let majorities place them."""
        rows = self._sampler.draw(self._rng.random(n))
        known = yield from self._panel.place(rows)
        self._kinds.n_samples += n
        return Draws(rows, known, self._sampler.cost(rows))

    def add(self, draws: Draws) -> None:
        """Put draws into S, and their kinds into Q where they are not recovered."""
        super().add(draws)
        new = (draws.kinds == UNKNOWN) | self._kinds.is_open(draws.kinds)
        for row in draws.rows[new].tolist():
            self.outside[row] = self.outside.get(row, 0) + 1

    def unplaced(self) -> NDArray[np.intp]:
        """Return the rows in S that no kind holds."""
        rows = np.array(list(self.outside), dtype=np.intp)
        left: NDArray[np.intp] = rows[self._kinds.kind_of(rows) == UNKNOWN]
        return left

    def take_in(self, kind: int) -> None:
        """Put a kind just found into Q, with the samples of it in S."""
        rows = np.array(self._kinds.members[kind])
        self.counts[kind] = sum(self.outside[row] for row in rows.tolist())
        self.smallest[kind] = float(self._sampler.cost(rows).min())

    def knows_enough(self, q: float) -> bool:
        """Return whether at least q/2 clusters are found, or most samples outside I are of those found."""
        most = 2 * self.counts.total() > sum(self.outside.values())
        return q >= 1 and self.q > 0 and (self.q >= q / 2 or most)

    def forget(self) -> None:
        """Empty Q and what is outside I."""
        self.counts.clear()
        self.outside.clear()


class _Finder:
    """FindClusters, and what it has learnt about the error rate."""

    def __init__(self, points: Points, kinds: Kinds, settings: Settings) -> None:
        self._points = points
        self._kinds = kinds
        self._settings = settings
        self._estimates = settings.error_rate == "estimate"
        rate = settings.error_rate
        error = rate if isinstance(rate, int | float) else FIRST_GUESS
        self.panel = Panel(points, kinds, settings, error, RISK)

    @property
    def error(self) -> float:
        """The error rate, given or guessed."""
        return self.panel.error

    def find(self, this: _NoisyRound) -> Flow[None]:
        """Ask all about the unplaced rows of a round, and make the blocks among them new kinds."""
        rows = this.unplaced()[:MOST_NODES]
        if not rows.size:
            return
        graph = yield from self.panel.graph(rows)
        if self._estimates:
            self._estimate(graph)
        blocks = find_blocks(graph, self.error, least_block(rows.size, self.error))
        told_apart: list[list[int]] = []
        for block in blocks:
            if all((graph[np.ix_(block, other)] != UNSURE).any() for other in told_apart):
                told_apart.append(block)
        for block in told_apart:
            X = self._points.rows(rows[block])
            kind = self._kinds.discover(int(rows[block[0]]), X[0])
            others = rows[block[1:]]
            self._kinds.add_members(others, np.full(others.size, kind))
            self._kinds.set_center(kind, X[0] + (X - X[0]).mean(axis=0))
            this.take_in(kind)

    def _estimate(self, graph: Answers) -> None:
        """Learn the error rate, two deviations on the safe side, from the blocks that can be seen."""
        blocks = find_blocks(graph, ASSUMED, TELLING_BLOCK)
        if blocks:
            wrong, total = observed_error(graph, blocks)
            self.panel.error = min((wrong + 2 * sqrt(wrong + 1)) / total, LARGEST_ERROR)
            self._estimates = False
            self._kinds.note(
                f"Among the first {total:,} answers that can be judged, {wrong / total:.1%} are wrong."
            )

    def left_over(self, this: _NoisyRound) -> str:
        """Say that the rest cannot be told from noise."""
        rows = this.unplaced().size
        self._kinds.note(
            f"{rows:,} rows fit in no cluster found. With an error rate of {self.error:.2g}, a cluster "
            f"among them needs {least_block(rows, self.error):,} rows to be seen."
        )
        return "unplaced"
