"""What is known from the answers that stand: given, implied, contradicting."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from samekind.flow import UNANSWERED, UNSURE, Answers, Pairs
from samekind.ledger._latest import LatestAnswers
from samekind.ledger.inference import Contradiction, Explainer, Implications, Statement
from samekind.ledger.log import Lines, keys_of, pairs_of

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
        self._numbers: list[NDArray[np.intp]] = []  # of the lines that were added
        self._explained: dict[int, Contradiction] = {}  # conflicts by their lines

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
        self._numbers.append(
            numbers + np.arange(len(pairs)) if isinstance(numbers, int) else numbers
        )
        return n_new == len(pairs)

    def revise(self, lines: Lines, changed: NDArray[np.intp]) -> bool:
        """Learn that some lines do not stand any more, or stand again; return whether that was possible.

        It costs what is known of their rows. It is not possible if answers contradict others: which of them
        do depends on the order of all.
        """
        if self.conflicts:
            return False
        rows = self.implied.rows()
        component = self.implied.components(rows)
        touched = self.implied.components(np.unique(pairs_of(lines[changed])))
        apart = rows[np.isin(component, touched)]
        if not self.implied.take_apart(apart):
            return False
        is_apart = np.zeros(int(rows.max(initial=0)) + 1, dtype=np.bool_)
        is_apart[apart] = True
        stands = ~lines["retracted"]
        a, b = (np.minimum(lines[name], rows.max(initial=0)) for name in ("a", "b"))
        learn = is_apart[a] | is_apart[b]
        learn[changed] = True
        again = np.flatnonzero(stands & learn)
        if self.implied.add(pairs_of(lines[again]), lines["answer"][again]).size:
            return False
        self.latest.forget(pairs_of(lines[changed]))
        same_pair = np.flatnonzero(stands & np.isin(_keys(lines), _keys(lines[changed])))
        some = lines[same_pair]
        self.latest.put(pairs_of(some), some["answer"], some["who"])
        self._numbers = [np.flatnonzero(stands)]
        self.n_answers = self._numbers[0].size
        return True

    def contradictions(
        self, lines: Lines, statement: Callable[[int], Statement]
    ) -> list[Contradiction]:
        """Return each conflicting line of the log with the fewest earlier ones it contradicts."""
        missing = sorted(self.conflicts - self._explained.keys())
        if missing:
            rows = np.unique(pairs_of(lines[missing]))
            component = self.implied.components(pairs_of(lines).ravel()).reshape(-1, 2)
            near = np.isin(component, self.implied.components(rows))
            held, explainer, at = self._held(), Explainer(), 0
            held = held[near[held].all(axis=1) & (lines["answer"][held] != UNSURE)]
            for number in missing:
                upto = int(np.searchsorted(held, number))
                for earlier in held[at:upto].tolist():
                    explainer.hold(statement(earlier))
                at = upto
                self._explained[number] = explainer.explain(statement(number))
        return [self._explained[number] for number in sorted(self.conflicts)]

    def _held(self) -> NDArray[np.intp]:
        """Return the lines that stand and contradict no earlier ones."""
        standing = np.concatenate([*self._numbers, np.empty(0, dtype=np.intp)])
        return np.setdiff1d(standing, list(self.conflicts)).astype(np.intp)

    def keep_explanations(self, before: Knowledge, statement: Callable[[int], Statement]) -> None:
        """Take over what was found out before some lines were taken back, as far as it still holds."""
        if not before._explained:
            return
        held, now = before._held(), self._held()
        if (np.setdiff1d(now, held) < held.max(initial=-1)).any():
            return  # earlier lines count again, and may explain better
        lost = {statement(number) for number in np.setdiff1d(held, now).tolist()}
        self._explained = {
            number: found
            for number, found in before._explained.items()
            if number in self.conflicts and lost.isdisjoint(found.statements)
        }


def _keys(lines: Lines) -> NDArray[np.int64]:
    return keys_of(pairs_of(lines))
