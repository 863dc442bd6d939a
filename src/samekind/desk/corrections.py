"""Answers that were corrected for somebody else, so that undoing brings them back."""

from __future__ import annotations

import json

from samekind.engine import Session
from samekind.ledger import Entry

__all__ = ["Corrections"]

KEY = "corrections"


class Corrections:
    """What corrections replaced, by the time of each; kept in the ledger."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def note(self, before: list[Entry]) -> None:
        """Remember what the correction that was just written replaced."""
        ledger = self._session.ledger
        when = float(ledger.active()["when"][-1])
        replaced = [(e.a, e.b, e.answer, e.who, e.asked) for e in before]
        ledger.set_meta(KEY, json.dumps({**self._all(), repr(when): replaced}))

    def restore(self, when: float) -> None:
        """Bring back what somebody else had said, after the correction of that time was undone."""
        ledger = self._session.ledger
        stored = self._all()
        for a, b, answer, who, asked in stored.pop(repr(when), ()):
            if ledger.said_by(a, b, who) is None:
                self._session.change([(a, b)], [answer], who=who, asked=asked)
                ledger.set_meta(KEY, json.dumps(stored))

    def _all(self) -> dict[str, list[tuple[int, int, int, str, bool]]]:
        found: dict[str, list[tuple[int, int, int, str, bool]]] = json.loads(
            self._session.ledger.meta.get(KEY, "{}")
        )
        return found
