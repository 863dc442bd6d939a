"""Which kinds are one, when answers may be wrong? As many pairs of rows as it takes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import log

import numpy as np

from samekind.algorithms.focused.beliefs import Beliefs
from samekind.algorithms.focused.compare import Comparing
from samekind.algorithms.focused.relations import Relations
from samekind.algorithms.state import ClusterState

__all__ = ["ONE", "WaryComparing"]

ONE = 0.998  # chance at which two kinds are merged
TWO = 0.02  # and below which they are held to be different
AGAIN = 0.05  # and beyond which that is in doubt again


class WaryComparing(Comparing):
    """Asks about pairs of kinds until it is certain enough whether they are one."""

    in_waves = False  # an answer decides which pair is next

    def __init__(
        self,
        kinds: ClusterState,
        relations: Relations,
        patience: int,
        merge: Callable[[int, int], None],
        unsure: set[tuple[int, int]],
        beliefs: Beliefs,
    ) -> None:
        super().__init__(kinds, relations, patience, merge, unsure)
        self._beliefs = beliefs

    def settle(self, alike: float, a: int, b: int) -> bool:
        """Merge or part two kinds if what was said suffices; return whether it did."""
        chance = self._chance_of_one(alike, a, b)
        if chance >= ONE:
            self._merge(a, b)
        elif chance <= TWO:
            self._relations.part(a, b)
        return chance >= ONE or chance <= TWO

    def _chance_of_one(self, alike: float, a: int, b: int) -> float:
        """Return how likely two kinds are one, given how alike they look and what was said."""
        members = self._kinds.members
        few, other = (a, b) if len(members[a]) <= len(members[b]) else (b, a)
        prior = float(np.clip(alike, 0.01, 0.5))
        odds = log(prior / (1 - prior)) + self._beliefs.between(members[few], other)
        return float(1 / (1 + np.exp(-np.clip(odds, -500, 500))))

    def hear(self, a: int, b: int, pair: tuple[int, int], answer: int, who: int) -> None:
        """Take in SAME or DIFFERENT about members of two kinds."""
        self.hear_pair(pair, answer, who)

    def hear_pair(self, pair: tuple[int, int], answer: int, who: int) -> None:
        """Take in SAME or DIFFERENT about two rows whose kinds are held to be known."""
        first, second = min(pair), max(pair)
        self._beliefs.hear(first, second, answer, who)
        self._beliefs.asked.add((first, second))

    def pairs(self, a: int, b: int) -> Iterator[tuple[int, int]]:
        """Yield members of two kinds that were not compared yet, firm ones first."""
        for first in self._firm_members(a):
            told = self._beliefs.told(first)
            for second in self._firm_members(b):
                if second not in told:
                    yield first, second

    def _firm_members(self, kind: int) -> list[int]:
        """Return some members of a kind, those whose kind is most certain first."""
        members = self._kinds.members[kind][:64]
        return sorted(members, key=lambda row: -self._beliefs.certainty.get(row, 1.0))

    def reconsider(self) -> None:
        """Put in doubt again which kinds are different, where what was said has lost its weight."""
        for alike, a, b in self._relations.closed(AGAIN):
            if self._chance_of_one(alike, a, b) > AGAIN:
                self._relations.reopen(a, b)
