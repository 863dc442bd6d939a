"""What is done to clusters by hand, as answers about pairs, all written in one act.

- *A row is in a cluster*: SAME with one member of it.
- *Rows are a cluster of their own*: the first is DIFFERENT from one row of every other cluster, so the ledger
  grows by as many lines as there are clusters.
- A row that was elsewhere is taken out there first.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from samekind.engine import Session
from samekind.flow import DIFFERENT, SAME
from samekind.ledger import Lines, pairs_of

__all__ = ["PairAnswers", "founding", "merge_answers", "placing", "split_answers"]

PairAnswers = list[tuple[int, int, int]]
"""Two rows and an answer about them, several times."""


def merge_answers(members: list[list[int]], active: Lines) -> PairAnswers:
    """Return what makes several clusters one.

    Every answer that says otherwise is turned round; clusters that nobody compared are joined by the rows
    that stand for them.
    """
    cluster_of = {row: cluster for cluster, rows in enumerate(members) for row in rows}
    answers: PairAnswers = []
    for a, b in _pairs_among(active, DIFFERENT, list(cluster_of)):
        if a in cluster_of and b in cluster_of and cluster_of[a] != cluster_of[b]:
            answers.append((a, b, SAME))
    joined = {(min(a, b), max(a, b)) for a, b, _ in answers}
    for first, second in pairwise(members):
        pair = min(first[0], second[0]), max(first[0], second[0])
        if pair not in joined:
            answers.append((*pair, SAME))
    return answers


def _pairs_among(lines: Lines, answer: int, rows: list[int]) -> list[tuple[int, int]]:
    """Return the pairs of these rows that were answered so."""
    pairs = pairs_of(lines[lines["answer"] == answer])
    found: list[tuple[int, int]] = pairs[np.isin(pairs, rows).all(axis=1)].tolist()
    return found


def split_answers(members: list[int], out: Iterable[int], active: Lines) -> PairAnswers:
    """Return what takes some rows out of a cluster and leaves the rest of it one cluster.

    Every answer that ties them to the rest is turned round; a row with no such answer differs from the one
    that stands for the rest. Where the rest hung together only by them, it is tied anew.
    """
    gone = set(out)
    rest = [row for row in members if row not in gone]
    inside = gone & set(members)
    place = {row: k for k, row in enumerate(rest)}
    answers: PairAnswers = []
    ties: list[tuple[int, int]] = []
    for a, b in _pairs_among(active, SAME, members):
        if (a in inside and b in place) or (b in inside and a in place):
            answers.append((a, b, DIFFERENT))
        elif a in place and b in place:
            ties.append((place[a], place[b]))
    cut = {row for a, b, _ in answers for row in (a, b)}
    answers += [(row, rest[0], DIFFERENT) for row in sorted(gone - cut)]
    if not inside:
        return answers
    edges = np.array(ties, dtype=np.intp).reshape(-1, 2)
    graph = coo_array((np.ones(len(edges)), edges.T), shape=(len(rest), len(rest)))
    _, part = connected_components(graph, directed=False)
    firsts = [rest[int(k)] for k in np.unique(part, return_index=True)[1]]
    return answers + [(firsts[0], other, SAME) for other in firsts[1:]]


def placing(session: Session, rows: list[int], members: list[int]) -> PairAnswers:
    """Return what puts rows into a cluster."""
    inside = set(members)
    new = [row for row in dict.fromkeys(rows) if row not in inside]
    lines = session.ledger.active()
    answers = _taking_out(session, new, lines)
    for row in new:
        turned = _pairs_between([row], members, DIFFERENT, lines)
        answers += [(a, b, SAME) for a, b in turned]
        if not turned:
            answers.append((row, _nearest(session, row, members), SAME))
    return answers


def founding(session: Session, rows: list[int], others: list[int]) -> PairAnswers:
    """Return what makes rows a cluster of their own; compared with these of other clusters' rows."""
    rows = list(dict.fromkeys(rows))
    first, apart = rows[0], set(rows)
    if set(session.members_of(first)) == apart:
        return []  # it is one already
    lines = session.ledger.active()
    answers = _taking_out(session, rows, lines)
    told = {frozenset((a, b)) for a, b, _ in answers}
    for row in rows[1:]:
        turned = _pairs_between([row], rows, DIFFERENT, lines)
        answers += [(a, b, SAME) for a, b in turned] or [(first, row, SAME)]
    known = {other: session.members_of(other) for other in others}
    of_others = {members[0]: other for other, members in known.items() if members}
    answers += [(first, other, DIFFERENT) for other, members in known.items() if not members]
    refused = pairs_of(lines[lines["answer"] == DIFFERENT])
    refused = refused[(refused == first).any(axis=1)].sum(axis=1) - first
    against = set(session.places_of(refused).tolist())
    for cluster, members in enumerate(session.known_clusters()):
        left = [row for row in members if row not in apart]
        if cluster in against or not left:
            continue
        if not any(frozenset((first, row)) in told for row in left):
            other = of_others.get(members[0], left[0])
            answers.append((first, other if other in left else left[0], DIFFERENT))
    return answers


def _taking_out(session: Session, rows: list[int], lines: Lines) -> PairAnswers:
    """Return what takes rows out of the clusters that they are known to be in."""
    moved = set(rows)
    answers: PairAnswers = []
    for members in {own[0]: own for own in map(session.members_of, rows) if own}.values():
        if not set(members) <= moved:
            answers += split_answers(members, moved & set(members), lines)
    return answers


def _nearest(session: Session, row: int, members: list[int]) -> int:
    """Return the member of a cluster that is nearest to a row."""
    points = session.points
    X = points.rows(np.array(members))
    return members[int(((X - points.rows(np.array([row]))) ** 2).sum(axis=1).argmin())]


def _pairs_between(
    rows: list[int], others: list[int], answer: int, active: Lines
) -> list[tuple[int, int]]:
    """Return the pairs of one of these rows and one of the others that were answered so."""
    pairs = pairs_of(active[active["answer"] == answer])
    there, back = (
        np.isin(pairs[:, a], rows) & np.isin(pairs[:, b], others) for a, b in ((0, 1), (1, 0))
    )
    found: list[tuple[int, int]] = pairs[there | back].tolist()
    return [(a, b) for a, b in found]
