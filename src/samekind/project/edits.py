"""What people do by hand: to the names and members of clusters, and to answers.

What is done to a whole cluster is written as answers about pairs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from samekind.flow import UNSURE, Answers, Pairs
from samekind.project.imports import ImportCounts, latest_of_each, n_contradictory, read_answers
from samekind.project.pair_answers import merge_answers, split_answers
from samekind.project.placement import Placements
from samekind.project.record_imports import as_answers
from samekind.project.shared import exclusive
from samekind.project.words import ANSWERS, WORDS, ProjectError, check_name

__all__ = ["Edits"]


class ReadAnswers(NamedTuple):
    """What a file says of pairs, and how many of them it answers in two ways."""

    pairs: Pairs
    answers: Answers
    contradictory: int


class Edits(Placements):
    """Changes by hand; each is one transaction. A cluster goes by any of its known rows."""

    @exclusive
    def rename(self, cluster: int, name: str, *, who: str = "") -> None:
        """Call a cluster something; "" takes its name away."""
        text = check_name(name)
        with self.act():
            self.session.ledger.name(
                self.numbers.anchor_of(self._members(cluster)[0]), text, who=who
            )

    @exclusive
    def remove(self, cluster: int, rows: list[int], *, who: str = "") -> None:
        """Take some rows out of a cluster."""
        if not rows:
            raise ProjectError("Say which rows do not belong here.")
        self._check_rows(rows)
        self.session.catch_up()
        self.clusters()  # before others have to wait; it is kept until something changes
        with self.act():
            members = self._members(cluster)
            if set(members) <= set(rows):
                raise ProjectError(
                    "That would leave nothing of the kind. Keep at least one row in it."
                )
            labels = self.clusters().labels_of(np.array(rows, dtype=np.intp))
            strangers = np.array(rows)[labels != self._label_of(cluster)]
            if strangers.size:
                raise ProjectError(f"Row {strangers.min()} is not in this kind.")
            anchor = self.numbers.anchor_of(members[0])
            if anchor in rows:  # the number and the name stay with the rest
                rest = next(row for row in members if row not in rows)
                self.numbers.move(self.numbers.of(anchor), rest, who)
            self._write(split_answers(members, rows, self.session.ledger.active()), who)

    @exclusive
    def merge(self, clusters: list[int], *, who: str = "") -> None:
        """Make several clusters one."""
        if len(set(clusters)) < 2:
            raise ProjectError("Choose at least two kinds to make one of.")
        with self.act():
            members = {rows[0]: rows for rows in map(self._members, clusters)}
            if len(members) < 2:
                raise ProjectError("These are one kind already.")
            lines = self.session.ledger.active()
            self._write(merge_answers(list(members.values()), lines), who)

    @exclusive
    def correct(self, a: int, b: int, answer: str, *, who: str = "") -> None:
        """Answer a pair anew: whatever anybody answered before does not count any more."""
        self._check_rows([a, b])
        if answer not in ANSWERS:
            raise ProjectError('The answer is "same", "different" or "unsure".')
        with self.act(), self.numbers.kept():
            if self.session.ledger.lookup(np.array([[a, b]]), infer=False)[0] not in WORDS:
                raise ProjectError("Nobody has answered this pair yet.")
            self.session.ledger.correct(a, b, ANSWERS[answer], who=who)

    def import_answers(
        self, csv_text: str, *, who: str = "", id_column: str | None = None
    ) -> ImportCounts:
        """Take in a CSV of pairs, with columns a, b and answer; return how many were news.

        They count at once. "Unsure" is no news, and of several answers to a pair only the last one counts.
        """
        return self.take_in(self.read_import(csv_text, id_column=id_column), who=who)

    def read_import(self, csv_text: str, *, id_column: str | None = None) -> ReadAnswers:
        """Return what a CSV of pairs says; nobody has to wait for that.

        a and b are row numbers, or values of a column of the data; see `read_answers`. Splink's table of
        labels and dedupe's training file are understood, too.
        """
        try:
            frame = self.items.frame
            csv_text = as_answers(csv_text, frame)
            pairs, answers = read_answers(csv_text, self.session.points.n, frame, id_column)
        except ValueError as error:
            raise ProjectError(str(error)) from error
        return ReadAnswers(*latest_of_each(pairs, answers), n_contradictory(pairs, answers))

    @exclusive
    def take_in(self, read: ReadAnswers, *, who: str = "") -> ImportCounts:
        """Take in what a file says; return how many answers were news."""
        with self.act(), self.numbers.kept():
            known = self.session.ledger.lookup(read.pairs, infer=False)
            new = (known != read.answers) & (read.answers != UNSURE)
            if new.any():
                self.session.change(read.pairs[new], read.answers[new], who=who)
        return ImportCounts(int(new.sum()), read.contradictory)
