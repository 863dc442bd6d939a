"""Which clusters may be one: similarities made probabilities by what became of pairs that were decided."""

from __future__ import annotations

import numpy as np
from scipy.special import expit, logit

from samekind.algorithms.focused.cluster_pairs import ClusterPairs
from samekind.flow import FloatArray, IntArray

__all__ = ["likely_mergers"]

PRIOR_MEAN, PRIOR_SPREAD = np.array([-2.0, 1.0]), np.array([2.0, 0.5])
"""Of the intercept and the slope by which log-odds of a similarity become log-odds of being one."""
NEWTON_STEPS = 20
LEAST = 0.05  # probability of what is worth a look
MOST_PAIRS = 50
CLIP = 1e-4  # similarities are this far from 0 and 1


def likely_mergers(pairs: ClusterPairs, sizes: IntArray) -> list[tuple[int, int, float]]:
    """Return pairs of clusters that may be one, with probabilities, those first that concern most rows.

    Logistic regression of being one on the log-odds of the similarity that a pair had when it was decided.
    """
    outcomes = np.array(pairs.outcomes, dtype=np.float64).reshape(-1, 2)
    weights = _fit(outcomes[:, 0], outcomes[:, 1])
    similarity, a, b = pairs.open_similarities()
    chance = expit(weights[0] + weights[1] * _log_odds(similarity))
    order = np.argsort(-chance * np.minimum(sizes[a], sizes[b]), kind="stable")
    order = order[chance[order] >= LEAST][:MOST_PAIRS]
    return list(zip(a[order].tolist(), b[order].tolist(), chance[order].tolist(), strict=True))


def _log_odds(similarity: FloatArray) -> FloatArray:
    odds: FloatArray = logit(np.clip(similarity, CLIP, 1 - CLIP))
    return odds


def _fit(similarity: FloatArray, is_one: FloatArray) -> FloatArray:
    """Return intercept and slope of a logistic regression with a normal prior, by Newton's method."""
    X = np.column_stack([np.ones(similarity.size), _log_odds(similarity)])
    precision = np.diag(PRIOR_SPREAD**-2.0)
    weights = PRIOR_MEAN.copy()
    for _ in range(NEWTON_STEPS):
        chance = expit(X @ weights)
        slope = X.T @ (is_one - chance) - precision @ (weights - PRIOR_MEAN)
        curvature = (X.T * (chance * (1 - chance))) @ X + precision
        step = np.linalg.solve(curvature, slope)
        weights = weights + step
        if np.abs(step).max() < 1e-8:
            break
    return weights
