"""Online orderings (Firmani, Saha, Srivastava, VLDB 2016; the paper's FSS16).

To find many matches early, a question is worth what it is expected to bring: two clusters that are one bring
as many matches as there are pairs between them. Their hybrid goes through the records as VBD14 does, by the
benefit of joining a cluster, Σ of the likelihoods of the pairs between the record and it. A record is
compared with few clusters, those worth it, and the other pairs wait. When no record is left they come in the
order of |cluster| · |cluster| · likelihood (edge ordering), so that a record that was put off is found later.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import ClassVar

import numpy as np

from samekind.algorithms.base import Params
from samekind.algorithms.crowd.nodes import CrowdNodes

__all__ = ["CrowdOnline"]

WORTH = 0.3  # likelihood of a match below which a pair waits
MOST_COMPARED = 3  # clusters that a record is compared with at first


class CrowdOnline(CrowdNodes):
    """Compares records with the clusters worth it; then asks by expected matches."""

    name: ClassVar[str] = "crowd-online"
    Params = Params

    def _begin(self) -> None:
        super()._begin()
        self._compared: dict[int, int] = {}
        self._heap: list[tuple[float, int, int]] | None = None

    def _next_pairs(self, count: int) -> list[tuple[int, int]]:
        return super()._next_pairs(count) or self._best_edges(count)

    def _question(self, row: int) -> tuple[int, int] | None:
        """Return a pair with the cluster of most benefit, unless it should wait."""
        numbers, others = self.answers.incidence.others(row)
        may = (self._rank[others] < self._rank[row]) & ~self.answers.decided[numbers]
        refused = sum(
            self.answers.root(other) in self.answers.apart(row) for other in set(others.tolist())
        )
        if not may.any() or refused >= MOST_COMPARED:
            return None
        numbers, others = numbers[may], others[may]
        roots = np.array([self.answers.root(other) for other in others.tolist()])
        _, place = np.unique(roots, return_inverse=True)
        benefit = np.bincount(place, self.likelihood[numbers])
        own = place == int(benefit.argmax())
        best = int(np.flatnonzero(own)[self.likelihood[numbers][own].argmax()])
        if self.likelihood[numbers[best]] < WORTH:
            return None
        return row, int(others[best])

    def _best_edges(self, count: int) -> list[tuple[int, int]]:
        """Return pairs by the matches that they are expected to bring; the heap is mended as it is read."""
        if self._heap is None:
            self._heap = [
                (-self._worth(number), int(self._luck[number]), number)
                for number in np.flatnonzero(~self.answers.decided).tolist()
            ]
            heapify(self._heap)
        wave: list[tuple[int, int]] = []
        busy: set[int] = set()
        later: list[tuple[float, int, int]] = []
        while self._heap and len(wave) < count:
            value, luck, number = heappop(self._heap)
            if self.answers.decided[number]:
                continue
            now = -self._worth(number)
            if now < value:  # its clusters have grown
                heappush(self._heap, (now, luck, number))
                continue
            later.append((now, luck, number))
            a, b = self.pairs[number].tolist()
            roots = {self.answers.root(a), self.answers.root(b)}
            if roots & busy:
                break
            busy |= roots
            wave.append((a, b))
        for entry in later:
            heappush(self._heap, entry)
        return wave

    def _worth(self, number: int) -> float:
        a, b = self.pairs[number].tolist()
        sizes = len(self.answers.members(a)) * len(self.answers.members(b))
        return sizes * float(self.likelihood[number])
