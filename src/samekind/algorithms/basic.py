"""BASIC, the practical form of the paper's basic algorithm (Section 5)."""

from __future__ import annotations

import numpy as np

from samekind.algorithms.kinds import Kinds
from samekind.algorithms.rounds import rounds
from samekind.algorithms.sampling import Settings
from samekind.flow import Flow
from samekind.points import Points

__all__ = ["basic"]


def basic(points: Points, kinds: Kinds, rng: np.random.Generator, settings: Settings) -> Flow[str]:
    """D²-sample with respect to the recovered centres; recover a cluster as soon as it is heavy."""
    return rounds(points, kinds, rng, settings, heaviest)


def heaviest(heavy: list[int], kinds: Kinds) -> list[int]:
    """Choose the heaviest kind."""
    return heavy[:1]
