"""A growing set of centres, and every row's distance to the nearest of them."""

from __future__ import annotations

import weakref
from bisect import bisect
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from samekind.points.executor import Executor, by_part
from samekind.points.kernels import nearest as _cover
from samekind.points.labels import LabelMap
from samekind.points.partition import Change, Ends, Found

__all__ = ["NearestCenters"]

_keys = count()
GATHERED = 2**14  # rows that may all come here to be picked from
QUICK = 2**22  # coordinates of rows and centres that are compared sooner than asked for
COARSE = 2**10  # mean weight of a row below which weights are scaled anew


class NearestCenters:
    """A set of centres over all parts: puts their answers together.

    The weight of a row is its cost, or the square of it. Weights are integers, so that they have the same
    sum however the rows are parted; `scale` is the cost of the highest.
    """

    def __init__(self, executor: Executor, *, squared: bool, owned: bool) -> None:
        self.total = 0
        self.n_distances = 0
        self._executor = executor
        self._owned = owned
        self._key = next(_keys)
        self._firsts: list[int] = executor.firsts.tolist()
        self._scale = 1.0
        self._looked_at = 0  # total when scaling was last considered
        self._ends = Ends([])  # of parts
        self._gathered: dict[bytes, NDArray[np.intp]] = {}  # rows of some centres, as of now
        # All centres in their order, if the parts are far:
        self._sites = np.empty((0, executor.frame.d))
        self._numbers = np.empty(0, dtype=np.int32)
        executor.is_grouped = True
        executor.tell("new", self._key, squared, owned)
        weakref.finalize(self, executor.tell, "drop", self._key)

    @property
    def sum_of_costs(self) -> float:
        """Return the sum of the costs, where weights are costs."""
        return float(self.total / 2**_cover.BITS * self._scale)

    def begin(self, x: NDArray[np.float64]) -> NDArray[np.int64]:
        """Make x the first centre; return the account of all rows, (d + 2,)."""
        self._scale = _power_above(self._executor.frame.highest(x))
        found = self._executor.tell("begin", self._key, x, self._scale)
        self._sum([total for total, _ in found])
        self._looked_at = self.total
        self._note(x[None], np.zeros(1, dtype=np.int32))
        self.n_distances += self._executor.frame.n
        accounts: NDArray[np.int64] = np.sum([account for _, account in found], axis=0)
        return accounts

    def take(
        self,
        sites: NDArray[np.float64],
        numbers: NDArray[np.int32],
        accounts: NDArray[np.int64],
    ) -> None:
        """Let more centres take their rows, and change the accounts of all of them, (centres, d + 2)."""
        self._gathered.clear()
        changes = self._executor.tell("take", self._key, sites, numbers, len(accounts))
        self._sum([change.total for change in changes])
        self._book(changes, accounts)
        self.n_distances += sum(change.n_distances for change in changes)
        self._note(sites, numbers)
        if 0 < self.total < min(COARSE * self._executor.frame.n, self._looked_at // 2):
            self._looked_at = self.total
            found = self._executor.ask("highest", self._of_all()).values()
            if max(found) <= self._scale / 2:
                self._rescale(max(found))

    def peek(
        self,
        sites: NDArray[np.float64],
        numbers: NDArray[np.int32],
        accounts: NDArray[np.int64],
    ) -> NDArray[np.int64]:
        """Return the accounts as they would be if more centres took their rows."""
        accounts = accounts.copy()
        if sites.size:
            calls = self._of_all(sites, numbers, len(accounts))
            self._book(list(self._executor.ask("peek", calls).values()), accounts)
        return accounts

    def labels(
        self, sites: NDArray[np.float64], numbers: NDArray[np.int32], names: LabelMap
    ) -> Any:
        """Return what every row is called: by its owner, once more centres have taken their rows."""
        return self._executor.name("labels", names, self._key, sites, numbers)

    def draw(self, uniforms: NDArray[np.float64]) -> Found:
        """Return a row for each uniform in [0, 1), with a chance proportional to its weight."""
        parts, rest = self._ends.find(self._ends.targets(uniforms))
        places = {part: (parts == part).nonzero()[0] for part in np.unique(parts).tolist()}
        calls = {part: (self._key, rest[at]) for part, at in places.items()}
        answers = self._executor.ask("locate", calls)
        if len(answers) == 1:
            ((part, only),) = answers.items()
            return Found(only.rows + self._executor.firsts[part], only.X, only.costs)
        found = Found(
            np.empty(uniforms.size, dtype=np.intp),
            np.empty((uniforms.size, self._executor.frame.d)),
            np.empty(uniforms.size, dtype=np.float32),
        )
        for part, some in answers.items():
            at = places[part]
            found.rows[at] = some.rows + self._executor.firsts[part]
            found.X[at] = some.X
            found.costs[at] = some.costs
        return found

    def held(
        self, rows: NDArray[np.intp], X: NDArray[np.float64] | None = None
    ) -> tuple[NDArray[np.float32], NDArray[np.int32]]:
        """Return the cost and the owner of each of these rows. X are these rows, if they are at hand."""
        costs = np.full(rows.size, np.inf, dtype=np.float32)
        owners = np.full(rows.size, -1, dtype=np.int32)
        if X is None:
            X = self._executor.seen(rows)
        if self._executor.is_remote and X is not None and X.size * self._numbers.size <= QUICK:
            order = np.arange(self._numbers.size, dtype=np.int32)
            _cover.nearer_of_each(
                X, self._sites, order, 1.0 / self._executor.frame.unit, costs, owners
            )
            return costs, self._numbers[owners]
        places = by_part(self._executor, rows)
        answers = self._executor.ask(
            "held", {part: (self._key, local) for part, (_, local) in places.items()}
        )
        if len(answers) == 1:
            only: tuple[NDArray[np.float32], NDArray[np.int32]] = next(iter(answers.values()))
            return only
        for part, (some, of) in answers.items():
            costs[places[part][0]] = some
            if self._owned:
                owners[places[part][0]] = of
        return costs, owners

    def held_by(self, row: int) -> tuple[np.float32, int]:
        """Return the cost and the owner of a row."""
        part = 0 if len(self._firsts) == 2 else bisect(self._firsts, row) - 1
        found: tuple[np.float32, int] = self._executor.ask_one(
            "held_by", part, self._key, row - self._firsts[part]
        )
        return found

    def at_ranks(
        self, sites: NDArray[np.float64], chosen: NDArray[np.bool_], ranks: NDArray[np.intp], n: int
    ) -> NDArray[np.intp]:
        """Return the rows with these ranks (ascending) among the n that have a chosen owner.

        `sites` are the chosen ones.
        """
        if n <= GATHERED:
            who = chosen.nonzero()[0].tobytes()
            if who not in self._gathered:
                every = self._executor.ask("owned", self._of_all(sites, chosen, n))
                rows = [rows + self._executor.firsts[part] for part, rows in every.items()]
                self._gathered[who] = np.concatenate(rows)
            return self._gathered[who][ranks]
        ends = np.array([n])
        if self._executor.firsts.size > 2:
            counts = self._executor.ask("count", self._of_all(sites, chosen, n))
            ends = np.cumsum(list(counts.values()))
        parts = ends.searchsorted(ranks, side="right")
        calls = {
            part: (
                self._key,
                sites,
                chosen,
                n,
                ranks[parts == part] - (ends[part - 1] if part else 0),
            )
            for part in np.unique(parts).tolist()
        }
        found = self._executor.ask("at_ranks", calls)
        return np.concatenate([rows + self._executor.firsts[part] for part, rows in found.items()])

    def _of_all(self, *args: Any) -> dict[int, tuple[Any, ...]]:
        return dict.fromkeys(range(self._executor.firsts.size - 1), (self._key, *args))

    def _note(self, sites: NDArray[np.float64], numbers: NDArray[np.int32]) -> None:
        """Keep centres by which costs are worked out here."""
        if self._executor.is_remote:
            self._sites = np.concatenate([self._sites, sites])
            self._numbers = np.concatenate([self._numbers, numbers])

    def _book(self, changes: list[Change], accounts: NDArray[np.int64]) -> None:
        if self._owned:
            for change in changes:
                accounts[change.sites] += change.accounts

    def _rescale(self, highest: float) -> None:
        self._scale = _power_above(highest)
        self._sum(self._executor.tell("rescale", self._key, self._scale))
        self._looked_at = self.total

    def _sum(self, totals: list[int]) -> None:
        self._ends = Ends(totals)
        self.total = self._ends.total


def _power_above(value: float) -> float:
    """Return the least power of two above a value; 1 for 0."""
    return float(2.0 ** np.frexp(value)[1]) if value > 0 else 1.0
