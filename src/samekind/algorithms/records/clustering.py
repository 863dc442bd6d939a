"""Entities from the log-odds of pairs: average linkage.

The two clusters whose pairs have the largest mean log-odds merge first, while that mean is positive. So one
doubtful pair holds nothing together. What answers say about two clusters is added to the mean: one answer
speaks for all their records. A pair that is no candidate speaks against a merger; but the pairs of an
entity of hundreds are not all candidates, so of large clusters each record need meet a few others only.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from samekind.algorithms.records._kernels import average_linkage, join_components
from samekind.flow import FloatArray, IntArray

__all__ = ["entities_of", "file_bits", "mean_odds", "pair_keys"]

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
    said: tuple[NDArray[np.integer], FloatArray] | None = None,
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
    said : (ndarray of shape (k, 2), ndarray of shape (k,)) or None
        Pairs of roots that answers speak of, and the log-odds that they tell.
    files : ndarray of shape (n,) or None
        The file of each record; then an entity has at most one of each. -1 where it does not matter.

    Examples
    --------
    >>> entities_of(np.arange(4), np.array([[0, 1], [1, 2], [0, 2]]), np.array([2.0, 1.0, -3.0]))
    array([0, 0, 1, 2])
    """
    n = len(root)
    spoken_of, told = said if said is not None else (pairs[:0], weights[:0])
    ends = root[np.concatenate([pairs, spoken_of])]
    is_model = np.arange(len(ends)) < len(pairs)
    amounts = np.concatenate([weights, told]).astype(np.float64)
    keys, place = np.unique(pair_keys(ends), return_inverse=True)
    total = np.bincount(place, np.where(is_model, amounts, 0.0), len(keys))
    count = np.bincount(place, is_model, len(keys))
    by_answers = np.bincount(place, np.where(is_model, 0.0, amounts), len(keys))
    component = np.arange(n)
    clusters = np.column_stack([keys >> 32, keys & LOW_BITS])
    join_components(clusters, total + by_answers, component)
    one, other = clusters.T
    within = (component[one] == component[other]) & (one != other)
    bits = np.zeros(n, dtype=np.int64)
    if files is not None:
        np.bitwise_or.at(bits, root, file_bits(files))
    parent = np.arange(n)
    average_linkage(
        clusters[within],
        total[within],
        count[within],
        by_answers[within],
        np.bincount(root, minlength=n),
        bits,
        MISSING,
        REACH,
        parent,
    )
    return np.asarray(np.unique(parent[root], return_inverse=True)[1], dtype=np.intp)


def mean_odds(
    total: FloatArray, count: FloatArray, one: FloatArray, other: FloatArray
) -> FloatArray:
    """Return the mean log-odds between clusters of these sizes; pairs that are no candidates count, too."""
    due = np.maximum(count, np.minimum(one * other, REACH * np.minimum(one, other)))
    return (total + (due - count) * MISSING) / np.maximum(due, 1.0)


def file_bits(files: NDArray[np.int8]) -> IntArray:
    """Return a bit for the file of each record, none where it does not matter."""
    return np.where(files >= 0, np.int64(1) << np.maximum(files, 0).astype(np.int64), 0)
