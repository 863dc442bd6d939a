"""A project: what a page or a terminal needs to label items, and nothing of how it looks."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from samekind._version import __version__
from samekind.algorithms import DEFAULT, find_algorithm
from samekind.clusters import STOP_REASONS
from samekind.data import Items
from samekind.engine import Session
from samekind.ledger import Ledger, Lines, pairs_of
from samekind.project import words
from samekind.project.agreement import agreement_of, votes_of
from samekind.project.annotators import AnnotatorPage, annotators_of
from samekind.project.edits import Edits
from samekind.project.exports import FILES, OF_RECORDS, export_folders
from samekind.project.finding import Finding
from samekind.project.folders import How
from samekind.project.overview import Overviews
from samekind.project.questions import Questions
from samekind.project.records import (
    AnsweredPair,
    AnswerPage,
    AnswerRecord,
    ContradictionRecord,
    PressPage,
    PressRecord,
    Status,
)
from samekind.project.shared import exclusive
from samekind.project.views import LINEUP, SHEET
from samekind.project.words import WORDS, ProjectError, plain

if TYPE_CHECKING:
    from samekind.ledger import ProjectPlace

__all__ = ["SETTINGS", "Project"]

SETTINGS = "settings"  # in `meta`: those that were given
MOST_PAIRS = 100  # of one press that are listed


class Project(Questions, Finding, Overviews, Edits):
    """Questions for annotators about items, what they answered, and what was found.

    A thin driver of a `Session`: all that counts is in its ledger. A cluster goes by the number of the row
    that stands for it. Any thread may call any method.

    Parameters
    ----------
    items : Items
        What to ask about.
    ledger : None, path, URL or Ledger
        Where answers are kept.
    title : str or None
        What the items are called; by default the name of their file.
    session : Session or None
        One that is there already, instead of a ledger and settings.
    budget : int or None
        The most presses: of keys and buttons, each of which may answer several questions. None is no limit.
    overlap : float or None
        How many people are to answer each question, blind to each other; below 1, which share of them two
        people. None is as before, at first 1.
    lineup, sheet : int
        At most so many clusters are in a line-up, and rows on a sheet; 0 is never.
    **settings
        Of the `Session`: random_state, batch, algorithm, error_rate and so on.

    Examples
    --------
    >>> from samekind.data import demo_items
    >>> project = Project(demo_items(), random_state=0)
    >>> [question] = project.next("ann")
    >>> project.answer(question.id, "different", who="ann")
    >>> project.status().clusters, project.status().presses
    (2, 1)
    """

    def __init__(
        self,
        items: Items,
        ledger: Ledger | str | ProjectPlace | None = None,
        *,
        title: str | None = None,
        session: Session | None = None,
        budget: int | None = None,
        overlap: float | None = None,
        lineup: int = LINEUP,
        sheet: int = SHEET,
        **settings: Any,
    ) -> None:
        self.title = plain(title or items.source)
        if session is None:
            wanted = find_algorithm(settings.get("algorithm", DEFAULT)).Params
            if hasattr(wanted, "goal"):
                settings.setdefault("goal", "labels")  # what matters to people
            session = Session(items, ledger=ledger, **settings)
        super().__init__(items, session, budget)
        self.lineup, self.sheet = lineup, sheet
        if overlap is not None:
            self.set_overlap(overlap)

    @exclusive
    def undo(self, count: int = 1, *, who: str | None = None, resume: bool = True) -> list[str]:
        """Take back the last acts, as many as you like; return in words what they were.

        An act is all that was done at once: answers, and the names given in them. A finished project goes on
        then, so that it is asked again, but not for those who may not `resume`.
        """
        if who is None and self.assistant is not None:
            who = ""  # not what the model said meanwhile
        with self.act(), self.numbers.kept():
            taken = self.session.ledger.undo(count, who=who)
            if taken and resume:
                self._set_finished(False)
        if taken:
            self._sharing.release(who or "")  # so that it is asked again before anything else
        return list(map(words.act_in_words, taken))

    @exclusive
    def finish(self) -> None:
        """Ask nothing more, here or elsewhere, now or later; `resume` goes on."""
        self._set_finished(True)

    @exclusive
    def resume(self) -> None:
        """Go on asking."""
        self._set_finished(False)
        if not self._stopped:  # or else the budget is spent
            self.session.resume()

    @exclusive
    def leave(self) -> None:
        """Ask nothing more here; others go on, and so does who opens the project again."""
        self.session.stop()

    @exclusive
    def status(self) -> Status:
        """Return where the work stands."""
        self.catch_up()
        session = self.session
        now = session.progress
        return Status(
            title=self.title,
            medium=self.items.medium,
            n_rows=session.points.n,
            presses=self.n_presses,
            questions=now.questions,
            budget=self.budget,
            clusters=0 if self.is_blank else session.n_clusters,
            known_rows=0 if self.is_blank else session.n_known,
            done=session.done,
            stop_reason=session.stop_reason,
            stop_text=STOP_REASONS.get(session.stop_reason, str(session.stop_reason)),
            stopping=self._advice,
            can_undo=bool(session.ledger.log.last_acts(1)),
            skipped=len(self.skipped_pairs()),
            contradictions=session.n_contradictions,
            lineups=self.lineups,
            sheets=self.sheets,
            criterion=self.criterion,
            revision=self.revision,
            version=__version__,
            records=self.is_records,
        )

    def image(self, row: int) -> NDArray[np.uint8] | None:
        """Return a small grey picture of a row, where items are pictures."""
        return None if self.items.images is None else self.items.images[row]

    @exclusive
    def export(self, name: str, path: Path | BinaryIO) -> None:
        """Write what was found to a file, named or open; `EXPORTS` lists the names."""
        if name not in FILES:
            raise ProjectError(f"{name} cannot be exported; these can: {', '.join(FILES)}.")
        if name in OF_RECORDS and not self.is_records:
            raise ProjectError(
                f"Only of records can {name} be exported: samekind label DATA --records"
            )
        with path.open("wb") if isinstance(path, Path) else nullcontext(path) as file:
            FILES[name].write(file, self)

    @exclusive
    def export_pictures(self, folder: Path, how: How = "copy") -> tuple[int, int]:
        """Put the pictures of each cluster into a folder of its own; return how many pictures and folders."""
        return export_folders(self, folder, how)

    @exclusive
    def answers(self, offset: int = 0, limit: int = 50) -> AnswerPage:
        """Return the answers that stand, newest first."""
        ledger, standing = self.session.ledger, self.session.ledger.active()[::-1]
        people = list(map(plain, ledger.annotators))
        shown = [
            AnswerRecord(
                int(one["a"]),
                int(one["b"]),
                WORDS[int(one["answer"])],
                people[one["who"]],
                float(one["when"]),
                bool(one["asked"]),
            )
            for one in standing[offset : offset + limit]
        ]
        return AnswerPage(shown, len(standing))

    @exclusive
    def presses(self, offset: int = 0, limit: int = 20, search: str = "") -> PressPage:
        """Return what was answered, press by press, newest first; only about items with a text in them."""
        lines = self.session.ledger.active()
        starts = np.flatnonzero(np.diff(lines["act"], prepend=-1))
        presses = np.split(lines, starts[1:])[::-1] if lines.size else []
        wanted = search.casefold().strip()
        if wanted:
            rows = np.unique(pairs_of(lines))
            fits = {
                row for row in rows.tolist() if wanted in words.text_of(self.item(row)).casefold()
            }
            presses = [
                press for press in presses if not fits.isdisjoint(pairs_of(press).ravel().tolist())
            ]
        shown = [self._press(press) for press in presses[offset : offset + limit]]
        return PressPage(shown, len(presses))

    def _press(self, lines: Lines) -> PressRecord:
        people = self.session.ledger.annotators
        first = lines[0]
        who = plain(people[int(first["who"])])
        common = set.intersection(*(set(pair) for pair in pairs_of(lines).tolist()))
        pairs: list[AnsweredPair] = []
        for a, b, answer, *_ in lines[:MOST_PAIRS].tolist():
            one, other = (b, a) if a not in common and b in common else (a, b)
            pairs.append(AnsweredPair(self.item(one), self.item(other), WORDS[answer], who))
        return PressRecord(float(first["when"]), who, bool(first["asked"]), pairs, len(lines))

    @exclusive
    def contradictions(self) -> list[ContradictionRecord]:
        """Return answers that cannot all be true."""
        return [
            ContradictionRecord(
                plain(str(found)),
                [
                    AnsweredPair(self.item(s.a), self.item(s.b), WORDS[s.answer], plain(s.who))
                    for s in found.statements
                ],
            )
            for found in self.session.contradictions
        ]

    def annotators(self) -> AnnotatorPage:
        """Return who answered, people and models, and what a model does now."""
        with self._lock:
            votes = votes_of(self)
        agreement = agreement_of(votes)  # which takes its time; others go on meanwhile
        with self._lock:
            return annotators_of(self, votes, agreement)

    def close(self) -> None:
        """Let go of the ledger."""
        if self.assistant is not None:
            self.assistant.stop()
        self.map_maker.stop()
        with self._lock:
            self.session.close()
