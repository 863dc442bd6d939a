"""BASIC, the practical form of the paper's basic algorithm (Section 5)."""

from __future__ import annotations

from collections import Counter

from samekind.algorithms.paper.recovery_loop import RecoveryLoop

__all__ = ["Basic"]


class Basic(RecoveryLoop):
    """D²-sample with respect to the recovered centres; recover a cluster as soon as it is heavy."""

    name = "basic"

    def choose(self, heavy: list[int], n_draws: Counter[int]) -> list[int]:
        """Choose one cluster: of several that became heavy in one batch, the most drawn."""
        return [max(heavy, key=lambda cluster: (n_draws[cluster], -cluster))]
