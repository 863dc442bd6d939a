"""The model of pairs: how likely two records are one entity, by how alike their fields are.

A logistic regression on levels whose prior is what `FellegiSunter` found: the log-odds of a pair are

    bias + Σ_fields (trust_j · told_j(level) + own_j(level)),

where `told` are the weights of the prior. `trust` says how far each of them holds, as fields that go together
(suburb and postcode) tell less than they seem to; `own` what answers say against them. All three have normal
priors, so that one answer already moves the model, and a thousand decide. A higher level of a field never
speaks against a match.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from samekind.algorithms.records._kernels import score_all, score_few
from samekind.algorithms.records.levels import MISSING, N_LEVELS, Levels
from samekind.algorithms.records.prior import FellegiSunter, rising
from samekind.flow import BoolArray, FloatArray, IntArray

__all__ = ["FittedModel", "PairModel"]

TRUST = 0.5  # in the prior's weights, at first: fields are never independent
TRUST_SPREAD = 0.3
OWN_SPREAD = 0.7  # of the log-odds of a level beside the prior's
BIAS_SPREAD = 2.0
NEWTON_STEPS = 12
HALVINGS = 8  # of a step that goes too far
CLOSE = 1e-3  # of a parameter, at which Newton's steps stop
GRADIENT_CLOSE = 1e-8  # of the square of the slope, at which conjugate gradients stop,
MOST_GRADIENTS = 60  # or after so many
EXTREME = 30.0  # log-odds beyond which nothing changes
MANY = 2**18  # pairs that are worth a second thread
PRIOR_WRONG, PRIOR_ANSWERS = 1.0, 20.0  # answers, for an error rate that is estimated
MOST_WRONG = 0.3
ESTIMATES = 20  # of the error rate, at most,
RATE_CLOSE = 1e-4  # or until it changes no more
CALIBRATED_ON = 2**16  # pairs on which the share of matches is that of the prior


class FittedModel(NamedTuple):
    """What answers taught: the log-odds of a pair are a bias and a weight for the level of each field."""

    bias: float
    weights: FloatArray
    """(fields, levels)."""
    error_rate: float
    """The share of answers that are wrong."""


class PairModel:
    """Log-odds of pairs, learnt from answers.

    Parameters
    ----------
    levels : Levels
        Of all candidate pairs.
    prior : FellegiSunter
        What is believed before anything was answered.
    error_rate : float
        The share of answers that may be wrong.
    estimates : bool
        Whether that share is estimated from the answers, too; it is then where the estimate begins.
    """

    def __init__(
        self, levels: Levels, prior: FellegiSunter, *, error_rate: float, estimates: bool
    ) -> None:
        self._levels = levels
        self._told = prior.weights
        self._error_rate = error_rate
        self._estimates = estimates
        f = levels.n_fields
        self._mean = np.concatenate([[0.0], np.full(f, TRUST), np.zeros(f * N_LEVELS)])
        self._mean[0] = _bias_for(levels, TRUST * self._told, prior.share)
        spreads = [BIAS_SPREAD], np.full(f, TRUST_SPREAD), np.full(f * N_LEVELS, OWN_SPREAD)
        self._precision = np.concatenate(spreads) ** -2.0

    def fit(self, pairs: IntArray, same: BoolArray) -> FittedModel:
        """Learn from answers about these candidate pairs, by their numbers.

        What is learnt is a function of the answers: it does not depend on what was learnt before.
        """
        X = self._features(pairs)
        rate = self._error_rate
        theta = self._newton(X, same, self._mean, rate)
        for _ in range(ESTIMATES if self._estimates else 0):
            before, rate = rate, self._estimate_errors(X, same, theta, rate)
            theta = self._newton(X, same, theta, rate)
            if abs(rate - before) < RATE_CLOSE:
                break
        f = self._levels.n_fields
        trust = np.maximum(theta[1 : f + 1], 0.0)
        weights = trust[:, None] * self._told + theta[f + 1 :].reshape(f, N_LEVELS)
        amounts = np.ones(N_LEVELS - MISSING - 1)
        for j in range(f):
            weights[j, MISSING + 1 :] = rising(weights[j, MISSING + 1 :], amounts)
        return FittedModel(float(theta[0]), weights, rate)

    def score(self, fitted: FittedModel) -> NDArray[np.float32]:
        """Return the log-odds of all pairs."""
        odds: NDArray[np.float32] = np.empty(len(self._levels), dtype=np.float32)
        score = score_all if len(odds) >= MANY else score_few
        score(self._levels.codes, fitted.weights, fitted.bias, odds)
        return odds

    def _features(self, pairs: IntArray) -> FloatArray:
        codes = self._levels.codes[pairs].astype(np.intp)
        m, f = codes.shape
        X = np.zeros((m, 1 + f + f * N_LEVELS))
        X[:, 0] = 1.0
        fields = np.arange(f)
        X[:, 1 : f + 1] = self._told[fields, codes]
        X[np.arange(m)[:, None], 1 + f + fields * N_LEVELS + codes] = 1.0
        return X

    def _newton(self, X: FloatArray, same: BoolArray, theta: FloatArray, rate: float) -> FloatArray:
        """Return the most likely parameters, if a share of the answers may be wrong."""
        p, likelihood = self._evaluate(X, same, theta, rate)
        for _ in range(NEWTON_STEPS):
            said = np.where(same, p, 1 - p)
            right = (1 - rate) * said / ((1 - rate) * said + rate * (1 - said))  # by Bayes
            target = np.where(same, right, 1 - right)
            slope = X.T @ (target - p) - self._precision * (theta - self._mean)
            step = _newton_step(X, p * (1 - p), self._precision, slope)
            for _ in range(HALVINGS):
                p, found = self._evaluate(X, same, theta + step, rate)
                if found >= likelihood:
                    break
                step = step / 2
            else:
                break
            theta, likelihood = theta + step, found
            if np.abs(step).max() < CLOSE:
                break
        return theta

    def _evaluate(
        self, X: FloatArray, same: BoolArray, theta: FloatArray, rate: float
    ) -> tuple[FloatArray, float]:
        """Return the probability of each pair, and the log of the posterior but for a constant."""
        p = 1 / (1 + np.exp(-np.clip(X @ theta, -EXTREME, EXTREME)))
        said = np.where(same, p, 1 - p)
        fit = np.log((1 - rate) * said + rate * (1 - said)).sum()
        return p, float(fit - (self._precision * (theta - self._mean) ** 2).sum() / 2)

    def _estimate_errors(
        self, X: FloatArray, same: BoolArray, theta: FloatArray, rate: float
    ) -> float:
        p = 1 / (1 + np.exp(-np.clip(X @ theta, -EXTREME, EXTREME)))
        said = np.where(same, p, 1 - p)
        wrong = rate * (1 - said) / (rate * (1 - said) + (1 - rate) * said)
        estimate = (PRIOR_WRONG + wrong.sum()) / (PRIOR_ANSWERS + len(wrong))
        return float(min(MOST_WRONG, estimate))


def _newton_step(
    X: FloatArray, curvature: FloatArray, precision: FloatArray, slope: FloatArray
) -> FloatArray:
    """Return (X' diag(curvature) X + diag(precision))⁻¹ slope, by conjugate gradients.

    A direct solution of a hundred equations is no slower by itself, but LAPACK starts threads for it.
    """
    diagonal = curvature @ X**2 + precision
    step = np.zeros_like(slope)
    rest = slope.copy()
    scaled = rest / diagonal
    way, size = scaled.copy(), float(rest @ scaled)
    least = GRADIENT_CLOSE * size
    for _ in range(MOST_GRADIENTS):
        if size <= least:
            break
        bent = X.T @ (curvature * (X @ way)) + precision * way
        length = size / float(way @ bent)
        step += length * way
        rest -= length * bent
        scaled = rest / diagonal
        before, size = size, float(rest @ scaled)
        way = scaled + (size / before) * way
    return step


def _bias_for(levels: Levels, weights: FloatArray, share: float) -> float:
    """Return the bias with which so large a share of the pairs are matches, by their log-odds."""
    if not len(levels):
        return 0.0
    codes = levels.codes[:: max(1, len(levels) // CALIBRATED_ON)]
    told = sum(weights[j, codes[:, j]] for j in range(codes.shape[1]))
    low, high = -60.0, 60.0
    for _ in range(50):
        middle = (low + high) / 2
        found = (1 / (1 + np.exp(-np.clip(told + middle, -EXTREME, EXTREME)))).mean()
        low, high = (middle, high) if found < share else (low, middle)
    return (low + high) / 2
