"""A flow, a ledger and a budget: what every session is.

One act of a user is one transaction, which begins with what others wrote; what it depends on is checked
within it.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import ArrayLike

from samekind._validation import check_int
from samekind.algorithms import Params
from samekind.engine.flow_runner import FlowRunner
from samekind.flow import Answers, Pairs, check_answers, check_pairs
from samekind.ledger import (
    Contradiction,
    Ledger,
    LedgerError,
    LedgerLine,
    LedgerStale,
    keys_of,
    open_ledger,
)

if TYPE_CHECKING:
    from samekind.ledger import ProjectPlace

__all__ = ["FlowSession", "OtherDataError"]

LOOK_EVERY = 1.0  # seconds: what others write in less is taken in soon enough while they wait


class OtherDataError(ValueError):
    """The ledger is of other data than the session's."""


class FlowSession(FlowRunner):
    """Questions to answer, one wave after another, in your own time.

    Ask for `pending` pairs, and `tell` answers to any of them in any order. With a ledger on disk the session
    can be left and opened again.
    """

    def __init__(
        self, params: Params, ledger: Ledger | str | ProjectPlace | None, budget: int | None
    ) -> None:
        limit = check_int("budget", budget, minimum=0, none="ask without limit")
        super().__init__(params, open_ledger(ledger), limit)
        self._owns_ledger = not isinstance(ledger, Ledger)
        self._is_closed = False
        self.is_acting = False
        self._looked_at = 0.0  # at what others wrote
        self._fingerprint: str | None = None  # of the data that the ledger is tied to
        try:
            if ledger is not None:
                self._bind_ledger()
            self._replay()
        except BaseException:
            self.close()
            raise

    @abstractmethod
    def _bind_ledger(self) -> None:
        """Tie a ledger that was given to the session's data."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def pending(self) -> Pairs:
        """Return the questions that are open, (m, 2); none once the session is over."""
        return self._pending.copy()

    @property
    def done(self) -> bool:
        """Whether there is nothing left to ask."""
        return self.stop_reason is not None

    @property
    def contradictions(self) -> list[Contradiction]:
        """Answers that cannot all be true, with the pairs involved; where none may be wrong."""
        return self.ledger.contradictions if self._infers else []

    @property
    def n_contradictions(self) -> int:
        """How many answers contradict earlier ones; where none may be wrong."""
        return self.ledger.n_contradictions if self._infers else 0

    @contextmanager
    def act(self) -> Iterator[None]:
        """Within it, look at what is there now and write to the ledger: all in one transaction, or nothing.

        It begins with what others have written, and no other program writes meanwhile. When it is over the
        flow goes on with what was written. An act within another one is part of that.
        """
        self._check_open()
        if self.is_acting:
            yield
            return
        if monotonic() - self._looked_at > LOOK_EVERY:
            self.catch_up()  # before others have to wait
        self.is_acting = True
        try:
            with self.ledger.transaction():
                self._looked_at = monotonic()
                self._follow()
                yield
        finally:
            self.is_acting = False
        self._follow()

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
        with self.act():
            unasked = ~np.isin(keys, keys_of(self._pending))
            if unasked.any():
                a, b = checked[unasked][0].tolist()
                raise ValueError(
                    f"({a}, {b}) is not pending. Answer pairs from pending(), or give what you know "
                    "beyond them to learn()."
                )
            self.ledger.record_checked(checked, said, who, asked)

    def answer_all(self, answers: Answers, who: str = "") -> None:
        """Answer all pending questions, in their order; what `tell` does, with fewer checks.

        Those that somebody else answered meanwhile are left as they are.
        """
        self._check_open()
        pairs = self._pending
        said = check_answers(answers, len(pairs))
        seen = self._n_lines, self._n_changes
        if not self.ledger.record_next(seen, pairs, said, who, asked=True):
            self.catch_up()
            with self.act():
                still = np.isin(keys_of(pairs), keys_of(self._pending))
                self.ledger.record_checked(pairs[still], said[still], who, True)
            return
        now = self.ledger.revision
        if now.changes > self._n_changes or self._repeated is not None:
            self._follow()
            return
        self._note_answers(pairs, said)
        self._n_lines = now.answers
        self.n_questions += len(pairs)
        if len(pairs) == self._unknown.size:
            self._answers[self._unknown] = said
            self._advance(self._answers)
        else:  # the budget did not suffice for the others
            self._look_again()

    def hold(self, pairs: ArrayLike, who: str) -> None:
        """Keep pending pairs pending until somebody else than `who` answers them, or `release`.

        For a second opinion: the flow sees only the last answer. That they are held is not kept: a run that
        is cut off goes on with the answers that are there.
        """
        self._held.update(dict.fromkeys(keys_of(check_pairs(pairs)).tolist(), who))

    @property
    def held(self) -> Pairs:
        """The pending pairs that wait for a second opinion."""
        keys = keys_of(self._pending).tolist()
        return self._pending[[key in self._held for key in keys]]

    def release(self) -> None:
        """Let the flow go on with what is known of all pairs that are held."""
        self._held.clear()
        if not self.done:
            self._look_again()

    def undo(self, count: int = 1, *, who: str | None = None, together: bool = False) -> int:
        """Take back the last `count` answers, as deep as you like; return how many there were.

        With `who`, only that person's. What was volunteered stays. With `together`, what was told or learnt
        at once is taken back at once, be it volunteered or not.
        """
        return len(self.take_back(count, who=who, together=together))

    def take_back(
        self, count: int = 1, *, who: str | None = None, together: bool = False
    ) -> list[LedgerLine]:
        """Do what `undo` does; return what was taken back, latest first."""
        with self.act():
            return self.ledger.retract(count, who=who, asked_only=not together, together=together)

    def stop(self, reason: str = "user") -> None:
        """End the session now, until `resume`. What was answered stays in the ledger."""
        if self.stop_reason in (None, self._stopped):
            self._end(reason)
        self._stopped = reason

    def resume(self) -> None:
        """Go on after `stop`."""
        before, self._stopped = self._stopped, ""
        if before and self.stop_reason == before:
            self.stop_reason = None
            self._ask_on()

    def replay(self) -> None:
        """Run the flow again from its start; takes in what others wrote to the ledger."""
        self.ledger.refresh()
        self._stopped = ""
        self._replay()

    def catch_up(self) -> None:
        """Take in what others wrote to the ledger, if they did."""
        self.ledger.refresh()
        self._looked_at = monotonic()
        self._follow()

    def close(self) -> None:
        """Let go of the ledger, if the session opened it. What was found can still be had."""
        self._is_closed = True
        if self._owns_ledger:
            self.ledger.close()

    def _replay(self) -> None:
        own, now = self._fingerprint, self.ledger.meta.get("fingerprint")
        if own is not None and now != own:  # another program took in what has changed since
            error = LedgerStale(
                "the data of this project have changed, and another program has taken that in. Stop this one "
                "and open the project again; every answer is kept."
            )
            error.public = str(error)
            raise error
        super()._replay()

    def _check_open(self) -> None:
        if self._is_closed:
            raise LedgerError(
                "this session is closed, and takes no more answers. Open it again: Session(X, ledger=…)."
            )

    def _bind(self, fingerprint: str, shape: str) -> None:
        """Tie the ledger to its data, or raise an error if it belongs to other data.

        Where nothing is to be written nobody is waited for.
        """
        if "fingerprint" not in self.ledger.meta:
            with self.ledger.transaction():
                if "fingerprint" not in self.ledger.meta:
                    self.ledger.set_meta("fingerprint", fingerprint)
                    self.ledger.set_meta("shape", shape)
        if self.ledger.meta["fingerprint"] != fingerprint:
            raise OtherDataError(
                f"this project belongs to other data ({self.ledger.meta.get('shape')}; these are "
                f"{shape}): its answers would be about the wrong rows. Open "
                "it with the data it was made with, or start a new project."
            )
        self._fingerprint = fingerprint
