"""What a person does to whole kinds, said as answers about pairs."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from samekind.flow import DIFFERENT, SAME

__all__ = ["Said", "merged", "parted"]

Said = list[tuple[int, int, int]]
"""Two rows and an answer about them."""


def merged(members: list[list[int]], active: NDArray[np.void]) -> Said:
    """Return what makes several kinds one.

    Every answer that says otherwise is turned round; kinds that nobody compared are joined by the rows that
    stand for them.
    """
    cluster_of = {row: kind for kind, rows in enumerate(members) for row in rows}
    said: Said = []
    for line in active[active["answer"] == DIFFERENT]:
        a, b = int(line["a"]), int(line["b"])
        if a in cluster_of and b in cluster_of and cluster_of[a] != cluster_of[b]:
            said.append((a, b, SAME))
    joined = {(min(a, b), max(a, b)) for a, b, _ in said}
    for first, second in pairwise(members):
        pair = min(first[0], second[0]), max(first[0], second[0])
        if pair not in joined:
            said.append((*pair, SAME))
    return said


def parted(members: list[int], out: Iterable[int], active: NDArray[np.void]) -> Said:
    """Return what takes some rows out of a kind and leaves the rest of it one kind.

    Every answer that ties them to the rest is turned round; a row with no such answer is said to differ from
    the one that stands for the rest. Where the rest hung together only by them, it is tied anew.
    """
    gone = set(out)
    rest = [row for row in members if row not in gone]
    inside = gone & set(members)
    place = {row: k for k, row in enumerate(rest)}
    said: Said = []
    ties: list[tuple[int, int]] = []
    for line in active[active["answer"] == SAME]:
        a, b = int(line["a"]), int(line["b"])
        if (a in inside and b in place) or (b in inside and a in place):
            said.append((a, b, DIFFERENT))
        elif a in place and b in place:
            ties.append((place[a], place[b]))
    cut = {row for a, b, _ in said for row in (a, b)}
    said += [(row, rest[0], DIFFERENT) for row in sorted(gone - cut)]
    if not inside:
        return said
    edges = np.array(ties, dtype=np.intp).reshape(-1, 2)
    graph = coo_array((np.ones(len(edges)), edges.T), shape=(len(rest), len(rest)))
    _, part = connected_components(graph, directed=False)
    firsts = [rest[int(k)] for k in np.unique(part, return_index=True)[1]]
    return said + [(firsts[0], other, SAME) for other in firsts[1:]]
