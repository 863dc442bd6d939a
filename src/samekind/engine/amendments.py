"""What a change of earlier answers means for a run: the difference that it makes, and no more."""

from __future__ import annotations

import numpy as np

from samekind.algorithms import GIVEN_UP, Amendment, ClusterState
from samekind.flow import DIFFERENT, UNANSWERED, IntArray, Pairs
from samekind.ledger import Ledger, keys_of

__all__ = ["find_amendment"]


def find_amendment(
    ledger: Ledger, written: Pairs, taken_back: Pairs, state: ClusterState, open_rows: list[int]
) -> Amendment:
    """Return what is known after a change of all clusters that it touches.

    Parameters
    ----------
    ledger : Ledger
        As it was just after the change.
    written : ndarray of shape (m, 2)
        The pairs that were answered.
    taken_back : ndarray of shape (m, 2)
        The pairs whose answers it took back, in the order of asking.
    state : ClusterState
        The clusters before it.
    open_rows : list of int
        Rows that the run was asking about: what is known of them counts, too.
    """
    mentioned = np.unique(np.concatenate([written.ravel(), taken_back.ravel()]))
    near = np.union1d(mentioned, np.array(open_rows, dtype=np.intp))
    rows = _touched_rows(ledger, near, state)
    component = ledger.implications.components(rows)
    _, place, size = np.unique(component, return_inverse=True, return_counts=True)
    tied = (size[place] > 1) & (component >= 0) & np.isin(rows, near)  # others are come to in time
    founders = _founders(ledger, written, state) if len(written) else []
    known = tied | (state.cluster_of(rows) >= 0) | np.isin(rows, founders)
    given_up = mentioned[state.cluster_of(mentioned) == GIVEN_UP]
    return Amendment(
        groups=_groups(rows[known], component[known]),
        different=_differences(ledger, rows[known], state),
        ask_again=_unanswered(ledger, taken_back),
        reopened=np.setdiff1d(given_up, rows[known]).tolist(),
        founders=founders,
        unmentioned=_unmentioned(ledger, rows[(size[place] == 1) & (state.cluster_of(rows) >= 0)]),
    )


def _founders(ledger: Ledger, written: Pairs, state: ClusterState) -> list[int]:
    """Return the rows of these pairs that differ from all that is known: each is a cluster by itself."""
    implied = ledger.implications
    sizes = np.bincount(implied.components(implied.rows()))
    rows = np.unique(written)
    own = implied.components(rows)
    alone = rows[own >= 0][sizes[own[own >= 0]] == 1]
    if not alone.size:
        return []
    known = np.array([row for members in state.members for row in members], dtype=np.intp)
    component = implied.components(known)
    _, first = np.unique(component, return_index=True)
    firsts = np.union1d(known[first], known[component < 0])
    found: list[int] = []
    for row in alone.tolist():
        others = np.array([*firsts[firsts != row].tolist(), *found], dtype=np.intp)
        pairs = np.column_stack([np.full(others.size, row), others])
        if others.size and (ledger.lookup(pairs) == DIFFERENT).all():
            found.append(row)
    return found


def _unmentioned(ledger: Ledger, alone: IntArray) -> list[int]:
    """Return which of these rows, which are the same as no other, are not even different from one."""
    rows: list[int] = alone[~np.isin(alone, ledger.different_pairs())].tolist()
    return rows


def _touched_rows(ledger: Ledger, near: IntArray, state: ClusterState) -> IntArray:
    """Return these rows, all that are the same as one of them, and all of their clusters."""
    implied = ledger.implications
    every = implied.rows()
    component = implied.components(every)
    is_near = np.zeros(int(component.max(initial=-1)) + 1, dtype=bool)
    rows, size = near, -1
    while rows.size != size:
        size = rows.size
        own = implied.components(rows)
        is_near[own[own >= 0]] = True
        same = every[is_near[component]]
        clusters = np.unique(state.cluster_of(np.concatenate([rows, same])))
        members = [state.members[cluster] for cluster in clusters[clusters >= 0].tolist()]
        rows = np.unique(np.concatenate([near, same, *members])).astype(np.intp)
    return rows


def _groups(rows: IntArray, component: IntArray) -> list[list[int]]:
    """Return rows by component; those of which nothing was answered are each for themselves.

    In the order of their first rows: the numbers of components depend on how the ledger was read.
    """
    alone = rows[component < 0]
    order = np.argsort(component, kind="stable")[alone.size :]
    cuts = np.flatnonzero(np.diff(component[order])) + 1
    together = np.split(rows[order], cuts) if order.size else []
    groups = sorted((group.tolist() for group in together), key=lambda group: group[0])
    return [[row] for row in alone.tolist()] + groups


def _differences(ledger: Ledger, rows: IntArray, state: ClusterState) -> list[tuple[int, int]]:
    """Return a pair of known rows of every two components that differ, one of which is of these rows."""
    pairs = ledger.different_pairs()
    is_touched = np.zeros(int(pairs.max(initial=0)) + 1, dtype=bool)
    is_touched[rows[rows < is_touched.size]] = True
    touched = is_touched[pairs]
    pairs, touched = pairs[touched.any(axis=1)], touched[touched.any(axis=1)]
    known = touched | (state.cluster_of(pairs.ravel()).reshape(-1, 2) >= 0)
    pairs = pairs[known.all(axis=1)]
    components = ledger.implications.components(pairs.ravel()).reshape(-1, 2)
    first = np.sort(np.unique(keys_of(components), return_index=True)[1])
    return [(a, b) for a, b in pairs[first].tolist()]


def _unanswered(ledger: Ledger, taken_back: Pairs) -> list[tuple[int, int]]:
    """Return the pairs, each once, that nothing answers now."""
    unknown = taken_back[ledger.lookup(taken_back) == UNANSWERED]
    first = np.sort(np.unique(keys_of(unknown), return_index=True)[1])
    return [(a, b) for a, b in unknown[first].tolist()]
