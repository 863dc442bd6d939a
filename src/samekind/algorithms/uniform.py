"""UNIFORM, the paper's baseline (Section 5)."""

from __future__ import annotations

import numpy as np

from samekind.algorithms.kinds import Kinds
from samekind.algorithms.sampling import QuietTest, Settings, draw
from samekind.flow import Flow
from samekind.points import Points

__all__ = ["uniform"]


def uniform(
    points: Points, kinds: Kinds, rng: np.random.Generator, settings: Settings
) -> Flow[str]:
    """Draw uniformly; a cluster is recovered when it is heavy. One round, whatever happens."""
    sampler = kinds.sampler = points.sampler()
    quiet = QuietTest(settings.epsilon)
    kinds.n_rounds = 1
    while kinds.n_labelled < points.n:
        if quiet.passed:
            return "reducible"
        size = settings.batch_size(kinds.n_samples)
        draws = yield from draw(points, sampler, kinds, rng, settings, size)
        places = quiet.outside(draws, kinds)
        for place, x in zip(places, points.rows(draws.rows[places]), strict=True):
            kinds.add_uniform(int(draws.kinds[place]), x)
        if places and (heavy := kinds.unrecovered_heavy(settings.heavy)):
            kinds.recover(heavy)
            if settings.target is not None and len(kinds.recovered) >= settings.target:
                return "target"
    kinds.settle(points)
    return "exhausted"
