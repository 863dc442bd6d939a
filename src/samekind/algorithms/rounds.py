"""The rounds that BASIC and BATCHED share (Section 5 of the paper)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from samekind.algorithms.kinds import Kinds
from samekind.algorithms.sampling import QuietTest, Settings, draw
from samekind.algorithms.thinning import Thinning
from samekind.flow import Flow
from samekind.points import Points

__all__ = ["Choose", "rounds"]

Choose = Callable[[list[int], Kinds], list[int]]
"""Which of the heavy kinds (there is at least one, largest first) to recover now; none: draw on."""


def rounds(
    points: Points, kinds: Kinds, rng: np.random.Generator, settings: Settings, choose: Choose
) -> Flow[str]:
    """Draw by D² from the recovered centres until `choose` names kinds to recover; repeat.

    Draws of unrecovered kinds are thinned to uniform samples of them (`Thinning`), which are kept for
    later rounds. Returns why it stopped.
    """
    sampler = kinds.sampler = points.sampler()
    quiet = QuietTest(settings.epsilon)
    thinning = Thinning(kinds)
    while True:
        kinds.n_rounds += 1
        thinning.next_round(sampler)
        while not ((heavy := thinning.heavy(settings.heavy)) and (chosen := choose(heavy, kinds))):
            if kinds.n_labelled == points.n:
                kinds.settle(points)
                return "exhausted"
            if sampler.total == 0:
                return "covered"
            if quiet.passed:
                return "reducible"
            size = settings.batch_size(kinds.n_samples)
            draws = yield from draw(points, sampler, kinds, rng, settings, size)
            coins = rng.random(size)
            places = quiet.outside(draws, kinds)
            if places:
                thinning.add(draws, places, points.rows(draws.rows[places]), coins[places])
        sampler.add(kinds.recover(chosen))
        quiet.restart()
        if settings.target is not None and len(kinds.recovered) >= settings.target:
            return "target"
