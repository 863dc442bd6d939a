"""Several people: opinions on one question, blind to each other, and a reviewer who settles disputes.

- Which questions get several opinions is decided by the row that they are about, of a sheet the first one, so
  that all servers choose the same ones. What one opinion was kept on wants another, however it is asked then.
- What people say is kept as opinions, which no run and no annotator sees. When as many as wanted agree, it is
  written as the answer of who was last.
- Where they do not agree, the question counts as skipped, so that nobody waits, and what they disagree about
  goes to the review queue.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np

from samekind.flow import DIFFERENT, SAME, UNANSWERED, UNSURE
from samekind.ledger import Opinion, OpinionRole
from samekind.project.annotators import agreement_of, annotators_of, votes_of
from samekind.project.records import (
    AnnotatorPage,
    ClusterRef,
    NewCluster,
    OpinionRecord,
    ReviewPage,
    ReviewRecord,
    Said,
    SheetAnswer,
)
from samekind.project.sharing import Comparison
from samekind.project.words import ANSWERS, WORDS, ProjectError, plain

if TYPE_CHECKING:
    from samekind.project.project import Project

__all__ = ["Team", "check_overlap"]

OVERLAP = "overlap"  # in `settings`: see `check_overlap`
MOST = 10

Pair = tuple[int, int]


def check_overlap(overlap: float) -> float:
    """Return how many opinions are wanted, or of which share of the questions two, as a number.

    An error says what is wrong with it.

    Examples
    --------
    >>> check_overlap(2), check_overlap(0.1)
    (2.0, 0.1)
    """
    value = float(overlap)
    if not (0 < value <= 1 or (value.is_integer() and 1 < value <= MOST)):
        raise ProjectError(
            f"overlap must be a share such as 0.1, or a number of people from 1 to {MOST}, got "
            f"{overlap!r}."
        )
    return value


class Team:
    """Opinions of several people, reviews, and who answered how well."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._ledger = project.ledger

    # How many opinions are wanted

    @property
    def overlap(self) -> float:
        """How many opinions on each question are wanted; below 1, on which share of them there are two."""
        return float(self._ledger.settings.get(OVERLAP) or 1)

    def set_overlap(self, overlap: float) -> None:
        """Want several opinions on each question (2, 3, …), two on a share of them (0.1), or one (1)."""
        value = check_overlap(overlap)
        with self._project.state():
            is_so = value == self.overlap
        if not is_so:
            with self._project.act():
                self._ledger.set(OVERLAP, str(value))

    def n_wanted(self, question: Comparison) -> int:
        """Return how many opinions are wanted on a question."""
        overlap = self.overlap
        if overlap >= 1:
            return int(overlap)
        if any(self._ledger.log.opinions.n_blind(a, b) for a, b in question.pairs):
            return 2
        seed = self._project.session.seed
        digest = blake2b(f"{seed} {question.key}".encode(), digest_size=8).digest()
        return 1 + (int.from_bytes(digest, "big") / 2**64 < overlap)

    def places(self, question: Comparison) -> int:
        """Return how many people may have a question at once."""
        if self.overlap == 1:
            return 1
        return max(0, self.n_wanted(question) - len(self._voters(question.pairs)))

    def has_all_opinions(self, a: int, b: int) -> bool:
        """Return whether a pair has all the opinions that are wanted: it waits for a reviewer, if at all."""
        return self._ledger.log.opinions.n_blind(a, b) >= self._most_wanted

    @property
    def _most_wanted(self) -> int:
        """How many opinions are wanted where one was kept."""
        return int(self.overlap) if self.overlap >= 1 else 2

    def _voters(self, pairs: list[list[int]]) -> set[str]:
        """Return who has an opinion on every one of these pairs, and waits for others."""
        opinions = self._ledger.log.opinions
        return set.intersection(
            *(
                {one.who for one in opinions.on(a, b) if one.role == OpinionRole.BLIND}
                for a, b in pairs
            )
        )

    def waiting(self, pending: Mapping[int, list[int]]) -> dict[int, tuple[list[int], set[str]]]:
        """Return rows that wait for more opinions: what each is compared with, and who has given theirs.

        `pending` are the rows that are asked about now, each with others.
        """
        if self.overlap == 1:
            return {}
        ledger, known = self._ledger, self._project.session.members_of
        found: dict[int, list[int]] = {}
        for a, b in ledger.log.opinions.waiting(self._most_wanted):
            turned = a in pending.get(b, ()) or (known(a) and not known(b))
            row, other = (b, a) if turned else (a, b)
            if ledger.lookup(np.array([[row, other]]))[0] == UNANSWERED:
                found.setdefault(row, []).append(other)
        return {
            row: (others, self._voters([[row, other] for other in others]))
            for row, others in found.items()
        }

    # Taking opinions

    def take_opinion(self, question: Comparison, answer: Said, who: str) -> bool:
        """Keep an opinion if others are wanted, too; return whether that is all there is to do now.

        If not, the answer is to be taken as any: everybody agrees.
        """
        n_wanted = self.n_wanted(question)
        if n_wanted == 1:
            return False
        ledger, own = self._ledger, self._votes(question, answer)
        earlier = {
            pair: [
                one.answer
                for one in ledger.log.opinions.on(*pair)
                if one.role == OpinionRole.BLIND and one.who != who
            ]
            for pair in own
        }
        if min(map(len, earlier.values())) + 1 < n_wanted:
            self._opine(own, who)
            return True
        disputed = {pair for pair, said in own.items() if {said} != {*earlier[pair], said}}
        if not disputed:
            return False
        if question.form == "g":
            agreed = {pair: said for pair, said in own.items() if pair not in disputed}
            if agreed:
                self._project.questions.tell(list(map(list, agreed)), list(agreed.values()), who)
            left = [list(pair) for pair in own if pair in disputed]
        else:
            left = [list(next(pair for pair in own if pair in disputed))]
        self._project.questions.tell(left, [UNSURE] * len(left), who, free=True)  # for now
        self._opine(own, who)
        return True

    def keep_votes(self, question: Comparison, answer: Said, who: str) -> None:
        """Keep the opinion that was the last one wanted, together with the answer that it became."""
        if self.n_wanted(question) > 1:
            self._opine(self._votes(question, answer), who)

    def _opine(self, votes: dict[Pair, int], who: str) -> None:
        self._ledger.opine([(a, b, said) for (a, b), said in votes.items()], who=who)

    def _votes(self, question: Comparison, answer: Said) -> dict[Pair, int]:
        """Return what an answer says of each pair of its question; what is nonsense says UNSURE."""

        def says(row: int, other: int) -> int:
            if question.form == "g":
                if not isinstance(answer, SheetAnswer) or row in answer.unsure:
                    return UNSURE
                return DIFFERENT if row in answer.different else SAME
            if (
                isinstance(answer, NewCluster)
                or answer == "none"
                or (is_lineup and answer == "different")
            ):
                return DIFFERENT
            if isinstance(answer, int):
                return SAME if other in members else DIFFERENT
            return ANSWERS.get(str(answer), UNSURE) if question.form == "p" else UNSURE

        is_lineup = question.form == "l"
        is_cluster = isinstance(answer, int) and question.form != "g"
        members = set(self._project.kinds.members(answer)) if is_cluster else set()  # type: ignore[arg-type]
        return {(row, other): says(row, other) for row, other in question.pairs}

    # Reviews

    def reviews(self, offset: int = 0, limit: int = 20) -> ReviewPage:
        """Return what is to be settled, what came first first."""
        with self._project.state():
            pairs = self._disputed()
            shown = [self._review(*pair) for pair in pairs[offset : offset + limit]]
            return ReviewPage(shown, len(pairs))

    def settle(self, a: int, b: int, answer: str, *, who: str = "") -> None:
        """Settle what people disagree about: "same", "different" or "unsure"; it counts at once."""
        self._project.check_rows([a, b])
        if answer not in ANSWERS:
            raise ProjectError('A pair is settled as "same", "different" or "unsure".')
        kinds, ledger = self._project.kinds, self._ledger
        with self._project.act(), kinds.numbers.kept():
            pair, said = (min(a, b), max(a, b)), ANSWERS[answer]
            if pair not in self._disputed():
                raise ProjectError(f"Nobody disagrees about rows {a} and {b}, or not any more.")
            if int(ledger.lookup(np.array([pair]), infer=False)[0]) != said:
                kinds.write([(*pair, said)], who)
            ledger.opine([(*pair, said)], who=who, role=OpinionRole.SETTLES)

    def is_reviewed(self, a: int, b: int) -> bool:
        """Return whether several people were asked about a pair and differ: it is a reviewer's to settle."""
        opinions = self._ledger.log.opinions.on(a, b)
        return len({one.answer for one in opinions if one.role == OpinionRole.BLIND}) > 1

    def _disputed(self) -> list[Pair]:
        """Return the pairs that are to be settled, in the order of their first opinions."""
        opinions = self._ledger.log.opinions
        pairs = opinions.unsettled()
        said = zip(pairs, self._said(pairs), strict=True)
        disputed = [pair for pair, there in said if self._is_disputed(pair, there)]
        return sorted(disputed, key=lambda pair: min(one.at for one in opinions.on(*pair)))

    def _is_disputed(self, pair: Pair, said: list[Opinion]) -> bool:
        definite = {one.answer for one in said if one.answer != UNSURE}
        blind = [one for one in said if one.role == OpinionRole.BLIND]
        if blind and not self.has_all_opinions(*pair):
            return False  # others are still to say what they think
        return len(definite) > 1 or (len(blind) > 1 and len({one.answer for one in blind}) > 1)

    def _said(self, pairs: list[Pair]) -> list[list[Opinion]]:
        """Return the opinions on each pair, and what the ledger says of it if that is another's."""
        ledger, rows = self._ledger, np.array(pairs, dtype=np.intp).reshape(-1, 2)
        numbers, answers = ledger.log.annotators_of(rows).tolist(), ledger.lookup(rows).tolist()
        names, found = ledger.annotators, list[list[Opinion]]()
        for (a, b), number, answer in zip(pairs, numbers, answers, strict=True):
            said, who = ledger.log.opinions.on(a, b), names[number] if number >= 0 else ""
            if answer not in (UNANSWERED, UNSURE) and all(one.who != who for one in said):
                said = [Opinion(a, b, answer, who, 0.0, OpinionRole.LATE, 0), *said]
            found.append(said)
        return found

    def _review(self, a: int, b: int) -> ReviewRecord:
        def ref(row: int) -> ClusterRef | None:
            members = self._project.session.members_of(row)
            return self._project.kinds.ref(members) if members else None

        said = [
            OpinionRecord(plain(opinion.who), WORDS[opinion.answer], opinion.at or None)
            for opinion in self._said([(a, b)])[0]
        ]
        item = self._project.item
        return ReviewRecord(item(a), item(b), ref(a), ref(b), said)

    # Who answered

    def annotators(self) -> AnnotatorPage:
        """Return who answered, people and models, and what a model does now."""
        project = self._project.moment()
        votes = votes_of(project)
        return annotators_of(project, votes, agreement_of(votes))
