"""ABJK18: Ailon, Bhattacharya, Jaiswal, Kumar, *Approximate Clustering with Same-Cluster Queries* (ITCS
2018).

Needs K, and an oracle whose clusters are those of an optimal K-means clustering. K rounds, each of which
adds a centre: D²-samples are put into clusters by questions; the cluster that is not yet covered and has
most of them gets a reference point, its sample nearest to the centres; further D²-samples of that cluster
are kept by rejection, so that they are uniform in it, and their mean is the centre.

Promises a cost of at most (1+ε) times the optimum, with probability 0.99, by O(K⁹/ε⁴) questions whatever
n is. Its 2¹²K³/ε² samples a round are more than most data sets have rows: 4·10⁸ for K = 10 and ε = 0.1.
As no row is asked about twice, it then asks about all of them. `n_draws` and `n_uniform` take fewer, and
promise nothing. The paper samples with `basic-exact` and the like in the same way, but does not need K.
"""

from __future__ import annotations

from collections import Counter
from math import ceil

import numpy as np
from numpy.typing import ArrayLike

from experiments.baselines.labeller import (
    FoundClusters,
    Labeller,
    check_clusters,
    check_rows,
    nearest_center,
)
from samekind.flow import FloatArray, Flow, IntArray

__all__ = ["query_kmeans"]

MOST_AT_ONCE = 2**16
DRAWS_PER_SAMPLE = 1_000  # after which a round does with the uniform samples that it has


def query_kmeans(
    X: ArrayLike,
    n_clusters: int,
    rng: np.random.Generator,
    *,
    epsilon: float = 0.5,
    n_draws: int | None = None,
    n_uniform: int | None = None,
) -> Flow[FoundClusters]:
    """Find K centres whose cost is near the optimum; each row belongs to the nearest of them.

    Parameters
    ----------
    X : (n, d) array
        The rows.
    n_clusters : int
        K.
    rng : numpy.random.Generator
        Where all chance comes from.
    epsilon : float
        How much more than the optimum the cost may be, as a share of it.
    n_draws : int or None
        Samples of a round; None takes the paper's 2¹²K³/ε².
    n_uniform : int or None
        Uniform samples whose mean is a centre; None takes 64K/ε, of which the mean of each of K clusters is
        good enough with probability 0.98 (Inaba's lemma).
    """
    rows = check_rows(X)
    k = check_clusters(n_clusters, len(rows))
    draws = n_draws or ceil(2**12 * k**3 / epsilon**2)
    return _run(rows, k, rng, draws, n_uniform or ceil(64 * k / epsilon))


def _run(
    X: FloatArray, k: int, rng: np.random.Generator, n_draws: int, n_uniform: int
) -> Flow[FoundClusters]:
    labeller = Labeller(X)
    covered: set[int] = set()
    centers: list[FloatArray] = []
    costs = np.ones(len(X))  # without a centre draws are uniform
    while len(centers) < k and costs.sum() > 0:
        cumulated = costs.cumsum()
        counts: Counter[int] = Counter()
        reference: dict[int, float] = {}
        for size in _pieces(n_draws):
            rows = _draw(cumulated, rng, size)
            found = yield from labeller.label(rows)
            for cluster in np.unique(found[found >= 0]).tolist():
                own = rows[found == cluster]
                counts[cluster] += own.size
                least = float(costs[own].min())
                reference[cluster] = min(least, reference.get(cluster, least))
        new = [cluster for cluster in counts if cluster not in covered]
        if not new:
            break
        chosen = max(new, key=lambda cluster: (counts[cluster], -cluster))
        samples = yield from _uniform_samples(
            labeller, cumulated, costs, chosen, reference[chosen], n_uniform, rng
        )
        centers.append(X[samples].mean(axis=0))
        covered.add(chosen)
        distances = ((X - centers[-1]) ** 2).sum(axis=1)
        costs = distances if len(centers) == 1 else np.minimum(costs, distances)
    found_centers = np.array(centers)
    return FoundClusters(nearest_center(X, found_centers), found_centers)


def _uniform_samples(
    labeller: Labeller,
    cumulated: FloatArray,
    costs: FloatArray,
    cluster: int,
    reference: float,
    enough: int,
    rng: np.random.Generator,
) -> Flow[list[int]]:
    """Return rows of a cluster, drawn by D² and kept with probability Φ(x*)/Φ(x)."""
    kept: list[int] = []
    nearest = labeller.state.members[cluster][0]
    for _ in range(DRAWS_PER_SAMPLE):
        rows = _draw(cumulated, rng, enough)
        own = rows[(yield from labeller.label(rows)) == cluster]
        kept += own[rng.random(own.size) * costs[own] < reference].tolist()
        if len(kept) >= enough:
            break
    return kept or [nearest]


def _draw(cumulated: FloatArray, rng: np.random.Generator, size: int) -> IntArray:
    rows: IntArray = np.searchsorted(cumulated, rng.random(size) * cumulated[-1], side="right")
    np.minimum(rows, len(cumulated) - 1, out=rows)
    return rows


def _pieces(total: int) -> list[int]:
    whole, rest = divmod(total, MOST_AT_ONCE)
    return [MOST_AT_ONCE] * whole + [rest] * (rest > 0)
