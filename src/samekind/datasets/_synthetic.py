"""The paper's synthetic data: Gaussian clusters with Zipf sizes, some of them close together."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from samekind._validation import RandomState, check_choice, check_positive_int, check_seed

_CHUNK_ROWS = 1 << 17
_SLACK = 1e-9  # shares this close below a whole number are that number


def make_synthetic(
    n: int = 10**6,
    *,
    n_clusters: int = 100,
    alpha: float = 2.5,
    sigma: float = 0.3,
    box: float = 5.0,
    n_features: int = 10,
    p: float = 0.0,
    radius: float = 0.1,
    collisions: str = "sparse",
    dtype: DTypeLike = np.float64,
    shuffle: bool = True,
    random_state: RandomState = None,
    return_centers: bool = False,
) -> tuple[NDArray[Any], ...]:
    """Make Gaussian clusters whose sizes follow a power law; the defaults are the paper's.

    Parameters
    ----------
    n : int, default=10**6
        Number of points, at least `n_clusters`.
    n_clusters : int, default=100
        Number of clusters, the paper's K.
    alpha : float, default=2.5
        Skewness of the sizes: cluster i has a share proportional to i^(-alpha). 0 makes all
        clusters equally large. See Notes.
    sigma : float, default=0.3
        Standard deviation of each cluster in each direction.
    box : float, default=5.0
        Centres are uniform in [0, box]^n_features; the paper's b.
    n_features : int, default=10
        Number of dimensions, the paper's d.
    p : float, default=0.0
        How often clusters collide, in [0, 1]; see `collisions`.
    radius : float, default=0.1
        Colliding clusters have their centres uniform in a ball of this radius around the centre
        of one of them; the paper's ρ.
    collisions : {"sparse", "dense"}, default="sparse"
        Two clusters are joined with probability ``p / n_clusters`` ("sparse") or ``p`` ("dense"),
        and the connected components are the groups that collide. See Notes.
    dtype : numpy.float64 or numpy.float32, default=numpy.float64
        Type of the points.
    shuffle : bool, default=True
        Whether the rows come in random order; otherwise cluster by cluster, largest first.
    random_state : int, numpy.random.Generator, SeedSequence or None, default=None
        Seed; the same seed gives the same labels and points.
    return_centers : bool, default=False
        Whether to return the centres too.

    Returns
    -------
    X : ndarray of shape (n, n_features)
        The points.
    y : ndarray of shape (n,), int64
        The cluster of each point; cluster 0 is the largest.
    centers : ndarray of shape (n_clusters, n_features)
        The means the points were drawn around. Only with ``return_centers=True``.

    Notes
    -----
    The paper says that sizes are drawn from a Zipf law. Here they are Zipf *by rank*: cluster i
    has n·i^(-alpha)/Σ points (rounded, at least one), with nothing random about it. With this
    reading uniform sampling recovers as many clusters as in the paper's tables, and sizes drawn
    one by one from a Zipf law cannot give these figures.

    The paper joins each pair of clusters with probability p. For K = 100 and p = 0.1 that puts
    (nearly) all clusters into one group, in one place, and uniform sampling then recovers less
    than half as many clusters as the paper reports. With p/K its figures come out, so this is the
    default; ``collisions="dense"`` is the paper to the letter.

    The paper says sigma = 0.3 of Gaussians N(μ, sigma²·I). Its figures for the algorithms that sample by
    distance come out with a variance of 0.3, ``sigma=0.3**0.5``; see docs/paper.md.

    Examples
    --------
    >>> import numpy as np
    >>> from samekind.datasets import make_synthetic
    >>> X, y = make_synthetic(n=1000, n_clusters=5, n_features=3, random_state=0)
    >>> X.shape
    (1000, 3)
    >>> np.bincount(y)
    array([775, 137,  50,  24,  14])
    """
    n_clusters = check_positive_int("n_clusters", n_clusters)
    n = check_positive_int("n", n)
    if n < n_clusters:
        raise ValueError(
            f"n must be at least n_clusters, so that no cluster is empty, got n={n} and "
            f"n_clusters={n_clusters}. Make more points or fewer clusters."
        )
    n_features = check_positive_int("n_features", n_features)
    given = {"alpha": alpha, "sigma": sigma, "radius": radius, "box": box}
    alpha, sigma, radius, box = (_check_number(name, value) for name, value in given.items())
    p = _check_number("p", p, maximum=1.0)
    check_choice("collisions", collisions, ("sparse", "dense"))
    kind = np.dtype(dtype)
    if kind not in (np.float32, np.float64):
        raise ValueError(f"dtype must be numpy.float32 or numpy.float64, got {dtype!r}.")
    rng = np.random.default_rng(check_seed(random_state))

    edge_probability = p / n_clusters if collisions == "sparse" else p
    centers = _draw_centers(rng, n_clusters, n_features, box, edge_probability, radius)
    y = np.repeat(np.arange(n_clusters), zipf_sizes(n, n_clusters, alpha)).astype(np.int64)
    if shuffle:
        rng.shuffle(y)  # before the points exist: to shuffle those would cost a copy
    scalar: Any = kind.type
    X = rng.standard_normal((n, n_features), dtype=scalar)
    X *= scalar(sigma)
    for start in range(0, n, _CHUNK_ROWS):
        X[start : start + _CHUNK_ROWS] += centers[y[start : start + _CHUNK_ROWS]]
    return (X, y, centers) if return_centers else (X, y)


def zipf_sizes(n: int, n_clusters: int, alpha: float) -> NDArray[np.int64]:
    """Share n points out in proportion to rank^(-alpha): whole numbers, at least one each."""
    weights = np.arange(1, n_clusters + 1, dtype=np.float64) ** -alpha
    # Clusters whose share is below one point get one, and the rest share what is left.
    head = n_clusters
    while True:
        shares = weights[:head] / weights[:head].sum() * (n - (n_clusters - head))
        too_small = int(np.count_nonzero(shares < 1 - _SLACK))
        if not too_small:
            break
        head -= too_small
    sizes = np.ones(n_clusters, dtype=np.int64)
    sizes[:head] = np.maximum(1, np.floor(shares + _SLACK))
    by_remainder = np.argsort(sizes[:head] - shares, kind="stable")
    sizes[by_remainder[: n - sizes.sum()]] += 1
    return sizes


def _draw_centers(
    rng: np.random.Generator,
    n_clusters: int,
    n_features: int,
    box: float,
    edge_probability: float,
    radius: float,
) -> NDArray[np.float64]:
    centers = rng.uniform(0.0, box, size=(n_clusters, n_features))
    if edge_probability == 0.0:
        return centers
    group = _draw_groups(rng, n_clusters, edge_probability)
    leaders = np.empty(group.max() + 1, dtype=np.intp)
    order = rng.permutation(n_clusters)
    leaders[group[order]] = order  # the last of a group in random order: any of them, equally
    leader = leaders[group]
    follows = np.flatnonzero(leader != np.arange(n_clusters))
    centers[follows] = centers[leader[follows]]
    centers[follows] += _draw_in_ball(rng, len(follows), n_features, radius)
    return centers


def _draw_groups(
    rng: np.random.Generator, n_clusters: int, edge_probability: float
) -> NDArray[np.intp]:
    """Join each pair with the given probability and number the connected components."""
    from scipy.sparse import coo_array  # takes long to import, and few need it
    from scipy.sparse.csgraph import connected_components

    neighbours = [
        i + 1 + np.flatnonzero(rng.random(n_clusters - i - 1) < edge_probability)
        for i in range(n_clusters)
    ]
    heads = np.repeat(np.arange(n_clusters), [len(found) for found in neighbours])
    edges = (np.ones(len(heads)), (heads, np.concatenate(neighbours)))
    graph = coo_array(edges, shape=(n_clusters, n_clusters))
    _, group = connected_components(graph, directed=False)
    return np.asarray(group, dtype=np.intp)


def _draw_in_ball(
    rng: np.random.Generator, size: int, n_features: int, radius: float
) -> NDArray[np.float64]:
    """Uniform in the ball: a uniform direction, and a length whose d-th power is uniform."""
    direction = rng.standard_normal((size, n_features))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    length = radius * rng.random((size, 1)) ** (1 / n_features)
    return np.asarray(direction * length, dtype=np.float64)


def _check_number(name: str, value: object, *, maximum: float = np.inf) -> float:
    rule = "a finite number of at least 0" if maximum == np.inf else f"a number in [0, {maximum:g}]"
    number = float(value) if not isinstance(value, bool) and isinstance(value, Real) else np.nan
    if not (np.isfinite(number) and 0 <= number <= maximum):
        raise ValueError(f"{name} must be {rule}, got {value!r}.")
    return number
