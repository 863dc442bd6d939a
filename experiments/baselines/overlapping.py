"""HMMP19: Huleihel, Mazumdar, Médard, Pal, *Same-Cluster Querying for Overlapping Clusters* (NeurIPS
2019).

Rows may be in several clusters. The oracle counts: of two rows it says how many clusters they share. With
Λ the (n, K) matrix of memberships, these counts are the entries of ΛΛᵀ off its diagonal. All pairs among
a few rows are asked until their memberships, found by search, have rank K; then each other row takes K
questions, for its memberships are the solution of K linear equations.

Needs K, up to about ten, as 2^K memberships are tried; the counts of the first rows must fit one matrix
only, but for the order of its columns, which few random rows do with high probability. Promises then all
memberships, by m²/2 + nK questions.

The API is its own: `CountOracle` in the place of an oracle, `memberships` in the place of labels.
"""

from __future__ import annotations

from itertools import product

import numpy as np
from numpy.typing import ArrayLike, NDArray

from samekind.flow import Flow, IntArray, Pairs, Reply

__all__ = ["CountOracle", "overlapping_clusters"]

MOST_CLUSTERS = 10
SPARE = 4  # rows beyond rank K, so that only one matrix fits
MOST_TRIES = 200_000  # memberships tried until the search is given up

Memberships = NDArray[np.int8]
"""(n, K) 1 where a row is in a cluster."""


class CountOracle:
    """Counts by a matrix of memberships."""

    def __init__(self, memberships: ArrayLike) -> None:
        self._memberships = np.asarray(memberships, dtype=np.int8)

    def __call__(self, pairs: Pairs, /) -> NDArray[np.int8]:
        """Return for each pair how many clusters the two rows share."""
        one, two = self._memberships[pairs[:, 0]], self._memberships[pairs[:, 1]]
        counts: NDArray[np.int8] = (one * two).sum(axis=1).astype(np.int8)
        return counts


def overlapping_clusters(
    n: int, n_clusters: int, rng: np.random.Generator
) -> Flow[Memberships | None]:
    """Find who is in which clusters, from counts of shared ones; None if the counts fit no memberships.

    Parameters
    ----------
    n : int
        The number of rows.
    n_clusters : int
        K.
    rng : numpy.random.Generator
        Where all chance comes from.
    """
    if not 1 <= n_clusters <= MOST_CLUSTERS:
        raise ValueError(
            f"n_clusters must be at most {MOST_CLUSTERS}, got {n_clusters}: 2^K are tried."
        )
    return _run(n, n_clusters, rng)


def _run(n: int, k: int, rng: np.random.Generator) -> Flow[Memberships | None]:
    order = rng.permutation(n)
    counts = np.zeros((n, n), dtype=np.int8)  # of the first rows, in this order
    size = min(n, 2 * k + SPARE)
    asked = 0
    while True:
        yield from _count_all(order, asked, size, counts)
        asked = size
        first = _fitting(counts[:size, :size], k)
        if first is None:
            return None
        if np.linalg.matrix_rank(first) == k or size == n:
            break
        size = min(n, size + k)
    found = np.zeros((n, k), dtype=np.int8)
    found[order[:size]] = first
    basis = _independent(first)
    if len(basis) < k:
        return found if size == n else None
    equations = first[basis].astype(float)
    for row in order[size:].tolist():
        reply: Reply = yield np.array([[row, int(order[b])] for b in basis])
        found[row] = np.rint(np.linalg.solve(equations, reply.answers.astype(float)))
    return found


def _count_all(order: IntArray, start: int, stop: int, counts: NDArray[np.int8]) -> Flow[None]:
    """Ask all pairs of rows in this order up to `stop`, but for those up to `start`."""
    pairs = [(i, j) for i in range(stop) for j in range(max(i + 1, start), stop)]
    if pairs:
        places = np.array(pairs)
        reply: Reply = yield order[places]
        counts[places[:, 0], places[:, 1]] = counts[places[:, 1], places[:, 0]] = reply.answers


def _fitting(counts: NDArray[np.int8], k: int) -> Memberships | None:
    """Return memberships that have these counts off the diagonal: a search, row by row.

    Clusters have no order: a new one is always the next column that is still empty.
    """
    size = len(counts)
    # Rows that share most go first: they leave the fewest memberships to try.
    order = np.argsort(-counts.sum(axis=1, where=~np.eye(size, dtype=bool)), kind="stable")
    choices = np.array(list(product((0, 1), repeat=k)), dtype=np.int8)
    found = np.zeros((size, k), dtype=np.int8)
    tried = 0

    def place(at: int, used: int) -> bool:
        nonlocal tried
        if at == size:
            return True
        known = order[:at]
        fits = choices[(found[known] @ choices.T == counts[order[at], known][:, None]).all(axis=0)]
        for choice in fits:
            new = choice[used:].sum()
            if choice[used + new :].any():
                continue  # the same but for the order of the clusters
            tried += 1
            if tried > MOST_TRIES:
                return False
            found[order[at]] = choice
            if place(at + 1, used + int(new)):
                return True
        return False

    return found if place(0, 0) else None


def _independent(rows: Memberships) -> list[int]:
    """Return the places of rows that span all others."""
    chosen: list[int] = []
    for place in range(len(rows)):
        if np.linalg.matrix_rank(rows[[*chosen, place]]) > len(chosen):
            chosen.append(place)
    return chosen
