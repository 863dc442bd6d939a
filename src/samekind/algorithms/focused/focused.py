"""`focused`: fold the answers into one belief, and ask what is expected to put most rows right.

1. *Labels.* Every row that was asked about is in a group. A lone row that others refused has a posterior
   over the groups that remain likely for it (`state`).
2. *Belief.* P(cluster | any row) is where a random walk on the neighbour graph ends, with a leak for
   "unknown" (`terrain`, `state`).
3. *Evidence.* The log odds that two parts are one cluster are what P(same) says of the walk, plus what the
   answers between them say. Parts join where the odds are positive, and a group is cut where they are
   negative (`evidence`, `grouping`, `state`).
4. *P(same)* is one regression, learnt from the answers and what was stored with them (`same`).
5. *Value.* A question is worth the rows that it is expected to put right (`value`).
6. *Uniform and far draws* give the audit, find tiny clusters, and tell when nothing is left (`audit`).
7. *UNSURE* closes a pair, counts against a row without clear answers, and never makes a member (`facts`).

What leaves the process (snapshot, labels, confidence) is derived from all answers in one go. The live state,
which follows them step by step, serves the choice of questions.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import cached_property, partial
from math import ceil
from typing import ClassVar, NamedTuple

import numpy as np

from samekind.algorithms.base import Certificate, Prediction, Snapshot
from samekind.algorithms.focused.audit import RISK, all_asked
from samekind.algorithms.focused.bounds import most_wrong_at_any_time
from samekind.algorithms.focused.evidence import ELSEWHERE, LONE, Evidence, Kind
from samekind.algorithms.focused.facts import facts_of
from samekind.algorithms.focused.grouping import Walks, group_nodes
from samekind.algorithms.focused.guess import guess_clusters
from samekind.algorithms.focused.labels import (
    expected_wrong,
    labels_of_nodes,
    labels_of_rows,
    nearest_nodes,
    recovered,
)
from samekind.algorithms.focused.params import FocusedParams
from samekind.algorithms.focused.same import PRIOR, Same, sigmoid
from samekind.algorithms.focused.state import State, fit
from samekind.algorithms.focused.terrain import Terrain, map_terrain
from samekind.algorithms.focused.value import UNSURE_COST, Choice, Chooser
from samekind.algorithms.folding import Answered, Expected, Folding
from samekind.algorithms.paper.quiet_test import is_quiet
from samekind.algorithms.state import GIVEN_UP, UNKNOWN
from samekind.flow import SAME, UNSURE, Answers, BoolArray, FloatArray, IntArray, Pairs
from samekind.points import LabelMap, Points

__all__ = ["Focused"]

FAR = {
    "labels": 0.05,
    "centers": 0.15,
}  # share of questions about far rows; KDD needs the larger one
AUDIT_AFTER = 300  # questions: before, each teaches more than a few audited rows tell
AUDITED = (
    2.2  # times the square root of the questions since: what more audited rows tell falls like that
)
REFOLD = (
    1.1  # growth of the answers after which the live state is derived anew, where they may be wrong
)
MANY = 64  # nodes that answers are about at once, which are derived sooner than learnt one by one
IDLE = 0.001  # expected share of wrong rows below which only the paper's test is left to do
TOGETHER = 1e-4  # share of the rows that questions asked at once may be expected to put right
WORTH = 0.05  # rows that a question must be expected to put right once every row is known


class Focused(Folding[FocusedParams]):
    """Fold the answers into one belief, and ask what is expected to put most rows right."""

    name: ClassVar[str] = "focused"
    Params = FocusedParams
    predicts: ClassVar[bool] = True
    reduces: ClassVar[bool] = True
    n_features: ClassVar[int] = 8

    def __init__(self, points: Points, params: FocusedParams, rng: np.random.Generator) -> None:
        super().__init__(points, params, rng)
        self._seed = int(rng.integers(2**31))
        rate = params.error_rate
        self._told = 0.0 if rate is None else None if rate == "estimate" else float(rate)
        self._drawn: dict[
            int, tuple[int, int]
        ] = {}  # rows: what for, and what they were compared with
        self._walks: Walks | None = None
        self.fold(_nothing())

    @cached_property
    def _base(self) -> Terrain:
        return map_terrain(self.points, self._seed)

    # Folding

    def fold(self, answers: Answered) -> None:
        """Forget all answers, and start anew from these."""
        self._facts = facts_of(answers, self.points.n, self._seed, self.params.patience)
        size = len(answers.pairs)
        self._refold_at = np.inf if self.params.trusts_answers else max(size + 8, size * REFOLD)
        self._live: State | None = None
        self._derived: State | None = None
        self._grouped: _Grouped | None = None

    @property
    def _state(self) -> State:
        """The live state."""
        if self._live is None:
            self._live = self._derive()
        return self._live

    def apply(self, answers: Answered) -> None:
        """Take in answers beyond those known."""
        before = self._facts
        together = before.answers.plus(answers)
        facts = facts_of(together, self.points.n, self._seed, self.params.patience)
        new = np.arange(len(together.pairs)) >= len(before.answers.pairs)
        new &= facts.learnt
        nodes = self._state.terrain.nodes_of(together.pairs[new].ravel()).reshape(-1, 2)
        released = any(row not in facts.audit for row in before.audit.rows)
        starts = np.flatnonzero(nodes[1:, 0] != nodes[:-1, 0]) + 1  # of answers about another node
        many = starts.size >= MANY
        if released or many or (nodes < 0).any() or len(together.pairs) >= self._refold_at:
            self.fold(together)
            return
        self._facts, self._derived, self._grouped = facts, None, None
        evidence = facts.evidence(nodes, new)
        for some in np.split(np.arange(len(nodes)), starts):
            if some.size:
                self._state.add(nodes[some], evidence.some(some))

    def _group(self) -> _Grouped:
        """Return the groups that follow from the answers, in whatever order they came."""
        if self._grouped is None:
            facts = self._facts
            pairs = facts.answers.pairs[facts.learnt]
            rows = np.unique(pairs)
            others = rows[self._base.nodes_of(rows) < 0]
            walks, base = self._walks, self._base
            if walks is None or not np.array_equal(walks.terrain.rows[len(base.rows) :], others):
                walks = Walks(base.with_rows(self.points, others) if others.size else base)
                self._walks = walks
            terrain = walks.terrain
            evidence = facts.evidence(terrain.nodes_of(pairs.ravel()).reshape(-1, 2))
            same = fit(evidence, self._told, PRIOR)
            if len(pairs):
                nodes, groups = group_nodes(walks, evidence, same)
            else:
                nodes = groups = np.zeros(int(self.points.n == 1), dtype=np.intp)
            self._grouped = _Grouped(terrain, evidence, same, nodes, groups)
        return self._grouped

    def _derive(self) -> State:
        """Return the state that follows from the answers, in whatever order they came."""
        terrain, evidence, same, nodes, groups = self._group()
        equal = self.params.goal == "centers"
        return State(terrain, self._told, evidence, same, nodes, groups, equal_clusters=equal)

    def derived(self) -> State:
        """Return the state derived from all answers, which every process derives alike; to be read."""
        if self._derived is None:
            self._derived = self._derive()
        return self._derived

    def expect(self, pairs: Pairs) -> Expected:
        """Return what is known of pairs: kind, stage, net answers, features, and P(same)."""
        state = self._state
        found = np.full((len(pairs), self.n_features), np.nan, dtype=np.float32)
        nodes = state.terrain.nodes_of(pairs.ravel()).reshape(-1, 2)
        for i, ((a, b), (x, y)) in enumerate(zip(pairs.tolist(), nodes.tolist(), strict=True)):
            fresh = [row for row, node in ((a, x), (b, y)) if node < 0 or state.group[node] < 0]
            kind = self._drawn_as(fresh[0], a + b - fresh[0]) if fresh else -1
            if x >= 0 and y >= 0:
                about = state.about(x, y)
                if kind < 0 or about.kind != Kind.ROW:  # it was drawn when the row was fresh
                    kind = about.kind
                odds = state.same.odds(about.phi) + about.net
                _, walk, lost, group, size, *close, lone = about.phi.tolist()
                size = size if group else 1 - lone
                net, stage = about.net / state.same.says, 1 + state.evidence.size
                found[i] = kind, stage, net, walk, lost, size, sum(close), sigmoid(odds)
            elif kind == Kind.AUDIT:
                found[i, 0] = kind
        return found

    def _drawn_as(self, row: int, other: int) -> int:
        """Return what a fresh row was drawn for, if it was, when it is compared with another one."""
        kind, predicted = self._drawn.get(row, (-1, -1))
        return -1 if kind == Kind.TEST and other != predicted else kind

    def elsewhere(self, expected: Expected) -> Expected:
        """Return what was expected of questions about rows which somebody placed elsewhere."""
        is_row = np.isin(expected[:, 0], LONE)
        found: Expected = np.where(is_row[:, None], expected, np.float32(np.nan))
        found[:, 0] += ELSEWHERE
        return found

    @classmethod
    def came_true(cls, answers: Answers, expected: Expected) -> BoolArray:
        """Return which questions were answered "same" with what they were about."""
        found: BoolArray = (answers == SAME) & (expected[:, 0] < ELSEWHERE)
        return found

    # Choosing

    def choose(self, n: int, taken: Collection[int] = ()) -> Pairs:
        """Return the best questions that do not overlap what is taken."""
        return self._choose(n, taken, np.inf)

    def choose_together(self, most: int, taken: Collection[int] = ()) -> Pairs:
        """Return the best questions as long as they are expected to put hardly any rows right."""
        return self._choose(most, taken, TOGETHER * self.points.n)

    def _choose(self, n: int, taken: Collection[int], most_worth: float) -> Pairs:
        state, asked = self._state, self._facts.n_asked
        rng = np.random.default_rng([self._seed, 3, len(self._facts.answers.pairs), len(taken)])
        audit = self._audit_pairs(n, taken, asked, rng)
        if len(audit) == n:
            return self._as_drawn(audit)
        chooser = self._chooser(rng)
        held = [*taken, *(row for pair in audit for row in pair)]
        nodes = state.terrain.nodes_of(np.array(sorted(held), dtype=np.intp))
        busy, left = nodes[nodes >= 0].tolist(), n - len(audit)
        choices: list[Choice] = []
        if self._is_idle and self.params.stop == "reducible" and self.params.epsilon is not None:
            choices = chooser.compare(left, busy, WORTH)
            choices += chooser.test(left - len(choices), busy, labels_of_nodes(state))
        if not choices:
            choices = chooser.choose(left, busy, FAR[self.params.goal], most_worth)
        least = WORTH if not chooser.any_fresh else 0.0
        found = []
        for choice in choices:
            if choice.value >= least:
                a, b = state.terrain.rows[[choice.a, choice.b]].tolist()
                found.append((a, b))
                if choice.kind in (Kind.FAR, Kind.TEST):
                    self._drawn[a] = choice.kind, b
        if len(found) > 1:  # what falls due meanwhile
            audit = self._audit_pairs(n, taken, asked + len(found), rng)
        return np.concatenate([self._as_drawn(audit), _as_pairs(found)])[:n]

    def _as_drawn(self, audit: list[tuple[int, int]]) -> Pairs:
        """Note that questions are the audit's, and return them."""
        self._drawn |= {row: (Kind.AUDIT, other) for row, other in audit}
        return _as_pairs(audit)

    def _chooser(self, rng: np.random.Generator) -> Chooser:
        unsure, undecided = self._unsure(), self._undecided()
        return Chooser(self._state, self._closed(), unsure, undecided, rng, self._seed)

    def _closed(self) -> BoolArray:
        """Return the nodes that are not to be asked about afresh."""
        facts, state = self._facts, self._state
        rows = np.array([*facts.audit.rows, *facts.skipped, *facts.given_up], dtype=np.intp)
        nodes = state.terrain.nodes_of(rows)
        closed = np.zeros(state.n, dtype=bool)
        closed[nodes[nodes >= 0]] = True
        return closed

    def _unsure(self) -> dict[int, int]:
        """Return how often somebody was not sure of a node."""
        counts = self._facts.unsure
        nodes = self._state.terrain.nodes_of(np.array(list(counts), dtype=np.intp)).tolist()
        return {x: count for x, count in zip(nodes, counts.values(), strict=True) if x >= 0}

    def _undecided(self) -> dict[tuple[int, int], float]:
        """Return pairs of nodes whose groups are not to be asked about, or less, and by what factor.

        Those that nobody could tell; and those that the audit tells apart, of which nothing is learnt.
        """
        facts, found = self._facts, dict[tuple[int, int], float]()
        unsure = facts.answers.answers == UNSURE
        pairs = facts.answers.pairs[unsure]
        nodes = self._state.terrain.nodes_of(pairs.ravel()).reshape(-1, 2)
        for (a, b), skipped in zip(nodes.tolist(), facts.answers.skipped[unsure], strict=True):
            found[(min(a, b), max(a, b))] = 0.0 if skipped else UNSURE_COST
        apart = self._state.terrain.nodes_of(np.array(facts.apart, dtype=np.intp).ravel())
        for a, b in apart.reshape(-1, 2).tolist():
            found[(a, b)] = 0.0
        return {pair: factor for pair, factor in found.items() if min(pair) >= 0}

    @property
    def _is_idle(self) -> bool:
        state = self._state
        counts = state.terrain.weight
        wrong = float((counts * expected_wrong(state)).sum() / counts.sum())
        return state.n_groups > 0 and wrong < IDLE

    def reason_to_stop(self) -> str:
        """Return why nothing more needs to be asked, or an empty text."""
        params = self.params
        if params.target is not None and len(recovered(self._state)) >= params.target:
            return "target"
        if params.stop == "certified":
            return "certified" if self._is_certified() else ""
        if params.epsilon is None:
            return ""
        return "reducible" if is_quiet(*self._quiet(params.epsilon)) else ""

    def _quiet(self, epsilon: float) -> tuple[int, int, float, int]:
        n_inside, number = self._facts.quiet()
        return n_inside, 0, epsilon, number

    def _is_certified(self) -> bool:
        """Return whether the certificate is within the tolerance, whenever one looks."""
        audit, tolerance = self._facts.audit, self.params.tolerance
        if not len(audit):
            return False
        n_wrong = len(audit.refused) + len(audit.unsure) + audit.n_refuted
        n_left = self.points.n - len(self._state.known) + len(audit.told)
        at_best = most_wrong_at_any_time(n_wrong, len(audit), n_left, RISK)
        if at_best > tolerance * self.points.n:
            return False  # whatever is derived, which takes its time
        return self.certificate().wrong_at_any_time <= tolerance

    # The audit

    def _audit_pairs(
        self, n: int, taken: Collection[int], count: int, rng: np.random.Generator
    ) -> list[tuple[int, int]]:
        """Return the questions of the audit that are due after so many others, n at most."""
        state, audit = self._state, self._facts.audit
        if state.n_groups < 2 or not self._may_audit(count):
            return []
        next_rows = self._next_in_audit(len(taken) + n)
        free = [row for row in next_rows if row not in taken]
        due = n
        if self.params.stop != "certified":
            asked = len(audit) + len(next_rows) - len(free)
            due = min(n, ceil(AUDITED * max(0, count - AUDIT_AFTER) ** 0.5) - asked)
        refused = [row for row in audit.refused if row not in taken]
        rows = refused + free[: max(due, 0)]
        if due <= 0 or not rows:
            return []
        groups = labels_of_rows(state, self.points, np.array(rows, dtype=np.intp))
        found: list[tuple[int, int]] = []
        for row, group in zip(rows, groups.tolist(), strict=True):
            against = self._live_cluster_of(np.array(audit.refused.get(row, []), dtype=np.intp))
            if group not in against and len(found) < due:  # or it is predicted elsewhere now
                found.append((row, int(state.terrain.rows[int(rng.choice(state.members[group]))])))
        return found

    def _may_audit(self, count: int) -> bool:
        """Return whether the audit may go on; with stop="certified", when nothing else is worth much."""
        if self.params.stop != "certified":
            return count > AUDIT_AFTER
        counts = self._state.terrain.weight
        least = self.params.tolerance / 2 * counts.sum()
        if (counts * expected_wrong(self._state)).sum() > least:
            return False
        best = self._chooser(np.random.default_rng(0)).choose(1, (), 0.0)
        if best and best[0].value > least:
            return False  # two groups are likely one
        # a row that is not as predicted may be of an unknown cluster, which is to be found
        return not self._facts.audit.refused or 2 * len(self._facts.audit) <= count

    def _next_in_audit(self, most: int) -> list[int]:
        """Return the rows that are drawn next: nothing was asked about them."""
        found: list[int] = []
        for row in self._facts.audit.order():
            if row not in self._facts.mentioned:
                found.append(row)
                if len(found) == most:
                    break
        return found

    def certificate(self) -> Certificate:
        """Return what the audit promises of all labels."""
        state, audit, given_up = self.derived(), self._facts.audit, self._facts.given_up
        if len(state.known) + len(audit.same) + len(given_up) >= self.points.n:
            return all_asked(len(given_up))
        predicted = labels_of_rows(state, self.points, np.array(audit.rows, dtype=np.intp))
        wrong = audit.wrong(self.cluster_of, predicted)
        n_learnt = len(state.known) + sum(row not in audit for row in given_up)
        n_clusters = int(state.alive.sum())
        n_unproven = n_clusters * (n_clusters - 1) // 2 - state.between.n_told()
        return audit.certificate(len(wrong), n_learnt, len(given_up), n_unproven)

    # What others may know

    def known_clusters(self) -> list[list[int]]:
        """Return the rows known to be in each cluster; every process with these answers finds the same."""
        grouped, known = self._group(), self._facts.audit.same
        rows = np.concatenate(
            [grouped.terrain.rows[grouped.nodes], np.array(list(known), dtype=np.intp)]
        )
        groups = np.append(grouped.groups, self.cluster_of(rows[grouped.nodes.size :]))
        rows, groups = rows[groups >= 0], groups[groups >= 0]
        order = np.lexsort((rows, groups))
        return [own.tolist() for own in np.split(rows[order], np.cumsum(np.bincount(groups)))[:-1]]

    def cluster_of(self, rows: IntArray) -> IntArray:
        """Return the number of the known cluster of each row, UNKNOWN or GIVEN_UP."""
        grouped = self._group()
        group = np.full(len(grouped.terrain.rows), UNKNOWN)
        group[grouped.nodes] = grouped.groups
        return self._place_of(rows, grouped.terrain, group)

    def is_known(self, rows: IntArray) -> BoolArray:
        """Return whether each row is known to be in some cluster."""
        return self._live_cluster_of(rows) >= 0

    def counts(self) -> tuple[int, int]:
        """Return about how many rows are known, and how many clusters, by the live state."""
        return len(self._state.known) + len(self._facts.audit.same), int(self._state.alive.sum())

    def _live_cluster_of(self, rows: IntArray) -> IntArray:
        return self._place_of(rows, self._state.terrain, self._state.group)

    def _place_of(self, rows: IntArray, terrain: Terrain, group: IntArray) -> IntArray:
        """Return in which group each row is, by the groups of nodes."""
        rows = np.asarray(rows, dtype=np.intp)
        known, given_up = self._facts.audit.same, self._facts.given_up
        same_as = np.array([known.get(row, row) for row in rows.tolist()], dtype=np.intp)
        nodes = terrain.nodes_of(same_as)
        found = np.where(nodes >= 0, group[nodes], UNKNOWN)
        lost = [row in given_up for row in rows.tolist()]
        return np.where(lost, GIVEN_UP, found).astype(np.intp)

    def rank_clusters(self, row: int) -> list[int]:
        """Return all clusters, those first that a row is likeliest in, without those that refused it."""
        state, grouped = self._state, self._group()
        if not grouped.nodes.size:
            return []
        own = int(self._live_cluster_of(np.array([row]))[0])
        if own >= 0:
            shares = state.chances(own)
            shares[own] = 2.0
        else:
            node = int(nearest_nodes(state, self.points, np.array([row]))[0])
            shares = state.row_shares(node)
        live = state.group[grouped.nodes]  # a cluster is as likely as the live groups of its rows
        likely = np.bincount(grouped.groups, shares[live] / state.size[live])
        refusals = np.array(self._facts.refusals(row), dtype=np.intp)
        against = set(self.cluster_of(refusals).tolist())
        known = int(self.cluster_of(np.array([row]))[0])
        if known >= 0:
            likely[known] = np.inf
        order = np.argsort(-likely, kind="stable").tolist()
        return [cluster for cluster in order if cluster == known or cluster not in against]

    def likely_members(self, cluster: int, most: int, taken: Collection[int] = ()) -> IntArray:
        """Return rows that are predicted to be in a cluster, not known to be, the most doubtful first."""
        state, grouped = self._state, self._group()
        live = state.group[grouped.nodes[grouped.groups == cluster]]
        own = (state.likeliest == np.bincount(live).argmax()) & (state.group < 0) & ~self._closed()
        held = state.terrain.nodes_of(np.array(sorted(taken), dtype=np.intp))
        own[held[held >= 0]] = False
        nodes = np.flatnonzero(own)
        return state.terrain.rows[nodes[np.argsort(-state.doubt[nodes], kind="stable")[:most]]]

    def confidence(self, rows: IntArray) -> FloatArray:
        """Return how likely each row is in the cluster of its label; NaN if there is none."""
        state, rows = self.derived(), np.asarray(rows, dtype=np.intp)
        if not state.n_groups:
            return np.full(rows.size, np.nan)
        known = self.cluster_of(rows)
        right = 1 - expected_wrong(state)[nearest_nodes(state, self.points, rows)]
        return np.where(known >= 0, 1.0, np.where(known == GIVEN_UP, np.nan, right))

    def snapshot(self) -> Snapshot:
        """Return what follows from the answers."""
        state, facts = self.derived(), self._facts
        members = self.known_clusters()
        is_all = sum(map(len, members)) + len(facts.given_up) >= self.points.n
        return Snapshot(
            members=members,
            recovered=[c for c, own in enumerate(members) if own] if is_all else recovered(state),
            centers=None,
            given_up=sorted(facts.given_up),
            n_samples=facts.n_asked,
            n_rounds=0,
            sampling_seconds=0.0,
            notes=[],
            prediction=Prediction(
                labels=partial(self._label_rows, state),
                certificate=self.certificate(),
                error_rate=None if self._told == 0 or not state.n_groups else state.same.rate,
            ),
        )

    def _label_rows(self, state: State, labels: LabelMap) -> IntArray:
        return labels.of_rows(labels_of_rows(state, self.points))

    def guess(self) -> Snapshot:
        """Return the clusters as they seem to be from the rows alone."""
        return guess_clusters(self.points, self._base)


class _Grouped(NamedTuple):
    """Which nodes are known to be in which cluster, and what that was derived from."""

    terrain: Terrain
    evidence: Evidence
    same: Same
    nodes: IntArray
    groups: IntArray


def _as_pairs(found: list[tuple[int, int]]) -> Pairs:
    return np.array(found, dtype=np.intp).reshape(-1, 2)


def _nothing() -> Answered:
    return Answered(
        np.empty((0, 2), dtype=np.intp),
        np.empty(0, dtype=np.int8),
        np.empty(0, dtype=np.intp),
        np.empty(0, dtype=bool),
        np.empty((0, Focused.n_features), dtype=np.float32),
    )
