"""Questions about rows, and about pairs of clusters that may be one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice

import numpy as np

from samekind.algorithms.focused.answer_policy import AnswerPolicy
from samekind.algorithms.focused.cluster_model import ClusterModel
from samekind.algorithms.focused.constants import (
    FOUND_ONE_IN,
    LINEUP_BELOW,
    OBVIOUS,
    YOUNG_ABOVE,
    YOUNG_QUESTIONS,
)
from samekind.algorithms.focused.learner import Learner, OpenRow
from samekind.algorithms.state import GIVEN_UP
from samekind.flow import DIFFERENT, SAME, UNANSWERED, Flow, Reply

__all__ = ["ClusterQuestions", "RowQuestions", "score_open_rows"]

RowLineup = list[tuple[int, int]]
"""The clusters that a row is compared with in one question, and a member of each."""


def score_open_rows(open_rows: Sequence[OpenRow], model: ClusterModel) -> None:
    """Find out how likely each cluster is for some rows."""
    rows = np.array([open_row.row for open_row in open_rows])
    X = np.array([open_row.x for open_row in open_rows])
    scores = model.scorer.score(X, model.predictor.nearness(rows, X))
    for i, open_row in enumerate(open_rows):
        open_row.weights, open_row.new_weight = scores.weights[i], float(scores.new_weights[i])
        if not open_row.n_asked:
            open_row.features = scores.features[0][i], scores.features[1][i]
            open_row.prior = scores.probabilities[i]


def _one_by_one(reply: Reply) -> Iterator[tuple[int, int, bool]]:
    """Yield each answer, who gave it, and whether the question was skipped."""
    size = len(reply.answers)
    who = [-1] * size if reply.who is None else reply.who.tolist()
    skipped = [False] * size if reply.skipped is None else reply.skipped.tolist()
    return zip(reply.answers.tolist(), who, skipped, strict=True)


def _far_apart(open_rows: list[OpenRow]) -> list[OpenRow]:
    """Return some of these rows, the first and then always the one that is farthest from all of them."""
    if len(open_rows) < 2:
        return open_rows
    X = np.array([open_row.x for open_row in open_rows])
    found, nearest = [0], ((X - X[0]) ** 2).sum(axis=1)
    while len(found) < len(open_rows) // FOUND_ONE_IN:
        found.append(int(nearest.argmax()))
        nearest = np.minimum(nearest, ((X - X[found[-1]]) ** 2).sum(axis=1))
    return [open_rows[place] for place in found]


class RowQuestions:
    """Asks about rows in waves of one question, or line-up, a row.

    Rows that are new found their clusters at once, so that the rows still open can be of them.
    """

    def __init__(self, learner: Learner, policy: AnswerPolicy) -> None:
        self.founds_several = False
        """Whether several clusters may be founded at once, for several people; some may prove to be one."""
        self._params = learner.params
        self._learner = learner
        self._policy = policy

    def settle(self, open_rows: list[OpenRow]) -> Flow[None]:
        """Ask until the cluster of each row is decided."""
        model, policy = self._learner.model, self._policy
        n_clusters = -1
        while left := [open_row for open_row in open_rows if open_row.cluster is None]:
            if n_clusters != model.scorer.n_clusters:
                n_clusters = model.scorer.n_clusters
                score_open_rows(left, model)
            wave: list[tuple[OpenRow, RowLineup]] = []
            new: list[OpenRow] = []
            for open_row in left:
                question = policy.next_question(open_row)
                if question is not None:
                    wave.append((open_row, [question, *self.others(open_row, question[0])]))
                elif open_row.cluster is None:
                    new.append(open_row)
                    if not self.founds_several:
                        break  # the others may be of the new cluster
            for open_row in _far_apart(new):
                self._learner.discover(open_row)
            if wave and not new:
                reply = yield np.array(
                    [(open_row.row, member) for open_row, lineup in wave for _, member in lineup]
                )
                replies = _one_by_one(reply)
                for open_row, lineup in wave:
                    self._observe_lineup(open_row, lineup, list(islice(replies, len(lineup))))

    def others(self, open_row: OpenRow, first: int) -> RowLineup:
        """Return the other clusters of a line-up: the plausible ones, unless the first is obvious."""
        found: RowLineup = []
        on_sheet = open_row.aim == "sheet" and open_row.n_asked == 0
        if self._params.lineup == 1 or open_row.aim == "audit" or on_sheet:
            return found
        left = self._policy.probabilities(open_row)
        if left[first] >= OBVIOUS:
            return found
        new = 1.0 - left.sum()
        left[first] = 0.0
        for cluster in np.argsort(-left, kind="stable").tolist():
            rest = left.sum()
            if len(found) + 1 == self._params.lineup or rest < LINEUP_BELOW * (rest + new):
                break
            member = self._policy.next_member(open_row, cluster) if left[cluster] > 0 else -1
            left[cluster] = 0.0
            if member >= 0:
                found.append((cluster, member))
        return found

    def _observe_lineup(
        self, open_row: OpenRow, lineup: RowLineup, replies: list[tuple[int, int, bool]]
    ) -> None:
        """Take answers about a row into account, each with its annotator and whether it was skipped.

        Where the row was found in a line-up, nothing else counts, and the rest of it need not be answered.
        Who is not sure of a line-up is not asked about the row again, for now. Nor is who skips it. UNSURE is
        not held against the row where the member may be at fault.
        """
        unsure = self._learner.unsure
        open_row.n_asked += 1
        found = any(answer == SAME for answer, _, _ in replies)
        at_fault = False
        for (cluster, member), (answer, who, skipped) in zip(lineup, replies, strict=True):
            if answer == UNANSWERED or (found and answer != SAME):
                continue
            asked = open_row.asked.setdefault(cluster, [])
            asked.append(member)
            if answer in (SAME, DIFFERENT):
                unsure.mark_clear((open_row.row, member))
                self._policy.observe(open_row, cluster, member, answer, who)
                continue
            unsure.add_pair(open_row.row, member)
            if unsure.is_suspect(member):
                open_row.suspects.append(member)
            else:
                at_fault = True
            if skipped or (len(lineup) > 1 and at_fault):
                open_row.cluster = GIVEN_UP
            elif len(asked) == len(self._learner.state.members[cluster]):
                open_row.unsure_clusters.add(cluster)
        open_row.n_unsure += at_fault
        if open_row.cluster is None and unsure.should_give_up(open_row):
            open_row.cluster = GIVEN_UP


ClusterLineup = list[tuple[int, tuple[int, int]]]
"""The clusters that one cluster is compared with in one question, each with the pair of rows to compare."""


class ClusterQuestions:
    """Asks about pairs of clusters until they are merged, proven different or undecidable."""

    def __init__(self, learner: Learner, policy: AnswerPolicy) -> None:
        self.n_asked = 0
        self._params = learner.params
        self._learner = learner
        self._pairs = learner.pairs
        self._policy = policy
        self._lineup = learner.params.lineup if policy.compares_in_waves else 1
        self._n_unsure: Counter[tuple[int, int]] = Counter()  # answers about two clusters
        self._owed = 0.0  # questions to be asked soon
        self._n_asked_before = 0  # about rows, when they were reckoned last
        self._open: list[tuple[int, int]] = []  # rows that are being compared

    def pay_share(self, share: float, worth: float, at_once: int) -> Flow[None]:
        """Compare clusters with a share of the questions about rows since the last time.

        Two that are found to be one are `worth` so many more questions: while that happens often, it goes on.
        """
        state, n_asked = self._learner.state, self._learner.scheduler.n_asked
        self._owed += share * (n_asked - self._n_asked_before)
        self._n_asked_before = n_asked
        while self._owed >= 1:
            n_clusters, before = state.n_discovered, self.n_asked
            size = min(at_once, int(self._owed))
            yield from self.compare(0.0, most=size, at_once=size)
            if before == self.n_asked:
                self._owed = 0.0  # nothing is left to compare
            else:
                merged = n_clusters - state.n_discovered
                self._owed += worth * merged - (self.n_asked - before)

    def compare(
        self, least: float, *, most: float = np.inf, of: int | None = None, at_once: int = 1
    ) -> Flow[None]:
        """Ask about pairs of clusters, all or those of one, that are similar enough."""
        last = self.n_asked + most
        similarities = self._learner.model.predictor.similarities()
        if similarities is not None:
            self._pairs.set_similarities(similarities)
        size = at_once if self._policy.compares_in_waves else 1
        while self.n_asked < last and (
            wave := self._wave(least, of, int(min(size, last - self.n_asked)))
        ):
            yield from self._ask(wave)

    def compare_young(self, clusters: list[int]) -> Flow[None]:
        """Compare each of some clusters with the few that are most similar."""
        for cluster in clusters:
            if self._learner.model.scorer.alive[cluster]:
                yield from self.compare(YOUNG_ABOVE, of=cluster, most=YOUNG_QUESTIONS)

    def _ask(self, wave: list[tuple[int, ClusterLineup]]) -> Flow[None]:
        self._open = [pair for _, lineup in wave for _, pair in lineup]
        reply = yield np.array(self._open)
        self._open = []
        self.n_asked += len(wave)
        replies = _one_by_one(reply)
        for cluster, lineup in wave:
            self._observe_lineup(cluster, lineup, list(islice(replies, len(lineup))))

    def interrupt(self) -> list[tuple[int, int]]:
        """Return the rows that were being compared when the flow was closed."""
        pairs, self._open = self._open, []
        return pairs

    def compare_again(self, pairs: list[tuple[int, int]]) -> Flow[None]:
        """Ask about these rows of clusters, as far as that is open."""
        lineups: dict[int, tuple[int, ClusterLineup]] = {}  # by their rows
        compared: set[tuple[int, int]] = set()
        for row, member in pairs:
            a, b = map(self._learner.state.cluster_of_row, (row, member))
            if min(a, b) < 0 or a == b or (min(a, b), max(a, b)) in compared:
                continue
            self._n_unsure.pop((min(a, b), max(a, b)), None)
            self._pairs.reopen(a, b)
            compared.add((min(a, b), max(a, b)))
            lineups.setdefault(row, (a, []))[1].append((b, (row, member)))
        if lineups:
            before = self.n_asked
            yield from self._ask(list(lineups.values()))
            self._owed = max(0.0, self._owed - (self.n_asked - before))

    def _wave(self, least: float, of: int | None, size: int) -> list[tuple[int, ClusterLineup]]:
        """Return up to `size` clusters, each with others to compare with; none if none is left.

        Two clusters are compared once in a wave, and a cluster has one line-up in it: who answers knows a
        line-up by the row that it is about.
        """
        while True:
            wave: list[tuple[int, ClusterLineup]] = []
            compared: set[tuple[int, int]] = set()
            decided = False
            for similarity, a, b in self._pairs.most_similar(of, size):
                if similarity < least:
                    break
                lined_up = self._lineup > 1 and any(cluster == a for cluster, _ in wave)
                if lined_up or (min(a, b), max(a, b)) in compared:
                    continue
                if self._policy.decide_pair(similarity, a, b):
                    decided = True
                    continue
                pair = self._rows_to_compare(a, b)
                if pair is None:
                    self._pairs.mark_undecidable(a, b)
                    decided = True
                    continue
                lineup = [(b, pair), *self._others(a, b, pair[0], compared)]
                compared |= {(min(a, other), max(a, other)) for other, _ in lineup}
                wave.append((a, lineup))
            if wave or not decided:
                return wave

    def _rows_to_compare(self, a: int, b: int) -> tuple[int, int] | None:
        """Return members of two clusters to ask about; None when it is no use."""
        if self._n_unsure[min(a, b), max(a, b)] >= self._params.patience:
            return None
        for pair in self._policy.member_pairs(a, b):
            if not self._learner.unsure.knows_pair(*pair):
                return pair
        return None

    def _others(
        self, cluster: int, first: int, row: int, compared: set[tuple[int, int]]
    ) -> ClusterLineup:
        """Return the other clusters of a line-up, each with a row to compare with: those still open."""
        found: ClusterLineup = []
        for other in self._pairs.open_with(cluster) if self._lineup > 1 else ():
            if len(found) + 1 == self._lineup:
                break
            if other == first or (min(cluster, other), max(cluster, other)) in compared:
                continue
            member = self._learner.state.members[other][0]
            if not self._learner.unsure.knows_pair(row, member):
                found.append((other, (row, member)))
        return found

    def _observe_lineup(
        self, cluster: int, lineup: ClusterLineup, replies: list[tuple[int, int, bool]]
    ) -> None:
        """Take answers about a cluster and others into account, each with its annotator.

        Where the cluster was found in a line-up, nothing else counts.
        """
        answered = list(zip(lineup, replies, strict=True))
        found = [one for one in answered if one[1][0] == SAME][:1]
        for (other, pair), (answer, who, _) in found or answered:
            if answer == UNANSWERED or not self._pairs.is_open(cluster, other):
                continue  # the latter if another answer of the wave has settled it
            if answer in (SAME, DIFFERENT):
                self._learner.unsure.mark_clear(pair)
                self._policy.observe_pair(cluster, other, pair, answer, who)
            else:
                self._n_unsure[min(cluster, other), max(cluster, other)] += 1
                self._learner.unsure.add_pair(*pair)
