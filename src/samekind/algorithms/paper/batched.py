"""BATCHED, the practical form of the paper's improved algorithm (Section 5)."""

from __future__ import annotations

from samekind.algorithms.paper.recovery_loop import RecoveryLoop

__all__ = ["Batched"]


class Batched(RecoveryLoop):
    """D²-sample until the heavy clusters hold more than half of the unrecovered samples; recover them.

    Fewer rounds than BASIC, hence fewer passes over the data and, with many people answering at
    once, fewer moments at which everyone waits.
    """

    name = "batched"

    def choose(self, heavy: list[int]) -> list[int]:
        """Choose all heavy clusters once they hold more than half of the uniform samples outside I."""
        counts, state = self.state.n_uniform, self.state
        held = sum(counts[k] for k in heavy)
        samples = sum(count for k, count in enumerate(counts) if not state.is_recovered(k))
        return heavy if 2 * held > samples else []
