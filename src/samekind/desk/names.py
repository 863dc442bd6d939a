"""What people call the kinds."""

from __future__ import annotations

import json
import time
from typing import NamedTuple

from samekind.ledger import Ledger

__all__ = ["LONGEST", "Names"]

LONGEST = 200
KEY = "names"


class Name(NamedTuple):
    """What a row's kind is called, since when."""

    text: str
    at: float


class Names:
    """Names are given to rows and hold for their kinds: they outlive kinds that merge, split or change.

    A kind is called what was last given to any of its members. Kept in the ledger.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        stored = json.loads(ledger.meta.get(KEY, "{}"))
        self._names = {int(row): Name(str(text), float(at)) for row, (text, at) in stored.items()}

    @property
    def revision(self) -> float:
        """Changes with every naming."""
        return max((name.at for name in self._names.values()), default=0.0)

    def give(self, row: int, text: str) -> None:
        """Call a row's kind something; nothing takes the name away."""
        at = max(time.time(), self.revision + 1e-6)
        self._names[row] = Name(text, at)
        self._ledger.set_meta(KEY, json.dumps(self._names))

    def of(self, members: list[int]) -> str | None:
        """Return the name of a kind."""
        if not self._names:
            return None
        if len(self._names) < len(members):
            own = set(members)
            given = [name for row, name in self._names.items() if row in own]
        else:
            given = [self._names[row] for row in members if row in self._names]
        return max(given, key=lambda name: name.at).text or None if given else None
