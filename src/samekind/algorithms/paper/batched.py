"""BATCHED, the practical form of the paper's improved algorithm (Section 5)."""

from __future__ import annotations

from collections import Counter

from samekind.algorithms.paper.recovery_loop import RecoveryLoop

__all__ = ["Batched"]


class Batched(RecoveryLoop):
    """D²-sample until the heavy clusters hold more than half of the samples outside; recover them all.

    Fewer rounds than BASIC, hence fewer passes over the data, fewer draws that only look for reference
    points and, with many people answering at once, fewer moments at which everyone waits.
    """

    name = "batched"

    def choose(self, heavy: list[int], n_draws: Counter[int]) -> list[int]:
        """Choose all heavy clusters once they hold more than half of the samples outside I."""
        held = sum(n_draws[cluster] for cluster in heavy)
        outside = sum(n for k, n in n_draws.items() if not self.state.is_recovered(k))
        return heavy if 2 * held > outside else []
