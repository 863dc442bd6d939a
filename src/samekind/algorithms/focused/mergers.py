"""Which clusters may be one: similarities made probabilities by what became of pairs that were decided."""

from __future__ import annotations

import numpy as np
from scipy.special import expit, logit

from samekind.algorithms.focused.cluster_pairs import ClusterPairs
from samekind.flow import FloatArray, IntArray

__all__ = ["chances_of_one", "likely_mergers"]

PRIOR_MEAN, PRIOR_SPREAD = np.array([-2.0, 1.0]), np.array([2.0, 0.5])
"""Of the intercept and the slope by which log-odds of a similarity become log-odds of being one."""
LEAST = 0.1  # probability of what is worth a look
MOST_PAIRS = 50
CLIP = 1e-4  # similarities are this far from 0 and 1


def likely_mergers(pairs: ClusterPairs, sizes: IntArray) -> list[tuple[int, int, float]]:
    """Return pairs of clusters that may be one, with probabilities, those first that concern most rows.

    Logistic regression of being one on the log-odds of the similarity that a pair had when it was decided.
    """
    similarity, a, b = pairs.open_similarities()
    chance = chances_of_one(pairs, similarity)
    order = np.argsort(-chance * np.minimum(sizes[a], sizes[b]), kind="stable")
    order = order[chance[order] >= LEAST][:MOST_PAIRS]
    return list(zip(a[order].tolist(), b[order].tolist(), chance[order].tolist(), strict=True))


def chances_of_one(pairs: ClusterPairs, similarity: FloatArray) -> FloatArray:
    """Return how likely clusters of these similarities are one, by what became of others."""
    outcomes = np.array(pairs.outcomes, dtype=np.float64).reshape(-1, 2)
    weights = _fit(outcomes[:, 0], outcomes[:, 1])
    chances: FloatArray = expit(weights[0] + weights[1] * _log_odds(similarity))
    return chances


def _log_odds(similarity: FloatArray) -> FloatArray:
    odds: FloatArray = logit(np.clip(similarity, CLIP, 1 - CLIP))
    return odds


def _fit(similarity: FloatArray, is_one: FloatArray) -> FloatArray:
    """Return intercept and slope of a logistic regression with a normal prior: where that is most likely."""
    from scipy.optimize import minimize  # takes its time to load

    X = np.column_stack([np.ones(similarity.size), _log_odds(similarity)])

    def cost(weights: FloatArray) -> tuple[float, FloatArray]:
        odds, off = X @ weights, (weights - PRIOR_MEAN) / PRIOR_SPREAD
        value = np.logaddexp(0.0, odds).sum() - is_one @ odds + 0.5 * off @ off
        return float(value), X.T @ (expit(odds) - is_one) + off / PRIOR_SPREAD

    weights: FloatArray = minimize(cost, PRIOR_MEAN, jac=True, method="BFGS").x
    return weights
