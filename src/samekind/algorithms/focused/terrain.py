"""What does not depend on answers: the rows that stand for all, their coordinates, and the graph of walks."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.spatial import cKDTree
from threadpoolctl import threadpool_limits

from samekind.algorithms.focused import _kernels as kernels
from samekind.flow import FloatArray, IntArray
from samekind.points import Points
from samekind.points.representatives import Representatives, choose_representatives

__all__ = ["Edges", "Terrain", "map_terrain", "nearest_neighbors"]

NEIGHBORS = 10  # edges of a row; 6 and 15 were worse on banking77 (MiniLM)
WIDTH = 7  # the neighbour whose distance is the local scale
LEAK = 0.02  # chance at every step that a walk is lost: walks take about 50 steps
MOST_NODES = 30_000  # more rows are seen through representatives
TREE_COLUMNS = 15  # up to which a tree finds neighbours faster than products of rows do
PRODUCTS_AT_ONCE = 1 << 22  # a bound on memory


class Edges(NamedTuple):
    """Edges of a graph: those of node i are `first[i]` … `first[i + 1] - 1`."""

    first: NDArray[np.int32]
    to: NDArray[np.int32]
    step: NDArray[np.float32]


class Terrain(NamedTuple):
    """The nodes of the graph, each a row of the data, and the walk between them."""

    rows: IntArray
    """(m,) the row of each node, ascending but for those that were added."""
    weight: FloatArray
    """(m,) how many rows each node stands for."""
    Z: NDArray[np.float32]
    """(m, k) coordinates, centred, with unit mean variance."""
    spread: FloatArray
    """(k, k) their covariance."""
    distances: FloatArray
    neighbors: IntArray
    """(m, NEIGHBORS) the nearest nodes of each node, and how far they are."""
    out: Edges
    into: Edges
    once: FloatArray
    """(m,) about 1 / how often a walk that starts in a node comes by there."""
    sample: Representatives
    """The nodes as representatives, in the coordinates in which rows are compared."""

    def nodes_of(self, rows: IntArray) -> IntArray:
        """Return the node of each row, -1 for a row that is none."""
        order = np.argsort(self.rows, kind="stable")
        at = order[np.minimum(np.searchsorted(self.rows, rows, sorter=order), order.size - 1)]
        return np.where(self.rows[at] == rows, at, -1)

    def with_rows(self, points: Points, rows: IntArray) -> Terrain:
        """Return the same with further rows as nodes, each with edges to its nearest nodes."""
        sample = self.sample.with_rows(points, rows)
        m, k = len(self.rows), self.neighbors.shape[1]
        tree = cKDTree(self.sample.X)
        distances, found = tree.query(sample.X[m:], k)
        shape = (len(sample.rows) - m, k)
        return _terrain(
            sample,
            np.concatenate([self.distances, np.reshape(distances, shape)]),
            np.concatenate([self.neighbors, np.reshape(found, shape)]),
        )


def map_terrain(points: Points, seed: int) -> Terrain:
    """Return the nodes that stand for all rows, and their graph."""
    sample = choose_representatives(points, seed, size=MOST_NODES)
    distances, neighbors = nearest_neighbors(points, sample, NEIGHBORS)
    return _terrain(sample, distances, neighbors)


def _terrain(sample: Representatives, distances: FloatArray, neighbors: IntArray) -> Terrain:
    Z = sample.X - sample.X.mean(axis=0)
    Z = np.ascontiguousarray(Z / max(Z.std(), 1e-12), dtype=np.float32)
    spread = np.atleast_2d(np.cov(Z, rowvar=False)) if len(Z) > 1 else np.eye(Z.shape[1])
    walk = _walk(distances, neighbors)
    return Terrain(sample.rows, sample.weights, Z, spread, distances, neighbors, *walk, sample)


def _walk(distances: FloatArray, neighbors: IntArray) -> tuple[Edges, Edges, FloatArray]:
    """Return the edges out of and into each node of a walk that prefers near neighbours."""
    n, k = neighbors.shape
    if not k:  # a single row
        none = _edges(sp.csr_array((n, n), dtype=np.float32))
        return none, none, np.ones(n)
    scale = np.maximum(distances[:, min(WIDTH, k) - 1], 1e-9)
    nearness = np.exp(-(distances**2) / (scale[:, None] * scale[neighbors]))
    shape = (n, n)
    W = sp.csr_array(
        (np.maximum(nearness, 1e-6).ravel(), neighbors.ravel(), np.arange(n + 1) * k), shape
    )
    W = W.maximum(W.T).tocsr()
    W.sort_indices()
    P = (sp.diags_array((1 - LEAK) / W.sum(axis=1)) @ W).tocsr().astype(np.float32)
    T = P.T.tocsr()
    once: FloatArray = 1 - np.asarray(P.multiply(T).sum(axis=1)).ravel()
    return _edges(P), _edges(T), once


def _edges(matrix: sp.csr_array) -> Edges:
    return Edges(matrix.indptr.astype(np.int32), matrix.indices.astype(np.int32), matrix.data)


def nearest_neighbors(
    points: Points, sample: Representatives, k: int
) -> tuple[FloatArray, IntArray]:
    """Return the distances of each representative to the nearest others, and which these are, (m, k) both.

    Directions are compared by all columns, other rows in the working space. Of embeddings, 64 components find
    four fifths of the neighbours (adjusted Rand index .57, not .65, on stackoverflow at 300 questions). Of
    pictures, they find better ones than all columns do (.58, not .53, on fashion10k).
    """
    k = min(k, len(sample.rows) - 1)
    if k < 1:
        return np.zeros((len(sample.rows), 0)), np.zeros((len(sample.rows), 0), dtype=np.intp)
    by_direction = points.reduced_from is not None and points.reduced_from[1].unit
    X = points.full_rows(sample.rows) if by_direction else sample.X
    if X.shape[1] <= TREE_COLUMNS:
        return _by_tree(np.asarray(X, dtype=np.float64), k)
    return _by_products(np.ascontiguousarray(X, dtype=np.float32), k)


def _by_tree(X: FloatArray, k: int) -> tuple[FloatArray, IntArray]:
    distances, found = cKDTree(X).query(X, k + 1)
    own = found == np.arange(len(X))[:, None]
    own[~own.any(axis=1), -1] = True  # among equal rows, a row may not find itself
    shape = len(X), k
    return distances[~own].reshape(shape), found[~own].reshape(shape)


def _by_products(X: NDArray[np.float32], k: int) -> tuple[FloatArray, IntArray]:
    n = len(X)
    X = X - X.mean(axis=0)  # float32 keeps more digits of what is near 0
    squares = np.einsum("ij,ij->i", X, X)
    distances, found = np.empty((n, k)), np.empty((n, k), dtype=np.intp)
    step = max(1, PRODUCTS_AT_ONCE // n)
    with threadpool_limits(1):  # the last bits would depend on the number of threads
        for start in range(0, n, step):
            products = X[start : start + step] @ X.T
            kernels.nearest_by_products(products, squares, start, distances, found)
    return np.sqrt(distances), found
