"""What rests on answers of which some are wrong: groups of records that these tie together, or keep apart.

The log-odds that two groups are one entity are the mean of the model's over their candidate pairs, and what
the answers between them say. A group is tied together by a tree of answers: each of its links divides it in
two parts, of which the same is asked. So an open pair is worth a question if what follows about its records
is doubtful, and the more records depend on it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import breadth_first_order

from samekind.algorithms.records._kernels import add_on_paths, weakest_on_paths
from samekind.algorithms.records.clustering import LOW_BITS, mean_odds, pair_keys
from samekind.algorithms.records.known_pairs import KnownPairs
from samekind.algorithms.records.scores import View
from samekind.flow import FloatArray, IntArray

__all__ = ["held_by"]


def held_by(open_pairs: IntArray, view: View, known: KnownPairs) -> tuple[FloatArray, FloatArray]:
    """Return the log-odds that what each open pair decides is a match, and how many records depend on it."""
    believed = view.believed(known)
    odds = view.odds.astype(np.float64)
    pairs: NDArray[np.int64] = view.index.pairs.astype(np.int64)
    ends = believed.root[pairs]
    within = ends[:, 0] == ends[:, 1]
    size = np.bincount(believed.root, minlength=view.index.n).astype(np.float64)
    found, stake = odds.copy(), np.ones(len(odds))
    asked = believed.root[known.pairs]
    inside = asked[:, 0] == asked[:, 1]
    told = view.told * known.votes

    # Two groups
    keys, place = np.unique(pair_keys(asked), return_inverse=True)
    at = np.minimum(np.searchsorted(keys, pair_keys(ends)), len(keys) - 1)
    between = np.flatnonzero((keys[at] == pair_keys(ends)) & ~within)
    at = at[between]
    total = np.asarray(np.bincount(at, odds[between], len(keys)), np.float64)
    count = np.asarray(np.bincount(at, minlength=len(keys)), np.float64)
    one, other = size[keys >> 32], size[keys & LOW_BITS]
    held = mean_odds(total, count, one, other) + np.bincount(place, told, len(keys))
    found[between] = held[at]
    stake[between] = 2 * np.minimum(one, other)[at] - 1

    # Two parts of one group
    up, depth, part = _tree(believed)
    own = np.flatnonzero(within & (depth[pairs[:, 0]] > 0))
    sums = np.zeros((len(up), 3))
    model = np.column_stack([odds[own], np.ones(own.size), np.zeros(own.size)])
    add_on_paths(pairs[own], up, depth, model, sums)
    said = np.zeros((int(inside.sum()), 3))
    said[:, 2] = told[inside]
    add_on_paths(known.pairs[inside].astype(np.int64), up, depth, said, sums)
    whole = np.append(size[believed.root], 0)
    link = mean_odds(sums[:, 0], sums[:, 1], part, whole - part) + sums[:, 2]
    weakest = weakest_on_paths(pairs[own], up, depth, link)
    found[own] = link[weakest]
    stake[own] = whole[weakest] - 1
    return found[open_pairs], stake[open_pairs]


def _tree(believed: KnownPairs) -> tuple[IntArray, IntArray, FloatArray]:
    """Return a tree of "same" answers for each group: the row above each, its depth, the rows from it down.

    The trees hang from one more row, the last; rows that no answer ties to others have depth 0.
    """
    n = len(believed.root)
    same = believed.pairs[believed.votes > 0]
    tops = np.unique(believed.root[same])
    one = np.concatenate([same[:, 0], tops])
    other = np.concatenate([same[:, 1], np.full(tops.size, n)])
    graph = coo_array((np.ones(one.size), (one, other)), shape=(n + 1, n + 1)).tocsr()
    order, up = breadth_first_order(graph, n, directed=False)
    depth, part = np.zeros(n + 1, dtype=np.int64), np.zeros(n + 1)
    for row in order[1:]:
        depth[row] = depth[up[row]] + 1
    for row in order[:0:-1]:
        part[row] += 1
        part[up[row]] += part[row]
    return up.astype(np.int64), depth, part
