"""The ledger: what was answered, by whom and when, in memory or in a database.

A `Ledger` has a `Log`, which knows what follows from the events, and perhaps a `Store`, which keeps them.
Everything is written within `transaction`: one act, kept together or not at all. It begins with what others
have written. When a method that writes has returned, what it wrote is on disk.
"""

from __future__ import annotations

import copy
import json
import secrets
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from samekind._validation import check_positive_int
from samekind.flow import Answers, Pairs, check_answers, check_pairs
from samekind.ledger import events as ev
from samekind.ledger.errors import LedgerError, LedgerGone, ReplacedError
from samekind.ledger.events import Event, KeptItems, KeptReply, OpinionRole
from samekind.ledger.inference import Contradiction
from samekind.ledger.leases import LeaseTable, MemoryLeases
from samekind.ledger.log import (
    MOST_EXPECTED,
    Asked,
    Expected,
    LedgerLine,
    Lines,
    Log,
    Mark,
    Revision,
)

if TYPE_CHECKING:  # SQLAlchemy is imported by those who need it
    from samekind.ledger.places import ProjectPlace
    from samekind.ledger.store import State, Store, Transaction

__all__ = ["Ledger", "open_ledger"]

KIND = Event._fields.index("kind")
WIDTH = 4  # bytes of a number that was expected
PIECE = 10_000  # events that are written at once


class Ledger:
    """Answers, and all else that a project keeps.

    Parameters
    ----------
    where : None, str, Path or ProjectURL
        None keeps it in memory. A file is made if it is not there; or a database URL,
        ``postgresql+psycopg://USER@HOST/DATABASE?project=NAME``.
    infer : bool
        Whether to answer what follows from other answers: for an oracle that does not err.
    wait : float
        Seconds to wait for another process that is writing.
    read_only : bool
        Only read; the file may be one that cannot be written.

    Attributes
    ----------
    log : Log
        What follows from all that was written; to be read.
    leases : LeaseTable
        Who is looking at which question.
    lock : RLock
        Held while what is in memory is read or changed, for milliseconds; `BaseSession` has the order of all
        locks.

    Any thread may write. Threads take turns: the one whose turn it is may wait for the database, and takes
    `lock` only when the database is its own. A thread that reads while others write holds `lock`.

    Examples
    --------
    >>> from samekind import DIFFERENT, SAME
    >>> ledger = Ledger()
    >>> ledger.record([[0, 1], [1, 2]], [SAME, DIFFERENT], who="ann")
    >>> ledger.lookup(np.array([[1, 0], [2, 0], [0, 3]])).tolist()
    [1, 0, -2]
    >>> ledger.retract()
    [LedgerLine(a=1, b=2, answer=0, who='ann', ...)]
    """

    def __init__(
        self,
        where: str | ProjectPlace | None = None,
        *,
        infer: bool = True,
        wait: float = 10.0,
        read_only: bool = False,
    ) -> None:
        self.read_only = read_only
        self.log = Log(infer=infer)
        self.lock = threading.RLock()
        self._turn = threading.RLock()
        self._wait = wait
        self.leases: LeaseTable = MemoryLeases()
        self.n_rows: int | None = None  # of the data, once `limit_rows` has told it
        self._infer = infer
        self._store: Store | None = None
        self._own_id = secrets.token_hex(16)  # of a project in memory
        self._transaction: Transaction | None = None
        self._mark: Mark | None = None  # where the open transaction began
        self._act, self._at = 0, 0.0
        self._edition = ""
        self._items: KeptItems | None = None
        self._row_of: NDArray[np.int64] | None = None  # each item; None: the numbers are the same
        self._item_of: NDArray[np.int64] | None = None  # each row
        self._replies: dict[tuple[str, str], KeptReply] = {}
        self._gone: LedgerGone | None = None
        if where is None:
            return
        from samekind.ledger.sql_leases import SqlLeases
        from samekind.ledger.store import Store

        self._store = Store(where, wait=wait, read_only=read_only)
        if self._store.keeps_leases:
            self.leases = SqlLeases(self._store)
        try:
            with self._store.explaining("be read"), self._store.reading() as transaction:
                state = self._follow(transaction)
            if not read_only:
                self._refuse_moved(state)
        except BaseException:
            self._store.close()
            raise

    def __len__(self) -> int:
        """Return the number of answers that stand."""
        return len(self.log)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self):,} answers)"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    # Reading

    @property
    def where(self) -> str | None:
        """Where it is kept, without a password; None: in memory."""
        return None if self._store is None else self._store.shown

    @property
    def project_id(self) -> str:
        """What tells this project from all others, wherever it is moved."""
        return (self._store and self._store.project) or self._own_id

    @property
    def settings(self) -> Mapping[str, str]:
        """Facts about the project; `set` changes them."""
        return self.log.settings

    @property
    def annotators(self) -> list[str]:
        """Everyone who answered, in the order of their first answers."""
        return self.log.annotators

    @property
    def contradictions(self) -> list[Contradiction]:
        """Answers that cannot all be true, each with the fewest earlier answers it contradicts."""
        return self.log.contradictions

    @property
    def revision(self) -> Revision:
        """What was written so far, in numbers."""
        return self.log.revision

    def lookup(self, pairs: Pairs, *, infer: bool = True) -> Answers:
        """Return what is known of each pair; UNANSWERED (-2) where nothing is.

        Without `infer`, only answers to the pair itself.
        """
        return self.log.lookup(pairs, infer=infer)

    def answer_by(self, a: int, b: int, who: str) -> int | None:
        """Return somebody's answer to a pair, if they gave one that stands."""
        return self.log.answer_by(a, b, who)

    def lines(self) -> Iterator[LedgerLine]:
        """Yield all answers in the order in which they were written, retracted ones too."""
        return self.log.records()

    def active(self) -> Lines:
        """Return the answers that stand, as a structured array."""
        return self.log.active()

    # Writing

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Keep all that is written within as one act, or, if anything fails, nothing of it.

        It begins with what others have written. A transaction within another one is part of that.
        """
        with self.turn():
            if self._mark is not None:
                yield
            elif self._store is None:
                with self._in_memory():
                    yield
            else:
                with self._in_store(self._store):
                    yield

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Within it, no other thread writes; an error says that others took too long."""
        if not self._turn.acquire(timeout=self._wait):
            busy = LedgerError(
                f"{self.where or 'the project'}: another thread has been writing for {self._wait:g} s. "
                "Nothing was changed; try again."
            )
            busy.public = (
                "Somebody else's change is still being saved. Nothing was changed; try again."
            )
            raise busy
        try:
            yield
        finally:
            self._turn.release()

    @contextmanager
    def _in_memory(self) -> Iterator[None]:
        with self.lock:
            self._begin()
            replies = dict(self._replies)
            try:
                yield
            except BaseException:
                self._undo_transaction()
                self._replies = replies
                raise
            self._mark = None

    @contextmanager
    def _in_store(self, store: Store) -> Iterator[None]:
        with self.lock:
            pass  # other programs need not wait for what somebody looks up here just now
        with self._guarded("be written"), ExitStack() as held:
            try:
                with store.write() as transaction:  # which may wait for other programs
                    held.enter_context(self.lock)  # until what is written is kept, or is not
                    self._refuse_moved(self._follow(transaction))
                    mark = self._begin()
                    self._transaction = transaction
                    yield
                    transaction.append([self._packed(one) for one in self.log.since(mark.last)])
            except BaseException:
                self._undo_transaction()
                raise
            finally:
                self._transaction = self._mark = None

    def record(
        self,
        pairs: ArrayLike,
        answers: ArrayLike,
        *,
        who: str = "",
        asked: Asked = True,
        expected: Expected = None,
    ) -> None:
        """Write answers down; when this returns they are kept.

        `asked` says of all, or of each, that it cost a question; volunteered or imported ones do not.
        `expected` are up to eight numbers for each: what was known of the pair when it was asked.
        """
        check_text("who", who)
        checked = self._check_rows(check_pairs(pairs))
        self.record_checked(checked, check_answers(answers, len(checked)), who, asked, expected)

    def record_checked(
        self, pairs: Pairs, answers: Answers, who: str, asked: Asked, expected: Expected = None
    ) -> None:
        """Do what `record` does, for callers that have checked what they pass."""
        if len(pairs):
            with self.transaction():
                self._append(pairs, answers, who, asked, expected=expected)

    def record_next(
        self,
        seen: tuple[int, int],
        pairs: Pairs,
        answers: Answers,
        who: str,
        expected: Expected = None,
    ) -> bool:
        """Write answers that were asked for, unless others wrote meanwhile; return whether they are kept.

        `seen` is the number of answers, and of those taken back, that the caller knows.
        """
        with self.transaction():
            if self.log.revision[1:3] != seen:
                return False
            self._append(pairs, answers, who, True, expected=expected)
        return True

    def edit(
        self,
        pairs: ArrayLike,
        answers: ArrayLike,
        *,
        who: str = "",
        asked: Asked = False,
        expected: Expected = None,
    ) -> None:
        """Answer pairs, whatever anybody answered before; what was paid stays paid. See `record`."""
        check_text("who", who)
        checked = self._check_rows(check_pairs(pairs))
        said = check_answers(answers, len(checked))
        if len(checked):
            with self.transaction():
                self._append(checked, said, who, asked, edit=True, expected=expected)

    def correct(self, a: int, b: int, answer: int, *, who: str = "") -> None:
        """Answer one pair anew; see `edit`."""
        self.edit([[a, b]], [answer], who=who)

    def opine(
        self, said: Sequence[tuple[int, int, int]], *, who: str, role: int = OpinionRole.BLIND
    ) -> None:
        """Keep opinions, (a, b, answer) each; see `OpinionRole`."""
        check_text("who", who)
        for a, b, answer in said:
            pair = {"a": min(a, b), "b": max(a, b)}
            self._note(ev.OPINION, who, **pair, answer=answer, ref=int(role))

    def name(self, row: int, text: str, *, definition: str = "", who: str = "") -> None:
        """Name a row's cluster, whatever becomes of it, and say what belongs to it; "" takes either away."""
        self._check_row(row)
        check_text("a name", text)
        check_text("a definition", definition)
        check_text("who", who)
        if "\n" in text:
            raise ValueError(f"a name must be on one line, got {text!r:.200}.")
        self._note(ev.NAME, who, a=row, payload=f"{text}\n{definition}" if definition else text)

    def anchor(self, number: int, row: int) -> None:
        """Let a row hold a number: whichever cluster the row is in has it, for life."""
        self._check_row(row)
        if not 1 <= number < ev.MOST_ITEMS:
            raise ValueError(f"a cluster's number must be 1 or more, got {number}.")
        self._note(ev.FOUND, "", a=row, ref=number)

    def set(self, key: str, value: str | None) -> None:
        """Keep a fact about the project beside its answers; None drops it."""
        if value is not None:
            check_text(key, value)
        self._note(ev.SETTINGS, "", payload=json.dumps({key: value}))

    def undo(self, count: int = 1, *, who: str | None = None) -> list[list[Event]]:
        """Take back somebody's, or everybody's, last acts: answers, edits, opinions and names.

        Return what stood of each act, the latest first.
        """
        count = check_positive_int("count", count)
        with self.transaction():
            acts = self.log.last_acts(count, who)
            found = self.log.of_acts(acts)
            for act in acts:
                self._note(ev.RETRACT, "" if who is None else who, ref=act)
        return [list(act) for _, act in groupby(found, key=lambda event: event.act)]

    def retract(
        self, count: int = 1, *, who: str | None = None, asked_only: bool = False
    ) -> list[LedgerLine]:
        """Take back the last `count` answers that stand, each by itself; return them, latest first.

        With `who`, only that annotator's; with `asked_only`, none that were volunteered.
        """
        count = check_positive_int("count", count)
        with self.transaction():
            lines = self.log.lines
            chosen = ~lines["retracted"]
            if who is not None:
                chosen &= lines["who"] == self.log.number_of(who)
            if asked_only:
                chosen &= lines["asked"]
            numbers = np.flatnonzero(chosen)
            numbers = numbers[numbers.size - min(count, numbers.size) :][::-1]
            acts = lines["act"][numbers].tolist()
            ids = lines["id"][numbers].tolist()
            author = "" if who is None else who
            for act, some in groupby(zip(acts, ids, strict=True), key=lambda line: line[0]):
                self._note(
                    ev.RETRACT, author, ref=act, payload=json.dumps([number for _, number in some])
                )
            return [self.log.line(number) for number in numbers.tolist()]

    def reply_to(self, who: str, key: str) -> KeptReply | None:
        """Return what somebody's request with this key was told, if there was one."""
        if self._transaction is not None:
            return self._transaction.reply_to(who, key)
        if self._store is None:
            return self._replies.get((who, key))
        with self._guarded("be read"), self._store.reading() as transaction:
            return transaction.reply_to(who, key)

    def keep_reply(self, who: str, key: str, kept: KeptReply) -> None:
        """Keep what a request is told, together with what it does: said again, it is not done again."""
        with self.transaction():
            if self._transaction is not None:
                self._transaction.keep_reply(who, key, kept)
            else:
                self._replies[who, key] = kept

    # Others who write, and data that change

    def refresh(self) -> bool:
        """Take in what other writers wrote; return whether anything was taken back."""
        if self._store is None:
            return False
        with self.lock:
            if self._mark is not None:  # of this thread
                return False
            before = self.log.epoch
            with self._guarded("be read"), self._store.reading() as transaction:
                self._follow(transaction)
            return self.log.epoch > before

    @property
    def items(self) -> KeptItems | None:
        """By what the items are recognised, and the row of each; None where that is not kept."""
        return self._items

    def keep_items(self, kept: KeptItems) -> None:
        """Keep by what the items are recognised and where they are now; rows have other numbers then.

        In a transaction, which writes no answers.
        """
        with self.transaction():
            if self._transaction is not None:
                self._transaction.keep_items(kept)
                is_as_before = (
                    self._row_of is None and (kept.rows == np.arange(kept.rows.size)).all()
                )
                self._items = kept
                self._edition = self._edition if is_as_before else ""  # or else all is read anew

    def limit_rows(self, n: int, *, trusts: bool = True) -> None:
        """Take only answers about the first n rows from now on; an error says if there are others.

        `trusts`: whether another row of its cluster may speak for an item that is not in the data.
        """
        self.n_rows = n
        self.log.has_stand_ins = trusts
        most = self.log.largest_row
        if self.log.n_rows is None and most >= n and self._store is not None:
            with self._store.understanding():
                raise ValueError(f"it is about row {most}, and rows go from 0 to {n - 1}")

    def close(self) -> None:
        """Let go of the database; a SQLite project is one file again."""
        if self._store is not None:
            self._store.close()

    @property
    def open_transaction(self) -> Transaction | None:
        """The transaction of the store that is open, for what is to be part of it."""
        return self._transaction

    @property
    def store(self) -> Store | None:
        """Where it is kept."""
        return self._store

    def frozen(self) -> Ledger:
        """Return what is there now, in memory: it stays so."""
        with self.lock:
            other = copy.copy(self)
            other.log = self.log.copy()
        other._own_id, other._store = self.project_id, None
        other.leases, other._replies = MemoryLeases(), {}
        other.lock, other._turn = threading.RLock(), threading.RLock()
        return other

    # Within

    def _begin(self) -> Mark:
        self._mark = mark = self.log.mark()
        self._act = self.log.last + 1
        self._at = time.time()
        return mark

    def _undo_transaction(self) -> None:
        if self._mark is not None:
            self.log.rewind(self._mark)
            self._mark = None

    def _append(
        self,
        pairs: Pairs,
        answers: Answers,
        who: str,
        asked: Asked,
        *,
        edit: bool = False,
        expected: Expected = None,
    ) -> None:
        first = self.log.last + 1
        self.log.append_wave(
            pairs,
            answers,
            self.log.number(who),
            ids=np.arange(first, first + len(pairs)),
            act=self._act,
            at=self._at,
            asked=asked,
            edit=edit,
            expected=expected,
        )

    def _note(self, kind: str, who: str, **columns: Any) -> None:
        with self.transaction():
            event = Event(self.log.last + 1, self._act, kind, who, self._at, **columns)
            self.log.append([event])

    def _follow(self, transaction: Transaction) -> State:
        """Take in the events that this object has not seen; all of them, if some were deleted."""
        store = self._store
        assert store is not None
        with store.understanding():
            state = transaction.state()
            if state.project != store.project:
                raise ReplacedError
            if state.edition != self._edition or state.last < self.log.last:
                self._items = transaction.items()
                self._place_items()
                self.log = self._new_log()
                self._edition = state.edition
            if state.last > self.log.last:
                self._take(transaction.since(self.log.last))
        return state

    def _new_log(self) -> Log:
        n_gone = 0 if self._items is None else int((self._items.rows < 0).sum())
        n_rows = None if not n_gone or self._items is None else self._items.rows.size - n_gone
        new = Log(infer=self._infer, n_rows=n_rows, epoch=self.log.epoch + 1)
        new.has_stand_ins = self.log.has_stand_ins
        return new

    def _place_items(self) -> None:
        """Find the number of each item: its row, or one beyond the data."""
        self._row_of = self._item_of = None
        if self._items is None:
            return
        rows = self._items.rows.copy()
        gone = np.flatnonzero(rows < 0)
        rows[gone] = np.arange(rows.size - gone.size, rows.size)
        if (rows != np.arange(rows.size)).any():
            self._row_of, self._item_of = rows, np.argsort(rows)

    def _take(self, events: list[tuple[Any, ...]]) -> None:
        """Take in rows of the table, after looking at each; an error says that one cannot be right."""
        if _whole([row[0] for row in events]).min() < 1:
            raise ValueError("an id is below 1")
        is_answer = [row[KIND] in (ev.ANSWER, ev.EDIT) for row in events]
        said = [row for row, own in zip(events, is_answer, strict=True) if own]
        if said:
            columns = dict(zip(Event._fields, zip(*said, strict=True), strict=True))
            times = np.array(columns["at"], dtype=np.float64)
            if not np.isfinite(times).all():
                raise ValueError("a time is not finite")
            pairs = np.column_stack([self._rows(columns["a"]), self._rows(columns["b"])])
            who = [self.log.number(_text(name)) for name in columns["who"]]
            self.log.append_wave(
                check_pairs(pairs),
                check_answers(_whole(columns["answer"]), len(said)),
                np.array(who, dtype=np.int32),
                ids=_whole(columns["id"]),
                act=_whole(columns["act"]),
                at=times,
                asked=np.array(columns["charged"], dtype=np.bool_),
                edit=np.array([kind == ev.EDIT for kind in columns["kind"]]),
                expected=_unpacked(columns["expected"]),
            )
        notes = [row for row, own in zip(events, is_answer, strict=True) if not own]
        self.log.append([self._checked(Event(*row)) for row in notes])
        self.log.last = int(events[-1][0])

    def _checked(self, event: Event) -> Event:
        """Return an event that is no answer, with rows in the place of items."""
        if event.kind not in ev.KINDS:
            raise ValueError(f"event {event.id}: its kind is {event.kind!r:.40}")
        _text(event.who)
        _whole([event.id, event.act])
        if event.kind in (ev.NAME, ev.FOUND, ev.OPINION):
            event = event._replace(a=int(self._rows([event.a])[0]))
        if event.kind == ev.OPINION:
            check_answers(_whole([event.answer]), 1)
            event = event._replace(b=int(self._rows([event.b])[0]))
        if event.kind in (ev.FOUND, ev.RETRACT, ev.OPINION):
            _whole([event.ref])
        if event.kind == ev.NAME:
            _text(event.payload)
        if event.kind == ev.SETTINGS:
            facts = json.loads(_text(event.payload))
            for key, value in facts.items():
                if not isinstance(value, str | None):
                    raise ValueError(f"event {event.id}: the setting {key!r:.40} is no text")
                if value is not None and not RULES.get(key, str)(value) and value:
                    raise ValueError(f"event {event.id}: the setting {key!r} is {value!r:.40}")
        if event.kind == ev.RETRACT and event.payload is not None:
            _whole(json.loads(_text(event.payload)))
        return event

    def _rows(self, items: Sequence[Any]) -> NDArray[np.int64]:
        """Return the numbers of items."""
        found = _whole(items)
        if found.size and not 0 <= found.min() <= found.max() < ev.MOST_ITEMS:
            raise ValueError(f"there is no item {found.min()} or {found.max()}")
        return found if self._row_of is None else self._row_of[found]

    def _packed(self, event: Event) -> dict[str, Any]:
        """Return an event as a row of the table, with items in the place of rows."""
        row = event._asdict()
        if self._item_of is not None:
            for side in ("a", "b"):
                row[side] = None if row[side] is None else int(self._item_of[row[side]])
        return row

    def _refuse_moved(self, state: State) -> None:
        if state.moved_to is not None:
            moved = LedgerError(
                f"{self.where} was moved to {state.moved_to}: go on there. What is here can still be read."
            )
            moved.public = "The project was moved to another place: go on there."
            raise moved
        if state.arriving is not None:
            raise LedgerError(
                f"{self.where} is a copy that has not arrived: `samekind move` was cut off. Run it again: "
                f"samekind move {state.arriving} {self.where}"
            )

    @contextmanager
    def _guarded(self, purpose: str) -> Iterator[None]:
        """Explain what goes wrong; where the project is not there any more, keep what is in memory."""
        assert self._store is not None
        if self._gone is not None:
            raise self._gone.with_traceback(None)
        try:
            with self._store.explaining(purpose):
                yield
        except ReplacedError as error:
            self._gone = self._rescue()
            raise self._gone from error

    def _rescue(self) -> LedgerGone:
        """Write all that is in memory to a new file, and return the error that says where."""
        from sqlalchemy.exc import DBAPIError

        from samekind.ledger.places import ProjectURL
        from samekind.ledger.sqlite import path_beside
        from samekind.ledger.store import Store

        store = self._store
        assert store is not None
        path = store.path or Path(f"{ProjectURL(store.place).name}.db").absolute()
        what = "deleted from its database, or replaced"
        if store.path is not None:
            what = "replaced by another file" if path.exists() else "deleted or moved"
        folder = path.parent if path.parent.is_dir() else Path(tempfile.gettempdir())
        rescue = None
        with suppress(OSError, LedgerError):
            beside = path_beside(folder / path.name, "rescue")
            Store(beside, fill=self._write_all).close()
            rescue = beside
        with suppress(DBAPIError, OSError, ReplacedError):
            if store.path is not None:
                store.settle(self.log.last)
        store.close()
        kept = "a copy of its answers could not be written"
        if rescue is not None:
            kept = f"all answers are kept in {rescue}: samekind label {rescue}"
        gone = LedgerGone(
            f"{store.shown} was {what} while it was open. Nothing more is written to it; {kept}"
        )
        gone.rescue = None if rescue is None else str(rescue)
        name = "nowhere" if rescue is None else rescue.name
        gone.public = (
            f"The project was {what}. Nothing more is written; its answers are kept in {name}."
        )
        return gone

    def _write_all(self, transaction: Transaction) -> None:
        """Write all that is in memory to a new project."""
        if self._items is not None:
            transaction.keep_items(self._items)
        events = [self._packed(event) for event in self.log.since(0)]
        for first in range(0, len(events), PIECE):
            transaction.append(events[first : first + PIECE])

    def _check_rows(self, pairs: Pairs) -> Pairs:
        """Return pairs whose rows are all there."""
        if self.n_rows is not None and len(pairs) and pairs.max() >= self.n_rows:
            raise ValueError(f"row {pairs.max()} is not in the data of {self.n_rows} rows.")
        return pairs

    def _check_row(self, row: int) -> None:
        below = ev.MOST_ITEMS if self.n_rows is None else self.n_rows
        if not 0 <= row < below:
            raise ValueError(f"row {row} is not in the data of {below} rows.")


def open_ledger(where: Ledger | str | ProjectPlace | None, *, infer: bool = True) -> Ledger:
    """Return the ledger itself, one in memory for None, or the one in a file or at a URL."""
    if isinstance(where, Ledger):
        return where
    if where is None:
        return Ledger(infer=infer)
    from samekind.ledger.places import ProjectURL

    if isinstance(where, str | Path | ProjectURL):
        return Ledger(where, infer=infer)
    raise TypeError(f"ledger must be a path, a URL, a Ledger or None, got {where!r}.")


def check_text(name: str, value: object) -> None:
    """Complain of what is no text, or one that no file can hold."""
    if not isinstance(value, str):
        raise TypeError(f"{name} must be a text, got {value!r}.")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ValueError(
            f"{name} must be a text that can be written as UTF-8, got {value!r}."
        ) from None


def _is_object(text: str) -> bool:
    """Return whether a text is a JSON object."""
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


RULES: dict[str, Callable[[str], object]] = {  # what a setting must be
    "seed": str.isdecimal,
    "settings": _is_object,
    "things": _is_object,
}


def _whole(numbers: Sequence[Any]) -> NDArray[np.int64]:
    """Return whole numbers as an array; an error says that there are others."""
    if not all(type(number) is int for number in numbers):
        wrong = next(number for number in numbers if type(number) is not int)
        raise ValueError(f"{wrong!r:.40} is no whole number")
    return np.array(numbers, dtype=np.int64)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r:.40} is no text")
    return value


def _unpacked(packed: Sequence[bytes | None]) -> Expected:
    """Return what was expected of answers, as the database keeps it: little-endian float32, or nothing."""
    if not any(packed):
        return None
    found = np.full((len(packed), MOST_EXPECTED), np.nan, dtype=np.float32)
    for row, value in zip(found, packed, strict=True):
        if value:
            row[: len(value) // WIDTH] = np.frombuffer(value, dtype="<f4")
    return found
