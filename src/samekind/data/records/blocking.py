"""Candidate pairs: for each record those others that share most with it, and few of them.

What records share is letter groups and keys, weighted by rarity, in one sparse matrix; the most alike are
found by its product with itself, of which only the top of each row is ever held. What very many records
share is left out there, so the work is bounded whatever the values are: a key that a million records have
costs nothing, and says nothing.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sparse_dot_topn import sp_matmul_topn

from samekind.data.tables import Tick
from samekind.points.threads import check_threads

__all__ = ["Pairs", "nearest_pairs", "sorted_pairs", "within_budget"]

Pairs: TypeAlias = NDArray[np.int32]
"""(m, 2) record numbers, the smaller first, in order, each pair once."""

PRODUCTS = 1e9  # multiplications in all: some ten seconds on two cores
_CHUNK = 20_000  # records whose neighbours are found at once
_WIDER = 2  # times as many neighbours of a record
_PLATEAU = 0.6  # that share this much of what it shares with the best: its entity may be large


def within_budget(terms: sparse.csr_array, products: float = PRODUCTS) -> sparse.csr_array:
    """Leave out the columns that most records have, until the product with itself is affordable."""
    held = np.bincount(terms.indices, minlength=terms.shape[1]).astype(np.float64)
    order = np.argsort(held, kind="stable")
    cost = np.cumsum(held[order] ** 2)
    n_kept = int(np.searchsorted(cost, products, side="right"))
    useful = np.zeros(held.size, bool)
    useful[order[:n_kept]] = True
    useful &= held >= 2
    return terms if useful.all() else terms[:, np.flatnonzero(useful)]


def nearest_pairs(
    terms: sparse.csr_array, top: int, files: NDArray[np.int8] | None, tick: Tick
) -> Pairs:
    """Return the pairs of each record with the `top` records that share most with it, and some more.

    A record whose further neighbours are nearly as near as the first is paired with twice as many: an entity
    of hundreds of records is found by chains of such pairs.

    Where records are of several files, only pairs across them.
    """
    n = terms.shape[0]
    if files is None:
        return _matched(terms, terms, np.arange(n), np.arange(n), top, (0, n), tick)
    found, done = [], 0
    for file in np.unique(files).tolist():
        own, others = np.flatnonzero(files == file), np.flatnonzero(files != file)
        found.append(_matched(terms[own], terms[others], own, others, top, (done, n), tick))
        done += own.size
    return sorted_pairs(np.concatenate(found), n)


def _matched(
    left: sparse.csr_array,
    right: sparse.csr_array,
    left_rows: NDArray[np.intp],
    right_rows: NDArray[np.intp],
    top: int,
    done: tuple[int, int],
    tick: Tick,
) -> Pairs:
    """Return the pairs of each left record with its best right ones; a record is no match of itself."""
    turned = sparse.csr_matrix(right.T)
    found: list[Pairs] = []
    wanted = min(_WIDER * top + 1, right.shape[0])
    for start in range(0, left.shape[0], _CHUNK):
        block = sparse.csr_matrix(left[start : start + _CHUNK])
        threads = check_threads(None)
        best = sp_matmul_topn(block, turned, top_n=wanted, sort=True, n_threads=threads)
        row = np.repeat(np.arange(block.shape[0]), np.diff(best.indptr))
        pairs = np.stack([left_rows[row + start], right_rows[best.indices]], axis=1)
        other = pairs[:, 0] != pairs[:, 1]
        row, pairs, shared = row[other], pairs[other], best.data[other]
        first = np.searchsorted(row, row)
        kept = (np.arange(row.size) - first < top) | (shared > _PLATEAU * shared[first])
        found.append(pairs[kept].astype(np.int32))
        tick("candidates", done[0] + min(start + _CHUNK, left.shape[0]), done[1])
    n = int(max(left_rows.max(initial=0), right_rows.max(initial=0))) + 1
    return sorted_pairs(np.concatenate(found) if found else np.empty((0, 2), np.int32), n)


def sorted_pairs(pairs: NDArray[np.integer], n: int) -> Pairs:
    """Return pairs with the smaller number first, in order, each once."""
    low, high = pairs.min(axis=1, initial=n), pairs.max(axis=1, initial=0)
    keys = np.sort(low.astype(np.int64) * n + high)  # np.unique hashes, which takes far longer here
    if keys.size:
        keys = keys[np.concatenate([[True], keys[1:] != keys[:-1]])]
    return np.stack([keys // n, keys % n], axis=1).astype(np.int32)
