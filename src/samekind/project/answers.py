"""What was answered: to be listed, corrected and imported."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from samekind.flow import UNSURE
from samekind.ledger import Lines, pairs_of
from samekind.project.imports import ImportCounts, ReadAnswers, read_file
from samekind.project.records import (
    AnsweredPair,
    AnswerPage,
    AnswerRecord,
    ContradictionRecord,
    PressPage,
    PressRecord,
)
from samekind.project.words import ANSWERS, WORDS, ProjectError, plain, text_of

if TYPE_CHECKING:
    from samekind.project.project import Project

__all__ = ["Answers"]

MOST_PAIRS = 100  # of one press that are listed


class Answers:
    """All answers that stand."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._ledger = project.ledger

    def page(self, offset: int = 0, limit: int = 50) -> AnswerPage:
        """Return the answers that stand, newest first."""
        with self._project.state():
            standing, people = self._ledger.active()[::-1], self._ledger.annotators
            shown = [
                AnswerRecord(
                    int(one["a"]),
                    int(one["b"]),
                    WORDS[int(one["answer"])],
                    plain(people[one["who"]]),
                    float(one["when"]),
                    bool(one["asked"]),
                )
                for one in standing[offset : offset + limit]
            ]
            return AnswerPage(shown, len(standing))

    def presses(self, offset: int = 0, limit: int = 20, search: str = "") -> PressPage:
        """Return what was answered, press by press, newest first; only about items with a text in them."""
        wanted, item = search.casefold().strip(), self._project.item
        with self._project.state():
            lines = self._ledger.active()
            starts = np.flatnonzero(np.diff(lines["act"], prepend=-1))
            presses = np.split(lines, starts[1:])[::-1] if lines.size else []
            if wanted:
                rows = np.unique(pairs_of(lines)).tolist()
                fits = [row for row in rows if wanted in text_of(item(row)).casefold()]
                presses = [one for one in presses if np.isin(pairs_of(one), fits).any()]
            shown = [self._press(press) for press in presses[offset : offset + limit]]
            return PressPage(shown, len(presses))

    def _press(self, lines: Lines) -> PressRecord:
        item, first = self._project.item, lines[0]
        who = plain(self._ledger.annotators[int(first["who"])])
        common = set.intersection(*(set(pair) for pair in pairs_of(lines).tolist()))
        pairs: list[AnsweredPair] = []
        for a, b, answer, *_ in lines[:MOST_PAIRS].tolist():
            one, other = (b, a) if a not in common and b in common else (a, b)
            pairs.append(AnsweredPair(item(one), item(other), WORDS[answer], who))
        return PressRecord(float(first["when"]), who, bool(first["asked"]), pairs, len(lines))

    def contradictions(self) -> list[ContradictionRecord]:
        """Return answers that cannot all be true."""
        item = self._project.item
        with self._project.state():
            return [
                ContradictionRecord(
                    plain(str(found)),
                    [
                        AnsweredPair(item(one.a), item(one.b), WORDS[one.answer], plain(one.who))
                        for one in found.statements
                    ],
                )
                for found in self._project.session.contradictions
            ]

    def correct(self, a: int, b: int, answer: str, *, who: str = "") -> None:
        """Answer a pair anew: whatever anybody answered before does not count any more."""
        self._project.check_rows([a, b])
        if answer not in ANSWERS:
            raise ProjectError('The answer is "same", "different" or "unsure".')
        with self._project.act(), self._project.kinds.numbers.kept():
            if self._ledger.lookup(np.array([[a, b]]), infer=False)[0] not in WORDS:
                raise ProjectError("Nobody has answered this pair yet.")
            self._ledger.correct(a, b, ANSWERS[answer], who=who)

    # From a file

    def import_csv(self, text: str, *, who: str = "", id_column: str | None = None) -> ImportCounts:
        """Take in a file of pairs; return how many answers were news."""
        return self.take_in(self.read(text, id_column=id_column), who=who)

    def read(self, text: str, *, id_column: str | None = None) -> ReadAnswers:
        """Return what a file of pairs says; nobody has to wait for that. See `read_file`."""
        try:
            items = self._project.items
            n = items.whole.n if items.whole.rows is None else 0  # or else rows are named by ids
            read = read_file(text, n, items.whole.frame, id_column)
            return read if items.copies is None else read.of_items(items.copies.item_of)
        except ValueError as error:
            raise ProjectError(str(error)) from error

    def take_in(self, read: ReadAnswers, *, who: str = "") -> ImportCounts:
        """Take in what a file says; return how many answers were news.

        They count at once. "Unsure" is no news, and of several answers to a pair only the last one counts.
        """
        with self._project.act(), self._project.kinds.numbers.kept():
            known = self._ledger.lookup(read.pairs, infer=False)
            new = (known != read.answers) & (read.answers != UNSURE)
            if new.any():
                self._project.session.change(read.pairs[new], read.answers[new], who=who)
        return ImportCounts(int(new.sum()), read.contradictory)
