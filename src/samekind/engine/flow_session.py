"""A flow, a ledger and a budget: what every session is.

Its rules:

- An answer is in the ledger before the flow sees it.
- The flow can always be run again from its start: same data, seed and parameters ask the same questions,
  and what the ledger knows is not asked. Resuming and undoing are both just that.
- A question is charged when the flow needs an answer that somebody was asked for, now or in an earlier
  session of the project. What follows from other answers, or was volunteered, is free.
- A wave asks each pair once. A flow that breaks this is at fault, and is named in a warning; people are
  asked once all the same, as one who is asked could neither answer nor skip a question that cannot be taken.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from samekind._validation import check_int
from samekind.algorithms import Params
from samekind.flow import (
    SAME,
    UNSURE,
    Answers,
    BoolArray,
    Flow,
    IntArray,
    Pairs,
    Reply,
    check_answers,
    check_pairs,
)
from samekind.ledger import (
    UNANSWERED,
    Contradiction,
    Ledger,
    LedgerError,
    LedgerLine,
    keys_of,
    open_ledger,
)

__all__ = ["FlowSession", "OtherDataError"]

NO_PAIRS: Pairs = np.empty((0, 2), dtype=np.intp)


class OtherDataError(ValueError):
    """The ledger is of other data than the session's."""


class FlowSession(ABC):
    """Questions to answer, one wave after another, in your own time.

    Ask for `pending` pairs, and `tell` answers to any of them in any order. With a ledger on disk the session
    can be left and opened again.
    """

    def __init__(
        self, params: Params, ledger: Ledger | str | Path | None, budget: int | None
    ) -> None:
        self.params = params
        self._infers = params.trusts_answers  # what may be wrong proves nothing
        self.budget = check_int("budget", budget, none="ask without limit")
        self.ledger = open_ledger(ledger)
        self._owns_ledger = not isinstance(ledger, Ledger)
        self._is_closed = False
        try:
            if ledger is not None:
                self._bind_ledger()
            self._replay()
        except BaseException:
            self.close()
            raise

    @property
    @abstractmethod
    def algorithm(self) -> str:
        """The name of what asks."""

    @abstractmethod
    def _bind_ledger(self) -> None:
        """Tie a ledger that was given to the session's data."""

    @abstractmethod
    def _begin(self) -> Flow[str]:
        """Return a new flow, which begins from its start and ends with the reason why it stopped."""

    def _note_wave(self) -> None:  # noqa: B027
        """Called whenever the flow has come to its next questions, or to its end; may do nothing."""

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

    def tell(
        self, pairs: ArrayLike, answers: ArrayLike, *, who: str = "", free: ArrayLike = False
    ) -> None:
        """Answer some or all of the pending questions.

        When this returns the answers are in the ledger. What they imply for questions still
        pending is not asked any more. Those that are `free`, all or some, are not charged. A row of which
        somebody is unsure for free is skipped: it is not asked about any more.
        """
        self._check_open()
        checked = check_pairs(pairs)
        said = check_answers(answers, len(checked))
        if not isinstance(who, str):
            raise TypeError(f"who must be a text, got {who!r}.")
        if not len(checked):
            return
        keys = keys_of(checked)
        if np.unique(keys).size < keys.size:
            raise ValueError("a pair is answered twice. Give one answer to each pair.")
        unasked = ~np.isin(keys, keys_of(self._pending))
        if unasked.any():
            a, b = checked[unasked][0].tolist()
            raise ValueError(
                f"({a}, {b}) is not pending. Answer pairs from pending(), or give what you know "
                "beyond them to learn()."
            )
        asked = ~np.broadcast_to(np.asarray(free, dtype=bool), len(checked))
        self._skipped.update(keys[~asked & (said == UNSURE)].tolist())
        self._record(checked, said, who, asked)

    def answer_all(self, answers: Answers, who: str = "") -> None:
        """Answer all pending questions, in their order; what `tell` does, with fewer checks."""
        self._check_open()
        pairs = self._pending
        self._record(pairs, check_answers(answers, len(pairs)), who, True)

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
        self._check_open()
        with self.ledger.transaction():
            self._follow()
            line = self.ledger.revision.answers
            taken = self.ledger.retract(count, who=who, asked_only=not together, together=together)
            before = self.ledger.active(line)
            if taken and before.size and before["when"][-1] > taken[-1].when:
                self._make_checkpoint(-1)  # what came later stays
            elif self.ledger.revision.answers > line:
                self._make_checkpoint(line)  # what a correction replaced is back
        self._replay()
        return taken

    def stop(self) -> None:
        """End the session now. What was answered stays in the ledger."""
        if self.stop_reason is None:
            self._end("user")

    def replay(self) -> None:
        """Run the flow again from its start; takes in what others wrote to the ledger."""
        self.ledger.refresh()
        self._replay()

    def catch_up(self) -> None:
        """Take in what others wrote to the ledger, if they did."""
        self.ledger.refresh()
        self._follow()

    def close(self) -> None:
        """Let go of the ledger, if the session opened it. What was found can still be had."""
        self._is_closed = True
        if self._owns_ledger:
            self.ledger.close()

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

    def _follow(self) -> None:
        """Run the flow again if the ledger has more than it has seen."""
        if self.ledger.revision[:3] != self._seen:
            self._replay()

    def _make_checkpoint(self, line: int) -> None:  # noqa: B027
        """Called within a change of the past, written from a line on, or taken back (-1)."""

    def _replay(self) -> None:
        self._seen = self.ledger.revision[:3]
        self._skipped = set(keys_of(self.ledger.skipped()).tolist())
        self._unclaimed = self.ledger.asked_pairs()
        self.n_questions = 0
        self.stop_reason: str | None = None
        self._wave = NO_PAIRS
        self._flow = self._begin()
        self._advance(None)

    def _advance(self, answers: Answers | None) -> None:
        """Send answers to the flow until it needs one that the ledger does not have."""
        while True:
            try:
                wave = (
                    next(self._flow) if answers is None else self._flow.send(self._reply(answers))
                )
            except StopIteration as end:
                self._note_wave()
                self._end(end.value)
                return
            self._note_wave()
            self._wave = wave
            self._repeated = self._find_repeated() if len(wave) > 1 else None
            answers = self._look_up()
            unknown = self._unanswered(answers)
            if self._unclaimed:  # charge what was asked in an earlier session
                claimed = self._unclaimed.intersection(keys_of(wave).tolist())
                self._unclaimed -= claimed
                self.n_questions += len(claimed)
            if unknown.size:
                self._answers, self._unknown = answers, unknown
                self._ask_on()
                return

    def _find_repeated(self) -> BoolArray | None:
        """Return which pairs of the wave stand in it before, if any; warn of the flow then."""
        keys = keys_of(self._wave)
        if len(set(keys.tolist())) == keys.size:
            return None
        repeated = np.ones(keys.size, dtype=bool)
        repeated[np.unique(keys, return_index=True)[1]] = False
        a, b = self._wave[repeated][0].tolist()
        warnings.warn(
            f"{self.algorithm!r} asks twice at once whether rows {a} and {b} are in one cluster. Nobody is "
            "asked twice, and the run goes on; please report this.",
            RuntimeWarning,
            stacklevel=2,
        )
        return repeated

    def _reply(self, answers: Answers) -> Reply:
        """Return what the flow is sent for its wave."""
        who = None if self._infers else self.ledger.annotators_of(self._wave)
        if not self._skipped:
            return Reply(answers, who)
        skipped = [key in self._skipped for key in keys_of(self._wave).tolist()]
        return Reply(answers, who, np.array(skipped))

    def _look_up(self) -> Answers:
        """Return what is known of the wave.

        Where somebody found a row in a line-up, or was not sure of it, only that: what follows for the rest
        of it, now or later, must not make a difference when the run is repeated.
        """
        answers = self.ledger.lookup(self._wave, infer=self._infers)
        if self.params.most_in_lineup > 1:
            said = self.ledger.lookup(self._wave, infer=False)
            rows, decisive = self._wave[:, 0], (said == SAME) | (said == UNSURE)
            answers[np.isin(rows, rows[decisive]) & ~decisive] = UNANSWERED
        return answers

    def _unanswered(self, answers: Answers) -> IntArray:
        """Return the places in the wave that somebody must answer.

        Not those of a line-up in which the row was found, or of which somebody was not sure.
        """
        unknown: IntArray = (answers == UNANSWERED).nonzero()[0]
        if self._repeated is not None:
            unknown = unknown[~self._repeated[unknown]]
        if self.params.most_in_lineup > 1 and unknown.size:
            found = self._wave[(answers == SAME) | (answers == UNSURE), 0]
            unknown = unknown[~np.isin(self._wave[unknown, 0], found)]
        return unknown

    def _ask_on(self) -> None:
        """Make the unknown part of the wave pending, as far as the budget goes."""
        left = None if self.budget is None else self.budget - self.n_questions
        if left is not None and left <= 0:
            self._end("budget")
        else:
            all_unknown = self._unknown.size == len(self._wave)
            self._pending = (self._wave if all_unknown else self._wave[self._unknown])[:left]

    def _record(self, pairs: Pairs, answers: Answers, who: str, asked: bool | BoolArray) -> None:
        if not self._write(pairs, answers, who, asked):
            self._replay()
            return
        self.n_questions += len(pairs) if asked is True else int(np.count_nonzero(asked))
        whole = len(pairs) == self._unknown.size and pairs is self._pending
        if whole and self._repeated is None:
            self._answers[self._unknown] = answers
            self._advance(self._answers)
            return
        self._answers = self._look_up()
        self._unknown = self._unanswered(self._answers)
        if self._unknown.size:
            self._ask_on()
        else:
            self._advance(self._answers)

    def _write(self, pairs: Pairs, answers: Answers, who: str, asked: bool | BoolArray) -> bool:
        """Write answers to the ledger; return whether nobody else wrote to it since the flow looked."""
        written, *rest = self._seen
        self.ledger.record_checked(pairs, answers, who, asked)
        if self.ledger.revision[:3] != (written + len(pairs), *rest):
            return False
        self._seen = self.ledger.revision[:3]
        return True

    def _end(self, reason: str) -> None:
        self.stop_reason = reason
        self._pending = NO_PAIRS
        self._flow.close()
