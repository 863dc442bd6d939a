"""FindClusters: who belongs together, given answers of which some are wrong.

The answers among m rows are a planted partition: SAME with probability 1 - p inside a block, p between
two. The likeliest partition is the one with the most answers in agreement with it, whatever p is. Its
large blocks are found as is usual with stochastic block models: the eigenvectors of the centred answers
that stand out against the noise place the nodes, Ward's tree makes a first partition of them, and moving
each node to the block that claims it most, and joining blocks that claim each other, mends it. Blocks
that the noise hides at first come out when the larger ones are taken away.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from samekind._validation import check_error_rate, check_positive_int
from samekind.flow import UNSURE, IntArray

__all__ = ["find_blocks", "observed_error"]

ABOVE_NOISE = 1.05  # eigenvalues that count, in units of the edge of the noise
MORE_BLOCKS = 3  # numbers of blocks tried: as many as eigenvalues count, and up to so many more
MOST_SWEEPS = 50  # over all nodes; a few are enough

NONE = -1

Votes: TypeAlias = NDArray[np.float32]
"""(m, m) 1 for SAME, -1 for DIFFERENT, 0 for UNSURE and on the diagonal."""
Labels: TypeAlias = IntArray
"""(m,) the block of each node, or NONE."""


def find_blocks(graph: NDArray[Any], error: float, least: int) -> list[list[int]]:
    """Return the blocks of at least `least` nodes in a graph of answers that may be wrong.

    Parameters
    ----------
    graph : (m, m) array
        Symmetric: SAME, DIFFERENT or UNSURE for each pair of nodes; the diagonal is not looked at.
    error : float
        The chance p < 1/2 that an answer is wrong. A bound from above will do.
    least : int
        Smaller blocks are not reported. Those below about 2·sqrt(m·p(1-p))/(1-2p) nodes cannot be seen.

    Returns
    -------
    list of lists of int
        The nodes of each block, the largest block first; a node is in one block at most.

    Examples
    --------
    >>> block = np.repeat([0, 1, 2], [40, 30, 5])
    >>> rng = np.random.default_rng(0)
    >>> wrong = np.triu(rng.random((75, 75)) < 0.2, 1)
    >>> graph = (block[:, None] == block) ^ wrong ^ wrong.T
    >>> [(len(nodes), set(block[nodes].tolist())) for nodes in find_blocks(graph, 0.2, least=20)]
    [(40, {0}), (30, {1})]
    """
    graph = np.asarray(graph)
    if graph.ndim != 2 or graph.shape[0] != graph.shape[1]:
        raise ValueError(f"graph must have a line and a column for each node, got {graph.shape}.")
    error = check_error_rate(error)
    least = check_positive_int("least", least)
    if not graph.size:
        return []
    votes = _votes(graph)
    labels = np.full(len(votes), NONE)
    n_before = len(votes) + 1
    while n_before > (left := np.flatnonzero(labels == NONE)).size >= least:
        n_before = left.size
        found = _standing_out(votes[np.ix_(left, left)], error, least)
        labels[left] = np.where(found == NONE, NONE, found + labels.max() + 1)
        labels = _mended(votes, labels, error, least)
    blocks = [np.flatnonzero(labels == block).tolist() for block in range(labels.max() + 1)]
    return sorted(blocks, key=lambda nodes: (-len(nodes), nodes))


def observed_error(graph: NDArray[Any], blocks: list[list[int]]) -> tuple[int, int]:
    """Return how many of the answers among the blocks' nodes contradict the blocks, and how many there are.

    Examples
    --------
    >>> observed_error(np.array([[1, 1, 0], [1, 1, 1], [0, 1, 1]]), [[0, 1], [2]])
    (1, 3)
    """
    nodes = np.array([node for block in blocks for node in block], dtype=np.intp)
    block = np.repeat(np.arange(len(blocks)), [len(nodes) for nodes in blocks])
    one, two = np.triu_indices(nodes.size, 1)
    said = np.asarray(graph)[nodes[one], nodes[two]]
    wrong = (said != (block[one] == block[two])) & (said != UNSURE)
    return int(wrong.sum()), int((said != UNSURE).sum())


def _votes(graph: NDArray[Any]) -> Votes:
    votes: Votes = np.where(graph == UNSURE, 0, 2 * graph.astype(np.int8) - 1).astype(np.float32)
    np.fill_diagonal(votes, 0)
    if not (votes == votes.T).all():
        raise ValueError("graph must be symmetric: ask each pair once, and note it both ways.")
    return votes


def _standing_out(votes: Votes, error: float, least: int) -> Labels:
    """Return the blocks that stand out against the noise; nodes alone, too, where `least` is 1."""
    from scipy.cluster.hierarchy import fcluster, linkage  # loaded by those who need it
    from scipy.linalg import eigh

    m = len(votes)
    sure = votes != 0
    centred = np.where(sure, (votes + 1) / 2 - error, 0.0)
    edge = 2 * np.sqrt(sure.sum() / m * error * (1 - error))  # of the spectrum of the noise
    smallest = max(ABOVE_NOISE * edge, 0.5)  # without noise two nodes alike have the eigenvalue 1
    values, vectors = eigh(centred, subset_by_value=(smallest, np.inf), check_finite=False)
    best, most = np.full(m, NONE), 0.0
    if values.size:
        tree = linkage(vectors * np.sqrt(values), "ward")
        for k in range(values.size, values.size + MORE_BLOCKS + 1):
            start = fcluster(tree, k, "maxclust").astype(np.intp) - 1
            labels = _mended(votes, start, error, least)
            agreement = _agreement(votes, labels)
            if agreement > most:
                best, most = labels, agreement
    if least == 1:
        alone = best == NONE
        best[alone] = best.max() + 1 + np.arange(alone.sum())
    return best


def _mended(votes: Votes, labels: Labels, error: float, least: int) -> Labels:
    """Move nodes and join blocks while that agrees with more answers; drop blocks that are none."""
    while True:
        labels = _moved(votes, _numbered(labels))
        within = _indicator(labels)
        between = within.T @ votes @ within
        inside = between.diagonal().copy()
        np.fill_diagonal(between, 0)
        if between.max(initial=0) > 0:
            one, two = np.unravel_index(between.argmax(), between.shape)
            labels[labels == one] = two
            continue
        sure = np.einsum("ib,ib->b", within, (votes != 0) @ within)
        none = (within.sum(axis=0) < least) | (inside < (1 - 2 * error) / 2 * sure)
        if not none.any():
            return labels
        labels[np.isin(labels, np.flatnonzero(none))] = NONE


def _moved(votes: Votes, labels: Labels) -> Labels:
    """Move each node to the block that claims it most, or out of all if none does."""
    if labels.max() == NONE:
        return labels
    labels = labels.copy()
    claims = votes @ _indicator(labels)
    claims = np.column_stack([claims, np.zeros(len(votes), dtype=np.float32)])  # [:, NONE]
    nodes = np.arange(labels.size)
    for _ in range(MOST_SWEEPS):
        unhappy = np.flatnonzero(claims.max(axis=1) > claims[nodes, labels])
        if not unhappy.size:
            break
        for node in unhappy.tolist():
            old, new = labels[node], claims[node].argmax()
            if claims[node, new] > claims[node, old]:  # still, after what moved before it
                claims[:, old] -= votes[node]
                claims[:, new] += votes[node]
                claims[:, NONE] = 0
                labels[node] = new if new < claims.shape[1] - 1 else NONE
    return labels


def _indicator(labels: Labels) -> Votes:
    """Return (m, blocks) 1 where the node is in the block."""
    inside: Votes = (labels[:, None] == np.arange(labels.max() + 1)).astype(np.float32)
    return inside


def _agreement(votes: Votes, labels: Labels) -> float:
    """Return how many more answers inside the blocks say SAME than DIFFERENT, twice."""
    together = (labels[:, None] == labels) & (labels != NONE)
    return float(votes[together].sum())


def _numbered(labels: Labels) -> Labels:
    """Number the blocks from 0 on."""
    numbers = np.unique(labels, return_inverse=True)[1].reshape(labels.shape)
    return numbers - int((labels == NONE).any())
