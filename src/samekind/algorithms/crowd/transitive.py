"""Transitive relations (Wang, Li, Kraska, Franklin, Feng, SIGMOD 2013; the paper's WLK13).

Pairs are asked about in the order of decreasing likelihood. A pair is not asked about if it follows from
answers: A = B and B = C make A = C, A = B and B ≠ C make A ≠ C. Asking matches first leaves the fewest
pairs, and the likeliest pairs are the best guess at them.

Several can be asked at once if all before them were matches and they still did not follow (Section 5.1 there,
parallel labelling): those have to be asked about in any case.
"""

from __future__ import annotations

from typing import ClassVar

from samekind.algorithms.base import Params
from samekind.algorithms.crowd.base import CrowdAlgorithm

__all__ = ["CrowdTransitive"]


AHEAD = 64  # pairs that are looked at for each that is asked about at once


class CrowdTransitive(CrowdAlgorithm[Params]):
    """Asks about the likeliest pair that does not follow from answers."""

    name: ClassVar[str] = "crowd-transitive"
    Params = Params

    def _next_pairs(self, count: int) -> list[tuple[int, int]]:
        if not self.answers.given:
            self._order, self._begin = self._by_likelihood(), 0
        while self._begin < len(self._order) and self.answers.decided[self._order[self._begin]]:
            self._begin += 1
        ahead = self._order[self._begin : self._begin + AHEAD * count]
        return self._independent(self._unknown(ahead), count)
