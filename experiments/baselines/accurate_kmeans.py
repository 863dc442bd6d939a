"""GHS18: Gamlath, Huang, Svensson, *Semi-Supervised Algorithms for Approximately Optimal and Accurate
Clustering* (ICALP 2018).

Needs K, and an oracle whose clusters are those of an optimal K-means clustering. Such clusters are the
Voronoi cells of their centres, so any two are parted by a hyperplane, and hyperplanes can be learnt from
labelled rows. A row that is put into a wrong cluster costs the more, the farther it is from its centre;
therefore rows are taken ring by ring (a ring of a rough centre has the rows at distances between r and 2r
from it), and each ring has labelled rows of its own and is learnt by itself.

Promises, with probability 1 - δ, at most a share ε of wrong labels *and* a cost of at most (1+ε) times
the optimum, by O(K² log n · m) questions, where m labelled rows teach the hyperplanes with an error of
ε⁴. The ε⁴ is what keeps the cost down; `per_ring` rows a ring give an error of about K·d/`per_ring` in
each.
"""

from __future__ import annotations

import warnings
from math import ceil, log

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

__all__ = ["accurate_kmeans"]

SEED_ROWS = 8  # labelled rows, times K·ln K, from which rough centres are made
HARD_MARGIN = 1e6  # separable rows are separated


def accurate_kmeans(
    X: ArrayLike,
    n_clusters: int,
    rng: np.random.Generator,
    *,
    epsilon: float = 0.1,
    delta: float = 0.1,
    per_ring: int | None = None,
) -> Flow[FoundClusters]:
    """Find clusters that are both accurate and cheap.

    Parameters
    ----------
    X : (n, d) array
        The rows.
    n_clusters : int
        K.
    rng : numpy.random.Generator
        Where all chance comes from.
    epsilon : float
        The share of labels that may be wrong.
    delta : float
        The chance of failure that is allowed.
    per_ring : int or None
        Rows asked about in each ring; None takes (K·d + ln(1/δ))/ε, which teaches hyperplanes with an
        error of ε.
    """
    rows = check_rows(X)
    k = check_clusters(n_clusters, len(rows))
    default = ceil((k * rows.shape[1] + log(1 / delta)) / epsilon)
    return _run(rows, k, rng, per_ring or default)


def _run(X: FloatArray, k: int, rng: np.random.Generator, per_ring: int) -> Flow[FoundClusters]:
    labeller = Labeller(X)
    rough = yield from _rough_centers(X, k, labeller, rng)
    nearest = nearest_center(X, rough)
    distances = np.sqrt(((X - rough[nearest]) ** 2).sum(axis=1))
    scale = distances[distances > 0].min(initial=np.inf)
    rings = np.zeros(len(X), dtype=np.intp)
    away = distances > 0
    rings[away] = 1 + np.log2(distances[away] / scale).astype(np.intp)
    labels = np.full(len(X), -1)
    for center in range(len(rough)):
        for ring in np.unique(rings[nearest == center]).tolist():
            own = np.flatnonzero((nearest == center) & (rings == ring))
            asked = rng.choice(own, min(per_ring, own.size), replace=False)
            said = yield from labeller.label(asked)
            labels[own] = _learnt(X, asked[said >= 0], said[said >= 0], own)
            labels[asked] = np.maximum(said, -1)
    n_found = labeller.n_clusters
    centers = np.array([X[labels == c].mean(axis=0) for c in range(n_found) if (labels == c).any()])
    return FoundClusters(labels, centers.reshape(-1, X.shape[1]))


def _rough_centers(
    X: FloatArray, k: int, labeller: Labeller, rng: np.random.Generator
) -> Flow[FloatArray]:
    """Return a centre for each cluster seen: D²-draws, as in k-means++, and the means of what they hit."""
    costs = np.ones(len(X))
    for _ in range(ceil(SEED_ROWS * k * max(1.0, log(k)))):
        if not costs.any():
            break
        row = int(np.searchsorted(costs.cumsum(), rng.random() * costs.sum(), side="right"))
        row = min(row, len(X) - 1)
        before = labeller.n_clusters
        yield from labeller.label(np.array([row]))
        if labeller.n_clusters > before:
            distances = ((X - X[row]) ** 2).sum(axis=1)
            costs = distances if before == 0 else np.minimum(costs, distances)
    if not labeller.n_clusters:
        return X[:1]
    return labeller.state.centers.copy()


def _learnt(X: FloatArray, asked: IntArray, said: IntArray, rows: IntArray) -> IntArray:
    """Return the cluster of each row by hyperplanes between the rows asked about."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.svm import SVC

    kinds = np.unique(said)
    if kinds.size < 2:
        return np.full(rows.size, kinds[0] if kinds.size else -1)
    with (
        warnings.catch_warnings()
    ):  # rows that no hyperplane separates are parted as well as may be
        warnings.simplefilter("ignore", ConvergenceWarning)
        learnt = SVC(kernel="linear", C=HARD_MARGIN, max_iter=100_000).fit(X[asked], said)
    predicted: IntArray = learnt.predict(X[rows]).astype(np.intp)
    return predicted
