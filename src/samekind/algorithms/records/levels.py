"""Comparisons as levels: what a model of pairs has weights for."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from samekind.algorithms.records._kernels import code_levels
from samekind.points import CandidatePairs

__all__ = ["MISSING", "N_LEVELS", "Levels"]

MISSING = 0
EDGES = np.array([0.3, 0.5, 0.65, 0.75, 0.82, 0.88, 0.94, 0.9995], dtype=np.float32)
N_LEVELS = len(EDGES) + 2  # missing, below all edges, …, equal


class Levels(NamedTuple):
    """The level of each field of each pair: 0 if it is missing, else from 1 (far) to the last (equal).

    The similarity over all fields is a field of its own; its steps are quantiles, as no value of it has a
    meaning by itself.
    """

    codes: NDArray[np.uint8]
    """(pairs, fields)."""

    @classmethod
    def of(cls, candidates: CandidatePairs) -> Levels:
        """Return the levels of all candidate pairs."""
        m, f = candidates.comparisons.shape
        codes = np.empty((m, f + 1), dtype=np.uint8)
        code_levels(candidates.comparisons, EDGES, codes)
        overall = candidates.similarity
        some = overall[:: max(1, m // 2**18)]
        shares = 1 - 0.5 ** np.arange(1, len(EDGES) + 1)  # finer towards the likely matches
        edges = np.quantile(some, shares).astype(np.float32) if m else EDGES
        codes[:, f] = 1 + np.searchsorted(edges, overall, side="left")
        return cls(codes)

    @property
    def n_fields(self) -> int:
        """How many fields there are, the similarity over all among them."""
        return int(self.codes.shape[1])

    def __len__(self) -> int:
        return len(self.codes)
