"""Changing in place what a run knows, when somebody changed an answer that it has used.

Its rules:

- What is touched is the clusters that the change speaks of, never the whole run.
- A cluster keeps its number where most of its rows stay together. Other rows that belong together make a new
  cluster; a row that belongs to nothing any more is forgotten, and asked about first.
- What was taken back is asked again before anything else, by the same two rows if it is still open.
- Nothing that the change makes doubtful counts for a guarantee: a forgotten row leaves the audit until
  it is asked about again, as a row of the audit; a cluster that was split off counts as one that the draws
  had missed; a recovered cluster that lost rows or was merged is recovered anew; and the paper's test begins
  again.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from samekind.algorithms.exchange import Amendment
from samekind.algorithms.focused.learner import Learner
from samekind.algorithms.focused.scheduler import Aim
from samekind.algorithms.state import GIVEN_UP, UNKNOWN, ClusterState
from samekind.flow import IntArray

__all__ = ["Amended", "Amender", "separate_founded"]


class Amended(NamedTuple):
    """What is left to do after an amendment, in this order."""

    to_learn: list[tuple[list[int], int]]
    """Rows that are known now to be in one cluster, and its number; -1 if there is none yet."""
    to_ask: dict[int, tuple[Aim, int]]
    """Rows to ask about, with their aims and the rows to compare them with first, -1 for any."""
    to_compare: list[tuple[int, int]]
    """Rows of two clusters that may be one."""


class Amender:
    """Makes one amendment of what a `Learner` knows.

    Parameters
    ----------
    learner : Learner
        What is changed.
    amendment : Amendment
        What is known now.
    open_rows : dict
        The rows that were being asked about, with their aims.
    """

    def __init__(self, learner: Learner, amendment: Amendment, open_rows: dict[int, Aim]) -> None:
        self._learner = learner
        self._state = learner.state
        self._amendment = amendment
        self._groups = [np.array(rows, dtype=np.intp) for rows in amendment.groups]
        self._rows = np.concatenate([*self._groups, np.empty(0, dtype=np.intp)])
        self._open_rows = open_rows
        self._lost: dict[int, Aim] = {}  # rows that are not known any more
        self._shaken: set[int] = set()  # clusters that lost rows, or were merged

    def amend(self) -> Amended:
        """Change what is known; return what follows from it."""
        with self._learner.model.scorer.lda.fit_once():
            self._take_up()
            to_learn = self._regroup()
            asked_again, to_compare = self._ask_again()
        self._inform_model()
        self._set_differences()
        if self._shaken:
            self._audit_again()
            self._begin_tests_anew()
        return Amended(to_learn, self._first(asked_again, to_learn), to_compare)

    # Rows and clusters

    def _take_up(self) -> None:
        """Make rows that were given up unknown, where something is known of them now."""
        known = self._rows[self._state.cluster_of(self._rows) == GIVEN_UP].tolist()
        for row in [*known, *self._amendment.reopened]:
            self._state.forget(row)
            self._learner.unsure.drop(row)
            audited = self._learner.audit.release(row)
            if row not in known:
                self._lost[row] = "refine" if audited is None else "audit"

    def _regroup(self) -> list[tuple[list[int], int]]:
        """Move, merge and split until the clusters are the groups; return what rows are to be learnt."""
        state = self._state
        owned = self._find_owners()
        for number, rows in enumerate(self._groups):
            is_lost = rows.size == 1 and rows[0] not in self._amendment.founders
            if not is_lost or state.cluster_of(rows)[0] < 0:
                continue
            if number not in owned or self._stands_for_nothing(int(rows[0])):
                self._forget(int(rows[0]))
        if self._lost:  # a row that was forgotten leaves its cluster to the others
            owned = self._find_owners()
        to_learn: list[tuple[list[int], int]] = []
        for number, rows in enumerate(self._groups):
            known = rows[state.cluster_of(rows) >= 0]
            if number in owned:
                cluster, *others = sorted(owned[number])
                for other in others:
                    self._shaken |= {cluster, other}
                    self._learner.merge(cluster, other)
                self._move(known, cluster)
            else:
                cluster = self._split_off(known) if known.size else -1
            unknown = rows[state.cluster_of(rows) == UNKNOWN]
            founds = rows.size > 1 or rows[0] in self._amendment.founders
            if unknown.size and (founds or cluster >= 0):
                to_learn.append((unknown.tolist(), cluster))
        return to_learn

    def _stands_for_nothing(self, row: int) -> bool:
        """Return whether no answer makes a row a cluster by itself any more; the oldest one needs none."""
        older = self._state.members[: self._state.cluster_of_row(row)]
        return row in self._amendment.unmentioned and any(older)

    def _find_owners(self) -> dict[int, list[int]]:
        """Return the clusters whose numbers each group keeps: those most of whose rows it has."""
        order = np.argsort(self._rows)
        numbers = np.repeat(np.arange(len(self._groups)), [rows.size for rows in self._groups])
        owned: dict[int, list[int]] = defaultdict(list)
        for cluster in self._touched():
            places = np.searchsorted(self._rows, self._state.members[cluster], sorter=order)
            group, first, size = np.unique(
                numbers[order[places]], return_index=True, return_counts=True
            )
            owned[int(group[np.lexsort((first, -size))[0]])].append(cluster)
        return owned

    def _touched(self) -> list[int]:
        """Return the clusters of which some rows are in groups."""
        clusters = np.unique(self._state.cluster_of(self._rows))
        found: list[int] = clusters[clusters >= 0].tolist()
        return found

    def _forget(self, row: int) -> None:
        learner, cluster = self._learner, self._state.cluster_of_row(row)
        self._shaken.add(cluster)
        self._lost[row] = "refine" if learner.audit.release(row) is None else "audit"
        learner.model.relabel([row], -1)
        self._state.forget(row)
        if not self._state.members[cluster]:
            learner.retire(cluster)

    def _move(self, rows: IntArray, cluster: int) -> None:
        """Make rows members of a cluster, which may be of others."""
        clusters = self._state.cluster_of(rows)
        for own in np.unique(clusters[clusters != cluster]).tolist():
            moved = rows[clusters == own].tolist()
            for row in moved:
                self._state.move(row, cluster)
            self._shaken |= {own, cluster}
            self._relabel(moved, cluster)

    def _split_off(self, rows: IntArray) -> int:
        """Make rows of one or more clusters a new cluster."""
        first = int(self._state.cluster_of(rows)[0])
        apart = set(rows.tolist())
        own = [row for row in self._state.members[first] if row in apart]  # in their order
        cluster = self._learner.split_off(first, own)
        self._shaken.add(first)
        self._learner.audit.surveys.count_missed()
        self._relabel(own, cluster)
        self._move(rows, cluster)
        return cluster

    def _relabel(self, rows: list[int], cluster: int) -> None:
        self._learner.model.relabel(rows, cluster)
        for row in rows:
            self._learner.audit.move(row, cluster)

    # Questions

    def _ask_again(self) -> tuple[dict[int, int], list[tuple[int, int]]]:
        """Return rows to ask about, with those to compare them with, and rows of clusters to compare."""
        state = self._state
        rows: dict[int, int] = {}
        pairs: list[tuple[int, int]] = []
        for pair in self._amendment.ask_again:
            self._learner.unsure.reopen_pair(*pair)
            row, other = sorted(pair, key=self._age, reverse=True)
            own, cluster = state.cluster_of_row(row), state.cluster_of_row(other)
            if own >= 0 and own == cluster:
                continue
            if own >= 0 and not self._is_in_doubt(row):
                pairs.append((row, other))
                continue
            if own >= 0:
                self._forget(row)
            elif self._learner.audit.release(row) is not None:  # that was not as predicted
                self._lost[row] = "audit"
            if row in self._lost or row in self._open_rows:
                rows.setdefault(row, other if cluster >= 0 else -1)
        known = [pair for pair in pairs if all(state.cluster_of_row(row) >= 0 for row in pair)]
        return rows, _by_common_row(known)

    def _is_in_doubt(self, row: int) -> bool:
        """Return whether a row is a cluster by itself because of answers that were taken back.

        Other answers about it compared its cluster with others; they are asked again, and it stays.
        """
        cluster = self._state.cluster_of_row(row)
        if len(self._state.members[cluster]) > 1:
            return False
        compared = self._learner.compared_with_founder(cluster)
        again = {other for pair in self._amendment.ask_again if row in pair for other in pair}
        return not compared or not compared.isdisjoint(again)

    def _age(self, row: int) -> int:
        """Return a number that is larger the later a row's cluster was found, largest if it is unknown."""
        cluster = self._state.cluster_of_row(row)
        return cluster if cluster >= 0 else len(self._state)

    def _first(
        self, again: dict[int, int], to_learn: list[tuple[list[int], int]]
    ) -> dict[int, tuple[Aim, int]]:
        """Return all rows to ask about: what was taken back first, what was being asked last."""
        aims = self._lost | self._open_rows
        learnt = {row for rows, _ in to_learn for row in rows}
        order = dict.fromkeys([*again, *self._lost, *self._open_rows])
        return {
            row: (aims[row], again.get(row, -1))
            for row in order
            if row not in learnt and self._state.cluster_of_row(row) == UNKNOWN
        }

    def _audit_again(self) -> None:
        """Ask again about audited rows that were refused by clusters which are not what they were."""
        for row in self._learner.audit.refused_by(self._shaken):
            self._learner.audit.release(row)
            if self._state.cluster_of_row(row) == UNKNOWN:
                self._lost[row] = "audit"

    # What else learns from rows and clusters

    def _inform_model(self) -> None:
        """Let the model know a member of every cluster, and predict rows that moved as they are."""
        learner, model, state = self._learner, self._learner.model, self._state
        touched = self._touched()
        for cluster in touched:
            if not any(map(model.knows, state.members[cluster])):  # all are audited
                first = state.members[cluster][0]
                learner.audit.release(first)
                learner.audit.add_founder()
                model.learn(first, learner.points.row(first), cluster, surprising=True)
            if not (model.sites.member_clusters == cluster).any():
                model.sites.add(next(filter(model.knows, state.members[cluster])), cluster)
        model.predict_surrogates()
        if not self._shaken:
            return
        learnt = [row for row in self._rows.tolist() if model.knows(row) and row not in model.sites]
        rows = np.array(learnt, dtype=np.intp)
        clusters = state.cluster_of(rows)
        surprising = model.predictor.clusters_of(rows) != clusters if rows.size else clusters < 0
        for row, cluster in zip(rows[surprising], clusters[surprising], strict=True):
            model.sites.add(int(row), int(cluster))

    def _set_differences(self) -> None:
        """Let the pairs of the touched clusters be different that are now, and no others."""
        pairs = _clusters_of(self._amendment.different, self._state)
        both = pairs[(pairs >= 0).all(axis=1) & (pairs[:, 0] != pairs[:, 1])]
        one, other = both.ravel(), both[:, ::-1].ravel()  # each way, in the order of the pairs
        order = np.argsort(one, kind="stable")
        one, other = one[order], other[order]
        for cluster in self._touched():
            first, last = np.searchsorted(one, [cluster, cluster + 1])
            self._learner.pairs.set_different(cluster, other[first:last].tolist())

    def _begin_tests_anew(self) -> None:
        learner, state = self._learner, self._state
        reopened = [cluster for cluster in state.recovered if cluster in self._shaken]
        for cluster in reopened:
            state.reopen(cluster)
        for cluster in sorted(self._shaken):
            learner.recovery.begin_trials_anew(cluster)
        if reopened:
            learner.paper.begin_anew(learner.points.sampler())
        else:
            learner.paper.quiet.restart()


def _by_common_row(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Begin each pair with the row that more of them have: what was a line-up can be one again."""
    often = Counter(row for pair in pairs for row in pair)
    return [(b, a) if often[b] > often[a] else (a, b) for a, b in pairs]


def separate_founded(learner: Learner, amendment: Amendment, n_before: int) -> None:
    """Note what the clusters differ from that were founded by an amendment: all but the first so many."""
    if len(learner.state) == n_before:
        return
    pairs = np.sort(_clusters_of(amendment.different, learner.state), axis=1)
    a, b = pairs.T
    for one, founded in pairs[(a >= 0) & (a < b) & (b >= n_before)].tolist():
        learner.pairs.separate(one, founded)


def _clusters_of(pairs: Sequence[tuple[int, int]], state: ClusterState) -> IntArray:
    """Return the cluster of each row of these pairs, (m, 2); below 0 if it is not known."""
    rows = np.array(pairs, dtype=np.intp).reshape(-1, 2)
    return state.cluster_of(rows.ravel()).reshape(-1, 2)
