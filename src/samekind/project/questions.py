"""The questions that are open, as pairs and line-ups, and what an answer to them says."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice

from samekind.engine import Session
from samekind.flow import DIFFERENT, SAME, UNSURE
from samekind.project.leases import Leases
from samekind.project.records import (
    ClusterOption,
    ClusterRef,
    ItemView,
    LineupQuestion,
    PairQuestion,
    Question,
)
from samekind.project.words import ANSWERS, ProjectError, QuestionClosed, name_of

__all__ = ["Questions"]

SHOWN = 3  # members of a cluster beside a question


class Questions:
    """What is asked now, of whom, and what they answer."""

    def __init__(self, session: Session, item: Callable[[int], ItemView]) -> None:
        self._session = session
        self._item = item
        self._leases = Leases()

    def next(self, who: str, *, lineup: bool, most: int) -> list[Question]:
        """Return open questions for somebody; see `Project.next`."""
        self._session.catch_up()
        chains = self._open()
        self._leases.keep(set(chains))
        own = list(islice((row for row in chains if self._leases.take(row, who)), most))
        if chains and not own:
            own = [next(iter(chains))]
            self._leases.share(own[0], who)
        return [self._question(row, chains[row], lineup) for row in own]

    def answer(self, question_id: str, said: str | int, who: str) -> None:
        """Take an answer; see `Project.answer`."""
        form, row, others = _parse(question_id)
        self._session.catch_up()
        if form == "s":
            self._answer_skipped(row, others[0], _word(said), who)
            return
        if self._open().get(row, [])[: len(others)] != others:
            raise QuestionClosed(
                "This question is not open any more: it was answered, or taken back."
            )
        if said == "skip":
            self._tell(row, others[:1], [UNSURE], who, free=True)
        elif form == "p":
            self._tell(row, others, [ANSWERS[_word(said)]], who)
        else:
            self._tell(row, *self._lineup_answers(others, said), who)

    def skipped(self, most: int) -> list[PairQuestion]:
        """Return questions that were skipped."""
        return [self._pair(a, b, skipped=True) for a, b in self.skipped_pairs()[:most]]

    def _question(self, row: int, others: list[int], lineup: bool) -> Question:
        one = len(others) == 1 or not lineup
        return self._pair(row, others[0]) if one else self._lineup(row, others)

    def _pair(self, a: int, b: int, *, skipped: bool = False) -> PairQuestion:
        members = self._session.members_of(b)
        more = [row for row in members if row not in (a, b)][:SHOWN]
        return PairQuestion(
            id=f"{'s' if skipped else 'p'}-{a}-{b}",
            a=self._item(a),
            b=self._item(b),
            b_cluster=self._ref(members) if members else None,
            more=list(map(self._item, more)),
            skipped=skipped,
        )

    def _ref(self, members: list[int]) -> ClusterRef:
        return ClusterRef(members[0], name_of(members, self._session.ledger))

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

    def _lineup(self, row: int, others: list[int]) -> LineupQuestion:
        options: list[ClusterOption] = []
        for other in others:
            members = self._session.members_of(other)
            shown = [other, *(member for member in members if member != other)][:SHOWN]
            ref = self._ref(members)
            options.append(ClusterOption(ref.cluster, ref.name, list(map(self._item, shown))))
        compared = ".".join(map(str, others))
        return LineupQuestion(id=f"l-{row}-{compared}", item=self._item(row), options=options)

    def _lineup_answers(self, others: list[int], said: str | int) -> tuple[list[int], list[int]]:
        """Return which of the rows are answered, and how.

        Who picks a cluster says nothing of the others: two of them may prove to be one.
        """
        if said == "unsure":
            return others[:1], [UNSURE]
        if said == "none":
            return others, [DIFFERENT] * len(others)
        picked = [other for other in others if self._session.members_of(other)[:1] == [said]]
        if not picked or isinstance(said, bool):
            raise ProjectError(
                'The answer to a line-up is the number of one of its kinds, "none", "unsure" or "skip".'
            )
        return picked[:1], [SAME]

    def _answer_skipped(self, a: int, b: int, said: str, who: str) -> None:
        if (a, b) not in self.skipped_pairs():
            raise QuestionClosed("This question was answered meanwhile.")
        if said == "skip":
            return
        self._session.change([[a, b]], [ANSWERS[said]], who=who, asked=True)

    def skipped_pairs(self) -> list[tuple[int, int]]:
        """Return the pairs that were skipped and not answered since."""
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
        raise ProjectError("There is no such question.")
    return form, int(row), [int(text) for text in numbers]


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 10 and int(text) < 2**31


def _word(said: str | int) -> str:
    if said not in (*ANSWERS, "skip"):
        raise ProjectError('The answer to a pair is "same", "different", "unsure" or "skip".')
    return str(said)
