"""Extremely randomised trees (Geurts, Ernst and Wehenkel, 2006), compiled.

A model of pairs is fitted anew, to a few hundred answers, while somebody waits for the next question: that
takes this forest ten milliseconds, and scikit-learn's some three hundred. Every tree has random numbers of
its own, so the number of threads changes nothing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from samekind.algorithms.records._kernels import grow_forest, predict_forest
from samekind.flow import BoolArray, FloatArray

__all__ = ["Forest"]

TREES = 100


class Forest(NamedTuple):
    """Trees of which each saw a bootstrap sample. Children of a node are `left` and `left + 1`."""

    feature: NDArray[np.int32]
    """(trees, nodes) what a node asks for, -1 in a leaf."""
    threshold: NDArray[np.float32]
    left: NDArray[np.int32]
    value: FloatArray
    """(trees, nodes) the share of the class among the samples of a leaf."""
    unseen: FloatArray
    """(samples,) what the trees say that did not see a sample; NaN where all did."""

    @classmethod
    def grow(
        cls, X: NDArray[np.float32], target: BoolArray, weight: FloatArray, seed: int
    ) -> Forest:
        """Learn from samples; the two classes count the same."""
        shape = TREES, 2 * len(X) + 1
        feature = np.full(shape, -1, np.int32)
        threshold, left, value = (
            np.zeros(shape, np.float32),
            np.zeros(shape, np.int32),
            np.zeros(shape),
        )
        said = np.full((TREES, len(X)), np.nan)
        balanced = weight / np.where(target, weight[target].sum(), weight[~target].sum())
        grow_forest(X, target, balanced, seed, feature, threshold, left, value, said)
        heard = ~np.isnan(said)
        votes = np.where(heard, said, 0.0).sum(axis=0)
        unseen = np.where(heard.any(axis=0), votes / np.maximum(heard.sum(axis=0), 1), np.nan)
        return cls(feature, threshold, left, value, unseen)

    def predict(self, X: NDArray[np.float32]) -> FloatArray:
        """Return the probability of the class for each row."""
        out = np.zeros(len(X))
        predict_forest(X, self.feature, self.threshold, self.left, self.value, out)
        return out
