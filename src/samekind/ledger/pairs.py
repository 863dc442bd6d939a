"""The one number that stands for an unordered pair."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from samekind.flow import Pairs
from samekind.ledger._components import write_keys

__all__ = ["keys_of", "pairs_of"]


def keys_of(pairs: Pairs) -> NDArray[np.int64]:
    """Return one number for each unordered pair; row numbers are below 2^31."""
    keys = np.empty(len(pairs), dtype=np.int64)
    write_keys(pairs, keys)
    return keys


def pairs_of(lines: NDArray[np.void]) -> Pairs:
    """Return the pairs on lines of the log."""
    return np.column_stack([lines["a"], lines["b"]]).astype(np.intp, copy=False)
