"""What people disagree about, for a reviewer, who sees what each of them said and settles it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from samekind.data import ItemView
from samekind.flow import UNANSWERED, UNSURE
from samekind.ledger import Opinion, OpinionRole
from samekind.project.overlap import Overlaps
from samekind.project.records import ClusterRef
from samekind.project.shared import exclusive
from samekind.project.words import ANSWERS, WORDS, ProjectError, plain

__all__ = ["OpinionRecord", "ReviewPage", "ReviewRecord", "Reviews"]


@dataclass(frozen=True)
class OpinionRecord:
    """What somebody said of a pair; without a name, it follows from other answers."""

    who: str
    answer: str
    at: float | None


@dataclass(frozen=True)
class ReviewRecord:
    """Two items of which people do not say the same."""

    a: ItemView
    b: ItemView
    a_cluster: ClusterRef | None
    b_cluster: ClusterRef | None
    opinions: list[OpinionRecord]


@dataclass(frozen=True)
class ReviewPage:
    """Some of all that is to be settled."""

    reviews: list[ReviewRecord]
    total: int


class Reviews(Overlaps):
    """The review queue."""

    @exclusive
    def reviews(self, offset: int = 0, limit: int = 20) -> ReviewPage:
        """Return what is to be settled, what came first first."""
        self.catch_up()
        pairs = self._disputed()
        return ReviewPage(
            [self._review(*pair) for pair in pairs[offset : offset + limit]], len(pairs)
        )

    @exclusive
    def settle(self, a: int, b: int, answer: str, *, who: str = "") -> None:
        """Settle what people disagree about: "same", "different" or "unsure"; it counts at once."""
        self._check_rows([a, b])
        if answer not in ANSWERS:
            raise ProjectError('A pair is settled as "same", "different" or "unsure".')
        with self.act(), self.numbers.kept():
            pair = min(a, b), max(a, b)
            if pair not in self._disputed():
                raise ProjectError(f"Nobody disagrees about rows {a} and {b}, or not any more.")
            said, ledger = ANSWERS[answer], self.session.ledger
            if int(ledger.lookup(np.array([pair]), infer=False)[0]) != said:
                self._write([(*pair, said)], who)
            ledger.opine([(*pair, said)], who=who, role=OpinionRole.SETTLES)

    def _disputed(self) -> list[tuple[int, int]]:
        """Return the pairs that are to be settled, in the order of their first opinions."""
        opinions = self.session.ledger.log.opinions
        pairs = opinions.unsettled()
        said = zip(pairs, self._said(pairs), strict=True)
        disputed = [pair for pair, there in said if self._is_disputed(pair, there)]
        return sorted(disputed, key=lambda pair: min(one.at for one in opinions.on(*pair)))

    def _is_disputed(self, pair: tuple[int, int], said: list[Opinion]) -> bool:
        definite = {one.answer for one in said if one.answer != UNSURE}
        blind = [one for one in said if one.role == OpinionRole.BLIND]
        if blind and not self.has_all_opinions(*pair):
            return False  # others are still to say what they think
        return len(definite) > 1 or (len(blind) > 1 and len({one.answer for one in blind}) > 1)

    def _is_reviewed(self, a: int, b: int) -> bool:
        """Return whether several people were asked about a pair and differ: it is a reviewer's to settle."""
        opinions = self.session.ledger.log.opinions.on(a, b)
        return len({one.answer for one in opinions if one.role == OpinionRole.BLIND}) > 1

    def _said(self, pairs: list[tuple[int, int]]) -> list[list[Opinion]]:
        """Return the opinions on each pair, and what the ledger says of it if that is another's."""
        ledger, rows = self.session.ledger, np.array(pairs, dtype=np.intp).reshape(-1, 2)
        numbers, answers = ledger.log.annotators_of(rows).tolist(), ledger.lookup(rows).tolist()
        names, found = ledger.annotators, list[list[Opinion]]()
        for (a, b), number, answer in zip(pairs, numbers, answers, strict=True):
            said, who = ledger.log.opinions.on(a, b), names[number] if number >= 0 else ""
            if answer not in (UNANSWERED, UNSURE) and all(one.who != who for one in said):
                said = [Opinion(a, b, answer, who, 0.0, OpinionRole.LATE, 0), *said]
            found.append(said)
        return found

    def _review(self, a: int, b: int) -> ReviewRecord:
        one, two = (self.session.members_of(row) for row in (a, b))
        said = [
            OpinionRecord(plain(opinion.who), WORDS[opinion.answer], opinion.at or None)
            for opinion in self._said([(a, b)])[0]
        ]
        return ReviewRecord(
            a=self.item(a),
            b=self.item(b),
            a_cluster=self.ref(one) if one else None,
            b_cluster=self.ref(two) if two else None,
            opinions=said,
        )
