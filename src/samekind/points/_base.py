"""What an algorithm may ask of the data. Every backend offers these two classes of object."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from samekind.points.names import Names

__all__ = ["Cells", "Points", "Sampler"]


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

    def expect(self, centers: ArrayLike) -> None:
        """Add centres (m, d) to C, without a pass as long as only `draw_some` is called."""
        ...

    def draw(self, uniforms: NDArray[np.float64]) -> NDArray[np.intp]:
        """Return a row for each uniform in [0, 1), row x with probability Φ({x}, C) / Φ(X, C)."""
        ...

    def draw_some(self, rng: np.random.Generator, size: int) -> list[int]:
        """Return rows that are drawn with the same chances; none when every row lies on a centre."""
        ...

    def cost(self, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return Φ({x}, C) of each row; 1 while there is no centre, where draws are uniform."""
        ...


class Cells(Protocol):
    """Every row with the nearest of a growing set of sites, which are rows themselves."""

    n_sites: int
    seconds: float
    """Time spent here so far."""

    @property
    def counts(self) -> NDArray[np.intp]:
        """(sites,) how many rows each site owns, as of the last pass over the data."""
        ...

    @property
    def sites(self) -> NDArray[np.float64]:
        """(sites, d) where they are."""
        ...

    def add(self, row: int, *, patient: bool = False) -> int:
        """Make a row a site, and return its number. A patient one owns nothing but keeps draws away."""
        ...

    def hurry(self, site: int) -> None:
        """Let a patient site own its rows."""
        ...

    def settle(self) -> None:
        """Make a pass over the data, so that all sites are counted, but for patient ones."""
        ...

    def draw(self, rng: np.random.Generator) -> int:
        """Return a row, each with a chance proportional to distance⁴; -1 when every row lies on a site."""
        ...

    def owner(self, row: int) -> int:
        """Return the site that owns a row; -1 while there is none."""
        ...

    def owners(self, rows: NDArray[np.intp]) -> NDArray[np.int32]:
        """Return the site that owns each of these rows; -1 while there is none."""
        ...

    def look(self) -> Callable[[Names], Any]:
        """Return a function that says, also later, what every row is called now: by the site that owns it.

        All sites count but patient ones, and nothing changes. The names come as an array of the kind that
        the data are.
        """
        ...

    def costs(self, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the squared distance of each row to its owner."""
        ...

    def pick(
        self, chosen: NDArray[np.bool_], rng: np.random.Generator, size: int
    ) -> NDArray[np.intp]:
        """Draw rows uniformly from the cells of the chosen sites as of the last pass.

        At most `size`, and at least one if there is one.
        """
        ...

    def near(self, x: NDArray[np.float64], size: int) -> NDArray[np.intp]:
        """Return the rows nearest to x, nearest first."""
        ...

    def moments(
        self, groups: NDArray[np.intp], n_groups: int, *, all_in: bool = False
    ) -> tuple[NDArray[np.intp], NDArray[np.float64], NDArray[np.float64]]:
        """Return number of rows, mean, and mean squared distance to it, for groups of sites (-1: none).

        As of the last pass, or with the sites added since (`all_in`), which changes nothing.
        """
        ...

    def nearest_of(self, groups: NDArray[np.intp], group: int, x: NDArray[np.float64]) -> int:
        """Return the site of a group that is nearest to x, or -1 if it has none."""
        ...

    def nearest_of_each(
        self, groups: NDArray[np.intp], n_groups: int, X: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return for each row of X the squared distance to the nearest site of each group."""
        ...


class Points(Protocol):
    """The data: n rows of d numbers."""

    n: int
    d: int

    def rows(self, index: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the rows with these numbers, (m, d)."""
        ...

    def row(self, row: int) -> NDArray[np.float64]:
        """Return one row, (d,)."""
        ...

    def sampler(self) -> Sampler:
        """Return a new sampler with no centre: it draws uniformly."""
        ...

    def cells(self) -> Cells:
        """Return new cells without a site."""
        ...

    def nearest(self, centers: NDArray[np.float64], names: Names | None = None) -> Any:
        """Return for every row the number of its nearest centre, or what it is called.

        As an array of the kind that the data are.
        """
        ...

    def fingerprint(self) -> str:
        """Return a text that changes when the data change."""
        ...
