"""Union-find in compiled loops: rows, or nodes, of one component share a root."""

from __future__ import annotations

from numba import njit

__all__ = ["find_root"]


@njit(nogil=True, cache=True)
def find_root(parent, node):
    """Return the root of a node, and halve the way to it."""
    while parent[node] != node:
        parent[node] = parent[parent[node]]
        node = parent[node]
    return node
