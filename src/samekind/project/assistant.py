"""A model that answers in the background, while people are asked what is worth their time.

Its rules:

- The model is asked about everything that is pending. What it says is on disk at once.
- What the rule wants reviewed is held back from the algorithm and put to people, without what the model said:
  the first answers, a random sample, and what is doubtful. Their word stands.
- Nobody waits for people who are not there: after a while without one, what the model says counts.
- Who answers no better than chance is not asked any more, and what they said is taken back.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING

import numpy as np

from samekind.engine import (
    AskingRule,
    AuditAndDoubt,
    Turn,
    disregard,
    examples_for,
    is_disregarded,
    keep_heard,
    keep_rates,
    kept_rates,
    spending_key,
)
from samekind.flow import Heard, Pairs
from samekind.ledger import keys_of
from samekind.oracles import ChatError, ChatOracle, SpentError

if TYPE_CHECKING:
    from samekind.project.project import Project

__all__ = ["Assistant", "AssistantRecord"]

AWAY = 120.0  # seconds after which somebody who asked for questions is taken to be gone
PAUSE = 0.3  # seconds between looks for something to do


@dataclass(frozen=True)
class AssistantRecord:
    """What a model does at the moment, and what it has cost."""

    name: str
    state: str
    answers: int
    budget: int | None
    checked: int
    waiting: int
    calls: int
    tokens: int
    cost: float
    cap: float | None


class Assistant:
    """A model at work in a project, in a thread of its own.

    Parameters
    ----------
    project : Project
        What it answers in; its session must take answers for evidence (``error_rate``).
    oracle : ChatOracle
        The model.
    budget : int or None
        The most questions that it is asked.
    rule : AskingRule or None
        Which answers are put to people; `AuditAndDoubt` by default.
    """

    def __init__(
        self,
        project: Project,
        oracle: ChatOracle,
        *,
        budget: int | None = None,
        rule: AskingRule | None = None,
    ) -> None:
        ledger = project.session.ledger
        self.oracle = oracle
        self.budget = budget
        self.state = "begins"
        self._project = project
        self._rule = rule or AuditAndDoubt(project.session.seed)
        self._thread = threading.Thread(target=self._work, name="samekind-model", daemon=True)
        self._stopping = threading.Event()
        self._person_at = monotonic()  # whoever starts this is about to look at the page
        self._audited: dict[tuple[int, int], int] = {}  # what the model said of pairs to be checked
        self.rates = kept_rates(ledger, oracle.name)
        self._is_dropped = is_disregarded(ledger, oracle.name)
        if earlier := ledger.meta.get(spending_key(oracle.name)):
            oracle.resume_spending(earlier)

    def start(self) -> None:
        """Begin to answer."""
        self._thread.start()

    def stop(self) -> None:
        """Answer no more; what is in flight is waited for, as it is paid."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join()

    @property
    def is_working(self) -> bool:
        """Whether the model is still asked."""
        return self._thread.is_alive() and not self._stopping.is_set()

    def for_people(self, pending: Pairs) -> Pairs:
        """Return which of the pending pairs people are asked about; somebody is there, who asks for them."""
        self._person_at = monotonic()
        if not self.is_working:
            return pending
        return self._project.session.held

    def record(self) -> AssistantRecord:
        """Return what the model does, for a page."""
        spent = self.oracle.spent
        return AssistantRecord(
            name=self.oracle.name,
            state=self.state,
            answers=self._n_answers(),
            budget=self.budget,
            checked=self.rates.n,
            waiting=len(self._project.session.held),
            calls=spent.calls,
            tokens=spent.tokens_read + spent.tokens_written,
            cost=spent.cost,
            cap=self.oracle.cap,
        )

    # In its thread

    def _work(self) -> None:
        try:
            while not self._stopping.is_set():
                pairs = self._next_pairs()
                if pairs is None:
                    return
                if not len(pairs):
                    self._stopping.wait(PAUSE)
                    continue
                self.state = "answers"
                for heard in self.oracle.stream(pairs):
                    with self._project.locked():
                        self._take(heard)
                    if self._stopping.is_set():
                        return
        except SpentError:
            self.state = "has cost as much as it may"
        except ChatError as error:
            self.state = f"cannot be asked: {error}"
        finally:
            self.oracle.close()
            with self._project.locked():
                self._project.session.release()

    def _next_pairs(self) -> Pairs | None:
        """Return what to ask the model; nothing while it waits for people, None when it is done."""
        project = self._project
        with project.locked():
            project.catch_up()
            self._learn()
            session = project.session
            if self._is_dropped or self._rule.is_useless(self.rates, project.budget):
                self._drop()
                return None
            left = self._left()
            if left == 0:
                self.state = "has answered as much as it may"
                return None
            if session.done:
                self.state = "has nothing to answer"
                return project.session.pending()
            if len(session.held) and monotonic() - self._person_at > AWAY:
                self._audited.clear()
                session.release()
            pending = session.pending()
            free = pending[~np.isin(keys_of(pending), keys_of(session.held))]
            self.state = "answers" if len(free) else "waits for you"
            self.oracle.use_examples(*examples_for(session, self.oracle.name))
            return free[:left]

    def _take(self, heard: Heard) -> None:
        """Keep answers, and hold those back that are put to people."""
        project, session = self._project, self._project.session
        still = np.isin(keys_of(heard.pairs), keys_of(session.pending()))
        is_person_here = monotonic() - self._person_at <= AWAY
        if still.any() and is_person_here and not heard.skipped:
            turn = Turn(self.rates, self._left(), project.presses_left, project.budget)
            pairs, answers = heard.pairs[still], heard.answers[still]
            review = self._rule.review(session, pairs, answers, turn)
            chosen = review.audited | review.doubtful
            session.hold(pairs[chosen], self.oracle.name)
            audited = zip(
                pairs[review.audited].tolist(), answers[review.audited].tolist(), strict=True
            )
            self._audited.update({(a, b): said for (a, b), said in audited})
        elif still.any() and is_person_here:
            session.hold(heard.pairs[still], self.oracle.name)
        with project.act():
            keep_heard(session, heard, self.oracle)

    def _learn(self) -> None:
        """Count what people said of answers that were put to them at random."""
        ledger = self._project.session.ledger
        names = ledger.annotators
        for pair, said in list(self._audited.items()):
            array = np.array([pair])
            who = int(ledger.annotators_of(array)[0])
            if who >= 0 and names[who] != self.oracle.name:
                del self._audited[pair]
                self.rates.count(said, int(ledger.lookup(array, infer=False)[0]))
                keep_rates(ledger, self.oracle.name, self.rates)

    def _drop(self) -> None:
        self.state = "is wrong too often: none of its answers counts any more"
        if not self._is_dropped:
            self._is_dropped = True
            disregard(self._project.session, self.oracle.name)

    def _left(self) -> int | None:
        return None if self.budget is None else max(0, self.budget - self._n_answers())

    def _n_answers(self) -> int:
        ledger = self._project.session.ledger
        if self.oracle.name not in ledger.annotators:
            return 0
        lines = ledger.active()
        return int((lines["who"] == ledger.annotators.index(self.oracle.name)).sum())
