"""A ledger, a budget and a runner: what every session is.

One act of a user is one transaction, which begins with what others wrote; what it depends on is checked
within it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import get_ident
from time import monotonic
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import ArrayLike

from samekind._validation import check_int
from samekind.algorithms import Params
from samekind.engine.runner import NO_PAIRS, Followed, Runner
from samekind.errors import ParameterError
from samekind.flow import Answers, BoolArray, Pairs, check_answers, check_pairs
from samekind.ledger import (
    UNANSWERED,
    Contradiction,
    Ledger,
    LedgerError,
    LedgerLine,
    LedgerStale,
    keys_of,
    open_ledger,
)

if TYPE_CHECKING:
    from samekind.algorithms.folding import Expected
    from samekind.ledger import ProjectPlace

__all__ = ["BaseSession", "OtherDataError"]

LOOK_EVERY = 1.0  # seconds: what others write in less is taken in soon enough while they wait


class OtherDataError(ParameterError):
    """The ledger is of other data than the session's."""


class BaseSession:
    """Questions to answer, a few at a time, in your own time.

    Ask for `pending` pairs, and `tell` answers to any of them in any order. With a ledger on disk the session
    can be left and opened again.

    Locks are taken in this order, and only in this order:

    1. `lock`: questions are chosen, which may take a second after an undo.
    2. `Ledger.turn`, the turn to write: one thread of this process at a time.
    3. The database: one writer, or one who leases questions, in all processes.
    4. `Ledger.lock`: what is in memory is read or changed. It is held for milliseconds, so who reads what is
       known, or writes, never waits for who chooses.
    """

    _runner: Runner

    def __init__(
        self, params: Params, ledger: Ledger | str | ProjectPlace | None, budget: int | None
    ) -> None:
        self.params = params
        self.budget = check_int("budget", budget, minimum=0, none="ask without limit")
        self.ledger = open_ledger(ledger)
        self._actor = self._chooser = 0  # the threads within `act` and `choosing`
        self._began = Followed()  # where the ledger was when the act began
        self._owns_ledger = not isinstance(ledger, Ledger)
        self._is_closed = False
        self._stopped = ""  # why somebody stopped it
        self._looked_at = 0.0  # at what others wrote
        self._fingerprint: str | None = None  # of the data that the ledger is tied to

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @property
    def n_questions(self) -> int:
        """How many questions were charged."""
        return self._runner.n_questions

    @property
    def stop_reason(self) -> str | None:
        """Why nothing is asked, or None."""
        with self.choosing():
            if self._runner.reason:
                return self._runner.reason
            if self._stopped:
                return self._stopped
            if self._left == 0:
                return "budget"
            return None if len(self._runner.waiting()) else self._runner.reason

    @property
    def done(self) -> bool:
        """Whether there is nothing left to ask."""
        return self.stop_reason is not None

    @property
    def _left(self) -> int | None:
        return None if self.budget is None else max(0, self.budget - self.n_questions)

    def pending(self) -> Pairs:
        """Return the questions that are open, (m, 2); none once the session is over."""
        with self.choosing():
            return NO_PAIRS if self.done else self._runner.waiting()[: self._left].copy()

    def is_waiting(self, pairs: Pairs) -> BoolArray:
        """Return which pairs were chosen to be asked, and are not answered. Nothing is chosen for that."""
        chosen = NO_PAIRS if self._stopped else self._runner.open
        found: BoolArray = np.isin(keys_of(pairs), keys_of(chosen)) & self._is_unanswered(pairs)
        return found

    @contextmanager
    def choosing(self) -> Iterator[None]:
        """Within it, nobody else chooses questions, and it is chosen by the answers of its beginning."""
        self._follow()
        with self._runner.lock:
            before, self._chooser = self._chooser, get_ident()
            try:
                yield
            finally:
                self._chooser = before

    def expect(self, pairs: Pairs) -> Expected:
        """Return what the algorithm expects of pairs, to be written with their answers."""
        with self.choosing():
            return self._runner.expect(pairs)

    def elsewhere(self, expected: Expected) -> Expected:
        """Return what is written with answers that place a row elsewhere than it was asked about."""
        return self._runner.elsewhere(expected) if expected.size else expected

    @property
    def contradictions(self) -> list[Contradiction]:
        """Answers that cannot all be true, with the pairs involved; where none may be wrong."""
        return self.ledger.contradictions if self.params.trusts_answers else []

    @property
    def n_contradictions(self) -> int:
        """How many answers contradict earlier ones; where none may be wrong."""
        return self.ledger.log.n_contradictions if self.params.trusts_answers else 0

    @property
    def is_acting(self) -> bool:
        """Whether this thread is within an act."""
        return self._actor == get_ident()

    @contextmanager
    def act(self) -> Iterator[None]:
        """Within it, look at what is there now and write to the ledger: all in one transaction, or nothing.

        It begins with what others have written, and no other program writes meanwhile. What is known stays as
        it was before anything was written. When it is over the session goes on with what was written. An act
        within another one is part of that.
        """
        with self.writing():
            yield
        self._follow()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Do what `act` does; whoever chooses next goes on with what was written."""
        self._check_open()
        with self.ledger.turn():
            if self.is_acting:
                yield
                return
            if monotonic() - self._looked_at > LOOK_EVERY:
                self.refresh()  # before others have to wait
            with self.ledger.transaction():
                self._looked_at = monotonic()
                self._check_data()
                self._actor, self._began = get_ident(), Followed.all_of(self.ledger)
                try:
                    yield
                finally:
                    self._actor = 0

    def tell(
        self, pairs: ArrayLike, answers: ArrayLike, *, who: str = "", free: ArrayLike = False
    ) -> None:
        """Answer some or all of the pending questions.

        When this returns the answers are in the ledger. What they imply for questions still
        pending is not asked any more. Those that are `free`, all or some, are not charged. A row of which
        somebody is unsure for free is skipped: it is not asked about any more.
        """
        self._check_open()  # also if there is nothing to tell
        checked = check_pairs(pairs)
        said = check_answers(answers, len(checked))
        if not isinstance(who, str):
            raise TypeError(f"who must be a text, got {who!r}.")
        if not len(checked):
            return
        keys = keys_of(checked)
        if np.unique(keys).size < keys.size:
            raise ValueError("a pair is answered twice. Give one answer to each pair.")
        asked = ~np.broadcast_to(np.asarray(free, dtype=bool), len(checked))
        with self.choosing():
            open_pairs, expected = keys_of(self.pending()), self._runner.expect(checked)
            with self.act():
                unasked = ~np.isin(keys, open_pairs) | ~self._is_unanswered(checked)
                if unasked.any():
                    a, b = checked[unasked][0].tolist()
                    raise ValueError(
                        f"({a}, {b}) is not pending. Answer pairs from pending(), or give what you know "
                        "beyond them to learn()."
                    )
                self.write(checked, said, who, asked, expected)
        self._follow()

    def answer_all(self, answers: Answers, who: str = "") -> None:
        """Answer all pending questions, in their order; what `tell` does, with fewer checks.

        Those that somebody else answered meanwhile are left as they are.
        """
        self._check_open()
        with self.choosing():
            pairs = self.pending()
            said = check_answers(answers, len(pairs))
            expected = self._runner.expect(pairs)
            if not self.ledger.record_next(self._runner.seen, pairs, said, who, expected):
                with self.act():
                    still = self._is_unanswered(pairs)
                    self.write(pairs[still], said[still], who, still[still], expected[still])
        self._follow()

    def undo(self, count: int = 1, *, who: str | None = None, together: bool = False) -> int:
        """Take back the last `count` answers, as deep as you like; return how many there were.

        With `who`, only that person's. What was volunteered stays. With `together`, acts are taken back as a
        whole: what was told or learnt at once, be it volunteered or not.
        """
        if not together:
            return len(self.take_back(count, who=who))
        with self.act():
            return sum(map(len, self.ledger.undo(count, who=who)))

    def take_back(self, count: int = 1, *, who: str | None = None) -> list[LedgerLine]:
        """Do what `undo` does; return what was taken back, latest first."""
        with self.act():
            return self.ledger.retract(count, who=who, asked_only=True)

    def stop(self, reason: str = "user") -> None:
        """End the session now, until `resume`. What was answered stays in the ledger."""
        self._stopped = reason

    def resume(self) -> None:
        """Go on after `stop`."""
        self._stopped = ""

    def replay(self) -> None:
        """Begin again from all answers that stand; takes in what others wrote to the ledger."""
        self.refresh()
        self._stopped = ""
        self._runner.restart()

    def catch_up(self) -> None:
        """Take in what others wrote, if they did."""
        self.refresh()
        self._follow()

    def refresh(self) -> None:
        """Let the ledger take in what others wrote; within an act that was done already."""
        with self.ledger.lock:
            if not self.is_acting:
                self.ledger.refresh()
                self._looked_at = monotonic()
                self._check_data()

    def close(self) -> None:
        """Let go of the ledger, if the session opened it. What was found can still be had."""
        self._is_closed = True
        if self._owns_ledger:
            self.ledger.close()

    def _follow(self) -> None:
        """Take in what was answered, but for what is being written, or while something is chosen."""
        if get_ident() not in (self._actor, self._chooser):
            self._runner.follow()

    def _check_data(self) -> None:
        own, now = self._fingerprint, self.ledger.settings.get("fingerprint")
        if own is not None and now != own:  # another program took in what has changed since
            error = LedgerStale(
                "the data of this project have changed, and another program has taken that in. Stop this "
                "one and open the project again; every answer is kept."
            )
            error.public = str(error)
            raise error

    def write(
        self, pairs: Pairs, answers: Answers, who: str, asked: BoolArray, expected: Expected
    ) -> None:
        """Write answers to any pairs, within an act, with what was expected of those that were asked for."""
        stored = np.where(asked[:, None], expected, np.float32(np.nan)) if asked.any() else None
        self.ledger.record_checked(pairs, answers, who, asked, stored)

    def _is_unanswered(self, pairs: Pairs) -> BoolArray:
        found: BoolArray = self.ledger.lookup(pairs, infer=self.params.trusts_answers) == UNANSWERED
        return found

    def _check_open(self) -> None:
        if self._is_closed:
            raise LedgerError(
                "this session is closed, and takes no more answers. Open it again: Session(X, ledger=…)."
            )

    def _bind(self, fingerprint: str, shape: str) -> None:
        """Tie the ledger to its data, or raise an error if it belongs to other data.

        Where nothing is to be written nobody is waited for.
        """
        if "fingerprint" not in self.ledger.settings:
            with self.ledger.transaction():
                if "fingerprint" not in self.ledger.settings:
                    self.ledger.set("fingerprint", fingerprint)
                    self.ledger.set("shape", shape)
        if self.ledger.settings["fingerprint"] != fingerprint:
            raise OtherDataError(
                f"this project belongs to other data ({self.ledger.settings.get('shape')}; these are "
                f"{shape}): its answers would be about the wrong rows. Open "
                "it with the data it was made with, or start a new project."
            )
        self._fingerprint = fingerprint
