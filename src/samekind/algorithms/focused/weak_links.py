"""Weak links of a cluster: parts that one answer, which may be wrong, holds together."""

from __future__ import annotations

import numpy as np

from samekind.algorithms.focused import _noise_kernels
from samekind.flow import BoolArray, IntArray

__all__ = ["weak_links"]


def weak_links(n: int, edges: IntArray, least: int) -> list[BoolArray]:
    """Return the parts of a graph that hang together with the rest by one edge, or by none.

    Parameters
    ----------
    n : int
        Number of nodes.
    edges : array of shape (m, 2)
        Pairs of nodes, each once.
    least : int
        Nodes of a part, and of the rest, at least.

    Returns
    -------
    list of arrays of shape (n,)
        Which nodes are in the part.

    Examples
    --------
    Two triangles with an edge between them:

    >>> edges = np.array([[0, 1], [1, 2], [0, 2], [2, 3], [3, 4], [4, 5], [3, 5]])
    >>> [part.astype(int).tolist() for part in weak_links(6, edges, least=2)]
    [[0, 0, 0, 1, 1, 1]]
    """
    both = np.concatenate([edges, edges[:, ::-1]])
    both = both[np.argsort(both[:, 0], kind="stable")]
    first = np.searchsorted(both[:, 0], np.arange(n + 1))
    order, begin, end, low, parent = (np.empty(n, dtype=np.int64) for _ in range(5))
    _noise_kernels.depth_first(
        first, np.ascontiguousarray(both[:, 1]), order, begin, end, low, parent
    )
    sizes = end - begin
    hangs_by_one = (parent < 0) | (low == begin)
    found: list[BoolArray] = []
    for node in np.flatnonzero(hangs_by_one & (sizes >= least) & (n - sizes >= least)).tolist():
        part = np.zeros(n, dtype=bool)
        part[order[begin[node] : end[node]]] = True
        found.append(part)
    return found
