"""MS17b: Mazumdar, Saha, *Query Complexity of Clustering with Side Information* (NIPS 2017).

Needs a similarity in [0, 1] of every pair, which is drawn from one distribution inside clusters and from
another between them, each pair by itself; neither distribution is known, nor K. Rows come one by one. A
row that looks like a member of a cluster that is large enough to tell is put there without a question;
every other row is compared with one row of each cluster.

Promises all labels right with probability 1 - o(1), by O(K² ln n/Δ) questions, where Δ says how different
the two distributions are (here the squared gap of their means): without side information nK are needed. A
similarity made from coordinates is not drawn pair by pair, so there it is a method without a promise.
"""

from __future__ import annotations

from math import inf, log

import numpy as np
from numpy.typing import ArrayLike

from experiments.baselines.labeller import AnswerMemory, FoundClusters
from samekind.flow import FloatArray, Flow

__all__ = ["side_information"]

LEAST_GAP = 0.05  # of the mean similarities; below it side information is not used
SETTLED = 4.0  # Hoeffding: so many times ln n/gap² members make a verdict wrong with a chance of 1/n² at most


def side_information(similarity: ArrayLike, rng: np.random.Generator) -> Flow[FoundClusters]:
    """Find clusters with the help of a similarity.

    Parameters
    ----------
    similarity : (n, n) array
        Of every pair, in [0, 1], symmetric.
    rng : numpy.random.Generator
        Where all chance comes from.
    """
    weights: FloatArray = np.asarray(similarity, dtype=np.float64)
    if weights.ndim != 2 or weights.shape[0] != weights.shape[1] or not weights.size:
        raise ValueError(f"similarity must be an (n, n) array, got shape {weights.shape}.")
    if not ((weights >= 0) & (weights <= 1)).all():
        raise ValueError("similarity must be in [0, 1], got a number outside, or NaN.")
    return _run(weights, rng)


class _Seen:
    """The mean similarity of pairs known to be inside clusters, or between two."""

    def __init__(self) -> None:
        self.count = 0
        self._sum = 0.0

    def add(self, weights: FloatArray) -> None:
        self.count += weights.size
        self._sum += float(weights.sum())

    @property
    def mean(self) -> float:
        return self._sum / self.count


def _run(W: FloatArray, rng: np.random.Generator) -> Flow[FoundClusters]:
    n = len(W)
    memory = AnswerMemory()
    labels = np.full(n, -1)
    clusters: list[list[int]] = []  # rows placed by questions alone, which are surely right
    inside, between = _Seen(), _Seen()
    for row in rng.permutation(n).tolist():
        enough, threshold = _verdicts(inside, between, n)
        likeness = [float(W[row, members].mean()) for members in clusters]
        told = {c for c, members in enumerate(clusters) if len(members) >= enough}
        if told and likeness[best := max(told, key=lambda c: likeness[c])] > threshold:
            labels[row] = best
            continue
        for cluster in sorted(range(len(clusters)), key=lambda c: -likeness[c]):
            if cluster in told:
                continue  # large enough to tell, and unlike it
            if (yield from memory.ask_one(row, clusters[cluster][0])):
                labels[row] = cluster
                break
        if labels[row] < 0:
            labels[row] = len(clusters)
            clusters.append([])
        for cluster, members in enumerate(clusters):
            (inside if cluster == labels[row] else between).add(W[row, members])
        clusters[labels[row]].append(row)
    return FoundClusters(labels, np.empty((len(clusters), 0)))


def _verdicts(inside: _Seen, between: _Seen, n: int) -> tuple[float, float]:
    """Return how many members can tell of a row whether it is one of them, and from what similarity on."""
    if min(inside.count, between.count) <= log(n):
        return inf, inf
    gap = inside.mean - between.mean
    if gap < LEAST_GAP:
        return inf, inf
    return SETTLED * log(n) / gap**2, (inside.mean + between.mean) / 2
