"""The labels of all rows, and which clusters can be relied on, from a state."""

from __future__ import annotations

import numpy as np

from samekind.algorithms.focused.state import State
from samekind.flow import FloatArray, IntArray
from samekind.points import Points
from samekind.points.nearest_labels import NearestLabels

__all__ = ["expected_wrong", "labels_of_nodes", "labels_of_rows", "nearest_nodes", "recovered"]

CLAIM = (
    0.2  # share of the walk with which a lone group may claim another row: without, 134 clusters
)
# of 26 classes on letter at 1,500 questions instead of 110, and fewer rows right
FEW = 64  # rows whose nearest nodes are found one by one, without a search structure
SURE = 0.05  # expected share of wrong rows up to which a cluster counts as recovered


def labels_of_nodes(state: State) -> IntArray:
    """Return the group of every node: the known one, or the likeliest; -1 where nothing is known at all.

    A group of one known node claims another one only with a fair share of its walk: most such groups are no
    clusters of their own. Where no walk arrives, the nearest known node decides.
    """
    labels = np.where(state.group >= 0, state.group, state.likeliest)
    if not state.known.size:
        return np.full(state.n, -1)
    lone = state.size[: state.n_groups] == 1
    nodes = np.flatnonzero((labels >= 0) & (state.group < 0))
    nodes = nodes[lone[labels[nodes]]]
    if nodes.size:
        ids, shares = state.ids[nodes], state.shares[nodes]
        own = np.where(ids == labels[nodes][:, None], shares, 0).max(axis=1)
        others = np.where((ids >= 0) & ~lone[ids], shares, 0)
        weak = own < CLAIM * np.maximum(state.total[nodes], 1e-9)
        weak &= others.max(axis=1) > 0
        labels[nodes[weak]] = ids[weak, others.argmax(axis=1)[weak]]
    lost = np.flatnonzero(labels < 0)
    if lost.size:
        Z, known = state.terrain.Z, np.sort(state.known)
        squares = (Z[known] ** 2).sum(axis=1)
        for some in np.array_split(lost, -(-lost.size // 1024)):
            nearest = (squares - 2 * Z[some] @ Z[known].T).argmin(axis=1)
            labels[some] = state.group[known[nearest]]
    return labels


def labels_of_rows(state: State, points: Points, rows: IntArray | None = None) -> IntArray:
    """Return the group of some rows, or of all: that of the nearest node where a row is none."""
    labels, terrain = labels_of_nodes(state), state.terrain
    if rows is None:
        if len(terrain.rows) == points.n:
            return labels[np.argsort(terrain.rows)]
        return np.asarray(NearestLabels(terrain.sample, labels).of_all(points))
    if rows.size <= FEW:
        return labels[nearest_nodes(state, points, rows)]
    return np.asarray(NearestLabels(terrain.sample, labels).of_rows(points, rows))


def nearest_nodes(state: State, points: Points, rows: IntArray) -> IntArray:
    """Return the node of each row, or the nearest one."""
    nodes = state.terrain.nodes_of(rows)
    for i in np.flatnonzero(nodes < 0).tolist():
        apart = ((state.terrain.sample.X - points.row(int(rows[i]))) ** 2).sum(axis=1)
        nodes[i] = int(apart.argmin())
    return nodes


def expected_wrong(state: State) -> FloatArray:
    """Return for each node the chance that its likeliest group is wrong."""
    found: FloatArray = state.doubt / np.maximum(state.weight, 1e-12)
    return found


def recovered(state: State) -> list[int]:
    """Return the groups of which few rows are expected to be wrong, largest first."""
    if not state.known.size:
        return []
    labels, counts, k = labels_of_nodes(state), state.terrain.weight, state.n_groups
    mass = np.bincount(labels, counts, k)
    wrong = np.bincount(labels, counts * expected_wrong(state), k)
    sure = (wrong <= SURE * mass) & (state.size[:k] > 1) & state.alive[:k]
    found = np.flatnonzero(sure)
    return [int(c) for c in found[np.argsort(-mass[found], kind="stable")]]
