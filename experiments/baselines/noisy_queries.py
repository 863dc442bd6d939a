"""MS17a: Mazumdar, Saha, *Clustering with Noisy Queries* (NIPS 2017).

Answers are wrong with probability p < 1/2, and always the same when a pair is asked again. Rows need no
coordinates, K is not needed. All pairs among a random set of rows are asked, and large blocks are taken
out of that graph; then every other row is put into a block by the majority of some of its members. What
fits nowhere is the start of the next set. The appendix of the paper (`noisy-exact`) rests on this.

Promises, with high probability, all clusters of at least about ln n/(1-2p)² rows (with the efficient
method to find blocks that is used here, √m·ln m of the m rows of a set), by O(nK ln n/(1-2p)²) questions;
no algorithm can do with less than nK/(1-2p)², up to a constant.
"""

from __future__ import annotations

import numpy as np

from experiments.baselines.labeller import AnswerMemory, FoundClusters
from samekind.algorithms.paper.majority import voters
from samekind.algorithms.paper.noisy_exact import least_block
from samekind.algorithms.paper.planted_partition import find_blocks
from samekind.flow import Flow

__all__ = ["noisy_queries"]

FIRST = 3  # times the least block: rows of the first set


def noisy_queries(
    n: int, rng: np.random.Generator, *, error: float, risk: float = 0.01
) -> Flow[FoundClusters]:
    """Find the clusters of n rows by answers of which some are wrong.

    Parameters
    ----------
    n : int
        The number of rows.
    rng : numpy.random.Generator
        Where all chance comes from.
    error : float
        p, or a bound on it, below 1/2.
    risk : float
        The chance that any majority is wrong.
    """
    return _run(n, rng, error, risk)


def _run(n: int, rng: np.random.Generator, error: float, risk: float) -> Flow[FoundClusters]:
    memory = AnswerMemory()
    labels = np.full(n, -1)
    n_found = 0
    left = rng.permutation(n)
    size = FIRST * least_block(n, error)
    while left.size:
        active = left[:size]
        graph = yield from _graph(active.tolist(), memory)
        least = least_block(active.size, error)
        blocks = [active[block] for block in find_blocks(graph, error, least)]
        for block in blocks:
            labels[block] = n_found
            n_found += 1
        left = left[labels[left] < 0]
        if not blocks and size >= left.size:
            break  # what is left is too small to be told from errors
        if not blocks:
            size *= 2
            continue
        most = voters(error, risk / (n * max(n_found, 1)))
        for number, block in zip(range(n_found - len(blocks), n_found), blocks, strict=True):
            panel = block[:most].tolist()
            waiting = [row for row in left.tolist() if labels[row] < 0]
            for row in waiting:
                votes = yield from memory.ask([(row, member) for member in panel])
                if 2 * sum(votes) > len(votes):
                    labels[row] = number
        left = left[labels[left] < 0]
        size = max(size, FIRST * least_block(max(left.size, 2), error))
    return FoundClusters(labels, np.empty((n_found, 0)))


def _graph(rows: list[int], memory: AnswerMemory) -> Flow[np.ndarray]:
    """Return the answers among rows, (m, m)."""
    m = len(rows)
    one, two = np.triu_indices(m, 1)
    graph = np.ones((m, m), dtype=np.int8)
    if one.size:
        pairs = [(rows[i], rows[j]) for i, j in zip(one.tolist(), two.tolist(), strict=True)]
        graph[one, two] = graph[two, one] = yield from memory.ask(pairs)
    return graph
