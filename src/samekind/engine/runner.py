"""What asks: an algorithm on a ledger, and how far it has followed what was written there.

- An answer is in the ledger before the algorithm sees it.
- A `FoldRunner` folds the answers that stand. Answers that only add to them are applied; after anything else,
  such as an undo or an answer that replaces another one, all are folded again.
- A `FlowRunner` drives a generator. What it yields is looked up in the ledger, and only what is not known is
  asked. When an answer that it was given has changed, it runs again from the start.
"""

from __future__ import annotations

import copy
import threading
import warnings
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from samekind.algorithms.base import Algorithm
from samekind.algorithms.folding import Answered, Expected, Folding
from samekind.flow import UNSURE, Answers, BoolArray, Flow, IntArray, Pairs, Reply
from samekind.ledger import UNANSWERED, Ledger, Lines, keys_of, pairs_of

__all__ = ["FlowRunner", "FoldRunner", "Followed", "Halted", "Runner", "twin"]

NO_PAIRS: Pairs = np.empty((0, 2), dtype=np.intp)
MOST_AT_ONCE = 64  # questions, with batch="auto"
TRIES = 50  # to choose something that does not follow from answers

AnyRun = TypeVar("AnyRun", bound=Algorithm[Any])


class Followed(NamedTuple):
    """How far a runner has followed a ledger: what it knows changes with that alone."""

    lines: int = 0
    struck: int = 0
    """How many of them were taken back."""
    epoch: int = -1
    """Rises when lines before these do not count any more, or count again."""

    @classmethod
    def all_of(cls, ledger: Ledger) -> Followed:
        """Return where a ledger is now."""
        now = ledger.revision
        return cls(now.answers, now.retracted, ledger.log.epoch)


class Runner(Protocol):
    """What a session needs of that which asks."""

    lock: threading.RLock
    """Held while questions are chosen."""

    @property
    def n_questions(self) -> int:
        """How many questions count against the budget."""

    @property
    def seen(self) -> tuple[int, int]:
        """The number of answers, and of those taken back, that it knows."""

    @property
    def open(self) -> Pairs:
        """The questions that were chosen last, as far as they are open."""

    def follow(self) -> None:
        """Take in what the ledger has and the algorithm has not seen."""

    def restart(self) -> None:
        """Take in all that the ledger has, from the start."""

    def waiting(self) -> Pairs:
        """Return the questions that are open, newly chosen ones if need be; none: the algorithm has ended."""

    @property
    def reason(self) -> str:
        """Why the algorithm asks nothing more by itself, as far as that is known; or an empty text."""

    def expect(self, pairs: Pairs) -> Expected:
        """Return what is to be stored with answers to these pairs: no numbers if nothing is."""

    def elsewhere(self, expected: Expected) -> Expected:
        """Return what is stored with answers that place a row elsewhere than it was asked about."""


class FoldRunner:
    """Folds the answers of a ledger, and lets the algorithm choose questions.

    Three algorithms are at work, as folding is quick and what is derived from it to choose is not:

    - `algorithm` takes in new answers one by one, and chooses. Who uses it holds `lock`.
    - When more than that has changed, such as after an undo, whoever comes first folds all answers into
      another one, which then takes its place. Others go on with the one that there was.
    - `view` says what is known, and what is found. It is folded anew for each state of the ledger, and nobody
      changes it.

    Parameters
    ----------
    algorithm : Folding
        What asks.
    ledger : Ledger
        What was answered.
    on_choice : callable
        Called whenever questions were chosen.
    """

    def __init__(
        self, algorithm: Folding[Any], ledger: Ledger, on_choice: Callable[[], object]
    ) -> None:
        self.lock = threading.RLock()
        self.algorithm = algorithm
        self._renewal = threading.Lock()
        self._ledger = ledger
        self._on_choice = on_choice
        self._trusts = algorithm.params.trusts_answers
        self._view: Folding[Any] | None = None
        self._viewed = Followed()
        self._followed = Followed()
        self._paid: set[int] = set()
        self.open, self._is_exhausted = NO_PAIRS, False
        self._fresh: IntArray = NO_PAIRS[:, 0]  # rows in question that were not known when chosen
        self._missed: set[int] = set()  # rows of answers that wait for another algorithm
        self._reason: str | None = None  # why to stop; None: not looked at since the last answer

    @property
    def n_questions(self) -> int:
        """How many pairs have an answer that was paid for."""
        return len(self._paid)

    @property
    def seen(self) -> tuple[int, int]:
        """The number of answers, and of those taken back, that it knows."""
        return self._followed[:2]

    def restart(self) -> None:
        """Fold all answers, and choose anew."""
        with self.lock:
            with self._ledger.lock:
                self._begin(self.algorithm, self._fold(self.algorithm), self._all_paid())
            self.open = NO_PAIRS

    def follow(self) -> None:
        """Apply new answers, or fold all where more than that has changed.

        Who holds the ledger's lock must not call it.
        """
        while self._is_behind and not self._apply() and self._renewal.acquire(blocking=False):
            try:
                self._renew()
            finally:
                self._renewal.release()

    @property
    def _is_behind(self) -> bool:
        return self._followed != Followed.all_of(self._ledger)

    def view(self, *, stay: bool = False) -> Folding[Any]:
        """Return an algorithm with all answers that stand, or the last one that was; the ledger is locked."""
        if self._view is None:
            self.algorithm.known_clusters()  # which makes what does not depend on answers
            self._view = twin(self.algorithm)
        if not stay and self._viewed != Followed.all_of(self._ledger):
            view = copy.copy(self._view)
            self._viewed = self._fold(view)
            view.known_clusters()  # now, as it may use what it shares with the one before
            self._view = view
        return self._view

    def waiting(self) -> Pairs:
        """Return the questions that are open, newly chosen ones if none of the last ones is."""
        if not len(self.open) and not self.reason:
            taken = set(self._missed)
            for _ in range(TRIES):  # what follows from answers is not asked: something else is
                chosen = self._choose(taken)
                self._wait_for(chosen)
                if len(self.open) or not len(chosen):
                    break
                taken.update(chosen.ravel().tolist())
            self._is_exhausted = not len(self.open)
            self._on_choice()
        return self.open

    @property
    def reason(self) -> str:
        """Why the algorithm asks nothing more by itself, as far as that is known; or an empty text."""
        if len(self.open):
            return ""
        if self._reason is None:
            self._reason = self.algorithm.reason_to_stop()
        return self._reason or ("exhausted" if self._is_exhausted else "")

    def expect(self, pairs: Pairs) -> Expected:
        """Return what is to be stored with answers to these pairs."""
        return self.algorithm.expect(pairs)

    def elsewhere(self, expected: Expected) -> Expected:
        """Return what is stored with answers that place a row elsewhere than it was asked about."""
        return self.algorithm.elsewhere(expected)

    def choose(self, n: int, taken: Collection[int]) -> Pairs:
        """Return up to n questions beyond those that wait, about no rows that are `taken`."""
        return self._unknown(self.algorithm.choose(n, {*taken, *self._missed}))

    def _choose(self, taken: Collection[int]) -> Pairs:
        batch = self.algorithm.params.batch
        if batch == "auto":
            return self.algorithm.choose_together(MOST_AT_ONCE, taken)
        return self.algorithm.choose(int(batch), taken)

    def _apply(self) -> bool:
        """Take in what was answered since; return whether that is all that has changed."""
        with self.lock:
            with self._ledger.lock:
                before, now = self._followed, Followed.all_of(self._ledger)
                lines = self._ledger.log.active(
                    before.lines, consistent=self._trusts, stand_ins=True
                )
            if before.epoch != now.epoch:
                self._missed = set(pairs_of(lines).ravel().tolist())
                self._wait_for(self.open)
                return False
            self._followed = now
            self._paid.update(keys_of(pairs_of(lines, lines["asked"])).tolist())
            if lines.size:
                self.algorithm.apply(self._answered(lines))
            self._is_exhausted, self._reason = False, None
            # what asks about a row that was placed meanwhile is of no use any more
            known = self.algorithm.is_known(self.open[:, 0])
            moot = known & np.isin(self.open[:, 0], self._fresh)
            self._wait_for(self.open[~moot])
            return True

    def _renew(self) -> None:
        """Go on with an algorithm that has never seen what does not stand any more."""
        with self.lock:
            fresh = twin(self.algorithm)
            with self._ledger.lock:
                struck = self._ledger.log.taken_back(self._followed.struck)
                followed, paid = self._fold(fresh), self._all_paid()
        fresh.choose(1)  # which derives what it needs, while others go on
        with self.lock:
            self._begin(fresh, followed, paid)
            was_asked = struck["asked"] | (struck["answer"] == UNSURE)  # or skipped
            self._wait_for(pairs_of(struck, was_asked))  # they are asked again

    def _begin(self, algorithm: Folding[Any], followed: Followed, paid: set[int]) -> None:
        self.algorithm, self._followed, self._paid = algorithm, followed, paid
        self._missed, self._is_exhausted, self._reason = set(), False, None

    def _all_paid(self) -> set[int]:
        return set(self._ledger.log.asked_pairs().tolist())

    def _fold(self, algorithm: Folding[Any]) -> Followed:
        """Fold all answers that stand; return how many these are."""
        lines = self._ledger.log.active(consistent=self._trusts, stand_ins=True)
        algorithm.fold(self._answered(lines))
        return Followed.all_of(self._ledger)

    def _answered(self, lines: Lines) -> Answered:
        return Answered(
            pairs=pairs_of(lines),
            answers=lines["answer"],
            who=lines["who"].astype(np.intp),
            skipped=~lines["asked"] & (lines["answer"] == UNSURE),
            expected=lines["expected"][:, : self.algorithm.n_features],
        )

    def _wait_for(self, pairs: Pairs) -> None:
        """Let pairs be answered as far as nothing is known of them, each once."""
        _, first = np.unique(keys_of(pairs), return_index=True)
        self.open = self._unknown(pairs[np.sort(first)])
        rows = self.open[:, 0]
        self._fresh = rows[~self.algorithm.is_known(rows)]

    def _unknown(self, pairs: Pairs) -> Pairs:
        with self._ledger.lock:
            found: Pairs = pairs[self._ledger.lookup(pairs, infer=self._trusts) == UNANSWERED]
        return found


def twin(algorithm: AnyRun) -> AnyRun:
    """Return a copy that shares with an algorithm only the rows, which nobody changes."""
    points = algorithm.points
    shared = points, *vars(points).values(), getattr(algorithm, "sampler", None)
    return copy.deepcopy(algorithm, {id(one): one for one in shared})


class FlowRunner:
    """Drives a generator.

    Parameters
    ----------
    begin : callable
        Returns a new flow, which ends with the reason why it stopped.
    ledger : Ledger
        What was answered.
    look_up : callable
        Returns what is known of pairs.
    names_annotators : bool
        Whether the flow is told who answered: where answers may be wrong.
    on_wave : callable
        Called whenever the flow has come to its next questions, or to its end.
    what : str
        The name of what asks.
    """

    def __init__(
        self,
        begin: Callable[[], Flow[str]],
        ledger: Ledger,
        *,
        look_up: Callable[[Pairs], Answers],
        names_annotators: bool,
        on_wave: Callable[[], object],
        what: str,
    ) -> None:
        self.lock = threading.RLock()
        self._begin = begin
        self._ledger = ledger
        self._look_up = look_up
        self._names_annotators = names_annotators
        self._on_wave = on_wave
        self._what = what
        self.n_questions = 0
        self._followed = Followed()
        self._flow: Flow[str]
        self._wave = self.open = NO_PAIRS
        self._answers: Answers = np.empty(0, dtype=np.int8)
        self._repeated: BoolArray | None = None
        self._reason = ""
        self._seen: set[int] = set()  # the pairs whose answers the flow was given
        self._unclaimed: set[int] = (
            set()
        )  # pairs that were paid for, and that it has not asked about
        self._skipped: set[int] = set()

    @property
    def seen(self) -> tuple[int, int]:
        """The number of answers, and of those taken back, that it knows."""
        return self._followed[:2]

    def waiting(self) -> Pairs:
        """Return the pairs of the wave that are not answered."""
        return self.open

    @property
    def reason(self) -> str:
        """Why the flow has ended, or an empty text."""
        return self._reason

    def expect(self, pairs: Pairs) -> Expected:
        """Return no numbers: a flow does not say what it expects."""
        return np.empty((len(pairs), 0), dtype=np.float32)

    def elsewhere(self, expected: Expected) -> Expected:
        """Return no numbers, as `expect` does."""
        return expected

    def restart(self) -> None:
        """Run the flow again from its start, with all that is known."""
        with self._ledger.lock:
            self._followed = Followed.all_of(self._ledger)
            self._unclaimed = set(self._ledger.log.asked_pairs().tolist())
            self._skipped = set(keys_of(self._ledger.log.skipped()).tolist())
            self._seen = set()
            self.n_questions, self._reason = 0, ""
            self._flow = self._begin()
            self._advance(None)

    def follow(self) -> None:
        """Look again what is known of the wave; start over where an answer that the flow has seen changed."""
        with self._ledger.lock:
            before, now = self._followed, Followed.all_of(self._ledger)
            if before == now:
                return
            new = self._ledger.log.active(before.lines)
            keys = set(keys_of(pairs_of(new)).tolist())
            if before.epoch != now.epoch or not self._seen.isdisjoint(keys):
                self.restart()
                return
            self._followed = now
            self._unclaimed.update(keys_of(pairs_of(new, new["asked"])).tolist())
            skipped = ~new["asked"] & (new["answer"] == UNSURE)
            self._skipped.update(keys_of(pairs_of(new, skipped)).tolist())
            if not self._reason and self._look():
                self._advance(self._answers)

    def _advance(self, answers: Answers | None) -> None:
        """Send answers to the flow until it needs one that the ledger does not have."""
        while True:
            try:
                wave = (
                    next(self._flow) if answers is None else self._flow.send(self._reply(answers))
                )
            except StopIteration as end:
                self._reason, self.open = end.value, NO_PAIRS
                self._on_wave()
                return
            self._wave, self._repeated = wave, self._find_repeated(wave)
            self._on_wave()
            if not self._look():
                return
            answers = self._answers

    def _look(self) -> bool:
        """Look up the wave, and charge for what was paid; return whether nothing of it is left to ask."""
        keys = keys_of(self._wave).tolist()
        claimed = self._unclaimed.intersection(keys)
        self._unclaimed -= claimed
        self.n_questions += len(claimed)
        self._answers = self._look_up(self._wave)
        unknown = self._answers == UNANSWERED
        if self._repeated is not None:
            unknown &= ~self._repeated
        self.open = self._wave[unknown]
        return not len(self.open)

    def _find_repeated(self, wave: Pairs) -> BoolArray | None:
        """Return which pairs of a wave stand in it before, if any; then warn of the flow."""
        keys = keys_of(wave)
        if len(set(keys.tolist())) == keys.size:
            return None
        repeated = np.ones(keys.size, dtype=bool)
        repeated[np.unique(keys, return_index=True)[1]] = False
        a, b = wave[repeated][0].tolist()
        warnings.warn(
            f"{self._what!r} asks twice at once whether rows {a} and {b} are in one cluster. Nobody is "
            "asked twice, and the run goes on; please report this.",
            RuntimeWarning,
            stacklevel=2,
        )
        return repeated

    def _reply(self, answers: Answers) -> Reply:
        """Return what the flow is sent for its wave."""
        keys = keys_of(self._wave).tolist()
        self._seen.update(keys)
        who: NDArray[np.int64] | None = None
        if self._names_annotators:
            who = self._ledger.log.annotators_of(self._wave)
        skipped: BoolArray | None = None
        if self._skipped:
            skipped = np.array([key in self._skipped for key in keys])
        return Reply(answers, who, skipped)


@dataclass
class Halted:
    """A runner as it was at one moment, which asks nothing more."""

    n_questions: int
    reason: str
    open: Pairs
    seen: tuple[int, int]
    lock: threading.RLock

    def follow(self) -> None:
        """Do nothing: nothing changes."""

    restart = follow

    def waiting(self) -> Pairs:
        """Return the questions that were open."""
        return self.open

    def expect(self, pairs: Pairs) -> Expected:
        """Return no numbers."""
        return np.empty((len(pairs), 0), dtype=np.float32)

    def elsewhere(self, expected: Expected) -> Expected:
        """Return no numbers, as `expect` does."""
        return expected
