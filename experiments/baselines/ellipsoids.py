"""BCLP20: Bressan, Cesa-Bianchi, Lattanzi, Paudice, *Exact Recovery of Mangled Clusters with Same-Cluster
Queries* (NeurIPS 2020).

Needs clusters with an ellipsoidal margin γ: each has a centre and a quadratic form of its own, by which
every row outside is at least √(1+γ) times as far from the centre as every row inside. So a cluster may be
stretched and turned as it likes. Rows are drawn until a cluster has enough of them; the smallest
ellipsoid around those is cut into boxes that are too small for rows of two clusters, one row of each box
is asked about, and what is of the cluster is taken away. Half of a cluster or more goes each time, so a
few rounds take all.

Promises every label right, whatever the draws, if the margin is there (chance only moves the number of
questions), by (d/γ · log(d/γ))^d · log n questions for each cluster: for few dimensions. K is not needed.
"""

from __future__ import annotations

from math import ceil

import numpy as np
from numpy.typing import ArrayLike

from experiments.baselines.labeller import FoundClusters, Labeller, check_rows
from samekind.flow import FloatArray, Flow, IntArray

__all__ = ["ellipsoids", "smallest_ellipsoid"]

TOLERANCE = 0.05  # of the ellipsoid's volume, relatively
MOST_STEPS = 2_000
FLAT = 1e-9  # of the largest axis: the least that an axis has


def ellipsoids(
    X: ArrayLike, rng: np.random.Generator, *, gamma: float = 1.0, n_samples: int | None = None
) -> Flow[FoundClusters]:
    """Find clusters that lie in ellipsoids with a margin.

    Parameters
    ----------
    X : (n, d) array
        The rows.
    rng : numpy.random.Generator
        Where all chance comes from.
    gamma : float
        The margin: squared distances outside are at least 1+γ times those inside.
    n_samples : int or None
        Rows of a cluster around which an ellipsoid is laid; None takes 2(d+1)², which covers most of the
        cluster.
    """
    rows = check_rows(X)
    if not gamma > 0:
        raise ValueError(f"gamma must be above 0, got {gamma}.")
    return _run(rows, rng, gamma, n_samples or ceil(2 * (rows.shape[1] + 1) ** 2))


def _run(X: FloatArray, rng: np.random.Generator, gamma: float, enough: int) -> Flow[FoundClusters]:
    labeller = Labeller(X)
    labels = np.full(len(X), -1)
    left = np.arange(len(X))
    while left.size:
        cluster, samples = yield from _sampled(labeller, rng.permutation(left), enough)
        if cluster < 0:
            break  # the oracle cannot tell of any row that is left
        labels[left] = np.maximum(labeller.state.cluster_of(left), -1)
        if len(samples) >= enough:
            center, axes = smallest_ellipsoid(X[samples])
            along = (X[left] - center) @ axes
            inside = np.flatnonzero((along**2).sum(axis=1) <= 1 + 1e-6)
            for box in _boxes(along[inside], gamma):
                members = left[inside[box]]
                if (yield from labeller.belongs(int(rng.choice(members)), cluster)):
                    labels[members] = cluster
        left = left[labels[left] < 0]
    centers = [X[labels == c].mean(axis=0) for c in range(labeller.n_clusters)]
    return FoundClusters(labels, np.array(centers).reshape(-1, X.shape[1]))


def _sampled(labeller: Labeller, order: IntArray, enough: int) -> Flow[tuple[int, list[int]]]:
    """Ask about rows until a cluster has enough; return the cluster with most of them, and these."""
    drawn: dict[int, list[int]] = {}
    for row in order.tolist():
        cluster = int((yield from labeller.label(np.array([row])))[0])
        drawn.setdefault(cluster, []).append(row)
        if cluster >= 0 and len(drawn[cluster]) >= enough:
            return cluster, drawn[cluster]
    drawn.pop(-2, None)  # given up
    biggest = max(drawn, key=lambda cluster: len(drawn[cluster]), default=-1)
    return biggest, drawn.get(biggest, [])


def smallest_ellipsoid(X: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the centre of the smallest ellipsoid around rows, and axes: row x is in it if
    |(x-centre)·axes| ≤ 1.

    Khachiyan's algorithm: weights of the rows move to the row that is farthest by the form they define.
    """
    n, d = X.shape
    lifted = np.column_stack([X, np.ones(n)])
    weights = np.full(n, 1 / n)
    ridge = FLAT * max(float(np.abs(X - X.mean(axis=0)).max()), 1e-12)
    for _ in range(MOST_STEPS):
        form = lifted.T @ (weights[:, None] * lifted) + ridge**2 * np.eye(d + 1)
        far = np.einsum("ij,ji->i", lifted, np.linalg.solve(form, lifted.T))
        worst = int(far.argmax())
        step = (far[worst] - d - 1) / ((d + 1) * (far[worst] - 1))
        if far[worst] <= (1 + TOLERANCE) * (d + 1):
            break
        weights *= 1 - step
        weights[worst] += step
    center = weights @ X
    spread = (X - center).T @ (weights[:, None] * (X - center)) * d
    values, vectors = np.linalg.eigh(spread)
    lengths = np.sqrt(np.maximum(values, (FLAT * max(np.sqrt(values[-1]), 1e-12)) ** 2))
    axes = vectors / lengths
    farthest = np.sqrt((((X - center) @ axes) ** 2).sum(axis=1).max(initial=0))
    return center, axes / max(farthest, 1e-12)


def _boxes(along: FloatArray, gamma: float) -> list[IntArray]:
    """Return the rows of each box that has some; `along` are their coordinates by the ellipsoid's axes.

    Along each axis boxes grow in proportion to the distance from the centre, but for the innermost.
    """
    d = along.shape[1]
    growth, innermost = gamma / (4 * d), gamma / (8 * d**2)
    steps = np.log(np.maximum(np.abs(along), innermost) / innermost) / np.log1p(growth)
    index = (np.sign(along) * np.ceil(steps)).astype(np.intp)
    _, numbers = np.unique(index, axis=0, return_inverse=True)
    order = np.argsort(numbers.ravel(), kind="stable")
    counts = np.bincount(numbers.ravel())
    return np.split(order, counts.cumsum()[:-1]) if along.size else []
