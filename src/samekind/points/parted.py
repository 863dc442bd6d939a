"""Points that a crew holds."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from samekind.points.cells import CoverCells
from samekind.points.crew import Crew, by_part
from samekind.points.names import Names
from samekind.points.sampler import CoverSampler

__all__ = ["CrewPoints"]


class CrewPoints(ABC):
    """What all points have in common whose parts are held by a crew."""

    n: int
    d: int

    @property
    @abstractmethod
    def crew(self) -> Crew:
        """Who holds the parts, and keeps what is known of the rows."""

    @abstractmethod
    def rows(self, index: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the rows with these numbers, (m, d)."""

    def row(self, row: int) -> NDArray[np.float64]:
        """Return one row, (d,)."""
        x: NDArray[np.float64] = self.rows(np.array([row]))[0]
        return x

    def fetch(self, index: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the rows with these numbers, (m, d), from the parts that hold them."""
        places = by_part(self.crew, index)
        found = self.crew.ask("rows", {part: (rows,) for part, (_, rows) in places.items()})
        X = np.empty((index.size, self.d))
        for part, (at, _) in places.items():
            X[at] = found[part]
        return X

    def sampler(self) -> CoverSampler:
        """Return a new sampler with no centre: it draws uniformly."""
        return CoverSampler(self, self.crew)

    def cells(self) -> CoverCells:
        """Return new cells without a site."""
        return CoverCells(self, self.crew)

    def nearest(self, centers: NDArray[np.float64], names: Names | None = None) -> Any:
        """Return for every row the number of its nearest centre, or what it is called.

        As an array of the kind that the data are.
        """
        return self.crew.name("nearest", names or Names.by_number(len(centers)), centers)

    @abstractmethod
    def fingerprint(self) -> str:
        """Return a text that changes when the data change."""
