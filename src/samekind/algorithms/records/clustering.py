"""Entities from the log-odds of pairs: correlation clustering.

The clusters are to have the largest sum of log-odds within them. Greedy contraction (Keuper et al., 2015)
merges along the likeliest pairs first, where all pairs between two clusters together speak for it; then
single records move while that gains. Only records that positive pairs connect can be together, so clusters
are found within these components, nearly all of which are a handful of records.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from samekind.algorithms.records._kernels import greedy_merge, join_components, move_records
from samekind.flow import IntArray

__all__ = ["entities_of", "file_bits"]

SWEEPS = 10


def entities_of(
    n: int,
    pairs: NDArray[np.integer],
    weights: NDArray[np.floating],
    files: NDArray[np.int8] | None = None,
) -> IntArray:
    """Return the entity of each of n records, numbered in the order of their first records.

    Parameters
    ----------
    n : int
        Records.
    pairs : ndarray of shape (m, 2)
        Pairs of them; a pair may stand there more than once, and its weights add up.
    weights : ndarray of shape (m,)
        The log-odds that each is one entity. Of other pairs nothing is known.
    files : ndarray of shape (n,) or None
        The file of each record; then an entity has at most one of each. -1 where it does not matter.

    Examples
    --------
    >>> entities_of(4, np.array([[0, 1], [1, 2], [0, 2]]), np.array([2.0, 1.0, -3.0]))
    array([0, 0, 1, 2])
    """
    component = np.arange(n)
    join_components(pairs, weights, component)
    within = component[pairs[:, 0]] == component[pairs[:, 1]]
    own, strength = pairs[within], weights[within].astype(np.float64)
    rows = np.unique(own)
    place = np.full(n, -1)
    place[rows] = np.arange(rows.size)
    local = place[own]
    start, neighbor, weight = _adjacency(rows.size, local, strength)
    bits = np.zeros(rows.size, dtype=np.int64) if files is None else file_bits(files[rows])
    root = np.arange(rows.size)
    order = np.argsort(-strength, kind="stable")
    order = order[strength[order] > 0]
    greedy_merge(order, local, start, neighbor, weight, bits, root)
    move_records(start, neighbor, weight, bits, root, SWEEPS)
    label = np.arange(n)
    first = np.full(rows.size, n)
    np.minimum.at(first, root, rows)
    label[rows] = first[root]
    return np.asarray(np.unique(label, return_inverse=True)[1], dtype=np.intp)


def file_bits(files: NDArray[np.int8]) -> IntArray:
    """Return a bit for the file of each record, none where it does not matter."""
    return np.where(files >= 0, np.int64(1) << np.maximum(files, 0).astype(np.int64), 0)


def _adjacency(
    n: int, pairs: NDArray[np.integer], weights: NDArray[np.float64]
) -> tuple[IntArray, IntArray, NDArray[np.float64]]:
    """Return where the neighbours of each row start, the neighbours, and the weights."""
    ends = np.concatenate([pairs[:, 0], pairs[:, 1]])
    order = np.argsort(ends, kind="stable")
    others = np.concatenate([pairs[:, 1], pairs[:, 0]])[order]
    start = np.searchsorted(ends[order], np.arange(n + 1))
    return start, others, np.concatenate([weights, weights])[order]
