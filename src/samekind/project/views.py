"""How a question is asked of people: as a pair, as a line-up, or on a sheet.

An algorithm asks whether a row is in a cluster. If the row is not known, a person can as well pick one of the
clusters that it is likeliest in (a *line-up*); or look at the row together with others that are predicted to
be in the same cluster, and say which of them are not (a *sheet*). Either is answered by one press, which
says something of several pairs.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np

from samekind.engine import Session
from samekind.ledger import UNANSWERED
from samekind.project.sharing import Comparison

__all__ = ["LINEUP", "SHEET", "Views"]

LINEUP = 6  # clusters in a line-up, at most
SHEET = 12  # rows on a sheet, at most: as many as are seen at a glance
MOST_LIKELY = 100  # rows of which those for a sheet are picked
LEAST_ON_SHEET = 3  # rows; fewer are asked about one by one
SURE = 0.95  # that a row is in a cluster, from which on it is asked about on a sheet: less than one of twelve
# is to be marked. With .8, of the first row alone, 74 % of 3,000 messages are right after 300 presses, not 77


@dataclass(frozen=True)
class Views:
    """How questions of a session are asked; at most so many clusters, or rows, in one."""

    session: Session
    lineup: int = LINEUP
    sheet: int = SHEET

    def of(
        self,
        row: int,
        others: Collection[int],
        chains: Mapping[int, Collection[int]],
        taken: Collection[int] = (),
    ) -> Comparison | None:
        """Return how to ask about a row and those that it is to be compared with; None if it is answered.

        `chains` are all rows that are to be compared, each with others. Rows that are `taken` are on nobody
        else's sheet.
        """
        others = self._left(row, others)
        if not others:
            return None
        first = others[0]
        if not self._is_known(row) and all(map(self._is_known, others)):
            if len(others) == 1:
                rows = self._on_sheet(row, first, chains, taken)
                if len(rows) >= LEAST_ON_SHEET:
                    return Comparison("g", first, tuple(rows))
            shown = self._in_lineup(row, others)
            if len(shown) > 1:
                return Comparison("l", row, tuple(shown))
        return Comparison("p", row, (first,))

    def again(self, question: Comparison) -> Comparison | None:
        """Return what is left of a question that somebody was shown; None if it is answered."""
        form, row, others = question
        left = self._unanswered(question)
        if form == "s" or not left:
            return None
        if form == "g":
            rows = [a for a, _ in left if not self._is_known(a)]
            if self.sheet and len(rows) >= LEAST_ON_SHEET and self._is_known(row):
                return Comparison("g", row, tuple(rows))
            return Comparison("p", rows[0], (row,)) if rows else None
        if form == "l" and self._is_known(row):
            return None
        others = tuple(b for _, b in left)
        known = all(map(self._is_known, others))
        if form == "l" and known and min(len(others), self.lineup) > 1:
            return Comparison("l", row, others)
        return Comparison("p", row, others[:1])

    def _in_lineup(self, row: int, others: Collection[int]) -> list[int]:
        """Return members of the clusters that a row is shown with: those asked about, then the likeliest."""
        if self.lineup < 2:
            return []
        asked = set(self.session.places_of([*others]).tolist())
        likely = self.session.rank_clusters(row)[: self.lineup + len(others)]
        places = self.session.places_of(likely).tolist()
        more = [member for member, place in zip(likely, places, strict=True) if place not in asked]
        return [*others, *self._left(row, more)][: self.lineup]

    def _on_sheet(
        self,
        row: int,
        member: int,
        chains: Mapping[int, Collection[int]],
        taken: Collection[int],
    ) -> list[int]:
        """Return rows to compare with one member of a cluster: those to be asked about, and likely ones."""
        if not self.sheet:
            return []
        session = self.session
        rows = [row, *(one for one, others in chains.items() if [*others] == [member])]
        rows = [one for one in dict.fromkeys(rows) if not self._is_known(one)][: self.sheet]
        rows = self._left(member, rows)
        is_sure = session.chance_of_same(row, member) >= SURE
        if not is_sure or len(session.members_of(member)) < LEAST_ON_SHEET:
            return rows
        best = session.rank_clusters(row)[:1]
        if best and session.places_of(best) == session.places_of([member]):
            likely = session.likely_members(member, MOST_LIKELY, {*taken, *chains, *rows})
            rows += self._left(member, self._sure(member, likely))
        return rows[: self.sheet]

    def _sure(self, member: int, rows: list[int]) -> list[int]:
        """Return the rows that are likely enough in a member's cluster: each that is not costs a press."""
        pairs = np.array([[row, member] for row in rows], dtype=np.intp).reshape(-1, 2)
        chances = self.session.expect(pairs)[:, -1].tolist()
        return [row for row, chance in zip(rows, chances, strict=True) if chance >= SURE]

    def _unanswered(self, question: Comparison) -> list[list[int]]:
        """Return the pairs of a question of which nothing is known."""
        pairs, session = question.pairs, self.session
        if not pairs:
            return []
        known = session.ledger.lookup(np.array(pairs), infer=session.params.trusts_answers)
        return [
            pair for pair, said in zip(pairs, known.tolist(), strict=True) if said == UNANSWERED
        ]

    def _left(self, row: int, others: Collection[int]) -> list[int]:
        """Return the rows of which nothing is known in comparison with this one."""
        return [b for _, b in self._unanswered(Comparison("p", row, tuple(others)))]

    def _is_known(self, row: int) -> bool:
        return bool(self.session.places_of([row])[0] >= 0)
