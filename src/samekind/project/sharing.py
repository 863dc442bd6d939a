"""Who gets which question, where several people answer.

- A question is leased to whoever sees it, for two minutes. Nobody else is asked meanwhile about the rows that
  it is about, nor whether the same two clusters are one, by whichever of their rows.
- People who ask again get what they have, also after a reload or a crash.
- Where nothing is left, the question that somebody has had longest is shown to a second person.
- A lease without a name gives way to anybody: people may answer before they say who they are.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np

from samekind.algorithms.folding import Expected
from samekind.engine import Session
from samekind.ledger import Lease, rows_of_question

__all__ = ["Comparison", "HeldQuestions", "Offers", "Sharing"]

SECONDS = 120.0  # that a question belongs to who sees it

Part = int | frozenset[int]
"""What a question is about: a row, or two that are compared."""


class Comparison(NamedTuple):
    """A row and those that it is compared with, and how that is asked: what a question's id says.

    `form` is "p" for a pair, "l" for a line-up, "s" for a skipped pair; "g" is a sheet, where `row` is
    a member of a cluster, and the others are compared with it.
    """

    form: str
    row: int
    others: tuple[int, ...]

    @classmethod
    def parse(cls, question: str) -> Comparison | None:
        """Return what a question's id says; None if it is no such id."""
        form, rows = question[:1], rows_of_question(question)
        if rows is None or form not in ("p", "l", "s", "g") or max(rows) >= 2**31:
            return None
        row, *others = rows
        return None if form in ("p", "s") and len(others) > 1 else cls(form, row, tuple(others))

    @property
    def id(self) -> str:
        """The question's id."""
        return f"{self.form}-{self.row}-{'.'.join(map(str, self.others))}"

    @property
    def key(self) -> int:
        """The row that the question goes by: one that is asked about."""
        return self.others[0] if self.form == "g" else self.row

    @property
    def pairs(self) -> list[list[int]]:
        """The pairs that it asks about, with the row in question first."""
        if self.form == "g":
            return [[other, self.row] for other in self.others]
        return [[self.row, other] for other in self.others]


class Offers(NamedTuple):
    """What somebody may get."""

    first: Callable[[HeldQuestions, list[Comparison]], Iterator[Comparison | None]]
    """Returns questions, the best first, given what others have and what they have themselves."""
    last: Callable[[], Sequence[Comparison | None]]
    """Returns what they get if all of those are taken."""
    places: Callable[[Comparison], int]
    """How many people may have a question at once."""


class _Ended(threading.local):
    """What a thread's act ends."""

    answered: list[tuple[str, str]]
    """Who answered which question."""
    anew: set[str]
    """Who is to be asked something else."""


class Sharing:
    """Shares out the questions of a session.

    Parameters
    ----------
    session : Session
        What asks; its ledger keeps the leases.
    clock : callable
        Returns the time in seconds, the same in all programs that serve the project.
    """

    def __init__(self, session: Session, clock: Callable[[], float] = time.time) -> None:
        self._session = session
        self._clock = clock
        self.held: set[int] = set()
        """The rows that others were asked about when questions were shared out last."""
        # who was shown which question here, and what was expected of its pairs; changed by who chooses
        self._given: dict[tuple[str, str], Expected] = {}
        self._ended = _Ended()

    def share(self, who: str, most: int, offers: Offers) -> list[Comparison]:
        """Return the questions that somebody gets; nobody else chooses meanwhile."""
        now, chosen = self._clock(), dict[int, Comparison]()
        session = self._session

        def choose(leases: Sequence[Lease]) -> dict[int, str]:
            chosen.clear()
            session.refresh()  # an answer ends a lease: who misses the one has to see the other
            alive = [lease for lease in leases if lease.until > now]
            chosen.update(self._choose(who, most, offers, alive))
            return {key: one.id for key, one in chosen.items()}

        session.ledger.leases.share(who, choose, now=now, until=now + SECONDS)
        for one in chosen.values():
            self._given[who, one.id] = session.expect(np.array(one.pairs, dtype=np.intp))
        return list(chosen.values())

    def n_given(self, who: str) -> int:
        """Return how many questions somebody was shown here, and has not answered."""
        return sum(name == who for name, _ in self._given.copy())

    def expected(self, who: str, question: Comparison) -> Expected:
        """Return what was expected of the pairs of a question when it was shown.

        If it was shown elsewhere, that is found out now. An act cannot wait for that: then it is lost.
        """
        found = self._given.get((who, question.id))
        if found is not None:
            return found
        pairs = np.array(question.pairs, dtype=np.intp)
        if self._session.is_acting:
            return np.empty((len(pairs), 0), dtype=np.float32)
        return self._session.expect(pairs)

    def was_shown(self, who: str, question: Comparison) -> bool:
        """Return whether somebody was shown a question, here or elsewhere, or one of which it is a part."""
        if (who, question.id) in self._given:
            return True
        here = [shown for name, shown in self._given.copy() if name == who]
        shown = map(Comparison.parse, [*here, *self._session.ledger.leases.shown(who)])
        asked = set(map(frozenset, question.pairs))
        return any(one is not None and asked <= set(map(frozenset, one.pairs)) for one in shown)

    def release(self, who: str) -> None:
        """Let others have the questions of somebody who has left; not within an act."""
        with self._session.choosing():
            self._release(who)

    def _release(self, who: str) -> None:
        self._given = {shown: own for shown, own in self._given.items() if shown[0] != who}
        self._session.ledger.leases.release(who)

    @contextmanager
    def acting(self) -> Iterator[None]:
        """Around an act in which somebody answers: the leases go when it is over, and stay if it fails."""
        ended = self._ended
        ended.answered, ended.anew = [], set()
        yield
        if ended.answered or ended.anew:
            with self._session.choosing():
                for who in ended.anew:
                    self._release(who)
                for who, question in ended.answered:
                    self._given.pop((who, question), None)
                    self._session.ledger.leases.drop(who, question)

    def answered(self, who: str, question: str) -> None:
        """Note, in an act, that somebody has answered a question."""
        self._ended.answered.append((who, question))

    def ask_anew(self, who: str) -> None:
        """Note, in an act, that what somebody was shown is not what they are to be asked now."""
        self._ended.anew.add(who)

    def _choose(
        self, who: str, most: int, offers: Offers, leases: list[Lease]
    ) -> dict[int, Comparison]:
        others = [one for one in leases if one.who not in (who, "")]
        alone = not who and len({one.who for one in others}) < 2  # they may be one and the same
        held = HeldQuestions(self._session, [] if alone else others)
        self.held = set(held.rows)
        mine = [one for one in leases if one.who == who] or [one for one in leases if not one.who]
        own = [Comparison.parse(lease.question) for lease in mine]
        chosen: dict[int, Comparison] = {}
        for one in offers.first(held, [found for found in own if found is not None]):
            if len(chosen) == most:
                break
            if one is None or one.key in chosen:
                continue
            if held.n_people(one) < offers.places(one):
                chosen[one.key] = one
                held.add([(one, who)])
        left = [] if chosen or not most else [one for one in offers.last() if one is not None]
        if left:
            until = {lease.key: lease.until for lease in leases}
            n_people = Counter(lease.key for lease in leases if lease.who != who)
            first = min(left, key=lambda one: (n_people[one.key], until.get(one.key, 0.0)))
            chosen[first.key] = first
        return chosen


class HeldQuestions:
    """What people are being asked: the rows, and the clusters that are compared.

    Parameters
    ----------
    session : Session
        Knows which rows are in one cluster by now.
    leases : sequence of Lease
        Who is asked what.
    """

    def __init__(self, session: Session, leases: Sequence[Lease]) -> None:
        self.rows: set[int] = set()
        """All that somebody is asked about."""
        self.people = {lease.who for lease in leases}
        self._session = session
        self._people: dict[Part, set[str]] = {}
        asked = [(Comparison.parse(lease.question), lease.who) for lease in leases]
        self.add((one, who) for one, who in asked if one is not None)

    def add(self, questions: Iterable[tuple[Comparison, str]]) -> None:
        """Note of questions that somebody is asked them."""
        for one, who in questions:
            rows, pairs = self._parts(one)
            self.rows.update(rows)
            for part in [*rows, *pairs]:
                self._people.setdefault(part, set()).add(who)

    def n_people(self, question: Comparison) -> int:
        """Return how many people are asked about a row of a question, or to compare the same clusters."""
        rows, pairs = self._parts(question)
        return len(set[str]().union(*(self._people.get(part, ()) for part in [*rows, *pairs])))

    def _parts(self, question: Comparison) -> tuple[list[int], list[Part]]:
        """Return the rows that a question is about, and which of them are compared; a cluster is one."""
        rows = [question.row, *question.others]
        places = self._session.places_of(rows).tolist()
        known = [-1 - place if place >= 0 else row for row, place in zip(rows, places, strict=True)]
        asked = list(question.others) if question.form == "g" else [question.row]
        return asked, [frozenset((known[0], other)) for other in known[1:]]
