"""The questions that are open, as pairs, line-ups and sheets, and what an answer to them says."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from samekind.algorithms.folding import Expected
from samekind.flow import DIFFERENT, SAME, UNSURE, Answers, Pairs
from samekind.ledger import UNANSWERED, OpinionRole, keys_of
from samekind.project.kinds import SHOWN
from samekind.project.pair_answers import PairAnswers, founding, placing
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
from samekind.project.sharing import Comparison, HeldQuestions, Offers, Sharing
from samekind.project.views import Views
from samekind.project.words import ANSWERS, ProjectError, QuestionClosed, check_name

if TYPE_CHECKING:
    from samekind.project.project import Project

__all__ = ["Questions"]

NO_SHEETS = "no sheets"  # in `settings`: whether somebody switched them off
SPARE = 4  # questions that are chosen beyond those wanted, for the next people if there are any


class Questions:
    """What is asked now, of whom, and what they answer.

    Parameters
    ----------
    project : Project
        Whose questions.
    lineup, sheet : int
        The most clusters in a line-up, and rows on a sheet; 0 for none.
    """

    def __init__(self, project: Project, lineup: int, sheet: int) -> None:
        self._project = project
        self._session = project.session
        self.sharing = Sharing(project.session, lambda: project.clock())
        self.lineup, self.sheet = lineup, sheet
        self._chosen: list[list[int]] = []  # questions beyond those that are open,
        self._chosen_at = project.ledger.revision  # and when they were chosen
        # of the pairs of the question that is being answered, and where the answer is another one
        self._expected: dict[int, Expected] = {}
        self._elsewhere: Expected = np.empty(0, dtype=np.float32)

    # What is asked

    @property
    def has_views(self) -> bool:
        """Whether anything but pairs can be asked."""
        return self._session.folds and not self._project.is_records

    @property
    def lineups(self) -> bool:
        """Whether a row may be compared with several clusters at once."""
        return self.has_views and self.lineup > 1

    @property
    def sheets(self) -> bool:
        """Whether many rows of a cluster may be asked about at once."""
        is_on = not self._session.ledger.settings.get(NO_SHEETS)
        return self.has_views and self.sheet > 0 and is_on

    def use_sheets(self, wanted: bool) -> None:
        """Ask about many rows of a cluster at once where that pays, or never; it is kept with the project."""
        if wanted and not (self.has_views and self.sheet):
            raise ProjectError("Nothing is asked in sheets here.")
        with self._project.state():
            is_so = wanted == self.sheets
        if not is_so:
            with self._project.act():
                self._session.ledger.set(NO_SHEETS, "" if wanted else "1")

    def next(self, who: str = "", *, lineup: bool = True, most: int = 1) -> list[Question]:
        """Return open questions for somebody, at most so many, and lease them to them for two minutes.

        Asked again, they get the same ones. Nobody goes empty while there is a question: see `Sharing`.
        """
        while True:
            comparisons = self.comparisons(who, lineup=lineup, most=most)
            with self._project.state():
                whole = [self._show(one) for one in comparisons if self._is_whole(one)]
            if whole or not comparisons:
                return list(map(self._explained, whole))

    def _explained(self, question: Question) -> Question:
        """Return a question about two records with what speaks for a match."""
        if question.type != "pair" or question.id in {one.id for one in self._exam("")}:
            return question
        compared = self._project.entities.compared(question.a.row, question.b.row)
        return replace(question, compared=compared)

    def comparisons(
        self, who: str, *, lineup: bool = True, sheets: bool = True, most: int = 1
    ) -> list[Comparison]:
        """Return what is asked by `next`, without what there is to see; perhaps without sheets."""
        session, standing = self._session, self._project.standing
        self._project.catch_up()
        with session.choosing():
            standing.end = session.stop_reason
            if standing.stopped or (standing.end and not self._exam(who)):
                return []
            left = standing.presses_left
            most = most if left is None else min(most, left)
            return self.sharing.share(who, most, self._offers(who, most, lineup, sheets))

    def _offers(self, who: str, most: int, lineup: bool, sheets: bool) -> Offers:
        """Return what somebody may get: what they have, what waits for them, and what is best asked next.

        New questions are chosen here, before the table of leases is locked: what others have is guessed from
        the last look at it. As others may answer them meanwhile, each is looked at again when it is shared.
        """
        session, team = self._session, self._project.team
        one_for_all = team.overlap != 1  # where several are asked the same, it is the same for all
        lineup = (lineup or one_for_all) and self.lineups
        views = Views(
            session,
            lineup=self.lineup if lineup else 0,
            sheet=self.sheet if sheets and self.sheets and not one_for_all else 0,
        )
        chains = self._open()
        with self._project.state():
            voted = team.waiting(chains)
        closed = {row for row, (_, voters) in voted.items() if who in voters}
        wanted = {row: others for row, (others, _) in voted.items() if row not in closed}
        pending = {row: others for row, others in chains.items() if row not in closed}
        new, held = most - self.sharing.n_given(who), self.sharing.held
        spare: list[list[int]] = []
        if new > 1 or (new == 1 and held.issuperset(pending)):
            spare = self._spares(new, held, voted)

        def first(held: HeldQuestions, own: list[Comparison]) -> Iterator[Comparison | None]:
            for one in map(views.again, own if not session.done else []):
                yield None if one is not None and one.key in closed else one
            yield from self._exam(who)
            for row, others in wanted.items():
                yield views.of(row, others, {})
            share = max(1, len(pending) // (1 + len(held.people)))
            for row, others in list(pending.items())[:share]:
                yield views.of(row, others, chains, held.rows)
            taken = {*held.rows, *chains}
            for row, other in spare:
                if row not in held.rows:
                    yield views.of(row, [other], {}, taken)
            for row, other in session.choose(most + SPARE, {*held.rows, *voted}).tolist():
                yield views.of(row, [other], {}, taken)
            for row, others in pending.items():
                yield views.of(row, others, chains, held.rows)

        def last() -> list[Comparison | None]:
            return [views.of(row, others, {}) for row, others in pending.items()]

        return Offers(first, last, team.places)

    def _spares(
        self, wanted: int, held: Collection[int], closed: Collection[int]
    ) -> list[list[int]]:
        """Return questions beyond those that are open, chosen for several people at once."""
        session = self._session
        revision = session.ledger.revision
        since = (
            revision.answers - self._chosen_at.answers,
            revision.retracted - self._chosen_at.retracted,
        )
        left = [pair for pair in self._chosen if pair[0] not in held]
        if not held or len(left) < wanted or since[0] > SPARE or since[1]:
            left = session.choose(wanted + SPARE, {*held, *closed}).tolist()
            self._chosen_at = revision
        self._chosen = left
        return left

    def _exam(self, who: str) -> list[Comparison]:
        """Return pairs that a model has answered, and that people are asked about, too."""
        assistant = self._project.assistant
        if assistant is None or who == assistant.oracle.name:
            return []
        return [Comparison("p", a, (b,)) for a, b in assistant.exam()]

    def _open(self) -> dict[int, list[int]]:
        """Return the rows asked about now, each with those that it is to be compared with."""
        chains: dict[int, list[int]] = {}
        for row, other in self._session.pending().tolist():
            chains.setdefault(row, []).append(other)
        return chains

    def release(self, who: str) -> None:
        """Let others have at once what somebody was shown, who answers no more."""
        self.sharing.release(who)

    # Answers

    def answer(self, question_id: str, answer: Said, *, who: str = "") -> None:
        """Take an answer; it is on disk when this returns.

        To a pair: "same", "different", "unsure" or "skip". To a line-up: "none" (or "different"),
        "unsure" or "skip". To either, of its first row: the cluster that it is in, be it among those shown or
        not, or a `NewCluster`. To a sheet: a `SheetAnswer`, "unsure" or "skip". A skipped question is not
        charged and can be come back to.
        """
        question = Comparison.parse(question_id)
        if question is None:
            raise ProjectError("There is no such question.")
        if max(question.row, *question.others) >= self._session.points.n:
            raise QuestionClosed("There is no such question.")
        expected = self.sharing.expected(who, question)
        keys = keys_of(np.array(question.pairs)).tolist()
        with self._project.act():
            self._expected = dict(zip(keys, expected, strict=True))
            self._elsewhere = self._session.elsewhere(expected[:1])[0]
            self._answer(question, answer, who)

    def _answer(self, question: Comparison, answer: Said, who: str) -> None:
        form, row, others = question
        team = self._project.team
        if form == "s":
            if (row, others[0]) not in self.skipped_pairs():
                raise QuestionClosed("This question was answered meanwhile.")
            if (word := _word(answer)) != "skip":
                self._write(np.array([[row, others[0]]]), np.array([ANSWERS[word]]), who)
            return
        if not self._may_be_late(question, who) and not self._is_pending(question):
            raise QuestionClosed(
                "This question is not open any more: it was answered, or taken back."
            )
        self.sharing.answered(who, question.id)
        if not team.take_opinion(question, answer, who):
            self._take(question, answer, who)
            team.keep_votes(question, answer, who)

    def _take(self, question: Comparison, answer: Said, who: str) -> None:
        """Take an answer to a question that is open, or was."""
        form, row, others = question.form, question.row, list(question.others)
        if form == "p" and not isinstance(answer, str):
            row, others = self._subject_first(row, others[0])
        if form == "g":
            self._answer_sheet(row, others, answer, who)
        elif isinstance(answer, NewCluster):
            with self._project.kinds.numbers.kept():
                self._say_new(row, others, answer.name, who)
        elif isinstance(answer, int) and not isinstance(answer, bool):
            with self._project.kinds.numbers.kept():
                self._say_cluster(row, others, answer, who)
        elif answer == "skip":
            self.tell([[row, others[0]]], [UNSURE], who, free=True)
        elif form == "p":
            self.tell([[row, others[0]]], [ANSWERS[_word(answer)]], who)
        elif answer == "unsure":
            self.tell([[row, others[0]]], [UNSURE], who)
        elif answer in ("none", "different"):
            self.tell([[row, o] for o in others], [DIFFERENT] * len(others), who)
        else:
            raise ProjectError(
                'The answer to a line-up is the number of a kind, a new kind, "none", "unsure" or "skip".'
            )

    def _answer_sheet(self, member: int, rows: list[int], answer: Said, who: str) -> None:
        pairs = [[row, member] for row in rows]
        if answer in ("unsure", "skip"):
            self.tell(pairs, [UNSURE] * len(rows), who, free=answer == "skip")
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
        self.tell(pairs, said, who)

    def _say_cluster(self, row: int, others: list[int], cluster: int, who: str) -> None:
        """Take the cluster of a row as the answer to a question that compares it with other rows.

        It is SAME with one member of the cluster, which settles the row. Nothing is said of other clusters,
        as two of them may prove to be one.
        """
        session, kinds = self._session, self._project.kinds
        if 0 <= cluster < session.points.n and not session.members_of(cluster):
            # it may have been there when the question was shown: somebody took an answer back since
            raise QuestionClosed(f"There is no kind {cluster} any more. Have another look.")
        members, own = kinds.members(cluster), session.members_of(row)
        if own and own[0] == members[0]:  # clusters are compared, and it is in none of the others
            self.tell([[row, o] for o in others], [DIFFERENT] * len(others), who)
            return
        offered = [other for other in others if other in members]
        if offered:
            if offered[0] != others[0]:
                self._place_elsewhere(row, offered[0])
            self.tell([[row, offered[0]]], [SAME], who)
            return
        if own and session.ledger.lookup(np.array([[row, members[0]]]))[0] != DIFFERENT:
            answers = [(row, members[0], SAME)]  # clusters are compared, and two are one
        else:
            answers = placing(session, [row], members)
        asked = [{a, b} <= {row, *members} for a, b, _ in answers]
        asked = [paid and not any(asked[:place]) for place, paid in enumerate(asked)]
        if not session.folds:  # then the run has to hear something of what it asked
            answers += [(row, other, DIFFERENT) for other in others]
            asked += [True] * len(others)
        self._edit(answers, who, asked)

    def _say_new(self, row: int, others: list[int], name: str, who: str) -> None:
        """Take "a new cluster" as the answer to a question that compares a row with others.

        It is DIFFERENT from one row of every cluster that there is: less would leave the row to be asked
        about again.
        """
        kinds = self._project.kinds
        text, own = check_name(name), self._session.members_of(row)
        if there := kinds.named(text):
            self._say_cluster(row, others, there[0], who)
            return
        if own == [row] or (own and kinds.name_of(own) is None):
            # clusters are compared: it is none of the others
            self.tell([[row, o] for o in others], [DIFFERENT] * len(others), who)
        else:
            answers = founding(self._session, [row], others)
            self._place_elsewhere(row, others[0])
            self._edit(answers, who, [b in others for _, b, _ in answers])
        if text:
            self._session.ledger.name(row, text, who=who)

    def tell(
        self, pairs: list[list[int]], said: list[int], who: str, *, free: bool = False
    ) -> None:
        """Take answers, be they to pending pairs, others, or such as somebody has answered meanwhile.

        Where answers are trusted, what others have answered is an opinion, to be reviewed; else it is
        evidence, as any answer.
        """
        session, ledger = self._session, self._session.ledger
        given, answers = np.array(pairs), np.array(said, dtype=np.int8)
        trusts = session.params.trusts_answers
        new = ledger.lookup(given, infer=trusts) == UNANSWERED
        if not trusts and not free:
            new[:] = True
        self._write(given[new], answers[new], who, free=free)
        if not free:
            late = np.column_stack([given, answers])[~new].tolist()
            ledger.opine([(a, b, answer) for a, b, answer in late], who=who, role=OpinionRole.LATE)

    def _write(self, pairs: Pairs, said: Answers, who: str, *, free: bool = False) -> None:
        """Write answers with what was expected of them, as far as that is known."""
        nothing = np.full_like(self._elsewhere, np.nan)
        asked = np.full(len(pairs), not free)
        self._session.write(pairs, said, who, asked, self._expected_of(pairs, nothing))

    def _edit(self, answers: PairAnswers, who: str, asked: list[bool]) -> None:
        """Write answers of somebody who says what an item is, be that what it was compared with or not."""
        pairs = np.array([answer[:2] for answer in answers], dtype=np.intp).reshape(-1, 2)
        self._project.kinds.write(answers, who, asked, self._expected_of(pairs, self._elsewhere))

    def _place_elsewhere(self, row: int, other: int) -> None:
        """Note that the answer about a row and another one says that the row is not where it was expected."""
        self._expected[keys_of(np.array([[row, other]])).tolist()[0]] = self._elsewhere

    def _expected_of(self, pairs: Pairs, otherwise: Expected) -> Expected:
        """Return what was expected of pairs; `otherwise` where they are not those of the question."""
        known = [self._expected.get(key, otherwise) for key in keys_of(pairs).tolist()]
        return np.array(known, dtype=np.float32).reshape(len(pairs), otherwise.size)

    def _is_pending(self, question: Comparison) -> bool:
        return bool(self._session.is_waiting(np.array(question.pairs)).any())

    def _may_be_late(self, question: Comparison, who: str) -> bool:
        """Return whether somebody may answer a question because it was shown to them, pending or not.

        It was chosen for them, or somebody else's answer has closed it meanwhile; not one that they answered
        themselves. Of those without a name nobody knows who answered what.
        """
        if not self.sharing.was_shown(who, question):
            return False
        ledger, pairs = self._session.ledger, question.pairs
        if not who:
            return bool((ledger.lookup(np.array(pairs)) == UNANSWERED).all())
        return all(ledger.answer_by(a, b, who) is None for a, b in pairs)

    # What was skipped

    def skipped(self, most: int = 3) -> list[PairQuestion]:
        """Return questions that were skipped, to come back to."""
        with self._project.state():
            return [self._pair(a, b, skipped=True) for a, b in self.skipped_pairs()[:most]]

    def skipped_pairs(self) -> list[tuple[int, int]]:
        """Return the pairs that were skipped and not answered since, and wait for nobody's opinion."""
        ledger = self._session.ledger
        pairs = ledger.log.skipped()
        still = pairs[ledger.lookup(pairs, infer=False) == UNSURE].tolist()
        return [(a, b) for a, b in still if not self._project.team.is_reviewed(a, b)]

    # What is shown

    def _is_whole(self, question: Comparison) -> bool:
        """Return whether the clusters that a question shows are still there: others may have undone them."""
        form, row, others = question
        shown = {"g": [row], "l": others}.get(form, [])
        return all(place >= 0 for place in self._session.places_of(shown).tolist())

    def _show(self, question: Comparison) -> Question:
        form, row, others = question
        if form == "g":
            return SheetQuestion(
                id=question.id,
                items=list(map(self._project.item, others)),
                cluster=self._option(row),
            )
        if form == "l":
            return LineupQuestion(
                id=question.id,
                item=self._project.item(row),
                options=list(map(self._option, others)),
                item_cluster=self._ref_of(row),
                refused=self._n_refused(row),
            )
        return self._pair(row, others[0], blind=question in self._exam(""))

    def _pair(self, a: int, b: int, *, skipped: bool = False, blind: bool = False) -> PairQuestion:
        item, members = self._project.item, self._session.members_of(b)
        more = [row for row in members if row not in (a, b)][:SHOWN]
        return PairQuestion(
            id=f"{'s' if skipped else 'p'}-{a}-{b}",
            a=item(a),
            b=item(b),
            b_cluster=self._ref_of(b),
            more=list(map(item, more)),
            a_cluster=None if blind else self._ref_of(a),
            refused=0 if blind else self._n_refused(a),
            skipped=skipped,
            subject=self._subject_first(a, b)[0],
        )

    def _subject_first(self, a: int, b: int) -> tuple[int, list[int]]:
        """Return which of two rows "it is …" is about, and the other: the one that is not placed yet."""
        is_b = bool(self._session.members_of(a)) and not self._session.members_of(b)
        return (b, [a]) if is_b else (a, [b])

    def _ref_of(self, row: int) -> ClusterRef | None:
        """Return the cluster that a row is known to be in, if it is."""
        members = self._session.members_of(row)
        return self._project.kinds.ref(members) if members else None

    def _option(self, member: int) -> ClusterOption:
        """Return the cluster of a row, with that and further members."""
        members = self._session.members_of(member)
        shown = [member, *(other for other in members if other != member)][:SHOWN]
        return self._project.kinds.option(members, shown)

    def _n_refused(self, row: int) -> int:
        """Return in how many clusters an unknown row is known not to be, by answers about it."""
        if self._session.members_of(row):
            return 0
        pairs = self._session.ledger.log.different_pairs()
        others = pairs[(pairs == row).any(axis=1)].sum(axis=1) - row
        return len({tuple(self._session.members_of(other)[:1]) for other in others.tolist()})


def _word(said: Said) -> str:
    if not isinstance(said, str) or said not in (*ANSWERS, "skip"):
        raise ProjectError('The answer to a pair is "same", "different", "unsure" or "skip".')
    return str(said)
