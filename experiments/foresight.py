"""The paper's practical algorithms one draw at a time, in a fraction of the time that takes.

A draw of a cluster that is recovered changes nothing: neither what is asked about later draws nor what is
drawn. So the draws up to the next one of another cluster can be asked about at once, in a few waves of
questions, and everything comes out as it does row by row: which questions are asked, after how many of them a
cluster is discovered or recovered, and all centres. To know where that next draw is takes the true clusters.
They are looked at for nothing else, and an algorithm that people use does not have them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from samekind.algorithms import ALGORITHMS, AnyAlgorithm

PRACTICAL = ("uniform", "basic", "batched")


def with_foresight(algorithm: str, codes: NDArray[np.intp]) -> AnyAlgorithm:
    """Return "uniform", "basic" or "batched", one draw at a time, given the true cluster of every row."""
    base = ALGORITHMS[algorithm]
    n_clusters = int(codes.max()) + 1

    class WithForesight(base):  # type: ignore[misc, valid-type]  # a base that is chosen
        def batch_size(self) -> int:
            return int(self.n_ahead)

        def n_at_once(self, rows: NDArray[np.intp]) -> int:
            recovered = np.zeros(n_clusters, dtype=bool)
            recovered[codes[self.state.first_members[self.state.recovered]]] = True
            others = np.flatnonzero(~recovered[codes[rows]])
            return int(others[0]) + 1 if others.size else rows.size

    return WithForesight
