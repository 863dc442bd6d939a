"""KwikBucks: Silwal, Ahmadian, Nystrom, McCallum, Ramachandran, Kazemi, *KwikBucks: Correlation
Clustering with Cheap-Weak and Expensive-Strong Signals* (ICLR 2023).

The strong signal is the oracle; the weak one is how near rows are (of embeddings, say). Needs neither K
nor that the weak signal is right. Rows are taken in random order: each asks its nearest pivots, and joins
the first that is of its cluster, or becomes a pivot while there are fewer than `n_pivots`. At the end
clusters that are near each other are compared, and merged where most of a few pairs are of one cluster.

Promises, with all pivots asked (`n_asked` = None), in expectation at most 3·OPT + εn² disagreements with
the oracle for `n_pivots` = O(1/ε), by O(n/ε) questions. With fewer asked it rests on the weak signal.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from experiments.baselines.labeller import AnswerMemory, FoundClusters, check_rows
from samekind.flow import FloatArray, Flow

__all__ = ["kwikbucks"]

NEAR_CLUSTERS = 2  # for each cluster, so many others it may be merged with
PAIRS_COMPARED = 3


def kwikbucks(
    X: ArrayLike,
    rng: np.random.Generator,
    *,
    n_pivots: int | None = None,
    n_asked: int | None = 10,
) -> Flow[FoundClusters]:
    """Find clusters by pivots.

    Parameters
    ----------
    X : (n, d) array
        The rows; near ones are likelier of one cluster.
    rng : numpy.random.Generator
        Where all chance comes from.
    n_pivots : int or None
        The most pivots; None: as many as there are clusters.
    n_asked : int or None
        Pivots that a row asks at most, the nearest ones; None: all.
    """
    rows = check_rows(X)
    return _run(rows, rng, n_pivots or len(rows), n_asked or len(rows))


def _run(X: FloatArray, rng: np.random.Generator, most: int, n_asked: int) -> Flow[FoundClusters]:
    memory = AnswerMemory()
    labels = np.full(len(X), -1)
    pivots: list[int] = []
    for row in rng.permutation(len(X)).tolist():
        distances = ((X[pivots] - X[row]) ** 2).sum(axis=1)
        for number in np.argsort(distances, kind="stable")[:n_asked].tolist():
            if (yield from memory.ask_one(row, pivots[number])):
                labels[row] = number
                break
        if labels[row] < 0 and len(pivots) < most:
            labels[row] = len(pivots)
            pivots.append(row)
    if n_asked < len(pivots):  # else every pivot was refused by all before it
        labels = yield from _merged(X, labels, pivots, memory, rng)
    names: dict[int, int] = {-1: -1}
    ordered = np.array([names.setdefault(label, len(names) - 1) for label in labels.tolist()])
    singles = np.flatnonzero(ordered < 0)
    ordered[singles] = len(names) - 1 + np.arange(singles.size)  # each a cluster by itself
    centers = [X[ordered == c].mean(axis=0) for c in range(ordered.max() + 1)]
    return FoundClusters(ordered, np.array(centers))


def _merged(
    X: FloatArray,
    labels: np.ndarray,
    pivots: list[int],
    memory: AnswerMemory,
    rng: np.random.Generator,
) -> Flow[np.ndarray]:
    """Merge clusters that are near each other, where most of a few pairs are of one cluster."""
    centers = np.array([X[labels == c].mean(axis=0) for c in range(len(pivots))])
    root = list(range(len(pivots)))
    for cluster in range(len(pivots)):
        distances = ((centers - centers[cluster]) ** 2).sum(axis=1)
        distances[cluster] = np.inf
        for other in np.argsort(distances, kind="stable")[:NEAR_CLUSTERS].tolist():
            if root[cluster] == root[other] or not np.isfinite(distances[other]):
                continue
            ones, others = np.flatnonzero(labels == cluster), np.flatnonzero(labels == other)
            pairs = [
                (int(rng.choice(ones)), int(rng.choice(others))) for _ in range(PAIRS_COMPARED)
            ]
            if 2 * sum((yield from memory.ask(pairs))) > PAIRS_COMPARED:
                gone = root[other]
                root = [root[cluster] if r == gone else r for r in root]
    return np.where(labels >= 0, np.array([*root, -1])[labels], -1)
