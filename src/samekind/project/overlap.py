"""Several opinions on one question, blind to each other.

Its rules:

- Which questions get several is decided by the row that they are about, of a sheet the first one, so that all
  servers choose the same ones; what one opinion was kept on wants another, however it is asked then.
- What people say is kept as opinions, which no run and no annotator sees. When as many as wanted agree, it is
  written as the answer of who was last.
- Where they do not agree, the question counts as skipped, so that nobody waits, and what they disagree about
  goes to the review queue (`project/reviews.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b

import numpy as np

from samekind.flow import DIFFERENT, SAME, UNSURE
from samekind.ledger import UNANSWERED, OpinionRole
from samekind.project.placement import Placements
from samekind.project.records import NewCluster, Said, SheetAnswer
from samekind.project.shared import exclusive
from samekind.project.words import ANSWERS, ProjectError

__all__ = ["Overlaps", "check_overlap"]

OVERLAP = (
    "overlap"  # in `meta`: how many opinions are wanted, or of which share of the questions two
)
MOST = 10

Votes = list[tuple[int, int, int]]
"""What somebody says of each pair of a question: two rows and an answer."""


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


class Overlaps(Placements):
    """Opinions of several people."""

    @property
    def overlap(self) -> float:
        """How many opinions on each question are wanted; below 1, on which share of them there are two."""
        return float(self.session.ledger.settings.get(OVERLAP) or 1)

    @exclusive
    def set_overlap(self, overlap: float) -> None:
        """Want several opinions on each question (2, 3, …), two on a share of them (0.1), or one (1)."""
        value = check_overlap(overlap)
        if value != self.overlap:
            with self.act():
                self.session.ledger.set(OVERLAP, str(value))

    def _n_wanted(self, form: str, row: int, others: list[int]) -> int:
        """Return how many opinions are wanted on a question."""
        overlap, opinions = self.overlap, self.session.ledger.log.opinions
        if overlap >= 1:
            return int(overlap)
        if any(opinions.n_blind(row, other) for other in others):
            return 2
        about = others[0] if form == "g" else row
        digest = blake2b(f"{self.session.seed} {about}".encode(), digest_size=8).digest()
        return 1 + (int.from_bytes(digest, "big") / 2**64 < overlap)

    def _voters(self, row: int, others: list[int]) -> set[str]:
        """Return who has an opinion on every pair of a question, and waits for others."""
        opinions = self.session.ledger.log.opinions
        of_pairs = [
            {one.who for one in opinions.on(row, other) if one.role == OpinionRole.BLIND}
            for other in others
        ]
        return set.intersection(*of_pairs)

    def _waiting(self, pending: Mapping[int, list[int]]) -> dict[int, tuple[list[int], set[str]]]:
        """Return rows that wait for more opinions: what each is compared with, and who has given theirs.

        `pending` are the rows that are asked about now, each with others.
        """
        if self.overlap == 1:
            return {}
        ledger, known = self.session.ledger, self.session.members_of
        found: dict[int, list[int]] = {}
        for a, b in ledger.log.opinions.waiting(self._most_wanted):
            turned = a in pending.get(b, ()) or (known(a) and not known(b))
            row, other = (b, a) if turned else (a, b)
            if ledger.lookup(np.array([[row, other]]))[0] == UNANSWERED:
                found.setdefault(row, []).append(other)
        return {row: (others, self._voters(row, others)) for row, others in found.items()}

    @property
    def _most_wanted(self) -> int:
        """How many opinions are wanted where one was kept."""
        return int(self.overlap) if self.overlap >= 1 else 2

    def has_all_opinions(self, a: int, b: int) -> bool:
        """Return whether a pair has all the opinions that are wanted: it waits for a reviewer, if at all."""
        return self.session.ledger.log.opinions.n_blind(a, b) >= self._most_wanted

    def _take_opinion(self, form: str, row: int, others: list[int], answer: Said, who: str) -> bool:
        """Keep an opinion if others are wanted, too; return whether that is all there is to do now.

        If not, the answer is to be taken as any: everybody agrees.
        """
        n_wanted = self._n_wanted(form, row, others)
        if n_wanted == 1:
            return False
        ledger, own = self.session.ledger, self._votes(form, row, others, answer)
        earlier = {
            (a, b): {
                one.who: one.answer
                for one in ledger.log.opinions.on(a, b)
                if one.role == OpinionRole.BLIND and one.who != who
            }
            for a, b, _ in own
        }
        if min(map(len, earlier.values())) + 1 < n_wanted:
            ledger.opine(own, who=who)
            return True
        agreed = [vote for vote in own if {vote[2]} == {*earlier[vote[:2]].values(), vote[2]}]
        if len(agreed) == len(own):
            return False
        if form == "g" and agreed:
            self._tell([[a, b] for a, b, _ in agreed], [said for *_, said in agreed], who)
        disputed = [[a, b] for a, b, said in own if (a, b, said) not in agreed]
        left = disputed if form == "g" else disputed[:1]
        self._tell(left, [UNSURE] * len(left), who, free=True)  # for now
        ledger.opine(own, who=who)
        return True

    def _keep_votes(self, form: str, row: int, others: list[int], answer: Said, who: str) -> None:
        """Keep the opinion that was the last one wanted, together with the answer that it became."""
        if self._n_wanted(form, row, others) > 1:
            votes = self._votes(form, row, others, answer)
            self.session.ledger.opine(votes, who=who)

    def _votes(self, form: str, row: int, others: list[int], answer: Said) -> Votes:
        """Return what an answer says of each pair of its question; what is nonsense says UNSURE."""
        if form == "g":
            out = answer if isinstance(answer, SheetAnswer) else None
            return [
                (
                    other,
                    row,
                    UNSURE
                    if out is None or other in out.unsure
                    else DIFFERENT
                    if other in out.different
                    else SAME,
                )
                for other in others
            ]
        if isinstance(answer, NewCluster) or answer == "none":
            return [(row, other, DIFFERENT) for other in others]
        if isinstance(answer, int):
            members = set(self._members(answer))
            return [(row, other, SAME if other in members else DIFFERENT) for other in others]
        said = ANSWERS.get(str(answer), UNSURE) if form == "p" else UNSURE
        return [(row, other, said) for other in others]
