"""D²-sampling: rows far from all centres are likelier."""

from __future__ import annotations

from time import perf_counter

import numpy as np
from numpy.typing import ArrayLike, NDArray

from samekind.points.cover import Cover
from samekind.points.crew import Crew

__all__ = ["CoverSampler"]


class CoverSampler:
    """D²-sampling: a new centre visits only the rows it can come closer to."""

    def __init__(self, crew: Crew) -> None:
        self._crew = crew
        self._cover: Cover | None = None  # made with the first centre
        self.seconds = 0.0

    @property
    def total(self) -> float:
        """Φ(X, C); infinite while there is no centre."""
        if self._cover is None:
            return np.inf
        return self._cover.sum_of_costs * self._crew.frame.unit

    @property
    def n_distances(self) -> int:
        """How many distances were computed so far."""
        return 0 if self._cover is None else self._cover.n_distances

    def add(self, centers: ArrayLike) -> None:
        """Add centres (m, d) to C, in one pass over the data."""
        started = perf_counter()
        new = np.atleast_2d(np.ascontiguousarray(centers, dtype=np.float64))
        if new.shape[1] != self._crew.frame.d:
            raise ValueError(
                f"centres have {new.shape[1]} columns, the points {self._crew.frame.d}."
            )
        if not len(new):
            return
        if self._cover is None:
            self._cover = Cover(self._crew, squared=False, owned=False)
            self._cover.begin(new[0])
            new = new[1:]
        if len(new):
            self._cover.take(new, np.arange(len(new), dtype=np.int32), np.empty((0, 0), np.int64))
        self.seconds += perf_counter() - started

    def draw(self, uniforms: NDArray[np.float64]) -> NDArray[np.intp]:
        """Return a row for each uniform in [0, 1), row x with probability Φ({x}, C) / Φ(X, C)."""
        started = perf_counter()
        n = self._crew.frame.n
        rows: NDArray[np.intp]
        if self._cover is None:
            rows = np.minimum((uniforms * n).astype(np.intp), n - 1)
        elif self._cover.total == 0:
            raise ValueError("every row lies on a centre: there is nothing to draw.")
        else:
            rows = self._cover.draw(uniforms).rows
        self.seconds += perf_counter() - started
        return rows

    def cost(self, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return Φ({x}, C) of each row; 1 while there is no centre, where draws are uniform."""
        if self._cover is None:
            return np.ones(len(rows))
        return self._cover.held(rows)[0].astype(np.float64) * self._crew.frame.unit
