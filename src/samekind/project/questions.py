"""The questions that are open, as pairs and line-ups, and what an answer to them says."""

from __future__ import annotations

from itertools import islice

from samekind.data import Items
from samekind.engine import Session
from samekind.flow import DIFFERENT, SAME, UNSURE
from samekind.project.leases import Leases
from samekind.project.records import (
    ClusterOption,
    LineupQuestion,
    PairQuestion,
    Question,
)
from samekind.project.shared import ProjectPart, exclusive
from samekind.project.words import ANSWERS, ProjectError, QuestionClosed

__all__ = ["Questions"]

SHOWN = 3  # members of a cluster beside a question


class Questions(ProjectPart):
    """What is asked now, of whom, and what they answer."""

    def __init__(self, items: Items, session: Session, budget: int | None = None) -> None:
        super().__init__(items, session, budget)
        self.lineups = True  # whether line-ups are shown to anybody
        self._leases = Leases()

    @exclusive
    def next(self, who: str = "", *, lineup: bool = True, most: int = 1) -> list[Question]:
        """Return open questions for somebody, at most so many, and keep them for them for two minutes.

        Asked again, they get the same ones. Nobody goes empty while there is a question: if others have them
        all, one is shared, and whoever is second to answer is told.
        """
        self.catch_up()
        chains = self._open()
        most = most if self._presses_left is None else min(most, self._presses_left)
        self._leases.keep(set(chains))
        own = list(islice((row for row in chains if self._leases.take(row, who)), most))
        if chains and not own:
            own = [next(iter(chains))]
            self._leases.take(own[0], who, share=True)
        return [
            self._lineup(row, chains[row])
            if len(chains[row]) > 1 and lineup and self.lineups
            else self._pair(row, chains[row][0])
            for row in own
        ]

    @exclusive
    def answer(self, question_id: str, answer: str | int, *, who: str = "") -> None:
        """Take an answer; it is on disk when this returns.

        To a pair: "same", "different", "unsure" or "skip". To a line-up: the cluster that it is in, "none",
        "unsure" or "skip". What is skipped is not charged and can be come back to.
        """
        with self.session.act():
            self._answer(*_parse(question_id), answer, who)

    def _answer(self, form: str, row: int, others: list[int], answer: str | int, who: str) -> None:
        if form == "s":
            if (row, others[0]) not in self.skipped_pairs():
                raise QuestionClosed("This question was answered meanwhile.")
            if (word := _word(answer)) != "skip":
                self.session.change([[row, others[0]]], [ANSWERS[word]], who=who, asked=True)
            return
        if not set(others) <= set(self._open().get(row, [])):
            raise QuestionClosed(
                "This question is not open any more: it was answered, or taken back."
            )
        if answer == "skip":
            answered, said = others[:1], [UNSURE]
        elif form == "p":
            answered, said = others, [ANSWERS[_word(answer)]]
        else:
            answered, said = self._lineup_answers(others, answer)
        pairs = [[row, other] for other in answered]
        self.session.tell(pairs, said, who=who, free=answer == "skip")

    @exclusive
    def skipped(self, most: int = 3) -> list[PairQuestion]:
        """Return questions that were skipped, to come back to."""
        return [self._pair(a, b, skipped=True) for a, b in self.skipped_pairs()[:most]]

    def _pair(self, a: int, b: int, *, skipped: bool = False) -> PairQuestion:
        members = self.session.members_of(b)
        more = [row for row in members if row not in (a, b)][:SHOWN]
        return PairQuestion(
            id=f"{'s' if skipped else 'p'}-{a}-{b}",
            a=self.item(a),
            b=self.item(b),
            b_cluster=self.ref(members) if members else None,
            more=list(map(self.item, more)),
            skipped=skipped,
        )

    def _open(self) -> dict[int, list[int]]:
        """Return the rows asked about now, each with those that it is to be compared with."""
        chains: dict[int, list[int]] = {}
        for row, other in self.session.pending().tolist():
            chains.setdefault(row, []).append(other)
        return chains

    def _lineup(self, row: int, others: list[int]) -> LineupQuestion:
        options: list[ClusterOption] = []
        for other in others:
            members = self.session.members_of(other)
            shown = [other, *(member for member in members if member != other)][:SHOWN]
            ref = self.ref(members)
            options.append(ClusterOption(**vars(ref), members=list(map(self.item, shown))))
        compared = ".".join(map(str, others))
        return LineupQuestion(id=f"l-{row}-{compared}", item=self.item(row), options=options)

    def _lineup_answers(self, others: list[int], said: str | int) -> tuple[list[int], list[int]]:
        """Return which of the rows are answered, and how.

        Who picks a cluster says nothing of the others: two of them may prove to be one.
        """
        if said == "unsure":
            return others[:1], [UNSURE]
        if said == "none":
            return others, [DIFFERENT] * len(others)
        picked = [other for other in others if said in self.session.members_of(other)]
        if not picked or isinstance(said, bool):
            raise ProjectError(
                'The answer to a line-up is the number of one of its kinds, "none", "unsure" or "skip".'
            )
        return picked[:1], [SAME]

    def skipped_pairs(self) -> list[tuple[int, int]]:
        """Return the pairs that were skipped and not answered since."""
        pairs = self.session.ledger.skipped()
        still = self.session.ledger.lookup(pairs, infer=False) == UNSURE
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
