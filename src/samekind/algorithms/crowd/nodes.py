"""Records in turn (Vesdapunt, Bellare, Dalvi, VLDB 2014; the paper's VBD14).

Records are taken in the order of their expected cluster size, Σ of the likelihoods of their pairs, largest
first. Each is compared with the clusters of those before it, the likeliest first, until it is found in one
or all that it has candidate pairs with refused it. As large clusters come first, records find theirs early.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from samekind.algorithms.base import Params
from samekind.algorithms.crowd.base import CrowdAlgorithm

__all__ = ["CrowdNodes"]


class CrowdNodes(CrowdAlgorithm[Params]):
    """Compares one record after another with the clusters so far."""

    name: ClassVar[str] = "crowd-nodes"
    Params = Params

    def _next_pairs(self, count: int) -> list[tuple[int, int]]:
        if not self.answers.given:
            self._begin()
        wave: list[tuple[int, int]] = []
        busy: set[int] = set()
        place = self._at
        while place < len(self._order) and len(wave) < count:
            row = int(self._order[place])
            pair = self._question(row)
            if pair is None:
                if place == self._at:
                    self._at += 1
            elif self.answers.root(pair[0]) in busy or self.answers.root(pair[1]) in busy:
                break  # what comes next depends on what is asked about
            else:
                wave.append(pair)
                busy |= {self.answers.root(end) for end in pair}
            place += 1
        return wave

    def _begin(self) -> None:
        n = self.points.n
        a, b = self.pairs.T
        expected = np.bincount(a, self.likelihood, n) + np.bincount(b, self.likelihood, n)
        self._order = np.argsort(-expected, kind="stable")
        self._rank = np.empty(n, dtype=np.intp)
        self._rank[self._order] = np.arange(n)
        self._at = 0

    def _question(self, row: int) -> tuple[int, int] | None:
        """Return the likeliest pair with a record before this one that nothing is known of."""
        numbers, others = self.answers.incidence.others(row)
        may = (self._rank[others] < self._rank[row]) & ~self.answers.decided[numbers]
        if not may.any():
            return None
        numbers, others = numbers[may], others[may]
        best = int(np.lexsort((self._luck[numbers], -self.likelihood[numbers]))[0])
        return row, int(others[best])
