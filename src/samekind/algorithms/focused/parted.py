"""One kind that is two: which rows go together."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["parted"]


def parted(X: NDArray[np.float64], votes: list[tuple[int, int, float]]) -> NDArray[np.intp]:
    """Part rows in two by the votes on pairs of them, -: different; the first row is on side 0.

    The two rows that most clearly differ draw the others by distance; then rows change sides by majority.
    """
    i, j, _ = min(votes, key=lambda vote: vote[2])
    distances = ((X - X[i]) ** 2).sum(axis=1), ((X - X[j]) ** 2).sum(axis=1)
    side: NDArray[np.intp] = (distances[1] < distances[0]).astype(np.intp)
    ballots = np.zeros((len(X), len(X)))
    for a, b, vote in votes:
        ballots[a, b] = ballots[b, a] = vote
    for _ in range(2 * len(X)):
        pull = ballots @ (2 * side - 1)
        turned = np.where(pull == 0, side, pull > 0)
        changed = np.flatnonzero(turned != side)
        if not changed.size:
            break
        most = changed[np.abs(pull[changed]).argmax()]  # one at a time, or two would swap for ever
        side[most] = 1 - side[most]
    if side[0] != 0:
        np.subtract(1, side, out=side)
    return side
