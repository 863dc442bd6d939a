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

REFERENCES = 4  # draws of a cluster that only look for its reference point


class _KeptDraw(NamedTuple):
    """A draw x of an unrecovered cluster that is kept while `threshold`, u·Φ(x), is below Φ(x*)."""

    row: int
    threshold: float


class RejectionSampling:
    """Keeps of the draws of each unrecovered cluster uniform samples of it.

    The first `REFERENCES` draws of a cluster look for its reference point x*, the known member with the
    smallest Φ (Phase 3 of the paper). Each later draw x is kept with probability Φ(x*)/Φ(x) (Phase 4): if
    u·Φ(x) < Φ(x*), u uniform. While there is no centre all draws are uniform, and are kept for good.

    Samples are reused in later rounds, as the paper says. Φ(x*) only falls, with every nearer member and
    every new centre; samples that would not have been kept at the new Φ(x*) are dropped then. So whatever
    the round in which it was drawn, with a chance proportional to Φ(x), a sample is there with one
    proportional to 1/Φ(x): together, uniformly.

    The bias that is left is due to x*, the nearest of the known members and not of all: where Φ differs
    44-fold within a cluster, the nearest third of its rows has 25 % of the eleven samples (uniform: 33 %,
    as drawn: 5 %).
    """

    def __init__(self, state: ClusterState, enough: int) -> None:
        self._state = state
        self._enough = enough
        self._smallest: defaultdict[int, float] = defaultdict(lambda: inf)  # Φ(x*) of each cluster
        self._samples: defaultdict[int, list[_KeptDraw]] = defaultdict(list)
        self.n_draws: Counter[int] = Counter()
        """Draws of each cluster, in all rounds."""

    def next_round(self, sampler: Sampler, points: Points) -> None:
        """Find each x* among the known members, for the sampler's centres."""
        for k in range(len(self._state)):
            if not self._state.is_recovered(k):
                costs = sampler.cost(np.array(self._state.members[k]))
                self._smallest[k] = float(costs[costs > 0].min(initial=inf))  # can be drawn
                self._thin(k, points)

    def add(self, draws: Draws, coins: FloatArray, points: Points, start: int = 0) -> int:
        """Take in draws from `start` on, up to one of a heavy cluster; return how many are in now."""
        open_places = start + np.flatnonzero(self._state.is_open(draws.clusters[start:]))
        uniform = not self._state.recovered
        for place in open_places.tolist():
            k, cost = int(draws.clusters[place]), float(draws.costs[place])
            self.n_draws[k] += 1
            if cost < self._smallest[k]:
                self._smallest[k] = cost
                self._thin(k, points)
            sample = _KeptDraw(int(draws.rows[place]), 0.0 if uniform else coins[place] * cost)
            judged = uniform or self.n_draws[k] > REFERENCES
            if judged and sample.threshold < self._smallest[k]:
                self._samples[k].append(sample)
                if len(self._samples[k]) <= self._enough:  # a centre is the mean of eleven, no more
                    self._state.add_uniform(k, points.row(sample.row))
            if self._state.n_uniform[k] >= self._enough:
                return place + 1
        return draws.rows.size

    def _thin(self, cluster: int, points: Points) -> None:
        """Drop the samples of a cluster that would not have been kept at its Φ(x*)."""
        samples, smallest = self._samples[cluster], self._smallest[cluster]
        kept = [sample for sample in samples if sample.threshold < smallest]
        if len(kept) < len(samples):
            self._samples[cluster] = kept
            first = np.array([sample.row for sample in kept[: self._enough]], dtype=np.intp)
            self._state.set_uniform(cluster, points.rows(first))
