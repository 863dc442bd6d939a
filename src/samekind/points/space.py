"""The space in which an algorithm works: rows as they were given, or a few coordinates of each."""

from __future__ import annotations

import base64
import io
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from samekind.points import kernels
from samekind.points.arrays import Floats, Matrix
from samekind.points.threads import run_in_threads

__all__ = ["WorkingSpace"]


@dataclass(frozen=True, eq=False)
class WorkingSpace:
    """A map from rows of d numbers to the coordinates in which their distances are taken.

    Attributes
    ----------
    d : int
        Columns of the rows.
    unit : bool
        Whether rows are brought to length 1 first, so that only their direction counts (cosine). A
        row of zeros stays where it is: it is as far from one row as from another.
    components : (d, k) float32 array or None
        Orthonormal directions. The coordinates of a row are those along each of them, and one more:
        how far it is from their span. So no two rows are farther apart than they were, and a row
        that is far from all others in a direction that is not among these stays far. None keeps all
        d coordinates.
    origin : (d,) array or None
        Where the coordinates are 0.
    wanted : int or None
        How many components were asked for; there may be some more.
    share : float
        The share of the variance, among the rows that the components were found from, along them.

    Examples
    --------
    >>> space = WorkingSpace(3, components=np.eye(3, 2, dtype=np.float32), origin=np.zeros(3))
    >>> space.coordinates([[1.0, 2.0, -3.0]])
    array([[1., 2., 3.]], dtype=float32)
    >>> WorkingSpace(2, unit=True).coordinates([[3.0, 4.0], [0.0, 0.0]])
    array([[0.6, 0.8],
           [0. , 0. ]])
    """

    d: int
    unit: bool = False
    components: NDArray[np.float32] | None = None
    origin: Floats | None = None
    wanted: int | None = None
    share: float = 1.0

    def __str__(self) -> str:
        how = "by their direction (cosine)" if self.unit else "by their distance"
        if self.components is None:
            return f"rows are compared {how}"
        k = self.components.shape[1]
        return (
            f"rows are compared {how} in {k} of {self.d:,} dimensions, which hold "
            f"{self.share:.0%} of the variance"
        )

    @property
    def n_coordinates(self) -> int:
        """How many coordinates a row has here."""
        return self.d if self.components is None else self.components.shape[1] + 1

    def dtype_of(self, given: np.dtype[np.floating]) -> np.dtype[np.floating]:
        """Return the type of the coordinates of rows of this type."""
        return given if self.components is None else np.dtype(np.float32)

    def coordinates(self, X: object) -> Matrix:
        """Return the coordinates of some rows in memory."""
        rows = np.ascontiguousarray(X)
        if rows.dtype not in (np.float32, np.float64):
            rows = rows.astype(np.float64)
        out = np.empty((len(rows), self.n_coordinates), dtype=self.dtype_of(rows.dtype))
        self.write(rows, out)
        return out

    def write(self, X: Matrix, out: Matrix, threads: int = 1) -> None:
        """Write the coordinates of rows X to `out`. They do not depend on the number of threads."""
        if self.components is None:
            work = partial(kernels.normalize, X, out)
        else:
            work = partial(kernels.project, X, self.unit, self.origin, self.components, out)
        run_in_threads(len(X), threads, work)

    def lift(self, steps: Floats) -> Floats:
        """Return steps in this space as steps between rows: those along the components."""
        if self.components is None:
            return steps
        return steps[:, : self.components.shape[1]] @ self.components.T.astype(np.float64)

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """Return it as arrays; `from_arrays` makes it again, bit for bit."""
        about = np.array([self.d, self.unit, -1 if self.wanted is None else self.wanted])
        found: dict[str, NDArray[np.generic]] = {"about": about, "share": np.array(self.share)}
        if self.components is not None and self.origin is not None:
            found |= {"components": self.components, "origin": self.origin}
        return found

    @classmethod
    def from_arrays(cls, arrays: dict[str, NDArray[np.generic]]) -> WorkingSpace:
        """Return the space that `arrays` came from."""
        d, unit, wanted = (int(value) for value in np.asarray(arrays["about"]))
        components = arrays.get("components")
        return cls(
            d,
            bool(unit),
            None if components is None else np.ascontiguousarray(components, dtype=np.float32),
            np.asarray(arrays["origin"], dtype=np.float64) if "origin" in arrays else None,
            None if wanted < 0 else wanted,
            float(np.asarray(arrays["share"])),
        )

    def to_text(self) -> str:
        """Return it as a text, for a ledger."""
        file = io.BytesIO()
        np.savez(file, allow_pickle=False, **self.arrays())
        return base64.b85encode(file.getvalue()).decode()

    @classmethod
    def from_text(cls, text: str) -> WorkingSpace:
        """Return the space that a text of `to_text` is about."""
        with np.load(io.BytesIO(base64.b85decode(text)), allow_pickle=False) as file:
            return cls.from_arrays({name: file[name] for name in file.files})
