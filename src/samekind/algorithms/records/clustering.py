"""Entities from the log-odds of pairs: average linkage.

The two clusters whose pairs have the largest mean log-odds merge first, while that mean is positive. So one
doubtful pair holds nothing together. A pair that is no candidate speaks against a merger; but the pairs of an
entity of hundreds are not all candidates, so of large clusters each record need meet a few others only.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from samekind.algorithms.records._kernels import average_linkage, join_components
from samekind.flow import IntArray

__all__ = ["entities_of", "file_bits", "pair_keys"]

MISSING = -1.0  # log-odds of a pair that is no candidate
REACH = 5.0  # others of a large cluster that each record of the smaller one need meet
APART = -1e9  # log-odds of what is known to be different

LOW_BITS = 2**32 - 1


def pair_keys(pairs: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return one number for each pair, whichever of its rows is first; they sort as the pairs do."""
    a, b = pairs[:, 0].astype(np.int64), pairs[:, 1].astype(np.int64)
    return np.minimum(a, b) << 32 | np.maximum(a, b)


def entities_of(
    root: IntArray,
    pairs: NDArray[np.integer],
    weights: NDArray[np.floating],
    *,
    apart: NDArray[np.int64] | None = None,
    files: NDArray[np.int8] | None = None,
) -> IntArray:
    """Return the entity of each record, numbered in the order of their first records.

    Parameters
    ----------
    root : ndarray of shape (n,)
        The first record known to be one entity with each.
    pairs : ndarray of shape (m, 2)
        Candidate pairs.
    weights : ndarray of shape (m,)
        The log-odds that each is one entity.
    apart : ndarray of int or None
        The keys of the pairs of roots that are known to be different.
    files : ndarray of shape (n,) or None
        The file of each record; then an entity has at most one of each. -1 where it does not matter.

    Examples
    --------
    >>> entities_of(np.arange(4), np.array([[0, 1], [1, 2], [0, 2]]), np.array([2.0, 1.0, -3.0]))
    array([0, 0, 1, 2])
    """
    n = len(root)
    ends = root[pairs]
    component = np.arange(n)
    join_components(ends, weights, component)
    one, other = ends.T
    within = (component[one] == component[other]) & (one != other)
    keys, place = np.unique(pair_keys(ends[within]), return_inverse=True)
    total = np.bincount(place, weights[within], len(keys))
    if apart is not None:
        total[np.isin(keys, apart)] = APART
    clusters = np.column_stack([keys >> 32, keys & LOW_BITS])
    bits = np.zeros(n, dtype=np.int64)
    if files is not None:
        np.bitwise_or.at(bits, root, file_bits(files))
    parent = np.arange(n)
    average_linkage(
        clusters,
        total,
        np.bincount(place, minlength=len(keys)),
        np.bincount(root, minlength=n),
        bits,
        MISSING,
        REACH,
        parent,
    )
    return np.asarray(np.unique(parent[root], return_inverse=True)[1], dtype=np.intp)


def file_bits(files: NDArray[np.int8]) -> IntArray:
    """Return a bit for the file of each record, none where it does not matter."""
    return np.where(files >= 0, np.int64(1) << np.maximum(files, 0).astype(np.int64), 0)
