"""Which kinds are proven different, and which may still be one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from samekind.algorithms.focused import _kernels

__all__ = ["Relations"]

DUE = 64


class Relations:
    """For every two kinds whether they are proven different and, if not, how alike they look.

    Likeness is the chance of the one kind that rows of the other had, on average, before anybody was asked
    about them.
    """

    def __init__(self) -> None:
        self.n_kinds = 0
        self._likeness = np.zeros((16, 16))  # of the second, for rows of the first
        self._open = np.zeros(
            (16, 16), dtype=bool
        )  # neither proven different nor merged nor hopeless
        self._hopeless = np.zeros((16, 16), dtype=bool)  # nobody can tell
        self._rows = np.zeros(16)
        self._merged = np.zeros(16, dtype=bool)
        self._due: list[tuple[int, int]] = []  # the next pairs to ask about, likeliest last

    def found(self) -> None:
        """Make room for a new kind, of which nothing is proven."""
        k = self.n_kinds
        if k == self._rows.size:
            self._likeness, self._open, self._hopeless = (
                np.pad(table, ((0, k), (0, k)))
                for table in (self._likeness, self._open, self._hopeless)
            )
            self._rows = np.pad(self._rows, (0, k))
            self._merged = np.pad(self._merged, (0, k))
        alive = self._alive
        self._due = []
        self.n_kinds += 1
        self._open[k, alive] = self._open[alive, k] = True

    @property
    def _alive(self) -> NDArray[np.intp]:
        found: NDArray[np.intp] = (~self._merged[: self.n_kinds]).nonzero()[0]
        return found

    def note(self, kind: int, chances: NDArray[np.float64], refused: list[int]) -> None:
        """Take in a row of a kind: the chance it had to be of each, and the kinds that refused it."""
        self._rows[kind] += 1
        _kernels.approach(self._likeness, kind, chances, max(0.2, 1 / self._rows[kind]))
        for other in refused:
            self.part(kind, other)

    def part(self, a: int, b: int) -> None:
        """Note that two kinds are different."""
        self._open[a, b] = self._open[b, a] = False
        self._hopeless[a, b] = self._hopeless[b, a] = False

    def closed(self, least: float) -> list[tuple[float, int, int]]:
        """Return the pairs of kinds held to be different that look at least so much alike, after that."""
        k = self.n_kinds
        alike = np.maximum(self._likeness[:k, :k], self._likeness[:k, :k].T)
        alive = ~self._merged[:k]
        a, b = np.nonzero(
            np.triu((alike >= least) & ~self._open[:k, :k] & alive & alive[:, None], 1)
        )
        return list(zip(alike[a, b].tolist(), a.tolist(), b.tolist(), strict=True))

    def reopen(self, a: int, b: int) -> None:
        """Take back that two kinds are different, or that nobody can tell."""
        if not self._merged[a] and not self._merged[b]:
            self._open[a, b] = self._open[b, a] = True
            self._hopeless[a, b] = self._hopeless[b, a] = False
            self._due = []

    def despair(self, a: int, b: int) -> None:
        """Note that nobody can tell whether two kinds are one."""
        self._open[a, b] = self._open[b, a] = False
        self._hopeless[a, b] = self._hopeless[b, a] = True

    def merge(self, keep: int, gone: int) -> None:
        """Note that two kinds are one: what was different from the one is from the other."""
        k = self.n_kinds
        self._due = []
        alive = self._alive
        apart = ~(self._open | self._hopeless)
        for other in alive:
            if other not in (keep, gone) and (apart[keep, other] or apart[gone, other]):
                self.part(keep, int(other))
        self._likeness[keep, :k] = np.maximum(self._likeness[keep, :k], self._likeness[gone, :k])
        self._likeness[:k, keep] = np.maximum(self._likeness[:k, keep], self._likeness[:k, gone])
        self._open[gone] = self._open[:, gone] = False
        self._hopeless[gone] = self._hopeless[:, gone] = False
        self._rows[keep] += self._rows[gone]
        self._rows[gone] = 0
        self._merged[gone] = True

    def open_with(self, kind: int) -> list[int]:
        """Return the kinds that may be one with this one, likeliest first."""
        k = self.n_kinds
        alike = np.maximum(self._likeness[kind, :k], self._likeness[:k, kind])
        order = np.argsort(-alike, kind="stable")
        found: list[int] = order[self._open[kind, order]].tolist()
        return found

    def is_open(self, a: int, b: int) -> bool:
        """Return whether two kinds may still be one."""
        return bool(self._open[a, b])

    def likeliest(self, kind: int | None = None, size: int = 1) -> list[tuple[float, int, int]]:
        """Return the unproven pair that looks most alike, after its likeness; of one kind, or some of all.

        Of all kinds, pairs are taken from a list that is made anew now and then, not for each of them.
        """
        if self.n_kinds < 2:
            return []
        if kind is None:
            return [(self._alike(a, b), a, b) for a, b in self._next(size)]
        alike, other = _kernels.most_alike(self._likeness, self._open, kind, self.n_kinds)
        return [(alike, kind, other)] if other >= 0 else []

    def _next(self, size: int) -> list[tuple[int, int]]:
        """Return the pairs to ask about next, one at least if there is one."""
        for fresh in (False, True):
            if fresh or not self._due:
                self._due = [pair for pair in self.unproven(DUE) if self._open[pair]][::-1]
            while self._due and not self._open[self._due[-1]]:
                self._due.pop()
            if self._due:
                return [pair for pair in self._due[: -size - 1 : -1] if self._open[pair]]
        return []

    def _alike(self, a: int, b: int) -> float:
        return float(max(self._likeness[a, b], self._likeness[b, a]))

    def unproven(self, most: int | None = None) -> list[tuple[int, int]]:
        """Return the pairs of kinds that may still be one, likeliest first."""
        k = self.n_kinds
        pairs, alike = np.empty((k * (k - 1) // 2, 2), dtype=np.intp), np.empty(k * (k - 1) // 2)
        size = _kernels.unsettled(self._likeness, self._open, self._hopeless, k, pairs, alike)
        pairs, alike = pairs[:size], alike[:size]
        if most is not None and most < size:  # sort no more than it takes
            top = alike >= np.partition(alike, size - most)[size - most]
            pairs, alike = pairs[top], alike[top]
        order = np.argsort(-alike, kind="stable")[:most]
        return [(a, b) for a, b in pairs[order].tolist()]
