"""Practical rejection sampling: from D²-draws to uniform samples of each cluster."""

from __future__ import annotations

from collections import Counter, defaultdict
from math import inf
from typing import NamedTuple

import numpy as np

from samekind.algorithms.paper.base import Draws
from samekind.algorithms.state import ClusterState
from samekind.flow import FloatArray
from samekind.points import Points, Sampler

__all__ = ["REFERENCES", "RejectionSampling"]

REFERENCES = 10  # draws of unrecovered clusters by which a round looks for reference points


class _KeptDraw(NamedTuple):
    row: int
    threshold: float  # u·Φ(x): it is kept while Φ(x*) is above


class RejectionSampling:
    """Keeps of the draws of each unrecovered cluster uniform samples of it.

    A round has the paper's phases. Its first `REFERENCES` draws of unrecovered clusters show what there is
    and look for each cluster's reference point x*, the known member with the smallest Φ (Phases 1 to 3).
    Each later draw x is kept with probability Φ(x*)/Φ(x) (Phase 4): if u·Φ(x) < Φ(x*), u uniform. What
    would not have been kept at a nearer x* is dropped when one is found. While there is no centre all draws
    are uniform, and are kept. Samples are reused in later rounds, as the paper says: drawn with a chance
    proportional to the Φ of their round, they are uniform whatever centres come later.

    The bias that is left is due to x*, the nearest of the known members and not of all: where Φ differs
    44-fold within a cluster, the nearest third of its rows has 28 % of the eleven samples (uniform: 33 %,
    as drawn: 8 %).
    """

    def __init__(self, state: ClusterState, enough: int) -> None:
        self._state = state
        self._enough = enough
        self._smallest: defaultdict[int, float] = defaultdict(lambda: inf)  # Φ(x*) of each cluster
        self._earlier: defaultdict[int, list[int]] = defaultdict(
            list
        )  # rows kept in earlier rounds
        self._samples: defaultdict[int, list[_KeptDraw]] = defaultdict(list)  # of this round
        self._n_in_round = 0
        self._heavy: set[int] = set()  # clusters with enough samples
        self.n_draws: Counter[int] = Counter()
        """Draws of each cluster, in all rounds."""

    def next_round(self, sampler: Sampler) -> None:
        """Keep for good what there is, and find each x* among the known members for the new centres."""
        self._n_in_round = 0
        self._heavy = {k for k in self._heavy if not self._state.is_recovered(k)}
        for k in range(len(self._state)):
            if not self._state.is_recovered(k):
                self._earlier[k] += [sample.row for sample in self._samples.pop(k, [])]
                costs = sampler.cost(np.array(self._state.members[k]))
                self._smallest[k] = float(costs[costs > 0].min(initial=inf))  # can be drawn

    def add(self, draws: Draws, coins: FloatArray, points: Points, start: int = 0) -> int:
        """Take in draws from `start` on; return how many are in now.

        If a cluster is heavy, one that may decide is the last: it does not matter how many come together.
        """
        open_places = start + np.flatnonzero(self._state.is_open(draws.clusters[start:]))
        uniform = not self._state.recovered
        for place in open_places.tolist():
            k, cost = int(draws.clusters[place]), float(draws.costs[place])
            self.n_draws[k] += 1
            self._n_in_round += 1
            if cost < self._smallest[k]:
                self._smallest[k] = cost
                self._thin(k, points)
            sample = _KeptDraw(int(draws.rows[place]), 0.0 if uniform else coins[place] * cost)
            judged = uniform or self._n_in_round > REFERENCES
            if judged and sample.threshold < self._smallest[k]:
                self._samples[k].append(sample)
                if (
                    self._state.n_uniform[k] < self._enough
                ):  # a centre is the mean of eleven, no more
                    self._state.add_uniform(k, points.row(sample.row))
            is_heavy = self._state.n_uniform[k] >= self._enough
            (self._heavy.add if is_heavy else self._heavy.discard)(k)
            if self._heavy:
                return place + 1
        return draws.rows.size

    def _thin(self, cluster: int, points: Points) -> None:
        """Drop the samples of this round that would not have been kept at its Φ(x*)."""
        samples, smallest = self._samples[cluster], self._smallest[cluster]
        kept = [sample for sample in samples if sample.threshold < smallest]
        if len(kept) < len(samples):
            self._samples[cluster] = kept
            rows = [*self._earlier[cluster], *(row for row, _ in kept)][: self._enough]
            self._state.set_uniform(cluster, points.rows(np.array(rows, dtype=np.intp)))
