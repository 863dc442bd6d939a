"""A ledger as it was at an earlier time, to repeat a run in the order in which things happened."""

from __future__ import annotations

import numpy as np

from samekind.ledger.log import Wave, pairs_of
from samekind.ledger.memory import Ledger
from samekind.ledger.notes import Checkpoint

__all__ = ["PastLedger", "ledger_at"]


class PastLedger(Ledger):
    """What another ledger knew when it had so many lines, so many of which were taken back; to be read."""

    def __init__(self, now: Ledger, answers: int, retracted: int) -> None:
        super().__init__(infer=now.infer)
        self._now_ledger = now
        self._numbers = now._numbers
        self._log = now._log.at(answers, retracted)
        later = [
            change.checkpoint
            for change in now.changes
            if change.checkpoint >= 0 and (change.answers > answers or change.retracted > retracted)
        ]
        self._notes.marks = now._notes.marks[: min(later, default=None)]
        self._relearn()

    def go_on(self, answers: int, retracted: int) -> None:
        """Take in the lines that came next, up to so many, and that so many were taken back by then."""
        lines = self._now_ledger._log.lines[self._log.size : answers]
        if lines.size:
            self._learn_new(
                Wave(pairs_of(lines), lines["answer"], lines["who"], lines["when"], lines["paid"])
            )
        struck = self._now_ledger._log.struck(self._log.n_struck, retracted)
        self._strike(np.array(struck, dtype=np.intp))

    def is_before(self, answers: int, retracted: int) -> bool:
        """Return whether it is as things were at this time, or earlier."""
        return self._log.size <= answers and self._log.n_struck <= retracted

    def _checkpoint(self, number: int) -> Checkpoint:
        return self._now_ledger._checkpoint(number)


def ledger_at(ledger: Ledger, answers: int, retracted: int, before: Ledger | None = None) -> Ledger:
    """Return a ledger as it was with so many lines and so many of them taken back.

    That is the ledger itself if it has no more now. `before` may be what this returned for an earlier
    time; it is used up.
    """
    if (answers, retracted) == ledger.revision[:2]:
        return ledger
    if isinstance(before, PastLedger) and before.is_before(answers, retracted):
        before.go_on(answers, retracted)
        return before
    return PastLedger(ledger, answers, retracted)
