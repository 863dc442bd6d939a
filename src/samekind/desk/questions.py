"""The questions that are open, as pairs and line-ups, and what an answer to them says."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice

from samekind.desk.leases import Leases
from samekind.desk.shapes import LineUp, Option, Pair, Question
from samekind.desk.words import WORDS, DeskError, Stale
from samekind.engine import Session
from samekind.flow import DIFFERENT, SAME, UNSURE

__all__ = ["Questions"]

SHOWN = 3  # members of a kind beside a question


class Questions:
    """What is asked now, for whom, and what they answer."""

    def __init__(self, session: Session, name_of: Callable[[list[int]], str | None]) -> None:
        self._session = session
        self._name_of = name_of
        self._leases = Leases()

    def next(self, who: str, *, lineup: bool, most: int) -> list[Question]:
        """Return open questions for somebody; see `Desk.next`."""
        self._session.catch_up()
        chains = self._open()
        self._leases.keep(set(chains))
        own = list(islice((row for row in chains if self._leases.take(row, who)), most))
        if chains and not own:
            own = [next(iter(chains))]
            self._leases.share(own[0], who)
        return [self._question(row, chains[row], lineup) for row in own]

    def answer(self, question_id: str, said: str | int, who: str) -> None:
        """Take an answer; see `Desk.answer`."""
        form, row, others = _parse(question_id)
        self._session.catch_up()
        if form == "s":
            self._answer_skipped(row, others[0], _word(said), who)
            return
        if self._open().get(row, [])[: len(others)] != others:
            raise Stale("This question is not open any more: it was answered, or taken back.")
        if said == "skip":
            self._tell(row, others[:1], [UNSURE], who, free=True)
        elif form == "p":
            self._tell(row, others, [WORDS[_word(said)]], who)
        else:
            self._tell(row, *self._line_up_answers(others, said), who)

    def skipped(self, most: int) -> list[Pair]:
        """Return questions that were skipped."""
        return [self._pair(a, b, skipped=True) for a, b in self.skipped_pairs()[:most]]

    def _question(self, row: int, others: list[int], lineup: bool) -> Question:
        one = len(others) == 1 or not lineup
        return self._pair(row, others[0]) if one else self._line_up(row, others)

    def _pair(self, a: int, b: int, *, skipped: bool = False) -> Pair:
        members = self._session.members_of(b)
        return Pair(
            id=f"{'s' if skipped else 'p'}-{a}-{b}",
            a=a,
            b=b,
            kind=members[0] if members else None,
            name=self._name_of(members),
            more=[row for row in members if row not in (a, b)][:SHOWN],
            skipped=skipped,
        )

    def _open(self) -> dict[int, list[int]]:
        """Return the rows asked about now, each with those that it is to be compared with."""
        chains: dict[int, list[int]] = {}
        for row, other in self._session.pending().tolist():
            chains.setdefault(row, []).append(other)
        return chains

    def _tell(
        self, row: int, others: list[int], answers: list[int], who: str, *, free: bool = False
    ) -> None:
        self._session.tell([[row, other] for other in others], answers, who=who, free=free)

    def _line_up(self, row: int, others: list[int]) -> LineUp:
        options: list[Option] = []
        for other in others:
            members = self._session.members_of(other)
            shown = [other, *(member for member in members if member != other)][:SHOWN]
            options.append(Option(members[0], self._name_of(members), shown))
        compared = ".".join(map(str, others))
        return LineUp(id=f"l-{row}-{compared}", row=row, options=options)

    def _line_up_answers(self, others: list[int], said: str | int) -> tuple[list[int], list[int]]:
        """Return which of the rows something is said of, and what.

        Who picks a kind says nothing of the others: two of them may prove to be one.
        """
        if said == "unsure":
            return others[:1], [UNSURE]
        if said == "none":
            return others, [DIFFERENT] * len(others)
        picked = [other for other in others if self._session.members_of(other)[:1] == [said]]
        if not picked or isinstance(said, bool):
            raise DeskError(
                'The answer to a line-up is the number of one of its kinds, "none", "unsure" or "skip".'
            )
        return picked[:1], [SAME]

    def _answer_skipped(self, a: int, b: int, said: str, who: str) -> None:
        if (a, b) not in self.skipped_pairs():
            raise Stale("This question was answered meanwhile.")
        if said == "skip":
            return
        self._session.change([[a, b]], [WORDS[said]], who=who, asked=True)

    def skipped_pairs(self) -> list[tuple[int, int]]:
        """Return the pairs of which nothing was said but that they be skipped."""
        pairs = self._session.ledger.skipped()
        if not len(pairs):
            return []
        still = self._session.ledger.lookup(pairs, infer=False) == UNSURE
        return [(int(a), int(b)) for a, b in pairs[still]]


def _parse(question_id: str) -> tuple[str, int, list[int]]:
    form, _, rest = question_id.partition("-")
    row, _, others = rest.partition("-")
    numbers = others.split(".") if form == "l" else [others]
    if form not in ("p", "l", "s") or not all(_is_number(text) for text in (row, *numbers)):
        raise DeskError("There is no such question.")
    return form, int(row), [int(text) for text in numbers]


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 10 and int(text) < 2**31


def _word(said: str | int) -> str:
    if said not in (*WORDS, "skip"):
        raise DeskError('The answer to a pair is "same", "different", "unsure" or "skip".')
    return str(said)
