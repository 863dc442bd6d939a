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

    first: Callable[[HeldQuestions, list[Comparison]], Iterator[Comparison]]
    """Returns questions, the best first, given what others have and what they have themselves."""
    last: Callable[[], Sequence[Comparison]]
    """Returns what they get if all of those are taken."""
    places: Callable[[Comparison], int]
    """How many people may have a question at once."""
    seen: int | None = None
    """The last event that was known then: answers end leases, so both must be of one moment."""


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
        # of the table of leases: it may wait for the database, and for the ledger's lock, so it is never
        # taken by a thread that holds that one
        self._lock = threading.Lock()
        self._given: set[tuple[str, str]] = set()  # who was shown which question here
        self._answered: list[tuple[str, str]] = []  # who answered what in the act at hand,
        self._asked_anew: set[str] = set()  # and who is to be asked something else after it

    def share(self, who: str, most: int, offers: Offers) -> list[Comparison] | None:
        """Return the questions that somebody gets.

        None if others have written meanwhile: what is offered is to be looked at anew.
        """
        now, chosen = self._clock(), dict[int, Comparison]()

        ledger, is_current = self._session.ledger, True

        def choose(leases: Sequence[Lease]) -> dict[int, str]:
            nonlocal is_current
            chosen.clear()
            alive = [lease for lease in leases if lease.until > now]
            with ledger.lock:
                is_current = offers.seen in (None, ledger.log.last)
                if not is_current:
                    return {}
                chosen.update(self._choose(who, most, offers, alive))
            return {key: one.id for key, one in chosen.items()}

        with self._lock:
            shared = ledger.leases.share(who, choose, now=now, until=now + SECONDS)
            if shared is None or not is_current:
                return None
            self._given.update((who, one.id) for one in chosen.values())
        return list(chosen.values())

    def n_given(self, who: str) -> int:
        """Return how many questions somebody was shown here, and has not answered."""
        return sum(name == who for name, _ in self._given.copy())

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
        with self._lock:
            self._release(who)

    def _release(self, who: str) -> None:
        self._given = {shown for shown in self._given if shown[0] != who}
        self._session.ledger.leases.release(who)

    @contextmanager
    def acting(self) -> Iterator[None]:
        """Within it, somebody answers: the leases go when it is over, and stay if it fails."""
        self._answered.clear()
        self._asked_anew.clear()
        yield
        with self._lock:
            for who in self._asked_anew:
                self._release(who)
            for who, question in self._answered:
                self._given.discard((who, question))
                self._session.ledger.leases.drop(who, question)

    def answered(self, who: str, question: str) -> None:
        """Note, in an act, that somebody has answered a question."""
        self._answered.append((who, question))

    def ask_anew(self, who: str) -> None:
        """Note, in an act, that what somebody was shown is not what they are to be asked now."""
        self._asked_anew.add(who)

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
            if one.key not in chosen and held.n_people(one) < offers.places(one):
                chosen[one.key] = one
                held.add([(one, who)])
        if not chosen and most and (held_by_others := offers.last()):
            until = {lease.key: lease.until for lease in leases}
            n_people = Counter(lease.key for lease in leases if lease.who != who)
            first = min(
                held_by_others, key=lambda one: (n_people[one.key], until.get(one.key, 0.0))
            )
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
