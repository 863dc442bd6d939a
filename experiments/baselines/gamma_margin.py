"""AKB16: Ashtiani, Kushagra, Ben-David, *Clustering with Same-Cluster Queries* (NIPS 2016).

Needs K, and clusters with a γ-margin: every row of a cluster is γ > 1 times nearer to its centre than any
row of another cluster is. Then a ball around the centre holds the cluster and nothing else, and a binary
search finds its radius. The centre need only be about right, for which a few rows of the cluster are
enough.

Promises all clusters exactly, with probability 1 - δ, by O(K log n + K² log(K/δ)/(γ-1)⁴) questions.
"""

from __future__ import annotations

from math import ceil, log

import numpy as np
from numpy.typing import ArrayLike

from experiments.baselines.labeller import (
    FoundClusters,
    Labeller,
    check_clusters,
    check_rows,
)
from samekind.flow import FloatArray, Flow, IntArray

__all__ = ["gamma_margin", "samples_for_margin"]


def samples_for_margin(gamma: float, n_clusters: int, delta: float) -> int:
    """Return η, the samples of a cluster whose mean is near enough to its centre (Lemma 5 of the paper).

    The paper has η = O(log(K/δ)/(γ-1)⁴), with a constant that it does not state; here it is 1. At least ten.
    """
    return max(10, ceil(log(n_clusters / delta) / (gamma - 1) ** 4))


def gamma_margin(
    X: ArrayLike,
    n_clusters: int,
    rng: np.random.Generator,
    *,
    gamma: float = 2.0,
    delta: float = 0.1,
) -> Flow[FoundClusters]:
    """Find clusters that have a γ-margin.

    Parameters
    ----------
    X : (n, d) array
        The rows.
    n_clusters : int
        K.
    rng : numpy.random.Generator
        Where all chance comes from.
    gamma : float
        The margin, above 1.
    delta : float
        The chance of failure that is allowed.
    """
    rows = check_rows(X)
    k = check_clusters(n_clusters, len(rows))
    if not gamma > 1:
        raise ValueError(f"gamma must be above 1, got {gamma}.")
    return _run(rows, k, rng, samples_for_margin(gamma, k, delta))


def _run(X: FloatArray, k: int, rng: np.random.Generator, eta: int) -> Flow[FoundClusters]:
    labeller = Labeller(X)
    labels = np.full(len(X), -1)
    centers = []
    left = np.arange(len(X))
    for number in range(k):
        if not left.size:
            break
        # Phase 1: rows of what is left, until one cluster has η of them.
        drawn: dict[int, list[int]] = {}
        biggest = -1
        for row in rng.permutation(left).tolist():
            cluster = int((yield from labeller.label(np.array([row])))[0])
            if cluster >= 0:
                drawn.setdefault(cluster, []).append(row)
                if biggest < 0 or len(drawn[cluster]) > len(drawn[biggest]):
                    biggest = cluster
                if len(drawn[cluster]) >= eta:
                    break
        if biggest < 0:
            break  # the oracle cannot tell of any row that is left
        center = X[drawn[biggest]].mean(axis=0)
        # Phase 2: binary search for the ball around it that holds the cluster.
        order = left[np.argsort(((X[left] - center) ** 2).sum(axis=1), kind="stable")]
        size = yield from _first_outside(order, biggest, labeller)
        labels[order[:size]] = number
        centers.append(X[order[:size]].mean(axis=0) if size else center)
        left = order[size:]
    return FoundClusters(labels, np.array(centers).reshape(-1, X.shape[1]))


def _first_outside(order: IntArray, cluster: int, labeller: Labeller) -> Flow[int]:
    """Return how many of the rows, in this order, are in the cluster, if those are the first ones."""
    low, high = 0, order.size
    while low < high:
        middle = (low + high) // 2
        if (yield from labeller.belongs(int(order[middle]), cluster)):
            low = middle + 1
        else:
            high = middle
    return low
