"""The log-odds of all candidate pairs, and the entities that they make together with answers."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from samekind.algorithms.records.clustering import entities_of
from samekind.algorithms.records.known_pairs import KnownPairs, PairIndex, pair_keys
from samekind.algorithms.records.levels import Levels
from samekind.algorithms.records.pair_model import PairModel
from samekind.algorithms.records.prior import FellegiSunter
from samekind.flow import SAME, FloatArray, IntArray, Pairs
from samekind.points import RecordPoints

__all__ = ["PairScores", "View", "chance_of"]

FEW_PAIRS = 2**17  # that can all be looked at for every question
POOL = 2**16  # doubtful pairs of more
CERTAIN = 1e4  # log-odds of an answer that is true
LEAST_RATE = 1e-3  # of wrong answers, where some may be


class PairScores:
    """The model of pairs, which is fitted to answers as a whole.

    Parameters
    ----------
    points : RecordPoints
        The records.
    error_rate : float
        The share of answers that may be wrong, at first; 0: all are true.
    estimates : bool
        Whether that share is estimated from the answers.
    """

    def __init__(self, points: RecordPoints, *, error_rate: float, estimates: bool) -> None:
        self.index = PairIndex(points)
        levels = Levels.of(points.candidates)
        prior = FellegiSunter.fit(points.candidates, levels, points.n)
        self._model = PairModel(levels, prior, error_rate=error_rate, estimates=estimates)
        self._trusts = error_rate == 0 and not estimates

    def look(self, learnt: KnownPairs) -> View:
        """Return what the model says after it learnt from these answers and no others."""
        clear = (learnt.numbers >= 0) & (learnt.votes != 0)
        votes = learnt.votes[clear]
        times = np.abs(votes).astype(np.intp)
        numbers = np.repeat(learnt.numbers[clear], times)
        fitted = self._model.fit(numbers, np.repeat(votes > 0, times))
        told = CERTAIN
        if not self._trusts:
            rate = max(fitted.error_rate, LEAST_RATE)
            told = float(np.log((1 - rate) / rate))
        return View(self.index, learnt, self._model.score(fitted), told, fitted.error_rate)


class View:
    """What a fitted model says of pairs."""

    def __init__(
        self,
        index: PairIndex,
        learnt: KnownPairs,
        odds: NDArray[np.float32],
        told: float,
        error_rate: float,
    ) -> None:
        self.index = index
        self.learnt = learnt
        """What the model learnt from."""
        self.odds = odds
        """(candidate pairs,) log-odds by the model alone."""
        self.told = told
        """The log-odds that one answer tells."""
        self.error_rate = error_rate

    @cached_property
    def entities(self) -> IntArray:
        """(n,) by what was learnt alone."""
        return self.entities_with(self.learnt)

    @cached_property
    def sizes(self) -> IntArray:
        """(entities,)."""
        return np.bincount(self.entities)

    @cached_property
    def pool(self) -> IntArray:
        """The candidate pairs among which questions are chosen: all of them, or the most doubtful of many."""
        if len(self.odds) <= FEW_PAIRS:
            return np.arange(len(self.odds))
        open_pairs = np.flatnonzero(~self.learnt.decided)
        if open_pairs.size > POOL:
            doubt = np.abs(self.odds[open_pairs])
            open_pairs = open_pairs[np.argpartition(doubt, POOL)[:POOL]]
        return np.sort(open_pairs)

    @cached_property
    def likeliest(self) -> IntArray:
        """All candidate pairs, the likeliest first."""
        return np.argsort(-self.odds, kind="stable")

    def odds_with(self, known: KnownPairs) -> NDArray[np.float32]:
        """Return the log-odds of the candidate pairs by the model and these answers."""
        return np.asarray(self.odds + np.float32(self.told) * known.evidence)

    def entities_with(self, known: KnownPairs, threshold: float = 0.0) -> IntArray:
        """Return the entities that the model and these answers make, above log-odds of `threshold`."""
        weights = self.odds_with(known)
        if threshold:
            weights -= np.float32(threshold)
        pairs: NDArray[np.integer] = self.index.pairs
        others = (known.numbers < 0) & (known.votes != 0)
        if others.any():
            pairs = np.concatenate([pairs, known.pairs[others]])
            weights = np.concatenate([weights, self.told * known.votes[others].astype(np.float32)])
        return entities_of(self.index.n, pairs, weights, known.files)

    def chances(self, pairs: Pairs, known: KnownPairs) -> FloatArray:
        """Return how likely each pair is a match; 0 for pairs that are no candidates and not known to be."""
        numbers = self.index.numbers_of(pair_keys(pairs))
        odds = self.odds[numbers] + self.told * known.evidence[numbers] if len(self.odds) else 0.0
        return np.where(numbers >= 0, chance_of(odds), known.relation(pairs) == SAME)


def chance_of(odds: NDArray[np.floating] | float) -> FloatArray:
    """Return probabilities of log-odds."""
    return np.asarray(1 / (1 + np.exp(-np.clip(odds, -30, 30))), dtype=np.float64)
