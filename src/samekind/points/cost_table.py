"""The costs of the rows of one partition with respect to one set of centres."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from samekind.points.arrays import Floats
from samekind.points.kernels.costs import BLOCK, SPAN, CostState
from samekind.points.kernels.leaves import BUNDLE, LEAF, Leaves
from samekind.points.running_sums import RunningSums
from samekind.points.threads import ReportProgress, run_in_threads

__all__ = ["CostTable"]

T = TypeVar("T")
CHUNKS = 8  # for each thread: no two threads need to share one


class CostTable:
    """The cost of every row, its weight in draws, and, if asked for, the centre that owns it.

    The weight of a row is its cost, or the square of it, as an integer.
    """

    def __init__(
        self, n: int, *, squared: bool, owned: bool, costs: NDArray[np.float32] | None = None
    ) -> None:
        leaves = -(-n // LEAF)
        places = leaves * LEAF
        self.state = CostState(
            costs=np.empty(places, dtype=np.float32) if costs is None else costs,
            owners=np.zeros(places if owned else 0, dtype=np.uint16),
            leaf_max=np.empty(leaves, dtype=np.float32),
            bundle_max=np.empty(-(-leaves // BUNDLE), dtype=np.float32),
            block_weights=np.zeros(-(-n // BLOCK)),
            per_scale=1.0,
            squared=squared,
        )
        self.state.costs[n:] = 0.0
        self._span_weights: RunningSums | None = None

    def set_scale(self, scale: float) -> None:
        """Set the cost of the highest weight; the weights still are to be computed."""
        self.state = self.state._replace(per_scale=1.0 / scale)

    def weights_changed(self) -> None:
        """Have running sums of weights computed anew."""
        self._span_weights = None

    @property
    def span_weights(self) -> RunningSums:
        """The weights of spans of blocks."""
        if self._span_weights is None:
            blocks = self.state.block_weights.astype(np.int64)
            starts = np.arange(0, blocks.size, SPAN)
            self._span_weights = RunningSums(np.add.reduceat(blocks, starts).tolist())
        return self._span_weights

    def over_bundles(
        self,
        leaves: Leaves,
        threads: int,
        work: Callable[[CostState, int, int], T],
        report: ReportProgress | None = None,
        what: str = "",
    ) -> list[T]:
        """Call ``work(state, first, last)`` on pieces of all bundles, each of which may change weights.

        Blocks of rows belong to a chunk. If there are many chunks, no two pieces share one; else each piece
        gets blocks of its own, which are added later.
        """
        state, bundles = self.state, self.state.bundle_max.size
        per_chunk = (1 << leaves.chunk_bits) // (LEAF * BUNDLE)
        chunks = -(-bundles // per_chunk)
        if threads == 1 or chunks >= CHUNKS * threads:

            def together(first: int, last: int) -> T:
                return work(state, first * per_chunk, min(last * per_chunk, bundles))

            return run_in_threads(chunks, threads, together, report, what)

        def apart(first: int, last: int) -> tuple[T, Floats]:
            own = state._replace(block_weights=np.zeros_like(state.block_weights))
            return work(own, first, last), own.block_weights

        found = run_in_threads(bundles, threads, apart, report, what)
        for _, weights in found:
            np.add(state.block_weights, weights, out=state.block_weights)
        return [result for result, _ in found]
