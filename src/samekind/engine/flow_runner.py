"""A flow on a ledger: how it comes to its next questions, and follows what is written.

Its rules:

- An answer is in the ledger before the flow sees it.
- The flow can always be run again from its start: same data, seed and parameters ask the same questions,
  and what the ledger knows is not asked. To resume is just that.
- Answers that only add to what is known, whoever wrote them, are looked up, and the flow goes on.
- A change of the past (`ledger.Change`) is told to a flow that can be told, at the same place among the
  answers by all who follow: live, resumed, or on another server. Other flows run again, unless it is only an
  answer that contradicts others, and nothing is inferred from any.
- What was answered beyond the flow's questions, because there was nobody's question left, is taken in at
  *marks*: changes that change nothing, but say when, and for how many people the flow asks from there on.
- A question is charged when the flow needs an answer that somebody was asked for, now or in an earlier
  session of the project. What follows from other answers, or was volunteered, is free.
- A wave asks each pair once. A flow that breaks this is at fault, and is named in a warning; people are
  asked once all the same, as one who is asked could neither answer nor skip a question that cannot be taken.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod

import numpy as np

from samekind.algorithms import Params
from samekind.flow import SAME, UNSURE, Answers, BoolArray, Flow, IntArray, Pairs, Reply
from samekind.ledger import UNANSWERED, Change, Ledger, keys_of, ledger_at, pairs_of

__all__ = ["FlowRunner"]

NO_PAIRS: Pairs = np.empty((0, 2), dtype=np.intp)


class FlowRunner(ABC):
    """A flow, the wave of questions that it waits for, and how much of the ledger it has seen."""

    _amends = False
    """Whether what runs can be told of changes."""

    def __init__(self, params: Params, ledger: Ledger, budget: int | None) -> None:
        self.params = params
        self.ledger = ledger
        self.budget = budget
        self.n_questions = 0
        self.stop_reason: str | None = None
        self._infers = params.trusts_answers  # what may be wrong proves nothing
        self._stopped = ""  # why somebody stopped it
        self._has_ended = False  # by itself
        self._view = ledger  # as it was when the flow had come so far
        self._n_lines = self._n_changes = 0  # of the ledger, that were taken in
        self._edition = ledger.revision.editions
        self._flow: Flow[str]
        self._pending = self._wave = NO_PAIRS
        self._repeated: BoolArray | None = None
        self._answers: Answers = np.empty(0, dtype=np.int8)  # what is known of the wave
        self._unknown: IntArray = np.empty(0, dtype=np.intp)  # where somebody must answer
        self._skipped: set[int] = set()
        self._unclaimed: set[int] = set()  # pairs that were asked and are not charged
        self._held: dict[int, str] = {}  # pairs for a second opinion, and whose answer is no such

    @property
    def amends(self) -> bool:
        """Whether what runs is told of changes, and does not start over."""
        return self._amends

    @property
    def followed(self) -> tuple[int, int, int]:
        """How far the flow has followed the ledger: what is known by it changes with that alone."""
        return self._n_lines, self._n_changes, self._edition

    @property
    @abstractmethod
    def algorithm(self) -> str:
        """The name of what asks."""

    @abstractmethod
    def _begin(self) -> Flow[str]:
        """Return a new flow, which begins from its start and ends with the reason why it stopped."""

    def _amend(self, change: Change) -> Flow[str]:
        """Tell what runs of a change; return its flow from there on. Only where `_amends`."""
        raise NotImplementedError

    def _note_answers(self, pairs: Pairs, answers: Answers) -> None:  # noqa: B027
        """Called with answers that only add to what is known, before the flow sees them; may do nothing."""

    def _note_wave(self) -> None:  # noqa: B027
        """Called whenever the flow has come to its next questions, or to its end; may do nothing."""

    def _follow(self) -> None:
        """Take in what the ledger has and the flow has not seen, in the order in which it was written."""
        if self.ledger.revision.editions != self._edition:
            self._replay()  # lines were deleted
            return
        changes = self.ledger.changes
        if not self._amends and len(changes) > self._n_changes:
            if any(self._rewrites(change) for change in changes[self._n_changes :]):
                self._replay()
                return
            self._n_changes = len(changes)
        while self._n_changes < len(changes):
            change = changes[self._n_changes]
            self._take_in(change.answers_before)
            if change.checkpoint >= 0:
                self._replay()
                return
            self._n_changes += 1
            self._see(change.answers)
            self._flow.close()
            self._flow = self._amend(change)
            self._charge_all()
            self.stop_reason = None
            self._advance(None)
        self._take_in(self.ledger.revision.answers)

    def _rewrites(self, change: Change) -> bool:
        """Return whether a change of the ledger is one for this flow.

        Where nothing is inferred, answers that contradict others are as good as any, and only add to them. A
        second opinion on a pair that the flow still waits for is not one, either.
        """
        if change.people:
            return False  # a mark
        if self._infers or change.checkpoint >= 0 or change.retracted > change.retracted_before:
            return True
        pairs = pairs_of(self.ledger.written(0, change.answers))
        keys, n_before = keys_of(pairs), change.answers_before
        again = keys[n_before:][np.isin(keys[n_before:], keys[:n_before])]
        waits = not self._has_ended and np.isin(again, keys_of(self._wave)).all()
        return bool(again.size) and not waits

    def _take_in(self, upto: int) -> None:
        """Take in lines that only add to what is known, and look again what is known of the wave."""
        if upto == self._n_lines:
            return
        first = self._n_lines
        self._see(upto)
        new = self._view.written(first, upto)
        self._note_answers(pairs_of(new), new["answer"])
        self._unclaimed.update(keys_of(pairs_of(new[new["asked"]])).tolist())
        skipped = new[~new["asked"] & (new["answer"] == UNSURE)]
        self._skipped.update(keys_of(pairs_of(skipped)).tolist())
        if not self._has_ended:
            self._look_again()

    def _see(self, upto: int) -> None:
        """Look at the ledger as it was with so many lines, after all changes that were taken in."""
        changes, seen = self.ledger.changes, self._n_changes
        last = self.ledger.revision.retracted
        retracted = changes[seen].retracted_before if seen < len(changes) else last
        self._view = ledger_at(self.ledger, upto, retracted, self._view)
        self._n_lines = upto

    def _charge_all(self) -> None:
        """Charge all that was asked so far, be it of use or not."""
        self._skipped = set(keys_of(self._view.skipped()).tolist())
        self._unclaimed = set()
        self.n_questions = len(self._view.asked_pairs())

    def _replay(self) -> None:
        changes = self.ledger.changes
        self._n_changes = len(changes)
        self._edition = self.ledger.revision.editions
        self._view, self._n_lines = self.ledger, self.ledger.revision.answers
        if self._amends and changes:  # in the order in which things happened
            made = [number for number, change in enumerate(changes) if change.checkpoint >= 0]
            self._n_changes = made[-1] + 1 if made else 0
            start = changes[made[-1]].answers if made else changes[0].answers_before
            self._see(start)
        self._skipped = set(keys_of(self._view.skipped()).tolist())
        self._unclaimed = set(self._view.asked_pairs().tolist())
        self.n_questions = 0
        self.stop_reason = None
        self._wave = NO_PAIRS
        self._flow = self._begin()
        self._advance(None)
        self._follow()

    def _advance(self, answers: Answers | None) -> None:
        """Send answers to the flow until it needs one that the ledger does not have."""
        while True:
            try:
                wave = (
                    next(self._flow) if answers is None else self._flow.send(self._reply(answers))
                )
            except StopIteration as end:
                self._has_ended = True
                self._note_wave()
                self._end(end.value)
                return
            self._has_ended = False
            self._note_wave()
            self._wave = wave
            self._repeated = self._find_repeated() if len(wave) > 1 else None
            answers = self._look_up()
            unknown = self._unanswered(answers)
            self._claim()
            if unknown.size:
                self._answers, self._unknown = answers, unknown
                self._ask_on()
                return

    def _look_again(self) -> None:
        """Look up the wave again, and go on if nothing of it is left to ask."""
        self._claim()
        self._answers = self._look_up()
        self._unknown = self._unanswered(self._answers)
        if self._unknown.size:
            self._ask_on()
        else:
            self._advance(self._answers)

    def _claim(self) -> None:
        """Charge what is asked for in the wave and was answered, here or elsewhere."""
        if self._unclaimed:
            claimed = self._unclaimed.intersection(keys_of(self._wave).tolist())
            self._unclaimed -= claimed
            self.n_questions += len(claimed)

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
        who = None if self._infers else self._view.annotators_of(self._wave)
        if not self._skipped:
            return Reply(answers, who)
        skipped = [key in self._skipped for key in keys_of(self._wave).tolist()]
        return Reply(answers, who, np.array(skipped))

    def _look_up(self) -> Answers:
        """Return what is known of the wave.

        Where somebody found a row in a line-up, or was not sure of it, only that: what follows for the rest
        of it, now or later, must not make a difference when the run is repeated.
        """
        answers = self._view.lookup(self._wave, infer=self._infers)
        if self.params.most_in_lineup > 1:
            said = self._view.lookup(self._wave, infer=False)
            rows, decisive = self._wave[:, 0], (said == SAME) | (said == UNSURE)
            answers[np.isin(rows, rows[decisive]) & ~decisive] = UNANSWERED
        if self._held:
            answers[self._are_held()] = UNANSWERED
        return answers

    def _are_held(self) -> BoolArray:
        """Return which pairs of the wave still wait for somebody else's answer than the one there is."""
        names = [*self._view.annotators, ""]
        last = self._view.annotators_of(self._wave).tolist()
        held = [
            key in self._held and (who < 0 or names[who] == self._held[key])
            for key, who in zip(keys_of(self._wave).tolist(), last, strict=True)
        ]
        return np.array(held, dtype=bool)

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
        if self._stopped:
            self._end(self._stopped)
        elif left is not None and left <= 0:
            self._end("budget")
        else:
            self.stop_reason = None
            all_unknown = self._unknown.size == len(self._wave)
            self._pending = (self._wave if all_unknown else self._wave[self._unknown])[:left]

    def _end(self, reason: str) -> None:
        self.stop_reason = reason
        self._pending = NO_PAIRS
