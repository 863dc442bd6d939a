"""Draws of rows of which little is known."""

from __future__ import annotations

import numpy as np

from samekind.algorithms.focused.cluster_model import ClusterModel
from samekind.algorithms.focused.constants import UNIFORM_BUFFER
from samekind.algorithms.state import UNKNOWN, ClusterState
from samekind.points import Points

__all__ = ["RowSampler"]

_ROWS_AT_ONCE = 4096


class RowSampler:
    """Draws rows that are far from all labelled ones, whose clusters are uncertain, or just any."""

    def __init__(
        self, points: Points, state: ClusterState, model: ClusterModel, rng: np.random.Generator
    ) -> None:
        self.is_exhausted = False
        """Whether every row lies on a labelled one."""
        self._points = points
        self._state = state
        self._model = model
        self._rng = rng
        self._uncertain: list[int] = []
        self._uniform: list[int] = []

    def draw_uniform(self) -> int:
        """Draw any row, each with the same probability."""
        if not self._uniform:
            rows = (self._rng.random(UNIFORM_BUFFER) * self._points.n).astype(np.intp)
            self._points.rows(rows)  # where they are on other machines, all are fetched at once
            self._uniform = rows.tolist()
        return self._uniform.pop()

    def draw_far(self) -> int:
        """Draw a row in proportion to its distance⁴ from the labelled ones; -1 when all lie on them."""
        row = self._model.sites.cells.draw(self._rng)
        self.is_exhausted = row < 0
        return row

    def draw_uncertain(self) -> int:
        """Draw a row whose predicted cluster is uncertain."""
        if not self._uncertain:
            predictor = self._model.predictor
            rows = predictor.sample_uncertain(self._rng, predictor.n_uncertain_at_once)
            self._uncertain = rows.tolist()[::-1]
        return self._uncertain.pop() if self._uncertain else self.draw_far()

    def any_unknown(self) -> int:
        """Return a row that nobody was asked about, or -1 when there is none."""
        n = self._points.n
        start = int(self._rng.random() * n)
        for first in range(0, n, _ROWS_AT_ONCE):
            rows = (start + np.arange(first, min(first + _ROWS_AT_ONCE, n))) % n
            unknown = rows[self._state.cluster_of(rows) == UNKNOWN]
            if unknown.size:
                return int(unknown[0])
        return -1
