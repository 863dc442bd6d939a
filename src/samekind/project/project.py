"""A project: what a page or a terminal needs to label items, and nothing of how it looks."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from threading import get_ident
from time import time
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from samekind.clusters import Clusters
from samekind.data import Items, ItemView
from samekind.data.columns import Role
from samekind.engine import Session
from samekind.ledger import KeptReply, Ledger, LedgerError
from samekind.project.answers import Answers
from samekind.project.entities import Entities
from samekind.project.exports import Exports
from samekind.project.kinds import Kinds
from samekind.project.overview import Overviews
from samekind.project.parts import Parts
from samekind.project.questions import Questions
from samekind.project.search import search
from samekind.project.status import Standing
from samekind.project.team import Team
from samekind.project.views import LINEUP, SHEET
from samekind.project.words import KeyReused, ProjectError, plain, plain_item, undone

if TYPE_CHECKING:
    from samekind.ledger import ProjectPlace
    from samekind.project.assistant import Assistant
    from samekind.project.records import Question, Said, SearchPage, Status, UndoneAct

__all__ = ["Project"]


COMPARED = (Role.NUMBER, Role.CATEGORY, Role.TEXT, Role.IMAGE, Role.FIELD)


class Project:
    """Questions for annotators about items, what they answered, and what was found.

    A cluster goes by the number of any of its known rows. Any thread may call any method.

    Parameters
    ----------
    items : Items
        What to ask about.
    ledger : None, path, URL or Ledger
        Where answers are kept.
    title : str or None
        What the items are called; by default the name of their file.
    session : Session or None
        An open session, instead of a ledger and settings.
    budget : int or None
        The most presses: of keys and buttons, each of which may answer several questions. None is no limit.
    overlap : float or None
        How many people are to answer each question, blind to each other; below 1, which share of them two
        people. None is as before, at first 1.
    lineup, sheet : int
        The most clusters in a line-up, and rows on a sheet; 0 for none.
    **settings
        Of the `Session`: random_state, batch, algorithm, error_rate and so on.

    Attributes
    ----------
    questions : Questions
        What is asked next, and answers to it.
    kinds : Kinds
        The clusters: their names and numbers, finding one, and changing them by hand.
    answers : Answers
        What was answered; corrections and imports.
    team : Team
        Opinions of several people, reviews, and who answered how well.
    standing : Standing
        Progress, budget, and whether to stop.
    overview : Overviews
        All clusters, one of them, and a map.
    entities : Entities
        Of records: which are one, at a threshold for matches.
    exports : Exports
        What was found, as files.
    parts : Parts
        The kinds that are split further.
    assistant : Assistant or None
        A model that answers in the background.
    notices : list of str
        What whoever opens the project should know.

    Notes
    -----
    What is quick to read is read within `state`, all else in a `moment`. Everything that writes happens
    within `act`. `BaseSession` says which locks there are.

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
        if session is None:
            items = items.distinct()
            session = Session(items, ledger=ledger, **settings)
        self.items = items
        self.session = session
        self.ledger: Ledger = session.ledger
        self.title = plain(title or items.source)
        self.notices: list[str] = []
        self.clock: Callable[[], float] = time  # the same for all who serve the project
        self.assistant: Assistant | None = None
        self.at_close = ExitStack()  # what else is to be closed
        self._reader = 0  # the thread that is within `state`
        self._is_moment = False
        self._moment: tuple[object, Project] | None = None  # the last one, and what it goes by
        self.kinds = Kinds(self)
        self.questions = Questions(self, lineup, sheet)
        self.team = Team(self)
        self.answers = Answers(self)
        self.standing = Standing(self, budget)
        self.overview = Overviews(self)
        self.entities = Entities(self)
        self.exports = Exports(self)
        self.parts = Parts(self)
        self.session.known()  # which makes it ready for several threads
        self.standing.heed_end()
        if overlap is not None:
            self.team.set_overlap(overlap)

    # Reading and writing

    @contextmanager
    def state(self) -> Iterator[None]:
        """Within it, look at what is known now, which nobody changes meanwhile. Write and choose nothing.

        It is for milliseconds. What takes longer, such as everything that is found, looks at a `moment`.
        """
        with self.ledger.lock:
            before, self._reader = self._reader, get_ident()
            try:
                if not before:
                    self.catch_up()
                yield
            finally:
                self._reader = before

    def moment(self) -> Project:
        """Return the project as it is now, to be read: it stays so, and keeps nobody waiting.

        Not within `state` or `act`. Until something changes it is the same one.
        """
        if self._is_moment:
            return self
        session = self.session
        self.catch_up()
        with session.choosing():
            now = self.ledger.revision, session.stop_reason, self.standing.budget
            if self._moment is None or self._moment[0] != now:
                self._moment = now, self._frozen()
            return self._moment[1]

    def _frozen(self) -> Project:
        other = copy.copy(self)
        other.session = self.session.frozen()
        other.ledger = other.session.ledger
        other._is_moment, other._moment = True, None
        other.kinds = Kinds(other, self.kinds)
        other.team = Team(other)
        other.standing = Standing(other, self.standing.budget)
        other.overview = Overviews(other, self.overview.maps)
        other.entities = Entities(other)
        return other

    @contextmanager
    def act(self) -> Iterator[None]:
        """Within it, write all that belongs to one act of a user: it is kept as a whole, or not at all.

        It begins with what others wrote. An act within an act is part of it.
        """
        if self._reader == get_ident():
            raise RuntimeError("an act cannot begin within state(): its thread holds the lock.")
        if self.session.is_acting:
            yield
            return
        with self.questions.sharing.acting(), self.session.writing():
            self.kinds.numbers.keep()
            yield

    def once(self, key: str, request: str, do: Callable[[], object], *, who: str = "") -> object:
        """Do something once, however often it is asked for with one key; return what it returned, as JSON.

        The reply is kept in the transaction of the act, so that this holds after a crash, and for other
        programs. `request` is a digest of what is asked for: a key belongs to one request alone.
        """
        with self.act():
            kept = self.ledger.reply_to(who, key)
            if kept is None:
                reply = json.dumps(do())
                self.ledger.keep_reply(who, key, KeptReply(request, reply))
                return json.loads(reply)
            if kept.request != request:
                raise KeyReused(
                    "This Idempotency-Key was used for another request before. Take a new one for each."
                )
            return json.loads(kept.reply)

    def catch_up(self) -> None:
        """Take in what others wrote, also that somebody finished, or went on."""
        with self.ledger.lock:
            if not self.session.is_acting:
                self.session.refresh()
                self.standing.heed_end()

    # What concerns all parts, and short-cuts

    def next(self, who: str = "", *, lineup: bool = True, most: int = 1) -> list[Question]:
        """Return open questions for somebody; see `Questions.next`."""
        return self.questions.next(who, lineup=lineup, most=most)

    def answer(self, question_id: str, answer: Said, *, who: str = "") -> None:
        """Take an answer; it is on disk when this returns. See `Questions.answer`."""
        self.questions.answer(question_id, answer, who=who)

    def undo(self, count: int = 1, *, who: str | None = None, resume: bool = True) -> list[str]:
        """Take back the last acts, as many as you like; return in words what they were. See `take_back`."""
        return [act.text for act in self.take_back(count, who=who, resume=resume)]

    def take_back(
        self, count: int = 1, *, who: str | None = None, resume: bool = True
    ) -> list[UndoneAct]:
        """Take back the last acts, as many as you like; return what they were.

        An act is all that was done at once: answers, and the names given in them. A finished project goes on
        then, but not for those who may not `resume`.
        """
        if who is None and self.assistant is not None:
            who = ""  # not what the model said meanwhile
        with self.act(), self.kinds.numbers.kept():
            taken = self.ledger.undo(count, who=who)
            if taken:
                self.questions.sharing.ask_anew(
                    who or ""
                )  # what was taken back, before anything else
            if taken and resume:
                self.standing.set_finished(False)
        return list(map(undone, taken))

    def search(
        self, text: str, *, regex: bool = False, column: str = "", offset: int = 0, limit: int = 24
    ) -> SearchPage:
        """Return items by what they say: all words, or a regular expression, in one column or any."""
        return search(self, text, regex=regex, column=column, offset=offset, limit=limit)

    def status(self) -> Status:
        """Return where the work stands."""
        return self.standing.status()

    def clusters(self) -> Clusters:
        """Return what is found so far, of all rows; `Kinds.clusters` has only the items."""
        found, copies = self.kinds.clusters(), self.items.copies
        return found if copies is None else found.with_copies(copies.item_of)

    def export(self, name: str, path: Path | BinaryIO) -> None:
        """Write what was found to a file, named or open; see `Exports`."""
        self.exports.write(name, path)

    def close(self) -> None:
        """Let go of the ledger, once nobody writes."""
        if self.assistant is not None:
            self.assistant.stop()
        self.overview.maps.stop()
        self.parts.close()
        with suppress(LedgerError), self.ledger.turn():
            pass  # whoever is in the middle of an act finishes that
        with self.session.choosing(), self.ledger.lock:
            self.session.close()
            self.at_close.close()

    # Facts

    @property
    def is_records(self) -> bool:
        """Whether items are records that may be duplicates."""
        return self.items.is_records and self.session.points.n > 0

    @property
    def uncompared(self) -> list[str]:
        """Columns that are shown and do not decide which rows are alike: a person sees more than the data."""
        used = {column.name for column in self.items.columns if column.role in COMPARED}
        if not self.items.columns:
            return []
        return [name for name in self.items.shown_columns if name not in used]

    @property
    def is_blank(self) -> bool:
        """Whether nothing is answered, so that nothing can be told of any row."""
        return len(self.ledger) == 0

    @property
    def revision(self) -> int:
        """A number that changes whenever anything was answered, named or taken back."""
        with self.state():
            return hash(self.ledger.revision) & 0xFFFFFFFFFFFF

    def item(self, row: int) -> ItemView:
        """Return what to show of a row."""
        return plain_item(self.items.show(row))

    def image(self, row: int) -> NDArray[np.uint8] | None:
        """Return a small grey picture of a row, where items are pictures."""
        return None if self.items.images is None else self.items.images[row]

    def check_rows(self, rows: list[int]) -> None:
        """Raise an error if there are no rows, or one of them is not in the data."""
        n = self.session.points.n
        if not rows:
            raise ProjectError("Say which rows are meant.")
        wrong = [row for row in rows if not 0 <= row < n]
        if wrong:
            raise ProjectError(f"There is no row {wrong[0]}: rows go from 0 to {n - 1}.")
