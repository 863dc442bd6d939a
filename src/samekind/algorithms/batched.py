"""BATCHED, the practical form of the paper's improved algorithm (Section 5)."""

from __future__ import annotations

import numpy as np

from samekind.algorithms.kinds import Kinds
from samekind.algorithms.rounds import rounds
from samekind.algorithms.sampling import Settings
from samekind.flow import Flow
from samekind.points import Points

__all__ = ["batched"]


def batched(
    points: Points, kinds: Kinds, rng: np.random.Generator, settings: Settings
) -> Flow[str]:
    """D²-sample until the heavy clusters hold more than half of the unrecovered samples; recover them.

    Fewer rounds than BASIC, hence fewer passes over the data and, with many people answering at
    once, fewer moments at which everyone waits.
    """
    return rounds(points, kinds, rng, settings, majority)


def majority(heavy: list[int], kinds: Kinds) -> list[int]:
    """Choose all heavy kinds once they hold more than half of the uniform samples outside I."""
    held = sum(kinds.n_uniform[kind] for kind in heavy)
    samples = sum(
        count for kind, count in enumerate(kinds.n_uniform) if not kinds.is_recovered(kind)
    )
    return heavy if 2 * held > samples else []
