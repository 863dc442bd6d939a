"""Rows that may be a cluster of their own: closer to one another than to anything that is known."""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import cdist

from samekind.engine import Session
from samekind.flow import FloatArray, IntArray

__all__ = ["novel_groups"]

MOST_ROWS = 1_000  # that are compared with one another, the least sure ones
MOST_WEIGHED = 20_000  # rows that are asked how sure their cluster is, evenly spaced
# Of groups below a half, most were of known clusters, on texts and on pictures; below a third, fewer.
DOUBTED = 1 / 3
NEIGHBORS = 2  # that a row and its neighbours must have among each other
LEAST = 3  # rows of a group
ALIKE = 2 / 3  # share of a group that is predicted alike: others share a word, or a colour, no kind
MOST_SHOWN = 8  # all of a group are shown, so that a person can say yes to each


def novel_groups(
    session: Session, labels: IntArray, members: list[IntArray], given_up: IntArray, most: int
) -> list[list[int]]:
    """Return groups of unknown rows that may be clusters nobody has seen, the largest first.

    Rows whose predicted cluster is doubted are linked with their nearest like ones, if they are nearer to
    each other than either is to any known row. What hangs together, and is mostly predicted to be of one
    cluster, is a group; its rows are given by how close they are to the middle of it, at most eight.
    """
    known = np.concatenate(members) if members else np.zeros(0, dtype=np.intp)
    open_rows = np.setdiff1d(np.arange(labels.size), np.concatenate([known, given_up]))
    if known.size == 0 or open_rows.size < LEAST:
        return []
    open_rows = open_rows[:: max(1, open_rows.size // MOST_WEIGHED)]
    sure = np.where(labels[open_rows] < 0, 0.0, session.confidence(open_rows))
    order = np.argsort(sure, kind="stable")
    rows = np.sort(open_rows[order][sure[order] < DOUBTED][:MOST_ROWS])
    if rows.size < LEAST:
        return []
    X = session.points.rows(rows)
    to_known = cdist(X, session.points.rows(np.sort(known))).min(axis=1)
    groups = [_alike(rows[places], labels) for places in _linked(X, to_known)]
    return [group[:MOST_SHOWN].tolist() for group in groups if group.size >= LEAST][:most]


def _alike(rows: IntArray, labels: IntArray) -> IntArray:
    """Return the rows of a group that are predicted as most of it are; none if too few are."""
    found, counts = np.unique(labels[rows], return_counts=True)
    if counts.max() < ALIKE * rows.size:
        return rows[:0]
    alike: IntArray = rows[labels[rows] == found[counts.argmax()]]
    return alike


def _linked(X: FloatArray, to_known: FloatArray) -> list[IntArray]:
    """Return the places of rows that hang together, group by group."""
    between = cdist(X, X)
    np.fill_diagonal(between, np.inf)
    near = np.argpartition(between, NEIGHBORS - 1, axis=1)[:, :NEIGHBORS]
    one, other = np.repeat(np.arange(len(X)), NEIGHBORS), near.ravel()
    close = between[one, other] < np.minimum(to_known[one], to_known[other])
    both = np.zeros((len(X), len(X)), dtype=bool)
    both[one[close], other[close]] = True
    graph = coo_array(both & both.T)  # a neighbour of everybody links nobody
    _, group = connected_components(graph, directed=False)
    found = []
    for number in np.flatnonzero(np.bincount(group) >= LEAST):
        places = np.flatnonzero(group == number)
        apart = np.where(np.isinf(between), 0.0, between)[np.ix_(places, places)].sum(axis=1)
        found.append(places[np.argsort(apart, kind="stable")])
    return sorted(found, key=lambda places: (-places.size, int(places[0])))
