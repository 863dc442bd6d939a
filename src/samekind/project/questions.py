"""The questions that are open, as pairs, line-ups and sheets, and what an answer to them says."""

from __future__ import annotations

from samekind.data import Items
from samekind.engine import Session
from samekind.flow import DIFFERENT, SAME, UNSURE
from samekind.ledger import rows_of_question
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
from samekind.project.sharing import ShareRequest
from samekind.project.words import ANSWERS, ProjectError, QuestionClosed

__all__ = ["Questions"]

LEAST_ON_SHEET = 3  # rows; fewer are asked about one by one
LOOKS = 100  # at most, at what others write while somebody is to get a question


class Questions(Reviews):
    """What is asked now, of whom, and what they answer."""

    def __init__(self, items: Items, session: Session, budget: int | None = None) -> None:
        super().__init__(items, session, budget)
        self.lineups = True  # whether line-ups are shown to anybody

    @exclusive
    def next(self, who: str = "", *, lineup: bool = True, most: int = 1) -> list[Question]:
        """Return open questions for somebody, at most so many, and keep them for them for two minutes.

        Asked again, they get the same ones. Nobody goes empty while there is a question: see `Sharing`.
        """
        self.catch_up()
        for _ in range(LOOKS):
            shown = self._next(who, lineup, most)
            if shown is not None:
                return shown
            self.session.catch_up()
            self._heed_end()
        return []

    def _next(self, who: str, lineup: bool, most: int) -> list[Question] | None:
        """Return open questions for somebody; None if something was written meanwhile, here or elsewhere."""
        if self._stopped:
            return []
        chains = self._open()
        most = most if self._presses_left is None else min(most, self._presses_left)
        sheets = self._sheets(chains)
        on_sheets = {row for rows in sheets.values() for row in rows[1:]}
        keys = [row for row in chains if row not in on_sheets]  # a sheet goes by its first row
        # where several are asked the same, it is the same for all
        lineup = (lineup or self.overlap != 1) and self.lineups
        wave = {row: _id_of(row, chains[row], sheets.get(row), lineup) for row in keys}
        shared = self._sharing.share(self._share_request(who, most, wave, chains, lineup))
        if shared is None:
            return None
        if self._sharing.n_people == 1 and self.session.n_people > 1:
            self.session.mark(1)  # the others have left; what is asked now may be something else
            return None
        rows, extras = shared
        shown: list[Question] = []
        for row in rows:
            if row in sheets:
                shown.append(self._sheet(chains[row][0], sheets[row]))
            else:
                shown.append(self._question(row, chains[row], lineup))
        return shown + [self._question(row, members, lineup) for row, members in extras]

    def _question(self, row: int, others: list[int], lineup: bool) -> Question:
        if len(others) > 1 and lineup:
            return self._lineup(row, others)
        return self._pair(row, others[0])

    def _share_request(
        self,
        who: str,
        most: int,
        wave: dict[int, str],
        chains: dict[int, list[int]],
        lineup: bool,
    ) -> ShareRequest:
        """Return what somebody may get, with an eye to the opinions that there are."""
        closed_to, places = set[int](), dict[int, int]()
        for row in wave if self.overlap != 1 else ():
            form, first, others = _parse(wave[row])
            voters = self._voters(first, others)
            places[row] = max(0, self._n_wanted(form, first, others) - len(voters))
            if who in voters:
                closed_to.add(row)
        waiting = self._waiting(set(chains))
        return ShareRequest(
            who=who,
            most=most,
            wave=wave,
            closed_to=frozenset(closed_to),
            places=places,
            waiting=[question for question, voters in waiting if who not in voters],
            busy=frozenset(question.row for question, _ in waiting),
            id_of=lambda extra: _id_of(extra.row, extra.members, None, lineup),
        )

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
        with self.act():
            self._answer(*_parse(question_id), answer, who)

    def _answer(self, form: str, row: int, others: list[int], answer: Said, who: str) -> None:
        if form == "s":
            if (row, others[0]) not in self.skipped_pairs():
                raise QuestionClosed("This question was answered meanwhile.")
            if (word := _word(answer)) != "skip":
                self.session.change([[row, others[0]]], [ANSWERS[word]], who=who, asked=True)
            return
        chains = self._open()
        question_id = _id_of_parts(form, row, others)
        if form == "g":
            still = all(row in chains.get(other, []) for other in others)
        else:
            still = set(others) <= set(chains.get(row, []))
        if not still and not self._may_be_late(question_id, row, others, who):
            raise QuestionClosed(
                "This question is not open any more: it was answered, or taken back."
            )
        self._sharing.answered(who, question_id)
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

    def _may_be_late(self, question_id: str, row: int, others: list[int], who: str) -> bool:
        """Return whether somebody answers a question that they were shown, though it is not in the wave.

        It is an extra one, or somebody else's answer has closed it meanwhile; not one that they answered
        themselves. Of those without a name nobody knows who answered what.
        """
        if not who or not self._sharing.was_shown(who, question_id):
            return False
        ledger = self.session.ledger
        return all(ledger.answer_by(row, other, who) is None for other in others)

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
            a_cluster=self._ref_of(a),
            refused=self._n_refused(a),
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
        pairs = self.session.ledger.different_pairs()
        others = pairs[(pairs == row).any(axis=1)].sum(axis=1) - row
        return len({tuple(self.session.members_of(other)[:1]) for other in others.tolist()})

    def _sheets(self, chains: dict[int, list[int]]) -> dict[int, list[int]]:
        """Return the rows that are to be compared with one and the same other, by the first of them."""
        sheets: dict[int, list[int]] = {}
        for row, member in self.session.sheet_members().items():
            if chains.get(row) == [member]:
                sheets.setdefault(member, []).append(row)
        return {rows[0]: rows for rows in sheets.values() if len(rows) >= LEAST_ON_SHEET}

    def _sheet(self, member: int, rows: list[int]) -> SheetQuestion:
        compared = ".".join(map(str, rows))
        return SheetQuestion(
            id=f"g-{member}-{compared}",
            items=list(map(self.item, rows)),
            cluster=self._option(member),
        )

    def _open(self) -> dict[int, list[int]]:
        """Return the rows asked about now, each with those that it is to be compared with."""
        chains: dict[int, list[int]] = {}
        pending = self.session.pending()
        if self.assistant is not None:
            pending = self.assistant.for_people(pending)
        for row, other in pending.tolist():
            chains.setdefault(row, []).append(other)
        return chains

    def _lineup(self, row: int, others: list[int]) -> LineupQuestion:
        compared = ".".join(map(str, others))
        return LineupQuestion(
            id=f"l-{row}-{compared}",
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
        pairs = ledger.skipped()
        still = pairs[ledger.lookup(pairs, infer=False) == UNSURE].tolist()
        return [(a, b) for a, b in still if not self._is_reviewed(a, b)]


def _id_of(row: int, others: list[int], sheet: list[int] | None, lineup: bool) -> str:
    if sheet is not None:
        return _id_of_parts("g", others[0], sheet)
    if len(others) > 1 and lineup:
        return _id_of_parts("l", row, others)
    return _id_of_parts("p", row, others[:1])


def _id_of_parts(form: str, row: int, others: list[int]) -> str:
    return f"{form}-{row}-{'.'.join(map(str, others))}"


def _parse(question_id: str) -> tuple[str, int, list[int]]:
    form, rows = question_id[:1], rows_of_question(question_id)
    if rows is None or form not in ("p", "l", "s", "g") or max(rows) >= 2**31:
        raise ProjectError("There is no such question.")
    row, *others = rows
    if form in ("p", "s") and len(others) > 1:
        raise ProjectError("There is no such question.")
    return form, row, others


def _word(said: Said) -> str:
    if not isinstance(said, str) or said not in (*ANSWERS, "skip"):
        raise ProjectError('The answer to a pair is "same", "different", "unsure" or "skip".')
    return str(said)
