"""The log-odds of all candidate pairs, and the entities that they make together with answers."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from samekind.algorithms.records.clustering import LOW_BITS, entities_of, pair_keys
from samekind.algorithms.records.known_pairs import KnownPairs, PairIndex
from samekind.algorithms.records.pair_model import PairModel
from samekind.flow import DIFFERENT, SAME, FloatArray, IntArray, Pairs
from samekind.points import RecordPoints

__all__ = ["PairScores", "View", "chance_of"]

FEW_PAIRS = 2**17  # that can all be looked at for every question
POOL = 2**16  # doubtful pairs of more
CERTAIN = 1e4  # log-odds of an answer that is true
LEAST_RATE = 1e-3  # of wrong answers, where some may be
LENIENT = 0.4  # log-odds below even at which pairs are put together: F1 is best a little below


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
    seed : int
        Of the model.
    """

    def __init__(
        self, points: RecordPoints, *, error_rate: float, estimates: bool, seed: int
    ) -> None:
        self.index = PairIndex(points)
        self._model = PairModel(
            points.candidates, points.n, error_rate=error_rate, estimates=estimates, seed=seed
        )
        priors = self._model.priors
        self._contest = np.abs(chance_of(priors.agreement) - chance_of(priors.rivalry))
        self._trusts = error_rate == 0 and not estimates

    def look(self, learnt: KnownPairs) -> View:
        """Return what the model says after it learnt from these answers and no others."""
        clear = (learnt.numbers >= 0) & (learnt.votes != 0)
        asked, votes = learnt.numbers[clear], learnt.votes[clear]
        implied = np.empty(0, dtype=np.intp)
        if learnt.infers:
            implied = np.setdiff1d(np.flatnonzero(learnt.evidence), asked)
        fitted = self._model.fit(asked, votes > 0, implied, learnt.evidence[implied] > 0)
        told = CERTAIN
        if not self._trusts:
            rate = max(fitted.error_rate, LEAST_RATE)
            told = float(np.log((1 - rate) / rate))
        return View(self.index, learnt, fitted.odds, told, fitted.error_rate, self._contest)


class View:
    """What a fitted model says of pairs."""

    def __init__(
        self,
        index: PairIndex,
        learnt: KnownPairs,
        odds: NDArray[np.float32],
        told: float,
        error_rate: float,
        contest: FloatArray,
    ) -> None:
        self.index = index
        self.learnt = learnt
        """What the model learnt from."""
        self.odds = odds
        """(candidate pairs,) log-odds by the model alone."""
        self.told = told
        """The log-odds that one answer tells."""
        self.error_rate = error_rate
        self.contest = contest
        """(candidate pairs,) how far apart the chances are that the two priors give each."""

    @cached_property
    def entities(self) -> IntArray:
        """(n,) by what was learnt alone."""
        return self.entities_with(self.learnt)

    @cached_property
    def pool(self) -> IntArray:
        """The candidate pairs among which questions are chosen: all of them, or the most doubtful of many."""
        if len(self.odds) <= FEW_PAIRS:
            return np.arange(len(self.odds))
        open_pairs = np.flatnonzero(~self.learnt.decided)
        doubt = np.argsort(np.abs(self.odds[open_pairs]), kind="stable")
        open_pairs = open_pairs[doubt[:POOL]]
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
        pairs: NDArray[np.integer] = self.index.pairs
        weights = self.odds.astype(np.float64) - threshold
        if len(self.learnt):
            weights += LENIENT
        if known.infers:
            apart = known.merged[np.column_stack([known.apart >> 32, known.apart & LOW_BITS])]
            said = apart, np.full(len(apart), -CERTAIN)
        else:
            said = known.pairs, self.told * known.votes - LENIENT * (known.numbers >= 0)
        return entities_of(known.merged, pairs, weights, said=said, files=known.files)

    def believed(self, known: KnownPairs) -> KnownPairs:
        """Return the answers that agree with the entities, and those that came since, as if all true."""
        if known.infers:
            return known
        one, other = self.entities[known.pairs].T
        agree = np.where(one == other, known.votes > 0, known.votes < 0)
        agree |= ~np.isin(known.keys, self.learnt.keys) & (known.votes != 0)
        answers = np.where(known.votes > 0, SAME, DIFFERENT).astype(np.int8)
        return KnownPairs(self.index, known.pairs[agree], answers[agree], infers=True)

    def chances(self, pairs: Pairs, known: KnownPairs) -> FloatArray:
        """Return how likely each pair is a match; 0 for pairs that are no candidates and not known to be."""
        numbers = self.index.numbers_of(pair_keys(pairs))
        odds = self.odds[numbers] + self.told * known.evidence[numbers] if len(self.odds) else 0.0
        return np.where(numbers >= 0, chance_of(odds), known.relation(pairs) == SAME)


def chance_of(odds: NDArray[np.floating] | float) -> FloatArray:
    """Return probabilities of log-odds."""
    return np.asarray(expit(odds), dtype=np.float64)
