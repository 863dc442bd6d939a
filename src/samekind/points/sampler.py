"""D²-sampling: rows far from all centres are likelier."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from samekind.points.arrays import Floats, Rows
from samekind.points.executor import Executor
from samekind.points.kernels import sites
from samekind.points.nearest_centers import NearestCenters

if TYPE_CHECKING:
    from samekind.points.base import Points

__all__ = ["Sampler"]

REJECTED = 256  # rows, or
PATIENCE = 1 / 256  # as a share of all rows, after which a pass is cheaper than to go on proposing,
AT_FIRST = 1 / 16  # and the same if there was none yet, as rows must be grouped then
AHEAD = 8  # rows that are accepted ahead, for which
FEWEST, MOST = 64, 4096  # rows are proposed together


class Accepted(NamedTuple):
    """Rows that were proposed and accepted, and the costs that they must exceed to stay so."""

    rows: Rows
    X: Floats
    least: Floats

    def still(self, costs: NDArray[np.float32]) -> Accepted:
        """Return those that are still accepted at these costs."""
        kept = self.least < costs
        return Accepted(self.rows[kept], self.X[kept], self.least[kept])


class Sampler:
    """D²-sampling (Definition 3 of the paper) with respect to a growing set C of centres.

    A new centre visits only the rows it can come closer to. Or none: centres that are added lazily take no
    pass over the data. Rows are drawn as if they were not there, and accepted with the chance by which they
    lower the distance (rejection sampling); only when many were rejected does a pass pay.
    """

    def __init__(self, points: Points, executor: Executor) -> None:
        self.seconds = 0.0
        self._points = points
        self._executor = executor
        self._nearest: NearestCenters | None = None  # made with the first centre
        self._lazy = np.empty((0, executor.units.d))
        self._nothing = Accepted(
            np.empty(0, dtype=np.intp), np.empty((0, executor.units.d)), np.empty(0)
        )
        self._accepted = self._nothing
        self._n_proposed = self._n_accepted = 0  # since the last pass
        self._n_compared = 0

    @property
    def total(self) -> float:
        """Φ(X, C); infinite while there is no centre."""
        self._flush()
        if self._nearest is None:
            return np.inf
        return self._nearest.sum_of_costs * self._executor.units.cost

    @property
    def n_distances(self) -> int:
        """How many distances were computed so far."""
        return self._n_compared + (0 if self._nearest is None else self._nearest.n_distances)

    def add(self, centers: ArrayLike) -> None:
        """Add centres (m, d) to C, in one pass over the data."""
        started = perf_counter()
        self.add_lazily(centers)
        self._flush()
        self.seconds += perf_counter() - started

    def add_lazily(self, centers: ArrayLike) -> None:
        """Add centres (m, d) to C, without a pass as long as only `draw_by_rejection` is called."""
        new = np.atleast_2d(np.ascontiguousarray(centers, dtype=np.float64))
        if new.shape[1] != self._points.d:
            raise ValueError(f"centres have {new.shape[1]} columns, the points {self._points.d}.")
        if self._nearest is None and not len(self._lazy):
            self._accepted = self._nothing  # what was drawn uniformly is no measure
        self._lazy = np.concatenate([self._lazy, new])
        unknown = np.full(self._accepted.rows.size, np.inf, np.float32)
        self._accepted = self._accepted.still(self._lowered(self._accepted.X, new, unknown))

    def _flush(self) -> None:
        """Let centres that were added lazily count, in one pass over the data."""
        new, self._lazy = self._lazy, self._lazy[:0]
        if not len(new):
            return
        self._n_proposed = self._n_accepted = 0
        if self._nearest is None:
            self._nearest = NearestCenters(self._executor, squared=False, owned=False)
            self._nearest.begin(new[0].copy())
            new = new[1:]
        if len(new):
            self._nearest.add(new, np.arange(len(new), dtype=np.int32), np.empty((0, 0), np.int64))

    def draw(self, uniforms: Floats) -> Rows:
        """Return a row for each uniform in [0, 1), row x with probability Φ({x}, C) / Φ(X, C)."""
        started = perf_counter()
        self._flush()
        n = self._executor.units.n
        rows: Rows
        if self._nearest is None:
            rows = np.minimum((uniforms * n).astype(np.intp), n - 1)
        elif self._nearest.total_weight == 0:
            raise ValueError("every row lies on a centre: there is nothing to draw.")
        else:
            rows = self._nearest.draw(uniforms).rows
        self.seconds += perf_counter() - started
        return rows

    def draw_by_rejection(self, rng: np.random.Generator, size: int) -> list[int]:
        """Return rows that are drawn with the same chances; none when every row lies on a centre."""
        started = perf_counter()
        while self._accepted.rows.size < size:
            rejected = self._n_proposed - self._n_accepted
            share = PATIENCE if self._executor.has_leaves else AT_FIRST
            if rejected >= max(REJECTED, share * self._executor.units.n):
                self._flush()
            if self._nearest is not None and self._nearest.total_weight == 0:
                break
            wanted = max(size, AHEAD) * (self._n_proposed + 1) // (self._n_accepted + 1)
            self._propose(rng, min(max(wanted, FEWEST), MOST))
        rows, X, least = self._accepted
        self._accepted = Accepted(rows[size:], X[size:], least[size:])
        found: list[int] = rows[:size].tolist()
        self.seconds += perf_counter() - started
        return found

    def _propose(self, rng: np.random.Generator, size: int) -> None:
        """Draw rows as if there were no lazy centres, and accept some of them."""
        units = self._executor.units
        if self._nearest is not None:
            rows, X, most = self._nearest.draw(rng.random(size))
        else:
            rows = (rng.random(size) * units.n).astype(np.intp)
            X = self._points.rows(rows)
            bounds = [units.largest_cost(x) for x in self._lazy]
            most = np.full(size, min(bounds, default=1.0) * (1.0 + 1e-6), dtype=np.float32)
        tried = Accepted(rows, X, rng.random(size) * most)
        kept = tried.still(self._lowered(X, self._lazy, most))
        before = self._accepted
        self._accepted = Accepted(
            np.concatenate([before.rows, kept.rows]),
            np.concatenate([before.X, kept.X]),
            np.concatenate([before.least, kept.least]),
        )
        self._n_proposed += size
        self._n_accepted += kept.rows.size

    def _lowered(
        self, X: Floats, centers: Floats, costs: NDArray[np.float32]
    ) -> NDArray[np.float32]:
        """Return the costs of rows once they are lowered by more centres."""
        costs, numbers = costs.copy(), np.arange(len(centers), dtype=np.int32)
        per_cost = 1.0 / self._executor.units.cost
        sites.lower_to_nearer(X, centers, numbers, per_cost, costs, numbers[:0])
        self._n_compared += len(X) * len(centers)
        return costs

    def cost(self, rows: Rows) -> Floats:
        """Return Φ({x}, C) of each row; 1 while there is no centre, where draws are uniform."""
        self._flush()
        if self._nearest is None:
            return np.ones(len(rows))
        costs, _ = self._nearest.costs_and_owners(rows)
        return costs.astype(np.float64) * self._executor.units.cost
