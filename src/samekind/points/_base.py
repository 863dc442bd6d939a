"""What an algorithm may ask of the data. Every backend offers these two classes of object."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["Points", "Sampler"]


class Sampler(Protocol):
    """D²-sampling (Definition 3 of the paper) with respect to a growing set of centres."""

    seconds: float
    """Time spent in this sampler so far."""

    @property
    def total(self) -> float:
        """Φ(X, C); infinite while there is no centre."""
        ...

    def add(self, centers: ArrayLike) -> None:
        """Add centres (m, d) to C."""
        ...

    def draw(self, uniforms: NDArray[np.float64]) -> NDArray[np.intp]:
        """Return a row for each uniform in [0, 1), row x with probability Φ({x}, C) / Φ(X, C)."""
        ...

    def cost(self, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return Φ({x}, C) of each row; 1 while there is no centre, where draws are uniform."""
        ...


class Points(Protocol):
    """The data: n rows of d numbers."""

    n: int
    d: int

    def rows(self, index: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the rows with these numbers, (m, d)."""
        ...

    def sampler(self) -> Sampler:
        """Return a new sampler with no centre: it draws uniformly."""
        ...

    def nearest(self, centers: NDArray[np.float64]) -> NDArray[np.intp]:
        """Return for every row the number of its nearest centre."""
        ...

    def fingerprint(self) -> str:
        """Return a text that changes when the data change."""
        ...
