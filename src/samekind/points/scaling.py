"""The affine map that standardises columns, and its way back."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Scaling"]


class Scaling(NamedTuple):
    """How columns were standardised: z = (x - offset) / scale."""

    offset: NDArray[np.float64]
    scale: NDArray[np.float64]
    constant: NDArray[np.bool_]
    """Which columns hold one value only; they become 0."""

    def in_file_units(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return points such as centres in the units that they had before."""
        return self.offset + self.scale * points
