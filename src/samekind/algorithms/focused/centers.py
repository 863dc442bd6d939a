"""Centres from predictions, set right by the audit."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["rectified"]

DOUBT = 4.0


def rectified(
    means: NDArray[np.float64],
    counts: NDArray[np.intp],
    X: NDArray[np.float64],
    kinds: NDArray[np.intp],
    predicted: NDArray[np.intp],
    n: int,
) -> NDArray[np.float64]:
    """Correct the means of predicted clusters by audited rows X of known and predicted kinds.

    Prediction-powered inference (Angelopoulos et al., Science 2023): each wrongly predicted row of the m
    audited ones stands for n/m rows that are in the wrong sum. A correction that is no longer than twice
    its own standard error is noise, so it is shrunken in the manner of James and Stein, by max(0, 1 -
    4·variance / length²).
    """
    m = len(X)
    wrong = np.flatnonzero(kinds != predicted)
    centers = means.copy()
    for kind in np.unique(np.concatenate([kinds[wrong], predicted[wrong]])):
        if kind < 0 or not counts[kind]:
            continue
        sign = (kinds == kind).astype(float) - (predicted == kind)
        off = sign[:, None] * (X - means[kind]) * (n / counts[kind])
        correction = off.mean(axis=0)
        variance = off.var(axis=0, ddof=1).sum() / m if m > 1 else np.inf
        length = float((correction**2).sum())
        if length > 0:
            centers[kind] += max(0.0, 1.0 - DOUBT * variance / length) * correction
    return centers
