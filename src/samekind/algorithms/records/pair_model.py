"""The model of pairs: how likely two records are one entity, by how alike they are in many ways.

A forest learns from the answers and from what follows from them. Its log-odds are blended with those of the
priors, whose share falls with the number of answers. What a tree says of an answer that it has not seen tells
how far the answers can be trusted.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from samekind.algorithms.records._kernels import fit_logistic
from samekind.algorithms.records.forest import Forest
from samekind.algorithms.records.prior import Priors
from samekind.flow import BoolArray, FloatArray, IntArray
from samekind.points import CandidatePairs

__all__ = ["FittedModel", "PairModel"]

BLEND = 10.0  # answers after which the forest counts as much as the priors
SHIFT_SPREAD = 4.0  # of the log-odds by which the priors are off everywhere
EXTREME = 5.0  # log-odds that the model tells at most
LEAST = 0.01  # share of a hundred trees
IMPLIED = 0.5  # weight of what follows from answers, all together, beside the answers themselves
MOST_LEARNT = (
    2**18
)  # pairs that the forest looks at: of more, those that the priors are least sure of
PRIOR_WRONG, PRIOR_ANSWERS = 2.5, 50.0  # answers, for an error rate that is estimated
MOST_WRONG = 0.3
ESTIMATES = 20  # of the error rate
CALIBRATION = 1.5  # of the log-odds of a hundred trees, to begin with


class FittedModel(NamedTuple):
    """What answers taught."""

    odds: NDArray[np.float32]
    """(m,) the log-odds of all candidate pairs."""
    error_rate: float
    """The share of answers that are wrong."""


class PairModel:
    """Log-odds of pairs, learnt from answers.

    Parameters
    ----------
    candidates : CandidatePairs
        The pairs.
    n : int
        Records.
    error_rate : float
        The share of answers that may be wrong.
    estimates : bool
        Whether that share is estimated from the answers, too.
    seed : int
        Of the forest.
    """

    def __init__(
        self, candidates: CandidatePairs, n: int, *, error_rate: float, estimates: bool, seed: int
    ) -> None:
        self.priors = Priors.of(candidates, n)
        self._error_rate = error_rate
        self._estimates = estimates
        self._seed = seed
        both = self.priors.agreement, self.priors.rivalry
        m = len(both[0])
        self._pool = np.arange(m)
        if m > MOST_LEARNT:
            sure = np.argsort(np.abs(both[0] + both[1]), kind="stable")
            self._pool = np.sort(sure[:MOST_LEARNT])
        more = np.column_stack([*both, self.priors.standing]).astype(np.float32)
        known = np.concatenate([candidates.features[self._pool], more[self._pool]], axis=1)
        self._X = np.nan_to_num(known, nan=-1.0)

    def fit(
        self, pairs: IntArray, same: BoolArray, implied: IntArray, implied_same: BoolArray
    ) -> FittedModel:
        """Learn from answers about candidate pairs, by their numbers, and from what they imply of others."""
        odds = self.priors.odds(pairs, same)
        if not pairs.size:
            return FittedModel(odds.astype(np.float32), self._error_rate)
        prior = odds + _shift(odds[pairs], same)
        odds = prior.copy()
        expected, rate = odds[pairs], self._error_rate
        if same.any() and not same.all():
            odds, expected = self._learn(prior, pairs, same, implied, implied_same)
        if self._estimates or rate:
            expected, rate = _calibrated(expected, same, rate, estimates=self._estimates)
        odds[pairs] = expected  # what an answer tells is added to this by whoever trusts it
        return FittedModel(np.clip(odds, -EXTREME, EXTREME).astype(np.float32), rate)

    def _learn(
        self,
        prior: FloatArray,
        pairs: IntArray,
        same: BoolArray,
        implied: IntArray,
        implied_same: BoolArray,
    ) -> tuple[FloatArray, FloatArray]:
        """Return the log-odds of all pairs, and those that the other answers lend each answered one."""
        share = len(pairs) / (len(pairs) + BLEND)
        odds = (1 - share) * np.clip(prior, -EXTREME, EXTREME)
        expected = odds[pairs]
        place = self._places(np.concatenate([pairs, implied]))
        implied_weight = min(IMPLIED, IMPLIED * len(pairs) / max(1, len(implied)))
        weight = np.repeat([1.0, implied_weight], [len(pairs), len(implied)])
        target = np.concatenate([same, implied_same])
        there = place >= 0
        if target[there].all() or not target[there].any():
            return prior, prior[pairs]
        forest = Forest.grow(self._X[place[there]], target[there], weight[there], self._seed)
        votes = forest.predict(self._X)
        odds[self._pool] += share * logit(np.clip(votes, LEAST, 1 - LEAST))
        unseen = np.full(len(place), 0.5)
        unseen[there] = np.nan_to_num(forest.unseen, nan=0.5)
        expected += share * logit(np.clip(unseen[: len(pairs)], LEAST, 1 - LEAST))
        return odds, expected

    def _places(self, pairs: IntArray) -> IntArray:
        """Return where pairs stand in the pool, -1 if they do not."""
        place = np.minimum(np.searchsorted(self._pool, pairs), len(self._pool) - 1)
        return np.where(self._pool[place] == pairs, place, -1)


def _shift(odds: FloatArray, same: BoolArray) -> float:
    """Return what to add to the priors so that they explain the answers best (Newton's method)."""
    shift = 0.0
    for _ in range(30):
        p = expit(odds + shift)
        slope = float((same - p).sum()) - shift / SHIFT_SPREAD**2
        shift += float(np.clip(slope / ((p * (1 - p)).sum() + SHIFT_SPREAD**-2), -1, 1))
    return shift


def _calibrated(
    odds: FloatArray, same: BoolArray, rate: float, *, estimates: bool
) -> tuple[FloatArray, float]:
    """Return the log-odds that fit answers of which some are wrong, and the share of these (EM).

    A hundred trees are too modest: log-odds of -2 are right in 98 of 100 cases. Uncorrected, they would
    seldom outweigh a wrong answer.
    """
    fitted = CALIBRATION * odds
    for _ in range(ESTIMATES):
        told = np.log((1 - rate) / rate) * np.where(same, 1.0, -1.0)
        match = expit(fitted + told)
        theta = fit_logistic(odds[:, None], match, np.ones(len(odds)), 1.0)
        fitted = theta[0] + theta[1] * odds
        if estimates:
            wrong = np.where(same, 1 - match, match).sum()
            rate = min(MOST_WRONG, (wrong + PRIOR_WRONG) / (len(odds) + PRIOR_ANSWERS))
    return fitted, float(rate)
