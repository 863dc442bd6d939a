"""Rows of which little is known."""

from __future__ import annotations

import numpy as np

from samekind.algorithms.focused.evidence import Evidence
from samekind.algorithms.state import UNKNOWN, ClusterState
from samekind.points import Points

__all__ = ["Frontier"]

AHEAD = 16  # rows that are drawn at once


class Frontier:
    """Draws rows that are far from all labelled ones, whose kinds are doubtful, or just unknown."""

    def __init__(
        self, points: Points, kinds: ClusterState, evidence: Evidence, rng: np.random.Generator
    ) -> None:
        self.is_dry = False  # whether every row lies on a labelled one
        self._points = points
        self._kinds = kinds
        self._evidence = evidence
        self._rng = rng
        self._doubtful: list[int] = []
        self._any: list[int] = []

    def draw_any(self) -> int:
        """Draw any row, each with the same chance."""
        if not self._any:
            rows = (self._rng.random(AHEAD) * self._points.n).astype(np.intp)
            self._points.rows(rows)  # where that is far away, all are fetched at once
            self._any = rows.tolist()
        return self._any.pop()

    def draw_far(self) -> int:
        """Draw far from all labelled rows; -1 when every row lies on one of them, now and from then on."""
        row = self._evidence.cells.draw(self._rng)
        self.is_dry = row < 0
        return row

    def draw_doubtful(self) -> int:
        """Take a row whose predicted kind is doubtful."""
        if not self._doubtful:
            self._doubtful = self._evidence.doubtful(self._rng, self._evidence.at_once).tolist()[
                ::-1
            ]
        return self._doubtful.pop() if self._doubtful else self.draw_far()

    def any_unknown(self) -> int:
        """Return a row that nobody was asked about, or -1 when there is none."""
        n = self._points.n
        start = int(self._rng.random() * n)
        for first in range(0, n, 4096):
            rows = (start + np.arange(first, min(first + 4096, n))) % n
            unknown = rows[self._kinds.cluster_of(rows) == UNKNOWN]
            if unknown.size:
                return int(unknown[0])
        return -1
