"""What is kept together, or not at all."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from typing import NamedTuple, TypeVar

import numpy as np

from samekind.flow import UNSURE
from samekind.ledger.leasing import LeaseTable, MemoryLeases
from samekind.ledger.log import AnswerLog, Lines
from samekind.ledger.notes import ClusterName, Notes
from samekind.ledger.opinions import Opinion, OpinionLog

__all__ = ["KeptReply", "Revision", "Transactions"]

Part = TypeVar("Part", AnswerLog, Notes)
SHARED = ("_room",)  # what copies may share: a line in it is never changed


class KeptReply(NamedTuple):
    """What a request with a key was told, and a digest of what it asked for."""

    request: str
    reply: str


class Revision(NamedTuple):
    """How much was written so far: it changes with every change of what counts."""

    answers: int
    retracted: int
    names: int
    editions: int
    """How many times lines were deleted for good: then all is to be read anew."""
    anchors: int = 0
    opinions: int = 0


class Transactions(ABC):
    """The log, the notes and all else that a ledger keeps, written in transactions."""

    read_only = False
    """Whether nothing can be written."""

    def __init__(self) -> None:
        self.meta: dict[str, str] = {}
        self.leases: LeaseTable = MemoryLeases()
        """Who is looking at which question."""
        self._log = AnswerLog()
        self._notes = Notes()
        self._numbers: dict[str, int] = {}  # of the annotators
        self._in_transaction = False
        self._replies: dict[tuple[str, str], KeptReply] = {}
        self._n_editions = 0

    @abstractmethod
    def _relearn(self) -> None:
        """Make what is known anew from the log."""

    @property
    def revision(self) -> Revision:
        """What was written so far, in numbers."""
        log, notes = self._log, self._notes
        written = log.size, log.n_struck, notes.n_names
        return Revision(*written, self._n_editions, notes.n_anchors, len(notes.opinions.lines))

    @property
    def past(self) -> tuple[int, int]:
        """What changes whenever answers that were there do not count any more, or count again."""
        return self._n_editions, self._log.n_rewrites

    @property
    def names(self) -> dict[int, ClusterName]:
        """The newest name of each row that was given one; see `name`."""
        return self._notes.names

    @property
    def anchors(self) -> dict[int, int]:
        """For every number that a cluster was given for life the row that holds it; see `anchor`."""
        return self._notes.anchors

    @property
    def opinions(self) -> OpinionLog:
        """What several people say of one pair; to be read."""
        return self._notes.opinions

    def opine(
        self,
        said: Sequence[tuple[int, int, int]],
        *,
        who: str,
        role: int = 0,
        at: float | None = None,
    ) -> None:
        """Keep opinions, (a, b, answer) each; `at`: when, if with an answer. See `OpinionRole`."""
        when = self._now() if at is None else at
        rows = [
            Opinion(min(a, b), max(a, b), answer, who, when, int(role)) for a, b, answer in said
        ]
        if rows:
            self._append_opinions(rows)

    def _append_opinions(self, rows: list[Opinion]) -> None:
        self._notes.opinions.add(rows)

    @abstractmethod
    def _now(self) -> float:
        """Return the time, a little later than that of anything before."""

    def written(self, first: int, last: int) -> Lines:
        """Return the lines from the first on and before the last, retracted ones too."""
        return self._log.lines[first:last]

    def acts(self) -> Lines:
        """Return the lines that were not taken back, but for those by which a question was skipped."""
        lines = self._log.lines
        skips = ~lines["asked"] & (lines["answer"] == UNSURE)
        found: Lines = lines[~lines["struck"] & ~skips]
        return found

    @property
    def n_acts(self) -> int:
        """How many times something was answered that was not taken back; at once counts as once."""
        return int(np.unique(self.acts()["when"]).size)

    def taken_back(self, first: int, last: int) -> Lines:
        """Return the lines that were taken back from the first-th time on and before the last-th."""
        return self._log.lines[self._log.struck(first, last)]

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Keep all that is written within, or, if anything fails, nothing of it.

        It begins with what others have written. A transaction within another one is part of that.
        """
        if self._in_transaction:
            yield
            return
        before = _copied(self._log), _copied(self._notes), dict(self._numbers), dict(self.meta)
        begun = self.revision
        self._in_transaction = True
        try:
            yield
            self._commit()
        except BaseException:
            wrote = self.revision[:2] != begun[:2]
            self._log, self._notes, self._numbers, self.meta = before
            if wrote:
                self._relearn()
            raise
        finally:
            self._in_transaction = False

    def reply_to(self, who: str, key: str) -> KeptReply | None:
        """Return what somebody's request with this key was told, if there was one."""
        return self._replies.get((who, key))

    def keep_reply(self, who: str, key: str, kept: KeptReply) -> None:
        """Keep what a request is told, together with what it does: said again, it is not done again."""
        self._replies[who, key] = kept

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Write one thing, which needs no transaction of its own here."""
        yield

    def _commit(self) -> None:  # noqa: B027
        """Keep what the transaction wrote."""


def _copied(part: Part) -> Part:
    """Return a log or notes that later changes of these do not reach."""
    other = copy(part)
    held = ((name, value) for name, value in vars(part).items())
    vars(other).update({name: copy(value) for name, value in held if name not in SHARED})
    return other
