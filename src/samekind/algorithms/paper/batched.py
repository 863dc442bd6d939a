"""BATCHED, the practical form of the paper's improved algorithm (Section 5)."""

from __future__ import annotations

from collections import Counter

from samekind.algorithms.paper.recovery_loop import RecoveryLoop

__all__ = ["Batched"]


class Batched(RecoveryLoop):
    """D²-sample until the heavy clusters hold more than half of the samples outside; recover them all.

    A cluster weighs as much as was drawn of it, and is recovered if its uniform samples suffice. Fewer rounds
    than BASIC, hence fewer passes over the data and, with many people answering at once, fewer moments at
    which everyone waits.
    """

    name = "batched"

    def choose(self, heavy: list[int], n_draws: Counter[int]) -> list[int]:
        """Choose all once clusters with more than ten draws hold more than half of those outside I."""
        outside = [n for k, n in n_draws.items() if not self.state.is_recovered(k)]
        held = sum(n for n in outside if n >= self.params.heavy)
        return heavy if 2 * held > sum(outside) else []
