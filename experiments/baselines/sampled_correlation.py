"""ABJ18: Ailon, Bhattacharya, Jaiswal, *Approximate Correlation Clustering Using Same-Cluster Queries*
(LATIN 2018).

Correlation clustering: every pair of rows looks alike (+) or not (-), and the clusters are to disagree
with as few of these signs as possible. Needs K, and an oracle whose clusters are the best K. A sample of
rows is parted by questions; every other row goes where it agrees most with the sample (the scheme of
Giotis and Guruswami, whose exhaustive search the questions replace). Large clusters stand; what went to
small ones, of which the sample says little, is taken again with a sample of its own.

Promises at most (1+ε) times the least number of disagreements, with high probability, by O(K¹⁴ ln n ln
K/ε⁶) questions, which is more than nK for all n below about 10¹⁴ already with K = 4. `n_samples` takes
fewer.
"""

from __future__ import annotations

from math import ceil, log

import numpy as np
from numpy.typing import ArrayLike

from experiments.baselines.labeller import (
    AnswerMemory,
    FoundClusters,
    check_clusters,
    check_signs,
)
from samekind.flow import BoolArray, Flow

__all__ = ["sampled_correlation"]

PER_CLUSTER = 16  # samples, times K²·ln n, by default


def sampled_correlation(
    positive: ArrayLike,
    n_clusters: int,
    rng: np.random.Generator,
    *,
    epsilon: float = 0.5,
    n_samples: int | None = None,
) -> Flow[FoundClusters]:
    """Find K clusters that disagree with few signs.

    Parameters
    ----------
    positive : (n, n) array of bool
        Whether each pair looks alike; symmetric.
    n_clusters : int
        K.
    rng : numpy.random.Generator
        Where all chance comes from.
    epsilon : float
        How many more than the least number of disagreements there may be, as a share of it.
    n_samples : int or None
        Rows of a sample; None takes 16 K² ln n/ε².
    """
    signs = check_signs(positive)
    n = len(signs)
    k = check_clusters(n_clusters, n)
    return _run(signs, k, rng, n_samples or ceil(PER_CLUSTER * k**2 * log(n + 1) / epsilon**2))


def _run(positive: BoolArray, k: int, rng: np.random.Generator, size: int) -> Flow[FoundClusters]:
    memory = AnswerMemory()
    n = len(positive)
    labels = np.full(n, -1)
    groups: list[list[int]] = []  # rows whose cluster is known by questions
    left = np.arange(n)
    while left.size:
        sample = rng.permutation(left)[:size].tolist()
        for row in sample:
            cluster = 0
            while cluster < len(groups):
                if row in groups[cluster] or (yield from memory.ask_one(row, groups[cluster][0])):
                    break
                cluster += 1
            if cluster == len(groups):
                groups.append([])
            if row not in groups[cluster]:
                groups[cluster].append(row)
            labels[row] = cluster
        rest = left[labels[left] < 0]
        if rest.size:
            inside = np.array([positive[rest][:, group].sum(axis=1) for group in groups])
            sizes = np.array([len(group) for group in groups])[:, None]
            # What joins a cluster agrees with + inside it and with - elsewhere.
            labels[rest] = (2 * inside - sizes).argmax(axis=0)
        counts = np.bincount(labels[left], minlength=len(groups))
        large = counts >= n / (2 * k)
        if large[labels[left]].all() or not large.any() or size >= left.size:
            break
        known = {row for group in groups for row in group}
        left = left[~large[labels[left]]]
        labels[[row for row in left.tolist() if row not in known]] = -1
    return FoundClusters(labels, np.empty((len(groups), 0)))
