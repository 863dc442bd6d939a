"""The cost of every row: its squared distance to the nearest of a growing set of centres."""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from samekind.points import kernels
from samekind.points.arrays import Floats, Matrix, Rows
from samekind.points.bounds import Bounds
from samekind.points.kernels import BITS, BLOCK, SPAN
from samekind.points.threads import run_in_threads

__all__ = ["ArrayCosts", "CostTable", "Costs", "power_above"]

COARSE = 2**10  # mean weight of a row below which weights are scaled anew


class Costs(ABC):
    """The costs of all rows, and draws of rows with chances proportional to them.

    The weight of a row is its cost as an integer, at least 1 unless the row lies on a centre. So the sum of
    the weights, and which rows are drawn, are the same in whatever order weights are added.
    """

    def __init__(self, bounds: Bounds) -> None:
        self.total_weight = 0
        self.unit = bounds.cost_unit
        """In which costs are kept."""
        self._bounds = bounds
        self._scale = 0.0  # the cost of the highest weight; 0 while there is no centre
        self._considered = 0  # total weight when scaling was last considered

    @property
    def total(self) -> float:
        """Return the sum of all costs; infinite while there is no centre."""
        if not self._scale:
            return np.inf
        return float(self.total_weight / 2**BITS * self._scale) * self.unit

    def add(self, centers: Floats) -> None:
        """Lower the costs to those with more centres."""
        if not self._scale:
            self._scale = power_above(self._bounds.largest_cost(centers[0]))
            self.total_weight = self._considered = self._lower(centers[:1])
            centers = centers[1:]
        if len(centers):
            self.total_weight = self._lower(centers)
            if 0 < self.total_weight < min(COARSE * self._bounds.n, self._considered // 2):
                highest = self._largest()
                if highest <= self._scale / 2:
                    self._scale = power_above(highest)
                    self.total_weight = self._weigh()
                self._considered = self.total_weight

    def draw(self, uniforms: Floats) -> Rows:
        """Return a row for each uniform in [0, 1)."""
        total = self.total_weight
        return self._rows_at([min(int(u), total - 1) for u in uniforms * float(total)])

    @abstractmethod
    def of(self, rows: Rows) -> NDArray[np.float32]:
        """Return the costs of some rows, in units."""

    @abstractmethod
    def _lower(self, centers: Floats) -> int:
        """Lower costs in a pass over all rows; return the total weight."""

    @abstractmethod
    def _weigh(self) -> int:
        """Compute weights for another scale; return the total weight."""

    @abstractmethod
    def _largest(self) -> float:
        """Return the largest cost, in units."""

    @abstractmethod
    def _rows_at(self, targets: Sequence[int]) -> Rows:
        """Return the rows at which the running sum of the weights first exceeds each target."""


class CostTable:
    """The costs of some consecutive rows, and their weights added up by blocks."""

    def __init__(self, costs: NDArray[np.float32], *, is_new: bool, threads: int = 1) -> None:
        self.costs = costs
        self.total = 0  # of the weights: sums of many blocks need Python's integers
        self._is_new = is_new  # without a centre: whatever the costs are, they count as infinite
        self._threads = threads
        self._blocks = np.zeros(-(-costs.size // BLOCK))
        self._ends: list[int] = []  # running sums of spans
        self._scale = 1.0

    def lower(self, X: Matrix, centers: Floats, per_cost: float, scale: float) -> None:
        """Lower the costs to those with more centres."""
        self._scale = scale

        def work(first: int, last: int) -> None:
            own = self.costs, self._is_new, 1.0 / scale, self._blocks
            kernels.lower_costs(X, centers, per_cost, *own, first, last)

        self._pass(work)
        self._is_new = False

    def weigh(self, scale: float) -> None:
        """Compute the weights anew."""
        self._scale = scale

        def work(first: int, last: int) -> None:
            kernels.weigh(self.costs, 1.0 / scale, self._blocks, first, last)

        self._pass(work)

    def _pass(self, work: Callable[[int, int], None]) -> None:
        run_in_threads(self._blocks.size, self._threads, work)
        weights = self._blocks.astype(np.int64)
        spans = [int(weights[k : k + SPAN].sum()) for k in range(0, weights.size, SPAN)]
        self._ends = list(accumulate(spans))
        self.total = sum(spans)

    def rows_at(self, targets: Sequence[int]) -> Rows:
        """Return the rows at which the running sum of the weights first exceeds each target."""
        spans = [bisect_right(self._ends, target) for target in targets]
        rest = [t - (self._ends[s - 1] if s else 0) for t, s in zip(targets, spans, strict=True)]
        rows = np.empty(len(targets), dtype=np.intp)
        own = self.costs, 1.0 / self._scale, self._blocks
        kernels.rows_at_weights(*own, np.array(spans, np.intp), np.array(rest, np.int64), rows)
        return rows


class ArrayCosts(Costs):
    """Costs of the rows of an array, four bytes a row."""

    def __init__(self, X: Matrix, bounds: Bounds, threads: int) -> None:
        super().__init__(bounds)
        self._X = X
        self._table = CostTable(np.empty(len(X), dtype=np.float32), is_new=True, threads=threads)

    def of(self, rows: Rows) -> NDArray[np.float32]:
        """Return the costs of some rows, in units."""
        return self._table.costs[rows]

    def _lower(self, centers: Floats) -> int:
        self._table.lower(self._X, centers, 1.0 / self.unit, self._scale)
        return self._table.total

    def _weigh(self) -> int:
        self._table.weigh(self._scale)
        return self._table.total

    def _largest(self) -> float:
        return float(self._table.costs.max())

    def _rows_at(self, targets: Sequence[int]) -> Rows:
        return self._table.rows_at(targets)


def power_above(value: float) -> float:
    """Return the least power of two above a value; 1 for 0."""
    return float(2.0 ** np.frexp(value)[1]) if value > 0 else 1.0
