"""The questions that are open, as pairs, line-ups and sheets, and what an answer to them says."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from samekind.data import Items
from samekind.engine import Session, keep_heard
from samekind.flow import DIFFERENT, SAME, UNSURE, Heard
from samekind.ledger import UNANSWERED, keys_of
from samekind.oracles import ChatOracle
from samekind.project.records import (
    ClusterOption,
    ClusterRef,
    LineupQuestion,
    NewCluster,
    PairQuestion,
    Question,
    Said,
    SheetAnswer,
    SheetQuestion,
)
from samekind.project.reviews import Reviews
from samekind.project.shared import SHOWN, exclusive
from samekind.project.sharing import Comparison, HeldQuestions, Offers
from samekind.project.views import LINEUP, SHEET, Views
from samekind.project.words import ANSWERS, ProjectError, QuestionClosed

__all__ = ["Questions"]

NO_SHEETS = "no sheets"  # in `meta`: whether somebody switched them off
LOOKS = 100  # at most, at what others write while somebody is to get a question
SPARE = 4  # questions that are chosen beyond those wanted: somebody may have one like them


class Questions(Reviews):
    """What is asked now, of whom, and what they answer."""

    def __init__(self, items: Items, session: Session, budget: int | None = None) -> None:
        super().__init__(items, session, budget)
        self.lineups = True  # whether line-ups are shown to anybody
        self.lineup = LINEUP  # clusters in one, at most
        self.sheet = SHEET  # rows on a sheet, at most

    @property
    def has_views(self) -> bool:
        """Whether anything but pairs can be asked."""
        return self.session.folds and not self.is_records

    @property
    def sheets(self) -> bool:
        """Whether many rows of a cluster may be asked about at once."""
        return self.has_views and self.sheet > 0 and not self.session.ledger.settings.get(NO_SHEETS)

    @exclusive
    def use_sheets(self, wanted: bool) -> None:
        """Ask about many rows of a cluster at once where that pays, or never; it is kept with the project."""
        self.catch_up()
        if wanted and not (self.has_views and self.sheet):
            raise ProjectError("Nothing is asked in sheets here.")
        if wanted != self.sheets:
            with self.act():
                self.session.ledger.set(NO_SHEETS, "" if wanted else "1")

    @exclusive
    def next(self, who: str = "", *, lineup: bool = True, most: int = 1) -> list[Question]:
        """Return open questions for somebody, at most so many, and keep them for them for two minutes.

        Asked again, they get the same ones. Nobody goes empty while there is a question: see `Sharing`.
        """
        return list(map(self._show, self.comparisons(who, lineup=lineup, most=most)))

    @exclusive
    def comparisons(
        self, who: str, *, lineup: bool = True, sheets: bool = True, most: int = 1
    ) -> list[Comparison]:
        """Return what is asked by `next`, without what there is to see; perhaps without sheets."""
        self.catch_up()
        for _ in range(LOOKS):
            if self._stopped or (self.session.done and not self._exam(who)):
                return []
            left = most if self._presses_left is None else min(most, self._presses_left)
            found = self._sharing.share(who, left, self._offers(who, left, lineup, sheets))
            if found is not None:
                return found
            self.session.catch_up()
            self._heed_end()
        return []

    def _offers(self, who: str, most: int, lineup: bool, sheets: bool) -> Offers:
        """Return what somebody may get: what they have, what waits for them, and what is best asked next."""
        one_for_all = self.overlap != 1  # where several are asked the same, it is the same for all
        lineup = (lineup or one_for_all) and self.lineups and self.has_views
        views = Views(
            self.session,
            lineup=self.lineup if lineup else 0,
            sheet=self.sheet if sheets and self.sheets and not one_for_all else 0,
        )
        chains = self._open()
        voted = self._waiting(chains)
        closed = {row for row, (_, voters) in voted.items() if who in voters}
        wanted = {row: others for row, (others, _) in voted.items() if row not in closed}
        pending = {row: others for row, others in chains.items() if row not in closed}

        def first(held: HeldQuestions, own: list[Comparison]) -> Iterator[Comparison]:
            for one in map(views.again, own if not self.session.done else []):
                if one is not None and one.key not in closed:
                    yield one
            yield from self._exam(who)
            for row, others in wanted.items():
                yield views.of(row, others, {})
            for row, others in list(pending.items())[
                : max(1, len(pending) // (1 + len(held.people)))
            ]:
                yield views.of(row, others, chains, held.rows)
            for row, other in self.session.choose(most + SPARE, {*held.rows, *voted}).tolist():
                yield views.of(row, [other], {}, {*held.rows, *chains})
            for row, others in pending.items():
                yield views.of(row, others, chains, held.rows)

        def last() -> list[Comparison]:
            return [views.of(row, others, {}) for row, others in pending.items()]

        return Offers(first, last, self._places)

    def _places(self, question: Comparison) -> int:
        """Return how many people may have a question at once."""
        if self.overlap == 1:
            return 1
        form, row, others = question
        voters = self._voters(row, list(others))
        return max(0, self._n_wanted(form, row, list(others)) - len(voters))

    def _exam(self, who: str) -> list[Comparison]:
        """Return pairs that a model has answered, and that people are asked about, too."""
        if self.assistant is None or who == self.assistant.oracle.name:
            return []
        return [Comparison("p", a, (b,)) for a, b in self.assistant.exam()]

    def _show(self, question: Comparison) -> Question:
        form, row, others = question
        if form == "g":
            return self._sheet(row, list(others))
        if form == "l":
            return self._lineup(row, list(others))
        return self._pair(row, others[0], blind=question in self._exam(""))

    @exclusive
    def hear(self, heard: Heard, oracle: ChatOracle) -> None:
        """Take answers of a model, with what they cost."""
        with self.act():
            keep_heard(self.session, heard, oracle)
            for a, b in heard.pairs.tolist():
                self._sharing.answered(oracle.name, Comparison("p", a, (b,)).id)

    @exclusive
    def release(self, who: str) -> None:
        """Let others have at once what somebody was shown, who answers no more."""
        self._sharing.release(who)

    @exclusive
    def answer(self, question_id: str, answer: Said, *, who: str = "") -> None:
        """Take an answer; it is on disk when this returns.

        To a pair: "same", "different", "unsure" or "skip". To a line-up: "none", "unsure" or "skip". To
        either, of its first row: the cluster that it is in, be it among those shown or not, or a
        `NewCluster`. To a sheet: a `SheetAnswer`, "unsure" or "skip". What is skipped is not charged and can
        be come back to.
        """
        question = Comparison.parse(question_id)
        if question is None:
            raise ProjectError("There is no such question.")
        with self.act():
            self._answer(question, answer, who)

    def _answer(self, question: Comparison, answer: Said, who: str) -> None:
        form, row, others = question.form, question.row, list(question.others)
        if max(row, *others) >= self.session.points.n:
            raise QuestionClosed("There is no such question.")
        if form == "s":
            if (row, others[0]) not in self.skipped_pairs():
                raise QuestionClosed("This question was answered meanwhile.")
            if (word := _word(answer)) != "skip":
                self.session.change([[row, others[0]]], [ANSWERS[word]], who=who, asked=True)
            return
        pairs = np.array(question.pairs)
        is_pending = np.isin(keys_of(pairs), keys_of(self.session.pending())).any()
        if not is_pending and not self._may_be_late(question, who):
            raise QuestionClosed(
                "This question is not open any more: it was answered, or taken back."
            )
        self._sharing.answered(who, question.id)
        if self._take_opinion(form, row, others, answer, who):
            return
        self._take(form, row, others, answer, who)
        self._keep_votes(form, row, others, answer, who)

    def _take(self, form: str, row: int, others: list[int], answer: Said, who: str) -> None:
        """Take an answer to a question that is open, or was."""
        if form == "g":
            self._answer_sheet(row, others, answer, who)
        elif isinstance(answer, NewCluster):
            with self.numbers.kept():
                self._say_new(row, others, answer.name, who)
        elif isinstance(answer, int) and not isinstance(answer, bool):
            with self.numbers.kept():
                self._say_cluster(row, others, answer, who)
        elif answer == "skip":
            self._tell([[row, others[0]]], [UNSURE], who, free=True)
        elif form == "p":
            self._tell([[row, others[0]]], [ANSWERS[_word(answer)]], who)
        elif answer == "unsure":
            self._tell([[row, others[0]]], [UNSURE], who)
        elif answer == "none":
            self._tell([[row, o] for o in others], [DIFFERENT] * len(others), who)
        else:
            raise ProjectError(
                'The answer to a line-up is the number of a kind, a new kind, "none", "unsure" or "skip".'
            )

    def _answer_sheet(self, member: int, rows: list[int], answer: Said, who: str) -> None:
        pairs = [[row, member] for row in rows]
        if answer in ("unsure", "skip"):
            self._tell(pairs, [UNSURE] * len(rows), who, free=answer == "skip")
            return
        if not isinstance(answer, SheetAnswer) or not (
            {*answer.different, *answer.unsure} <= set(rows)
        ):
            raise ProjectError(
                'The answer to a sheet is which of its rows do not belong to the others, "unsure" or "skip".'
            )
        said = [
            DIFFERENT if row in answer.different else UNSURE if row in answer.unsure else SAME
            for row in rows
        ]
        self._tell(pairs, said, who)

    def _may_be_late(self, question: Comparison, who: str) -> bool:
        """Return whether somebody answers a question that they were shown, though it is not pending.

        It was chosen for them, or somebody else's answer has closed it meanwhile; not one that they answered
        themselves. Of those without a name nobody knows who answered what.
        """
        if not self._sharing.was_shown(who, question):
            return False
        ledger, pairs = self.session.ledger, question.pairs
        if not who:
            return bool((ledger.lookup(np.array(pairs)) == UNANSWERED).all())
        return all(ledger.answer_by(a, b, who) is None for a, b in pairs)

    @exclusive
    def skipped(self, most: int = 3) -> list[PairQuestion]:
        """Return questions that were skipped, to come back to."""
        return [self._pair(a, b, skipped=True) for a, b in self.skipped_pairs()[:most]]

    def _pair(self, a: int, b: int, *, skipped: bool = False, blind: bool = False) -> PairQuestion:
        members = self.session.members_of(b)
        more = [row for row in members if row not in (a, b)][:SHOWN]
        return PairQuestion(
            id=f"{'s' if skipped else 'p'}-{a}-{b}",
            a=self.item(a),
            b=self.item(b),
            b_cluster=self.ref(members) if members else None,
            more=list(map(self.item, more)),
            a_cluster=None if blind else self._ref_of(a),
            refused=0 if blind else self._n_refused(a),
            skipped=skipped,
        )

    def _ref_of(self, row: int) -> ClusterRef | None:
        """Return the cluster that a row is known to be in, if it is."""
        members = self.session.members_of(row)
        return self.ref(members) if members else None

    def _n_refused(self, row: int) -> int:
        """Return in how many clusters an unknown row is known not to be, by answers about it."""
        if self.session.members_of(row):
            return 0
        pairs = self.session.ledger.log.different_pairs()
        others = pairs[(pairs == row).any(axis=1)].sum(axis=1) - row
        return len({tuple(self.session.members_of(other)[:1]) for other in others.tolist()})

    def _sheet(self, member: int, rows: list[int]) -> SheetQuestion:
        return SheetQuestion(
            id=Comparison("g", member, tuple(rows)).id,
            items=list(map(self.item, rows)),
            cluster=self._option(member),
        )

    def _open(self) -> dict[int, list[int]]:
        """Return the rows asked about now, each with those that it is to be compared with."""
        chains: dict[int, list[int]] = {}
        for row, other in self.session.pending().tolist():
            chains.setdefault(row, []).append(other)
        return chains

    def _lineup(self, row: int, others: list[int]) -> LineupQuestion:
        return LineupQuestion(
            id=Comparison("l", row, tuple(others)).id,
            item=self.item(row),
            options=list(map(self._option, others)),
            item_cluster=self._ref_of(row),
            refused=self._n_refused(row),
        )

    def _option(self, member: int) -> ClusterOption:
        """Return the cluster of a row, with that and further members."""
        members = self.session.members_of(member)
        return self.option(members, [member, *(other for other in members if other != member)])

    def skipped_pairs(self) -> list[tuple[int, int]]:
        """Return the pairs that were skipped and not answered since, and wait for nobody's opinion."""
        ledger = self.session.ledger
        pairs = ledger.log.skipped()
        still = pairs[ledger.lookup(pairs, infer=False) == UNSURE].tolist()
        return [(a, b) for a, b in still if not self._is_reviewed(a, b)]


def _word(said: Said) -> str:
    if not isinstance(said, str) or said not in (*ANSWERS, "skip"):
        raise ProjectError('The answer to a pair is "same", "different", "unsure" or "skip".')
    return str(said)
