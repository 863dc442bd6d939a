"""Who gets which question, where several people answer.

- A question belongs to who sees it, for two minutes; nobody else is asked meanwhile about the rows that it is
  about, nor whether the same two clusters are one, by whichever of their rows.
- Somebody who waits for the rest of a wave gets an extra question, beyond it.
- Where there is none, because the algorithm cannot be told of such answers, the question that somebody has
  had longest is shown to a second one; the later answer is kept as an opinion.
- One without a name gives way to anybody: it may be the same person.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from samekind.algorithms import ExtraQuestion
from samekind.engine import Session
from samekind.ledger import Lease, rows_of_question

__all__ = ["ShareRequest", "Sharing"]

SECONDS = 120.0  # that a question belongs to who sees it
AT_ONCE = 16  # extra questions chosen together
FRESH = 64  # lines of the ledger after which those that are left are chosen anew

Part = int | frozenset[int]
"""What a question is about: a row, or two that are compared."""


class ShareRequest(NamedTuple):
    """What somebody may get: question ids of the wave by their rows, and how to call an extra question."""

    who: str
    most: int
    wave: Mapping[int, str]
    closed_to: frozenset[int]  # rows of the wave that they have an opinion on
    places: Mapping[int, int]  # how many people may have each row of the wave, if not one
    waiting: Sequence[ExtraQuestion]  # that others have an opinion on, and theirs is wanted
    busy: frozenset[int]  # rows of all extra questions that have opinions
    id_of: Callable[[ExtraQuestion], str]


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
        self.n_people = 1
        """How many people have a question now."""
        self._session = session
        self._clock = clock
        self._extras: dict[int, ExtraQuestion] = {}  # that were given to somebody
        self._pool: list[ExtraQuestion] = []
        self._pool_at = 0  # lines of the ledger then
        self._given: set[tuple[str, str]] = set()  # who was shown which question here
        self._answered: list[tuple[str, str]] | None = None  # who answered what in the act at hand

    def share(self, wanted: ShareRequest) -> tuple[list[int], list[ExtraQuestion]] | None:
        """Return the rows of the wave that somebody gets, and extra questions.

        None if others have written meanwhile: what is wanted is to be looked at anew.
        """
        now, extras = self._clock(), list[ExtraQuestion]()

        def choose(leases: Sequence[Lease]) -> dict[int, str]:
            rows, more = self._choose(wanted, [one for one in leases if one.until > now])
            extras[:] = more
            chosen = {row: wanted.wave[row] for row in rows}
            return chosen | {question.row: wanted.id_of(question) for question in more}

        leases = self._session.ledger.leases
        chosen = leases.share(wanted.who, choose, now=now, until=now + SECONDS)
        if chosen is None:
            return None
        self._given.update((wanted.who, question) for question in chosen.values())
        self._extras.update({question.row: question for question in extras})
        return [row for row in chosen if row in wanted.wave], extras

    def was_shown(self, who: str, question: str) -> bool:
        """Return whether somebody was shown a question, here or elsewhere, and has not answered it."""
        if (who, question) in self._given:
            return True
        return question in self._session.ledger.leases.shown(who)

    def release(self, who: str) -> None:
        """Let others have the questions of somebody who has left."""
        self._given = {shown for shown in self._given if shown[0] != who}
        self._session.ledger.leases.release(who)

    @contextmanager
    def acting(self) -> Iterator[None]:
        """Within it, people answer: their leases go when it is over, and stay if it fails."""
        if self._answered is not None:  # an act within an act
            yield
            return
        answered: list[tuple[str, str]] = []
        self._answered = answered
        try:
            yield
        finally:
            self._answered = None
        for who, question in answered:
            self._given.discard((who, question))
            self._session.ledger.leases.drop(who, question)

    def answered(self, who: str, question: str) -> None:
        """Note, in an act, that somebody has answered a question."""
        if self._answered is not None:
            self._answered.append((who, question))

    def _choose(
        self, wanted: ShareRequest, leases: list[Lease]
    ) -> tuple[list[int], list[ExtraQuestion]]:
        who, most = wanted.who, wanted.most
        self.n_people = max(1, len({who, *(lease.who for lease in leases)} - {""}))
        others = [one for one in leases if self.n_people > 1 and one.who not in (who, "")]
        held = HeldQuestions(self._session, others)
        own = {lease.key for lease in leases if lease.who == who}
        free = [
            row
            for row, question in wanted.wave.items()
            if row not in wanted.closed_to and held.n_people(question) < wanted.places.get(row, 1)
        ]
        each = most
        if self.n_people > 1:
            free.sort(key=lambda row: row not in own)
            each = max(1, len(wanted.wave) // self.n_people)
        rows = free[: min(most, each)]
        extras: list[ExtraQuestion] = []
        if self.n_people > 1 or wanted.closed_to:
            held.add((question, "the wave") for question in wanted.wave.values())
            extras = [one for one in wanted.waiting if not held.n_people(wanted.id_of(one))]
            extras += self._take_extras(most - len(rows) - len(extras), wanted, own, held)
            extras = extras[: most - len(rows)]
        if not rows and not extras:
            rows = free[:1] or self._longest_held(wanted, leases)
        return rows, extras

    def _is_open(self, question: ExtraQuestion) -> bool:
        """Return whether an extra question can be asked still: answers may have been taken back."""
        session = self._session
        return session.is_unanswered(question) and all(map(session.members_of, question.members))

    def _longest_held(self, wanted: ShareRequest, leases: list[Lease]) -> list[int]:
        """Return a row that fewest people have, and have had longest."""
        until = {lease.key: lease.until for lease in leases}
        n_people = Counter(lease.key for lease in leases if lease.who != wanted.who)
        held = [row for row in wanted.wave if row not in wanted.closed_to]
        return sorted(held, key=lambda row: (n_people[row], until.get(row, 0.0)))[:1]

    def _take_extras(
        self, count: int, wanted: ShareRequest, own: set[int], held: HeldQuestions
    ) -> list[ExtraQuestion]:
        found: list[ExtraQuestion] = []

        def take(questions: Iterable[ExtraQuestion]) -> None:
            for question in map(held.without_held, questions):
                busy = question.row in wanted.busy or question.row in held.rows
                is_free = question.members and not busy
                if len(found) < count and is_free and self._is_open(question):
                    found.append(question)
                    held.add([(wanted.id_of(question), wanted.who)])

        take(question for row, question in self._extras.items() if row in own)
        lines = self._session.ledger.revision.answers
        if lines - self._pool_at > FRESH:
            self._pool = []
        for refilled in (False, True):
            if refilled and len(found) < count:
                self._extras = {row: q for row, q in self._extras.items() if self._is_open(q)}
                rows = {*held.rows, *wanted.busy, *self._extras}
                self._pool = self._session.extra_questions(AT_ONCE, rows)
                self._pool_at = lines
            while self._pool and len(found) < count:
                take([self._pool.pop()])
        return found


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
        self._session = session
        self._people: dict[Part, set[str]] = {}
        self.add((lease.question, lease.who) for lease in leases)

    def add(self, questions: Iterable[tuple[str, str]]) -> None:
        """Note of questions, by their ids, that somebody is asked them."""
        for question, who in questions:
            rows, pairs = self._parts(question)
            self.rows.update(rows)
            for part in [*rows, *pairs]:
                self._people.setdefault(part, set()).add(who)

    def n_people(self, question: str) -> int:
        """Return how many people are asked about a row of a question, or to compare the same clusters."""
        rows, pairs = self._parts(question)
        return len(set[str]().union(*(self._people.get(part, ()) for part in [*rows, *pairs])))

    def without_held(self, question: ExtraQuestion) -> ExtraQuestion:
        """Return a question without the clusters that somebody compares with its row's already."""
        _, pairs = self._parts(f"l-{question.row}-{'.'.join(map(str, question.members))}")
        both = zip(question.members, pairs, strict=True)
        return ExtraQuestion(question.row, [one for one, pair in both if pair not in self._people])

    def _parts(self, question: str) -> tuple[list[int], list[Part]]:
        """Return the rows that a question is about, and which of them are compared; a cluster is one."""
        rows = rows_of_question(question) or []
        places = self._session.places_of(rows).tolist()
        known = [-1 - place if place >= 0 else row for row, place in zip(rows, places, strict=True)]
        asked = rows[1:] if question.startswith("g") else rows[:1]
        return asked, [frozenset((known[0], other)) for other in known[1:]]
