"""What is known from the answers that stand: given, implied, contradicting."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from samekind.flow import UNANSWERED, UNSURE, Answers, Pairs
from samekind.ledger._latest import LatestAnswers
from samekind.ledger.inference import Contradiction, Implications, Statement, explain
from samekind.ledger.log import Lines

__all__ = ["Knowledge"]


class Knowledge:
    """Answers can be added to it; after a retraction it is made anew.

    Attributes
    ----------
    n_answers : int
        How many answers were added.
    conflicts : set of int
        The numbers of the lines that contradict earlier ones.
    """

    def __init__(self) -> None:
        self.n_answers = 0
        self.conflicts: set[int] = set()
        self.latest = LatestAnswers()
        self.implied = Implications()
        self._explained: list[Contradiction] | None = None  # until answers change

    def answers(self, pairs: Pairs, *, infer: bool) -> Answers:
        """Return what is known of each pair, or UNANSWERED."""
        known = self.latest.answers(pairs)
        if infer:
            self.implied.fill_in(pairs, UNANSWERED, known)
        return known

    def add(
        self,
        pairs: Pairs,
        answers: Answers,
        who: int | NDArray[np.int32],
        numbers: NDArray[np.intp] | int,
    ) -> bool:
        """Take in answers; return whether all their pairs are new.

        `numbers` are those of their lines, or the first one if they stand together.
        """
        n_new = self.latest.put(pairs, answers, who)
        contradicting = self.implied.add(pairs, answers)
        if contradicting.size:
            where = contradicting + numbers if isinstance(numbers, int) else numbers[contradicting]
            self.conflicts.update(where.tolist())
        self.n_answers += len(pairs)
        self._explained = None
        return n_new == len(pairs)

    def contradictions(
        self, lines: Lines, statement: Callable[[int], Statement]
    ) -> list[Contradiction]:
        """Return each conflicting line of the log with the fewest earlier ones it contradicts."""
        if self._explained is None:
            definite = np.flatnonzero(~lines["retracted"] & (lines["answer"] != UNSURE))
            held = [statement(n) for n in definite.tolist() if n not in self.conflicts]
            self._explained = explain(held, map(statement, sorted(self.conflicts)))
        return list(self._explained)
