"""What people do by hand: to the names and members of clusters, and to answers.

What is done to a whole cluster is written as answers about pairs.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from samekind.flow import DIFFERENT, SAME, UNSURE, Answers, Pairs
from samekind.ledger import Lines, pairs_of
from samekind.project.imports import count_disputed, latest_of_each, read_answers
from samekind.project.shared import ProjectPart, exclusive
from samekind.project.words import ANSWERS, WORDS, ProjectError, check_name

__all__ = ["Edits", "ImportedAnswers", "merge_answers", "split_answers"]

PairAnswers = list[tuple[int, int, int]]
"""Two rows and an answer about them, several times."""


class ImportedAnswers(NamedTuple):
    """How many answers were news, and how many pairs the file answered both ways: the last one counts."""

    news: int
    disputed: int


class Edits(ProjectPart):
    """Changes by hand; each is one transaction. A cluster goes by any of its known rows."""

    @exclusive
    def rename(self, cluster: int, name: str, *, who: str = "") -> None:
        """Call a cluster something; "" takes its name away."""
        text = check_name(name)
        with self.session.act():
            self.session.ledger.name(self._members(cluster)[0], text, who=who)

    @exclusive
    def remove(self, cluster: int, rows: list[int], *, who: str = "") -> None:
        """Take some rows out of a cluster."""
        if not rows:
            raise ProjectError("Say which rows do not belong here.")
        self._check_rows(rows)
        self.session.catch_up()
        self.clusters()  # before others have to wait; it is kept until something changes
        with self.session.act():
            members = self._members(cluster)
            if set(members) <= set(rows):
                raise ProjectError(
                    "That would leave nothing of the kind. Keep at least one row in it."
                )
            labels = self.clusters().labels_of(np.array(rows, dtype=np.intp))
            strangers = np.array(rows)[labels != self._label_of(cluster)]
            if strangers.size:
                raise ProjectError(f"Row {strangers.min()} is not in this kind.")
            self._volunteer(split_answers(members, rows, self.session.ledger.active()), who)

    @exclusive
    def merge(self, clusters: list[int], *, who: str = "") -> None:
        """Make several clusters one."""
        if len(set(clusters)) < 2:
            raise ProjectError("Choose at least two kinds to make one of.")
        with self.session.act():
            members = {rows[0]: rows for rows in map(self._members, clusters)}
            if len(members) < 2:
                raise ProjectError("These are one kind already.")
            lines = self.session.ledger.active()
            self._volunteer(merge_answers(list(members.values()), lines), who)

    @exclusive
    def correct(self, a: int, b: int, answer: str, *, who: str = "") -> None:
        """Answer a pair anew: whatever anybody answered before does not count any more."""
        self._check_rows([a, b])
        if answer not in ANSWERS:
            raise ProjectError('The answer is "same", "different" or "unsure".')
        with self.session.edit():
            if self.session.ledger.lookup(np.array([[a, b]]), infer=False)[0] not in WORDS:
                raise ProjectError("Nobody has answered this pair yet.")
            self.session.ledger.correct(a, b, ANSWERS[answer], who=who)

    def import_answers(
        self, csv_text: str, *, who: str = "", id_column: str | None = None
    ) -> ImportedAnswers:
        """Take in a CSV of pairs, with columns a, b and answer; return how many were news.

        They count at once. "Unsure" is no news, and of several answers to a pair only the last one counts.
        a and b are row numbers, or values of a column of the data; see `read_answers`. Others can go on while
        the text is read.
        """
        try:
            frame = self.items.frame
            pairs, answers = read_answers(csv_text, self.session.points.n, frame, id_column)
        except ValueError as error:
            raise ProjectError(str(error)) from error
        news = self._take_in(*latest_of_each(pairs, answers), who)
        return ImportedAnswers(news, count_disputed(pairs, answers))

    @exclusive
    def _take_in(self, pairs: Pairs, answers: Answers, who: str) -> int:
        with self.session.act():
            known = self.session.ledger.lookup(pairs, infer=False)
            new = (known != answers) & (answers != UNSURE)
            if new.any():
                self.session.change(pairs[new], answers[new], who=who)
        return int(new.sum())

    def _check_rows(self, rows: list[int]) -> None:
        n = self.session.points.n
        wrong = [row for row in rows if not 0 <= row < n]
        if wrong:
            raise ProjectError(f"There is no row {wrong[0]}: rows go from 0 to {n - 1}.")

    def _volunteer(self, answers: PairAnswers, who: str) -> None:
        """Record answers that nobody was asked for.

        Where they concern pairs that somebody without a name answered, that may have been the same person.
        """
        pairs, said = np.array([line[:2] for line in answers]), np.array([a for *_, a in answers])
        ledger = self.session.ledger
        nameless = [number for number, name in enumerate(ledger.annotators) if name == ""]
        same_person = np.isin(ledger.annotators_of(pairs), nameless).any()
        self.session.learn(pairs, said, who="" if same_person else who)


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
