"""D²-sampling: rows far from all centres are likelier."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from samekind.points.executor import Executor
from samekind.points.kernels import nearest as _cover
from samekind.points.nearest_centers import NearestCenters

if TYPE_CHECKING:
    from samekind.points.base import Points

__all__ = ["Sampler"]

REJECTED = 256  # rows, or
PATIENCE = 1 / 256  # as a share of all rows, after which a pass is cheaper than to go on trying,
AT_FIRST = 1 / 16  # and the same if nobody has made one, as rows must be grouped then
AHEAD = 8  # rows that are drawn ahead, for which
FEWEST, MOST = 64, 4096  # rows are tried together


class Drawn(NamedTuple):
    """Rows that were drawn by trying, and the costs that they must exceed to stay drawn."""

    rows: NDArray[np.intp]
    X: NDArray[np.float64]
    least: NDArray[np.float64]

    def stay(self, costs: NDArray[np.float32]) -> Drawn:
        """Return those that stay at these costs."""
        kept = self.least < costs
        return Drawn(self.rows[kept], self.X[kept], self.least[kept])

    def and_then(self, more: Drawn) -> Drawn:
        """Return these and more."""
        return Drawn(
            np.concatenate([self.rows, more.rows]),
            np.concatenate([self.X, more.X]),
            np.concatenate([self.least, more.least]),
        )


class Sampler:
    """D²-sampling: a new centre visits only the rows it can come closer to.

    Or none: centres that are merely expected take no pass over the data. Rows are drawn as if they were not
    there, and are accepted with the chance by which they lower the distance; only when many were rejected,
    it pays to let them take their rows.
    """

    def __init__(self, points: Points, executor: Executor) -> None:
        self.seconds = 0.0
        self._points = points
        self._executor = executor
        self._cover: NearestCenters | None = None  # made with the first centre
        self._expected = np.empty((0, executor.frame.d))
        self._nothing = Drawn(
            np.empty(0, dtype=np.intp), np.empty((0, executor.frame.d)), np.empty(0)
        )
        self._drawn = self._nothing
        self._n_tried = self._n_accepted = 0  # since the last pass
        self._n_compared = 0

    @property
    def total(self) -> float:
        """Φ(X, C); infinite while there is no centre."""
        self._settle()
        if self._cover is None:
            return np.inf
        return self._cover.sum_of_costs * self._executor.frame.unit

    @property
    def n_distances(self) -> int:
        """How many distances were computed so far."""
        return self._n_compared + (0 if self._cover is None else self._cover.n_distances)

    def add(self, centers: ArrayLike) -> None:
        """Add centres (m, d) to C, in one pass over the data."""
        started = perf_counter()
        self.add_lazily(centers)
        self._settle()
        self.seconds += perf_counter() - started

    def add_lazily(self, centers: ArrayLike) -> None:
        """Add centres (m, d) to C, without a pass as long as only `draw_by_rejection` is called."""
        new = np.atleast_2d(np.ascontiguousarray(centers, dtype=np.float64))
        if new.shape[1] != self._executor.frame.d:
            raise ValueError(
                f"centres have {new.shape[1]} columns, the points {self._executor.frame.d}."
            )
        if self._cover is None and not len(self._expected):
            self._drawn = self._nothing  # what was drawn uniformly is no measure
        self._expected = np.concatenate([self._expected, new])
        self._drawn = self._drawn.stay(
            self._lowered(self._drawn.X, new, np.full(self._drawn.rows.size, np.inf, np.float32))
        )

    def _settle(self) -> None:
        """Let expected centres take their rows."""
        new, self._expected = self._expected, self._expected[:0]
        if not len(new):
            return
        self._n_tried = self._n_accepted = 0
        if self._cover is None:
            self._cover = NearestCenters(self._executor, squared=False, owned=False)
            self._cover.begin(new[0].copy())
            new = new[1:]
        if len(new):
            self._cover.take(new, np.arange(len(new), dtype=np.int32), np.empty((0, 0), np.int64))

    def draw(self, uniforms: NDArray[np.float64]) -> NDArray[np.intp]:
        """Return a row for each uniform in [0, 1), row x with probability Φ({x}, C) / Φ(X, C)."""
        started = perf_counter()
        self._settle()
        n = self._executor.frame.n
        rows: NDArray[np.intp]
        if self._cover is None:
            rows = np.minimum((uniforms * n).astype(np.intp), n - 1)
        elif self._cover.total == 0:
            raise ValueError("every row lies on a centre: there is nothing to draw.")
        else:
            rows = self._cover.draw(uniforms).rows
        self.seconds += perf_counter() - started
        return rows

    def draw_by_rejection(self, rng: np.random.Generator, size: int) -> list[int]:
        """Return rows that are drawn with the same chances; none when every row lies on a centre."""
        started = perf_counter()
        while self._drawn.rows.size < size:
            rejected = self._n_tried - self._n_accepted
            share = PATIENCE if self._executor.is_grouped else AT_FIRST
            if rejected >= max(REJECTED, share * self._executor.frame.n):
                self._settle()
            if self._cover is not None and self._cover.total == 0:
                break
            wanted = max(size, AHEAD) * (self._n_tried + 1) // (self._n_accepted + 1)
            self._try(rng, min(max(wanted, FEWEST), MOST))
        rows, X, least = self._drawn
        self._drawn = Drawn(rows[size:], X[size:], least[size:])
        found: list[int] = rows[:size].tolist()
        self.seconds += perf_counter() - started
        return found

    def _try(self, rng: np.random.Generator, size: int) -> None:
        """Draw rows without regard to the expected centres, and keep some of them."""
        frame = self._executor.frame
        if self._cover is not None:
            rows, X, most = self._cover.draw(rng.random(size))
        else:
            rows = (rng.random(size) * frame.n).astype(np.intp)
            X = self._points.rows(rows)
            bounds = [frame.highest(x) for x in self._expected]
            most = np.full(size, min(bounds, default=1.0) * (1.0 + 1e-6), dtype=np.float32)
        tried = Drawn(rows, X, rng.random(size) * most)
        kept = tried.stay(self._lowered(X, self._expected, most))
        self._drawn = self._drawn.and_then(kept)
        self._n_tried += size
        self._n_accepted += kept.rows.size

    def _lowered(
        self, X: NDArray[np.float64], centers: NDArray[np.float64], costs: NDArray[np.float32]
    ) -> NDArray[np.float32]:
        """Return the costs of rows once they are lowered by more centres."""
        costs, numbers = costs.copy(), np.arange(len(centers), dtype=np.int32)
        per_unit = 1.0 / self._executor.frame.unit
        _cover.nearer_of_each(X, centers, numbers, per_unit, costs, numbers[:0])
        self._n_compared += len(X) * len(centers)
        return costs

    def cost(self, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return Φ({x}, C) of each row; 1 while there is no centre, where draws are uniform."""
        self._settle()
        if self._cover is None:
            return np.ones(len(rows))
        return self._cover.held(rows)[0].astype(np.float64) * self._executor.frame.unit
