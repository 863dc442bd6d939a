"""The rounds that BASIC and BATCHED share (Section 5 of the paper)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from samekind.algorithms.kinds import Kinds
from samekind.algorithms.sampling import QuietTest, Settings, draw
from samekind.algorithms.thinning import Thinning
from samekind.flow import Flow
from samekind.points import Points

__all__ = ["Choose", "rounds", "unrecovered_heavy"]

Choose = Callable[[Kinds, int], list[int]]
"""Which kinds to recover now, given the kinds and what counts as heavy; empty: draw on."""


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
        chosen = choose(kinds, settings.heavy)
        while not chosen:
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
                chosen = choose(kinds, settings.heavy)
        sampler.add(kinds.recover(chosen))
        quiet.restart()
        if settings.target is not None and len(kinds.recovered) >= settings.target:
            return "target"


def unrecovered_heavy(kinds: Kinds, heavy: int) -> list[int]:
    """Return the unrecovered kinds with at least `heavy` uniform samples, largest first."""
    found = [
        kind
        for kind, count in enumerate(kinds.n_uniform)
        if count >= heavy and not kinds.is_recovered(kind)
    ]
    return sorted(found, key=lambda kind: -kinds.n_uniform[kind])
