"""Types of the arrays that most signatures here are about."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Floats", "Matrix", "Numbers", "Rows"]

Rows: TypeAlias = NDArray[np.intp]
"""Numbers of rows."""
Floats: TypeAlias = NDArray[np.float64]
"""Rows, centres and other values in computations."""
Matrix: TypeAlias = NDArray[np.floating]
"""Rows as they are kept, (n, d) of float32 or float64."""
Numbers: TypeAlias = NDArray[np.int32]
"""Numbers of centres."""
