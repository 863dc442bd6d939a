"""Points that say what a run did with them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from time import perf_counter
from typing import Any

from samekind.points import ArrayPoints
from samekind.points.executor import LocalExecutor

__all__ = ["WatchedExecutor", "WatchedPoints"]


class WatchedExecutor(LocalExecutor):
    """Counts the calls of each method of the partitions, and their seconds."""

    def __init__(self, executor: LocalExecutor) -> None:
        super().__init__(executor.partitions, executor.units, executor.first_rows)
        self.calls: Counter[str] = Counter()
        self.seconds: Counter[str] = Counter()
        self._last = ""

    def run(
        self, calls: Mapping[int, Any], combine: Callable[..., Any] | None = None
    ) -> dict[int, Any]:
        started = perf_counter()
        found = super().run(calls, combine)
        what = next(iter(calls.values())).name
        # the weights of the first distances are a part of the first pass
        name = "first_center" if (what, self._last) == ("rescale", "first_center") else what
        self.seconds[name] += perf_counter() - started
        self.calls[what] += 1
        self._last = what
        return found

    @property
    def first_pass(self) -> float:
        """Seconds for grouping the rows and for first distances."""
        return self.seconds["add_table"] + self.seconds["first_center"]


class WatchedPoints(ArrayPoints):
    """Keeps the cells and samplers that it hands out."""

    executor_class = WatchedExecutor

    def __init__(self, X: Any, **options: Any) -> None:
        started = perf_counter()
        super().__init__(X, **options)
        self.scanning = perf_counter() - started
        self.handed_out: list[Any] = []
        self._watched: Any = None

    @property
    def executor(self) -> Any:
        if self._watched is None:
            self._watched = self.executor_class(super().executor)
        return self._watched

    def sampler(self) -> Any:
        self.handed_out.append(super().sampler())
        return self.handed_out[-1]

    def voronoi(self) -> Any:
        self.handed_out.append(super().voronoi())
        return self.handed_out[-1]

    @property
    def n_distances(self) -> int:
        """Distances between rows and centres that were computed."""
        return sum(each.n_distances for each in self.handed_out)
