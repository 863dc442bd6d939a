"""A flow, a ledger and a budget: the engine that asks and remembers.

Its rules:

- An answer is in the ledger before the flow sees it.
- The flow can always be run again from its start: same data, seed and settings ask the same questions,
  and what the ledger knows is not asked. Resuming and undoing are both just that.
- A question is charged when the flow needs an answer that somebody was asked for, now or in an earlier
  session of the project. What follows from other answers, or was volunteered, is free.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import perf_counter
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from samekind._validation import check_int, check_seed
from samekind.algorithms import ALGORITHMS, DEFAULT, Kinds, make_settings
from samekind.clusters import Clusters, heed
from samekind.flow import SAME, UNSURE, Answers, Flow, Pairs
from samekind.ledger import (
    UNANSWERED,
    Contradiction,
    Ledger,
    LedgerLine,
    check_answers,
    check_pairs,
    keys_of,
    open_ledger,
    pairs_of,
)
from samekind.measures import Reliability, annotator_reliability
from samekind.points import as_points
from samekind.progress import Progress
from samekind.session.checkpoints import Checkpoints

__all__ = ["OtherDataError", "Session"]

COLUMNS = ("questions", "samples", "discovered", "recovered")  # of the history
NO_PAIRS: Pairs = np.empty((0, 2), dtype=np.intp)


class OtherDataError(ValueError):
    """The ledger is of other data than the session's."""


class Session:
    """Questions to answer, one wave after another, in your own time.

    Ask for `pending` pairs, `tell` answers to any of them in any order, and take the `clusters` whenever
    you like. With a ledger on disk the session can be left and opened again.

    Parameters
    ----------
    X : array-like of shape (n, d), Dask array or dataframe, or Points
        The rows to cluster. Those of a Dask collection stay on its workers.
    algorithm : str
        One of "focused", "uniform", "basic", "batched", "basic-exact", "improved-exact",
        "noisy-exact".
    ledger : None, path, URL or Ledger
        Where answers are kept; None keeps them in memory.
    budget : int or None
        The most questions to ask; None asks without limit. Those of earlier sessions of the project
        count, too.
    random_state : int, Generator or None
        None takes the seed that the ledger keeps, or draws one and keeps it there.
    **parameters
        ``target``: stop after so many recovered clusters. ``batch``: rows asked about at once.
        ``epsilon``: how small undiscovered clusters may be when the run stops by itself (None: never).
        ``patience``: UNSURE answers after which a row is given up.

        Of "focused": ``certify``: "lazy" calls a row new when the clusters that could plausibly hold it
        refused it, "full" when all did. ``stop``: "reducible", or "certified" to stop when the
        certificate's bounds are within ``tolerance``. ``goal``: "centers", or "labels" to ask nothing for the
        sake of accurate centres. ``lineup``: kinds that a row is compared with at once, where a person can
        pick one of them. ``without``: parts to switch off, for studies.

        Of "focused" and "noisy-exact": ``error_rate``: the share of answers that may be wrong, or "estimate".

        Of the others: ``heavy``: uniform samples that recover a cluster. ``order``: "nearest" or "index".

    Examples
    --------
    >>> X = np.array([[0.0], [0.1], [5.0], [5.1]])
    >>> session = Session(X, algorithm="basic", random_state=0)
    >>> while len(session.pending()):
    ...     pairs = session.pending()
    ...     session.tell(pairs, [abs(X[a, 0] - X[b, 0]) < 1 for a, b in pairs])
    >>> session.clusters()
    Clusters(2 recovered of 2 discovered, ..., stop_reason_='exhausted')
    """

    def __init__(
        self,
        X: Any,
        algorithm: str = DEFAULT,
        *,
        ledger: Ledger | str | Path | None = None,
        budget: int | None = None,
        random_state: Any = None,
        **parameters: Any,
    ) -> None:
        self.settings = make_settings(algorithm, **parameters)
        self.algorithm = algorithm
        self._infers = self.settings.error_rate is None  # what may be wrong proves nothing
        self.budget = check_int("budget", budget, none="ask without limit")
        seed = check_seed(random_state)
        self.points = as_points(X)
        self.ledger = open_ledger(ledger)
        self._checkpoints = Checkpoints(self.ledger)
        self._owns_ledger = not isinstance(ledger, Ledger)
        try:
            self.seed = seed
            if ledger is not None:
                self._bind(keep_seed=random_state is None)
            self._replay()
        except BaseException:
            self.close()
            raise

    def __repr__(self) -> str:
        state = self.stop_reason or f"{len(self._pending)} pending"
        return f"Session({self.algorithm!r}, {self.n_questions:,} questions, {state})"

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
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
    def progress(self) -> Progress:
        """Where the session stands."""
        return Progress(
            questions=self.n_questions,
            samples=self._kinds.n_samples,
            discovered=self._kinds.n_discovered,
            recovered=len(self._kinds.recovered),
            rounds=self._kinds.n_rounds,
            seconds=perf_counter() - self._started,
            budget=self.budget,
            target=self.settings.target,
        )

    def tell(
        self, pairs: ArrayLike, answers: ArrayLike, *, who: str = "", free: ArrayLike = False
    ) -> None:
        """Answer some or all of the pending questions.

        When this returns the answers are in the ledger. What they imply for questions still
        pending is not asked any more. Those that are `free`, all or some, are not charged. A row of which
        somebody is unsure for free is skipped: it is not asked about any more.
        """
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
        self._kinds.skipped.update(checked[~asked & (said == UNSURE), 0].tolist())
        self._record(checked, said, who, asked)

    def learn(self, pairs: ArrayLike, answers: ArrayLike, *, who: str = "") -> None:
        """Take in answers that nobody was asked for; they are free.

        The flow starts over with them, unless they are about rows that it has not come to yet.
        """
        checked = check_pairs(pairs)
        self._check_rows(checked)
        if not len(checked):
            return
        if not self._are_asked_about(checked):
            self._write(checked, check_answers(answers, len(checked)), who, False)
        else:
            self.change(checked, answers, who=who)

    def change(
        self, pairs: ArrayLike, answers: ArrayLike, *, who: str = "", asked: bool = False
    ) -> None:
        """Write answers that change what the flow has seen, and begin anew with all that is known then.

        For "focused" without ``error_rate``; other algorithms start over, and use what they come to ask.
        """
        with self.edit():
            self.ledger.record(pairs, answers, who=who, asked=asked)

    @contextmanager
    def edit(self) -> Iterator[None]:
        """Within it, write to the ledger what changes what the flow has seen: in one transaction.

        Afterwards the flow begins anew with all that is known then, as after `change`.
        """
        with self.ledger.transaction():
            self._follow()
            line = self.ledger.revision.answers
            yield
            self._make_checkpoint(line)
        self._replay()

    def checkpoint(self) -> None:
        """From here on, begin with what is known now: for sessions that go on with other settings."""
        with self.ledger.transaction():
            self._follow()
            self._make_checkpoint(-1)
        self._replay()

    def undo(self, count: int = 1, *, who: str | None = None, together: bool = False) -> int:
        """Take back the last `count` answers, as deep as you like; return how many there were.

        With `who`, only that person's. What was volunteered to `learn` stays. With `together`, what was
        told or learnt at once is taken back at once, be it volunteered or not.
        """
        return len(self.take_back(count, who=who, together=together))

    def take_back(
        self, count: int = 1, *, who: str | None = None, together: bool = False
    ) -> list[LedgerLine]:
        """Do what `undo` does; return what was taken back, latest first."""
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

    def outlook(self) -> float | None:
        """Return about how many questions it takes to find the next kind, if that can be said."""
        return None if self.done or self._kinds.outlook is None else self._kinds.outlook()

    def confidence(self, rows: ArrayLike) -> NDArray[np.float64]:
        """Return how likely each of these rows is of the cluster that ``labels_`` says.

        1 where that is known; NaN where the algorithm does not say.
        """
        numbers = np.asarray(rows, dtype=np.intp)
        if self._kinds.confidence is None:
            return np.where(self._kinds.kind_of(numbers) >= 0, 1.0, np.nan)
        return self._kinds.confidence(numbers)

    @property
    def n_known(self) -> int:
        """How many rows are known to be of some kind."""
        return self._kinds.n_labelled - len(self._kinds.given_up)

    def members_of(self, row: int) -> list[int]:
        """Return all rows known to be of a row's kind, the one that stands for it first; none if unknown."""
        kind = self._kinds.kind_of_row(row)
        return list(self._kinds.members[kind]) if kind >= 0 else []

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

    def clusters(self) -> Clusters:
        """Return what is found so far, and how reliable those who answered are if that is of interest."""
        found = heed(
            self._found(), partial(self.ledger.lookup, infer=self._infers), self._volunteered()
        )
        if self._infers and len(self.ledger.annotators) < 2:
            return found
        return replace(found, annotators_=self._judge(found))

    def reliability(self) -> list[Reliability]:
        """Estimate how often each annotator's answers are wrong, as far as the clusters found so far tell.

        Retracted answers do not count. Without ``error_rate`` answers are taken to be true and the clusters
        follow them, whoever errs; then only what several people said of the same pair tells anything.

        Examples
        --------
        >>> X = np.array([[0.0], [0.1], [5.0], [5.1]])
        >>> session = Session(X, random_state=0, error_rate=0.1)
        >>> while not session.done:
        ...     pairs = session.pending()
        ...     session.tell(pairs, [abs(X[a, 0] - X[b, 0]) < 1 for a, b in pairs], who="ann")
        >>> [ann] = session.reliability()
        >>> ann.name, ann.n_answers == session.n_questions, ann.low < ann.error < ann.high
        ('ann', True, True)
        """
        return self._judge(self._found())

    def close(self) -> None:
        """Let go of the ledger, if the session opened it."""
        if self._owns_ledger:
            self.ledger.close()

    def _volunteered(self) -> NDArray[np.intp]:
        """Return the rows of which somebody spoke unasked."""
        active = self.ledger.active()
        rows: NDArray[np.intp] = np.unique(pairs_of(active[~active["asked"]]))
        return rows

    def _follow(self) -> None:
        """Run the flow again if the ledger has more than it has seen."""
        if self.ledger.revision[:3] != self._seen:
            self._replay()

    def _make_checkpoint(self, line: int) -> None:
        """Make a checkpoint after a change that was written from a line on, or taken back (-1)."""
        if self.algorithm == "focused" and self._infers:
            self._checkpoints.make(self._kinds.members, line)

    def _check_rows(self, pairs: Pairs) -> None:
        if len(pairs) and int(pairs.max()) >= self.points.n:
            raise ValueError(f"row {int(pairs.max())} is not in the data of {self.points.n} rows.")

    def _are_asked_about(self, pairs: Pairs) -> bool:
        """Return whether the flow may have asked about one of these pairs, or be about to.

        Not if nobody ever said anything of one of the two rows, and nobody is asked about it now.
        """
        active = self.ledger.active()
        mentioned = np.concatenate([active["a"], active["b"], self._wave.ravel()])
        return not bool((~np.isin(pairs, mentioned)).any(axis=1).all())

    def _judge(self, found: Clusters) -> list[Reliability]:
        active, names = self.ledger.active(), self.ledger.annotators
        who = [names[number] for number in active["who"].tolist()]
        rows, places = np.unique(pairs_of(active), return_inverse=True)  # others need no label
        labels = np.full(rows.size, -1) if self._infers else found.labels_of(rows)
        return annotator_reliability(places.reshape(-1, 2), active["answer"], who, labels)

    def _found(self) -> Clusters:
        history = np.array(self._history).reshape(-1, len(COLUMNS)).T.copy()
        return Clusters.from_kinds(
            self._kinds,
            self.points,
            algorithm=self.algorithm,
            seed=self.seed,
            n_questions=self.n_questions,
            history=dict(zip(COLUMNS, history, strict=True)),
            stop_reason=self.stop_reason,
            contradictions=[str(found) for found in self.contradictions],
        )

    def _bind(self, keep_seed: bool) -> None:
        """Tie the ledger to this data; take its seed if none was given."""
        fingerprint = self.points.fingerprint()
        with self.ledger.transaction():
            self._bind_to(fingerprint, keep_seed)

    def _bind_to(self, fingerprint: str, keep_seed: bool) -> None:
        known = self.ledger.meta.get("fingerprint")
        if known is None:
            self.ledger.set_meta("fingerprint", fingerprint)
            self.ledger.set_meta("shape", f"{self.points.n} x {self.points.d}")
        elif known != fingerprint:
            raise OtherDataError(
                f"this project belongs to other data ({self.ledger.meta['shape']}; these are "
                f"{self.points.n} x {self.points.d}): its answers would be about the wrong rows. Open "
                "it with the data it was made with, or start a new project."
            )
        if "seed" not in self.ledger.meta:
            self.ledger.set_meta("seed", str(self.seed))
        elif keep_seed:
            self.seed = int(self.ledger.meta["seed"])

    def _replay(self) -> None:
        self._started = perf_counter()
        self._kinds = Kinds(self.points.d)
        self._history = array("q")  # the COLUMNS after each wave, one after the other
        self._kinds.skipped = set(self.ledger.skipped()[:, 0].tolist())
        self._unclaimed = self.ledger.asked_pairs()
        self.n_questions = 0
        self._seen = self.ledger.revision[:3]
        start = self.ledger.latest_checkpoint()
        if start is not None:
            paid = self.ledger.asked_pairs(start.upto)
            self._unclaimed -= paid
            self.n_questions = len(paid)
            self._kinds.given = self._checkpoints.given(start)
        self.stop_reason: str | None = None
        self._wave = NO_PAIRS
        self._flow: Flow[str] = ALGORITHMS[self.algorithm](
            self.points, self._kinds, np.random.default_rng(self.seed), self.settings
        )
        self._advance(None)

    def _advance(self, answers: Answers | None) -> None:
        """Send answers to the flow until it needs one that the ledger does not have."""
        while True:
            if answers is not None and not self._infers:
                self._kinds.who = self.ledger.annotators_of(self._wave)
            try:
                wave = next(self._flow) if answers is None else self._flow.send(answers)
            except StopIteration as end:
                self._note_history()
                self._end(end.value)
                return
            self._note_history()
            self._wave = wave
            answers = self._look_up()
            unknown = self._unanswered(answers)
            if self._unclaimed:
                self._claim(wave)
            if unknown.size:
                self._answers, self._unknown = answers, unknown
                self._ask_on()
                return

    def _look_up(self) -> Answers:
        """Return what is known of the wave.

        Where somebody found a row in a line-up, or was not sure of it, only that: what follows for the rest
        of it, now or later, must not make a difference when the run is repeated.
        """
        answers = self.ledger.lookup(self._wave, infer=self._infers)
        if self.settings.lineup > 1:
            said = self.ledger.lookup(self._wave, infer=False)
            rows, decisive = self._wave[:, 0], (said == SAME) | (said == UNSURE)
            answers[np.isin(rows, rows[decisive]) & ~decisive] = UNANSWERED
        return answers

    def _unanswered(self, answers: Answers) -> NDArray[np.intp]:
        """Return the places in the wave that somebody must answer.

        Not those of a line-up in which the row was found, or of which somebody was not sure.
        """
        unknown: NDArray[np.intp] = (answers == UNANSWERED).nonzero()[0]
        if self.settings.lineup > 1 and unknown.size:
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

    def _claim(self, known: Pairs) -> None:
        """Charge what was asked in an earlier session."""
        for key in keys_of(known).tolist():
            if key in self._unclaimed:
                self._unclaimed.discard(key)
                self.n_questions += 1

    def answer_all(self, answers: Answers, who: str = "") -> None:
        """Answer all pending questions, in their order; what `tell` does, with fewer checks."""
        pairs = self._pending
        self._record(pairs, check_answers(answers, len(pairs)), who, True)

    def _record(
        self, pairs: Pairs, answers: Answers, who: str, asked: bool | NDArray[np.bool_]
    ) -> None:
        if not self._write(pairs, answers, who, asked):
            self._replay()
            return
        self.n_questions += len(pairs) if asked is True else int(np.count_nonzero(asked))
        if len(pairs) == self._unknown.size and pairs is self._pending:
            self._answers[self._unknown] = answers
            self._advance(self._answers)
            return
        self._answers = self._look_up()
        self._unknown = self._unanswered(self._answers)
        if self._unknown.size:
            self._ask_on()
        else:
            self._advance(self._answers)

    def _write(
        self, pairs: Pairs, answers: Answers, who: str, asked: bool | NDArray[np.bool_]
    ) -> bool:
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

    def _note_history(self) -> None:
        kinds = self._kinds
        now = (self.n_questions, kinds.n_samples, kinds.n_discovered, len(kinds.recovered))
        self._history.extend(now)
