"""What all flows do between two questions: draw rows, learn their kinds, decide when to stop."""

from __future__ import annotations

from dataclasses import dataclass
from math import log
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from samekind.algorithms.classify import classify
from samekind.algorithms.kinds import UNKNOWN, Kinds
from samekind.flow import Flow
from samekind.points import Points, Sampler

__all__ = ["Draws", "QuietTest", "Settings", "draw", "label"]


@dataclass(frozen=True)
class Settings:
    """The parameters of a run that concern the algorithm; `algorithms.start` checks them."""

    epsilon: float | None = 0.01
    heavy: int = 10
    target: int | None = None
    batch: int | Literal["auto"] = 1
    order: str = "nearest"
    patience: int = 3
    certify: str = "lazy"
    stop: str = "reducible"
    tolerance: float = 0.01
    goal: str = "centers"
    lineup: int = 1
    without: tuple[str, ...] = ()
    error_rate: float | Literal["estimate"] | None = None

    def batch_size(self, n_samples: int) -> int:
        """Return how many rows to ask about at once, after so many draws.

        "auto" starts with one and grows with what is known, so that a run learns as much from its first
        answers as one row at a time would, and is soon quick.
        """
        return min(1024, 1 + n_samples // 16) if self.batch == "auto" else self.batch


class Draws(NamedTuple):
    """Rows drawn, their kinds (or GIVEN_UP), and Φ({x}, C) of each when it was drawn."""

    rows: NDArray[np.intp]
    kinds: NDArray[np.intp]
    costs: NDArray[np.float64]


def draw(
    points: Points,
    sampler: Sampler,
    kinds: Kinds,
    rng: np.random.Generator,
    settings: Settings,
    size: int,
) -> Flow[Draws]:
    """Sample (Algorithm 3), `size` times at once: D²-sample rows and ask of what kind they are."""
    rows = sampler.draw(rng.random(size))
    known = yield from label(rows, points, kinds, settings)
    kinds.n_samples += size
    return Draws(rows, known, sampler.cost(rows))


def label(
    rows: NDArray[np.intp], points: Points, kinds: Kinds, settings: Settings
) -> Flow[NDArray[np.intp]]:
    """Return the kind of each row (rows may repeat), asking for `batch` rows at a time."""
    known = kinds.kind_of(rows)
    unknown = np.flatnonzero(known == UNKNOWN)
    if not unknown.size:
        return known
    new = np.array(list(dict.fromkeys(rows[unknown].tolist())), dtype=np.intp)
    size = settings.batch_size(kinds.n_samples)
    for start in range(0, new.size, size):
        some = new[start : start + size]
        found = yield from classify(
            some, points.rows(some), kinds, order=settings.order, patience=settings.patience
        )
        if some.size == unknown.size:  # the usual case: one batch without repeats
            known[unknown] = found.kinds
            return known
    return kinds.kind_of(rows)


class QuietTest:
    """The paper's phase-1 test, held at every moment of a practical run.

    If clusters that are not ε-reducible are left, a draw falls outside the recovered ones with
    probability at least ε/4 (Lemma 2). So a run of more than T = 8/ε·ln(10 t) draws inside them
    means, but with probability (10 t)^-2, that none is left. t numbers the tests: a new one begins with
    every draw outside and with every new centre, and the errors of all tests together stay below
    1/60. The paper holds its test once at the start of a round, with t = k + 1.

    For uniform draws the same run bounds the share of the rows that are in unrecovered clusters.
    """

    def __init__(self, epsilon: float | None) -> None:
        self._epsilon = epsilon
        self._n_tests = 0
        self.restart()

    def restart(self) -> None:
        """Begin the next test."""
        self._n_tests += 1
        self._quiet = 0

    def go_on(self, n_draws: int = 1) -> None:
        """Take in draws of kinds that are recovered, or of none."""
        self._quiet += n_draws

    @property
    def passed(self) -> bool:
        """Return whether the quiet lasted long enough."""
        if self._epsilon is None:
            return False
        return self._quiet > 8 / self._epsilon * log(10 * self._n_tests)

    def outside(self, draws: Draws, kinds: Kinds) -> list[int]:
        """Take in draws, and return the places of those of a kind that is not recovered."""
        places: list[int] = np.flatnonzero(kinds.is_open(draws.kinds)).tolist()
        if places:
            self._n_tests += len(places)
            self._quiet = draws.rows.size - 1 - places[-1]
        else:
            self.go_on(draws.rows.size)
        return places
