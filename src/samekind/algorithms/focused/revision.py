"""What is reviewed when answers may be wrong besides where rows are: who errs, and which clusters are two."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from samekind.algorithms.focused import constants as const
from samekind.algorithms.focused.learner import Learner
from samekind.algorithms.focused.noise_model import NoiseModel
from samekind.algorithms.focused.weak_links import weak_links
from samekind.flow import DIFFERENT, SAME, BoolArray, FloatArray, Flow, IntArray
from samekind.points import Points

__all__ = ["AnswerChecks", "WeakLink", "parts_to_check", "split_clusters", "split_in_two"]


def _chance_of_two(log_odds: float) -> float:
    """Return the probability that two groups of rows are two clusters, by the log odds that they are one."""
    return float(1 / (1 + np.exp(np.clip(log_odds, -500, 500))))


class WeakLink(NamedTuple):
    """Two parts of a cluster that may be two: one answer holds them together, or answers disagree."""

    harm: float
    """The chance that they are two clusters, times the labelled rows of the smaller one."""
    cluster: int
    part: list[int]
    rest: list[int]
    prior: float
    """Log odds that they are one before anybody answered."""


class AnswerChecks:
    """Asks about rows that are held to be in one cluster, with a share of all questions.

    First about what hangs together by one answer alone: if it is wrong, the cluster is two, and no other
    question would ever tell, as rows are compared with the nearest member, which is of their own part. And
    about the parts that answers within a cluster would leave of it, where some call its rows different.
    Otherwise about any two rows, to learn who errs.
    """

    def __init__(self, learner: Learner, noise: NoiseModel) -> None:
        self._learner = learner
        self._noise = noise
        self._n_checked = 0
        self._owed = self._owed_links = 0.0
        self._n_asked_before = 0
        self._links: list[WeakLink] = []  # the worst last
        self._split_off: list[int] = []

    @property
    def links(self) -> Sequence[WeakLink]:
        """The weak links that the last review found, and nobody was asked about since."""
        return self._links

    def take_split_off(self) -> list[int]:
        """Return the clusters that were split off since the last time."""
        found, self._split_off = self._split_off, []
        return found

    def review(self) -> None:
        """Find the weak links of all clusters."""
        links = [
            link
            for cluster, members in enumerate(self._learner.state.members)
            if len(members) >= 2 * const.LINK_ROWS
            for link in self._weak_links(cluster)
        ]
        self._links = sorted(link for link in links if link.harm >= const.LEAST_HARM)

    def _weak_links(self, cluster: int) -> Iterator[WeakLink]:
        rows = [
            row for row in self._learner.state.members[cluster] if self._learner.model.knows(row)
        ]
        log_odds = self._noise.log_odds_within(rows)
        for is_part, prior in parts_to_check(self._learner.points, rows, log_odds):
            part, rest = (
                [row for row, inside in zip(rows, is_part.tolist(), strict=True) if inside == side]
                for side in (True, False)
            )
            smaller = min(len(part), len(rest))
            odds = prior + sum(odds for i, j, odds in log_odds if is_part[i] != is_part[j])
            yield WeakLink(_chance_of_two(odds) * smaller, cluster, part, rest, prior)

    def pay_share(self) -> Flow[None]:
        """Check answers with a share of the questions about rows since the last time."""
        n_asked = self._learner.scheduler.n_asked
        n_more, self._n_asked_before = n_asked - self._n_asked_before, n_asked
        slower = 1.0 if self._n_checked < const.CHECKS_AT_FIRST else const.CHECKS_LATER
        if self._noise.rates.is_estimated or self._noise.several:
            self._owed += const.CHECK_SHARE * slower * n_more
        self._owed_links = min(self._owed_links + const.LINK_SHARE * n_more, const.LINK_DEBT)
        while self._owed_links >= 1 and self._links:
            yield from self.check_link(self._links.pop())
        while self._owed >= 1:
            self._owed -= 1
            yield from self._check()

    def check_link(self, link: WeakLink) -> Flow[None]:
        """Ask about rows of both parts until it is clear whether they are one; split them if not."""
        state, cluster = self._learner.state, link.cluster
        part, rest = (
            [row for row in rows if state.cluster_of_row(row) == cluster]
            for rows in (link.part, link.rest)
        )
        smaller = min(len(part), len(rest))
        while smaller >= const.LINK_ROWS:
            are_two = _chance_of_two(link.prior + self._noise.log_odds_across(part, rest))
            if are_two >= const.SPLIT_LINK_ABOVE:
                goes = rest if state.members[cluster][0] in part else part
                self._split_off.append(self._learner.split(cluster, goes))
                return
            pair = self._pair_across(part, rest)
            if are_two * smaller < const.LEAST_HARM or pair is None:
                return
            self._owed_links -= 1
            yield from self._ask(*pair)

    def _pair_across(self, part: list[int], rest: list[int]) -> tuple[int, int] | None:
        """Return rows of both parts that were not compared yet, the most certain ones first."""
        noise, unsure = self._noise, self._learner.unsure
        ones, others = (
            sorted(rows, key=lambda row: -noise.certainty.get(row, 1.0)) for rows in (part, rest)
        )
        for a in ones:
            compared = noise.compared_with(a)
            for b in others:
                if b not in compared and not unsure.knows_pair(a, b):
                    return a, b
        return None

    def _check(self) -> Flow[None]:
        learner, noise = self._learner, self._noise
        large = [k for k, members in enumerate(learner.state.members) if len(members) > 2]
        if not large:
            return
        cluster = large[int(learner.rng.random() * len(large))]
        rows = [
            row
            for row in learner.state.members[cluster]
            if noise.certainty.get(row, 1.0) >= const.REPORT_BELOW and row not in learner.audit
        ]
        if len(rows) < 2:
            return
        a, b = (rows[int(learner.rng.random() * len(rows))] for _ in range(2))
        if a == b or b in noise.compared_with(a) or learner.unsure.knows_pair(a, b):
            return
        self._n_checked += 1
        yield from self._ask(a, b)

    def _ask(self, a: int, b: int) -> Flow[None]:
        answers, who, _ = yield np.array([[a, b]])
        if answers[0] in (SAME, DIFFERENT):
            annotator = -1 if who is None else int(who[0])
            self._noise.observe(a, b, int(answers[0]), annotator, compares=True)
        else:
            self._learner.unsure.add_pair(a, b)


def parts_to_check(
    points: Points, rows: list[int], log_odds: list[tuple[int, int, float]]
) -> list[tuple[BoolArray, float]]:
    """Return the parts of a cluster that may not be of it, each with the log odds that it is, at first.

    `log_odds` are those that two of its rows are of one cluster, (i, j, log odds), by each answer. The rows
    themselves, which may be on other machines, are fetched only where answers disagree.
    """
    edges = [(i, j) for i, j, odds in log_odds if odds > 0]
    same = np.array(edges, dtype=np.intp).reshape(-1, 2)
    found = [(is_part, 0.0) for is_part in weak_links(len(rows), same, const.LINK_ROWS)]
    if len(edges) < len(log_odds):
        is_part = split_in_two(points.rows(np.array(rows)), log_odds) > 0
        if const.LINK_ROWS <= is_part.sum() <= len(rows) - const.LINK_ROWS:
            found.append((is_part, const.DISAGREEING_ARE_ONE))
    return found


def split_clusters(learner: Learner, noise: NoiseModel) -> None:
    """Make two clusters of each one if the answers among its rows speak clearly for it."""
    for cluster in range(learner.model.scorer.n_clusters):
        rows = [row for row in learner.state.members[cluster] if learner.model.knows(row)]
        log_odds = noise.log_odds_within(rows)
        if -sum(odds for _, _, odds in log_odds if odds < 0) < const.SPLIT_ABOVE:
            continue
        side = split_in_two(learner.points.rows(np.array(rows)), log_odds).tolist()
        gain = -sum(odds for i, j, odds in log_odds if side[i] != side[j])
        if gain >= const.SPLIT_ABOVE:
            learner.split(cluster, [row for row, other in zip(rows, side, strict=True) if other])


def split_in_two(X: FloatArray, log_odds: list[tuple[int, int, float]]) -> IntArray:
    """Split rows in two by the log odds that two of them, (i, j, log odds), are of one cluster.

    Return the side of each row, 0 for the first. The two rows that most clearly differ attract the others by
    distance; then rows change sides by the sum of their log odds.
    """
    i, j, _ = min(log_odds, key=lambda pair: pair[2])
    distances = ((X - X[i]) ** 2).sum(axis=1), ((X - X[j]) ** 2).sum(axis=1)
    side: IntArray = (distances[1] < distances[0]).astype(np.intp)
    votes = np.zeros((len(X), len(X)))
    for a, b, odds in log_odds:
        votes[a, b] = votes[b, a] = odds
    for _ in range(2 * len(X)):
        pull = votes @ (2 * side - 1)
        turned = np.where(pull == 0, side, pull > 0)
        changed = np.flatnonzero(turned != side)
        if not changed.size:
            break
        most = changed[np.abs(pull[changed]).argmax()]  # one at a time, or two would swap for ever
        side[most] = 1 - side[most]
    if side[0] != 0:
        np.subtract(1, side, out=side)
    return side
