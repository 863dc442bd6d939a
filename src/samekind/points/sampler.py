"""D²-sampling: rows far from all centres are likelier."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from samekind.points import kernels
from samekind.points.arrays import Floats, Rows
from samekind.points.costs import Costs

if TYPE_CHECKING:
    from samekind.points.base import Points

__all__ = ["Sampler"]

REJECTED = 256  # rows, or
PATIENCE = 1 / 16  # as a share of all rows, after which a pass is cheaper than more proposals
AHEAD = 8  # rows that are accepted ahead, for which
FEWEST, MOST = 64, 4096  # rows are proposed together


class Accepted(NamedTuple):
    """Rows that were proposed and accepted, and the costs that they must exceed to stay accepted."""

    rows: Rows
    X: Floats
    least: Floats

    def still(self, costs: NDArray[np.float32]) -> Accepted:
        """Return those that are still accepted at these costs."""
        kept = self.least < costs
        return Accepted(self.rows[kept], self.X[kept], self.least[kept])


class Sampler:
    """D²-sampling (Definition 3 of the paper) with respect to a growing set C of centres.

    `add` passes over all rows. Centres that are added lazily take no pass: rows are drawn as if these
    centres were not there, and accepted with the chance by which they lower the distance (rejection
    sampling). A pass follows when many rows were rejected.
    """

    def __init__(self, points: Points) -> None:
        self.seconds = 0.0
        self.n_passes = 0
        self._points = points
        self._costs: Costs | None = None  # made with the first centre
        self._lazy = np.empty((0, points.d))
        self._most = np.inf  # what no cost exceeds, as long as all centres are lazy
        self._nothing = Accepted(np.empty(0, dtype=np.intp), np.empty((0, points.d)), np.empty(0))
        self._accepted = self._nothing
        self._n_proposed = self._n_accepted = 0  # since the last pass

    @property
    def total(self) -> float:
        """Φ(X, C); infinite while there is no centre."""
        self._flush()
        return np.inf if self._costs is None else self._costs.total

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
        if self._costs is None and not len(self._lazy):
            self._accepted = self._nothing  # rows drawn uniformly say nothing about costs
        if self._costs is None:
            bounds = [self._points.bounds.largest_cost(x) for x in new]
            self._most = min(self._most, *bounds, np.inf)
        self._lazy = np.concatenate([self._lazy, new])
        unknown = np.full(self._accepted.rows.size, np.inf, np.float32)
        self._accepted = self._accepted.still(self._lowered(self._accepted.X, new, unknown))

    def _flush(self) -> None:
        """Let centres that were added lazily count, in one pass over the data."""
        new, self._lazy = self._lazy, self._lazy[:0]
        if not len(new):
            return
        self._n_proposed = self._n_accepted = 0
        if self._costs is None:
            self._costs = self._points.costs()
        self._costs.add(new)
        self.n_passes += 1

    def draw(self, uniforms: Floats) -> Rows:
        """Return a row for each uniform in [0, 1), row x with probability Φ({x}, C) / Φ(X, C)."""
        started = perf_counter()
        self._flush()
        n = self._points.n
        rows: Rows
        if self._costs is None:
            rows = np.minimum((uniforms * n).astype(np.intp), n - 1)
        elif self._costs.total_weight == 0:
            raise ValueError("every row lies on a centre: there is nothing to draw.")
        else:
            rows = self._costs.draw(uniforms)
        self.seconds += perf_counter() - started
        return rows

    def draw_by_rejection(self, rng: np.random.Generator, size: int) -> list[int]:
        """Return rows that are drawn with the same chances; none when every row lies on a centre."""
        started = perf_counter()
        while self._accepted.rows.size < size:
            rejected = self._n_proposed - self._n_accepted
            if rejected >= max(REJECTED, PATIENCE * self._points.n):
                self._flush()
            if self._costs is not None and self._costs.total_weight == 0:
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
        points = self._points
        if self._costs is not None:
            rows = self._costs.draw(rng.random(size))
            most = self._costs.of(rows)
        else:
            rows = (rng.random(size) * points.n).astype(np.intp)
            bound = self._most * (1.0 + 1e-6) if len(self._lazy) else 1.0
            most = np.full(size, bound, dtype=np.float32)
        X = points.rows(rows)
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
        if not len(centers):
            return costs
        costs = costs.copy()
        per_cost, blocks = 1.0 / self._points.bounds.cost_unit, -(-len(X) // kernels.BLOCK)
        kernels.lower_costs(X, centers, per_cost, costs, False, 1.0, kernels.NO_WEIGHTS, 0, blocks)
        return costs

    def cost(self, rows: Rows) -> Floats:
        """Return Φ({x}, C) of each row; 1 while there is no centre, where draws are uniform."""
        self._flush()
        if self._costs is None:
            return np.ones(len(rows))
        return self._costs.of(rows).astype(np.float64) * self._costs.unit
