"""Making the clusters of a state equal to given groups of rows, with as few changes of numbers as can be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from samekind.algorithms.state import ClusterState
from samekind.flow import IntArray
from samekind.points import Points

__all__ = ["confirm", "regroup", "settle_entities"]


def regroup(
    state: ClusterState, groups: Iterable[list[int]], gone: Iterable[int], points: Points
) -> None:
    """Put each group into a cluster of its own, and forget the rows that are `gone`.

    A group keeps the number of the cluster that most of its rows are in, if no group before it does. Rows of
    these clusters that are in no group stay where they are. A cluster of two rows and more is recovered.
    """
    for row in gone:
        if state.cluster_of_row(row) != -1:
            state.forget(row)
    homes: list[tuple[list[int], int]] = []
    taken: set[int] = set()
    for rows in groups:
        counts = Counter(cluster for cluster in map(state.cluster_of_row, rows) if cluster >= 0)
        home = next((cluster for cluster, _ in counts.most_common() if cluster not in taken), -1)
        taken.add(home)
        homes.append((rows, home))
    for rows, home in homes:
        for row in rows:
            if state.cluster_of_row(row) not in (home, -1):
                state.forget(row)
    for rows, home in homes:
        cluster = home if home >= 0 else state.discover(rows[0], points.row(rows[0]))
        for row in rows:
            if state.cluster_of_row(row) != cluster:
                state.add_member(row, cluster)
        confirm(state, cluster)


def settle_entities(state: ClusterState, entities: IntArray, points: Points) -> None:
    """Make every record a member of its entity, when all of them are known."""
    groups: dict[int, list[int]] = {}
    for row, entity in enumerate(entities.tolist()):
        groups.setdefault(entity, []).append(row)
    regroup(state, groups.values(), [], points)
    state.settle(points)


def confirm(state: ClusterState, cluster: int) -> None:
    """Call a cluster recovered while answers tie two records and more together in it."""
    is_confirmed = len(state.members[cluster]) > 1
    if is_confirmed and not state.is_recovered(cluster):
        state.recover([cluster])
    elif not is_confirmed and state.is_recovered(cluster):
        state.reopen(cluster)
