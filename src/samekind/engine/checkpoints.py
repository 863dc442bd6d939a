"""Places from which a run begins anew, with all that was answered before.

A run is repeated from the ledger, which works as long as its settings stay as they were. With others it would
soon ask about other rows, and what was answered would lie idle. So whoever goes on with other settings makes
a checkpoint: from then on a run begins with the rows known at that time, and what the ledger says of them.
So does a run of a newer version of the algorithm, which would ask otherwise, too.
Files of schema 2 have one for every change of the past, too; what was taken back since makes it void.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from samekind.algorithms import AnyAlgorithm, Known
from samekind.flow import DIFFERENT, SAME, IntArray
from samekind.ledger import Checkpoint, Ledger, pairs_of

__all__ = ["adopt_answers", "bind_version", "known_at", "make_checkpoint"]


def make_checkpoint(ledger: Ledger, members: list[list[int]]) -> None:
    """Make a checkpoint; `members` are the clusters known now.

    Rows that no answer ties to their clusters are to be asked about. Rows that a run has not come to count if
    they are the same as another one.
    """
    upto = ledger.revision.answers
    lines = ledger.active(upto, consistent=True)
    known = {row for cluster in members for row in cluster}
    known.update(pairs_of(lines[lines["answer"] == SAME]).ravel().tolist())
    mentioned = dict.fromkeys(pairs_of(lines).ravel().tolist())
    rows = [*sorted(known - mentioned.keys()), *(row for row in mentioned if row in known)]
    group = _groups(rows, lines)
    size = np.bincount(group)
    crowded = {row for cluster in members if len(cluster) > 1 for row in cluster}
    lost = [
        row
        for row, own in zip(rows, group.tolist(), strict=True)
        if size[own] == 1 and row in crowded
    ]
    gone = set(lost)
    known_still = np.array([row for row in rows if row not in gone], dtype=np.int32)
    ledger.add_checkpoint(Checkpoint(-1, upto, known_still, np.array(lost, dtype=np.int32)))


def bind_version(ledger: Ledger, algorithm: AnyAlgorithm, *, is_new: bool, amends: bool) -> None:
    """Note which version of the algorithm asks; what an earlier one was answered is known from now on.

    What is in a new ledger was asked by a session in memory, of this version.
    """
    now = f"{algorithm.name} {algorithm.version}"
    if ledger.meta.get("algorithm") == now:
        return
    if ledger.read_only:  # nothing is kept
        _adopt_earlier(ledger, algorithm, amends=amends)
        return
    with ledger.transaction():
        if ledger.meta.get("algorithm") != now:
            if not is_new:
                _adopt_earlier(ledger, algorithm, amends=amends)
            ledger.set_meta("algorithm", now)


def _adopt_earlier(ledger: Ledger, algorithm: AnyAlgorithm, *, amends: bool) -> None:
    name, _, version = ledger.meta.get("algorithm", f"{algorithm.name} 1").partition(" ")
    is_older = name == algorithm.name and int(version) < algorithm.version
    if amends and is_older and len(ledger):
        adopt_answers(ledger)


def adopt_answers(ledger: Ledger) -> None:
    """Make a checkpoint of what the answers say, where there is no run that could tell more.

    Rows that are the same as another one are known. Rows of which is only known where they are not are to be
    asked about: what was answered of them need not be asked again.
    """
    upto = ledger.revision.answers
    lines = ledger.active(upto, consistent=True)
    tied = dict.fromkeys(pairs_of(lines[lines["answer"] == SAME]).ravel().tolist())
    apart = dict.fromkeys(pairs_of(lines[lines["answer"] == DIFFERENT]).ravel().tolist())
    alone = [row for row in apart if row not in tied]
    ledger.add_checkpoint(
        Checkpoint(-1, upto, np.array([*tied], dtype=np.int32), np.array(alone, dtype=np.int32))
    )


def known_at(ledger: Ledger, checkpoint: Checkpoint) -> Known:
    """Return what a run begins with at a checkpoint."""
    lines = ledger.active(checkpoint.upto, consistent=True)
    rows = checkpoint.rows.tolist()
    group = _groups(rows, lines)
    place = {row: int(own) for row, own in zip(rows, group, strict=True)}
    apart = pairs_of(lines[lines["answer"] == DIFFERENT]).tolist()
    parted = {(place[a], place[b]) for a, b in apart if a in place and b in place}
    return Known(
        rows=rows,
        groups=group.tolist(),
        different=sorted({(min(pair), max(pair)) for pair in parted if pair[0] != pair[1]}),
        ask_first=checkpoint.ask.tolist(),
    )


def _groups(rows: list[int], lines: NDArray[np.void]) -> IntArray:
    """Return for each row the number of its group: rows that are the same, by way of any rows."""
    same = pairs_of(lines[lines["answer"] == SAME])
    every = np.unique(np.concatenate([np.array(rows, dtype=np.intp), same.ravel()]))
    places = np.searchsorted(every, same)
    graph = coo_array((np.ones(len(same)), (places[:, 0], places[:, 1])), shape=(every.size,) * 2)
    _, part = connected_components(graph, directed=False)
    own = part[np.searchsorted(every, np.array(rows, dtype=np.intp))]
    return np.asarray(np.unique(own, return_inverse=True)[1], dtype=np.intp)
