"""What the paper's two exact algorithms share: Sample in large numbers, and RejSamp."""

from __future__ import annotations

from collections import Counter

import numpy as np

from samekind.algorithms.kinds import Kinds
from samekind.algorithms.sampling import Draws, Settings, draw
from samekind.flow import Flow
from samekind.points import Points, Sampler

__all__ = ["Round", "rejection_sample"]

LARGEST_DRAW = 2**16


class Round:
    """The multiset S of a round, counted by kind; Q, the kinds seen outside I; and each x_j*.

    The exact constants ask for millions of draws, nearly all of rows that are already labelled. So
    it draws in bulk as long as nothing has to be asked, and `batch` rows at a time otherwise.
    """

    def __init__(
        self,
        points: Points,
        sampler: Sampler,
        kinds: Kinds,
        rng: np.random.Generator,
        settings: Settings,
    ) -> None:
        self._context = (points, sampler, kinds, rng, settings)
        self._kinds = kinds
        self._labelled = kinds.n_labelled
        self._settings = settings
        self._chunk = settings.batch_size(kinds.n_samples)
        self.size = 0  # |S|
        self.counts: Counter[int] = Counter()  # samples in S of each kind in Q
        self.smallest: dict[int, float] = {}  # Φ(x_j*) of each kind in Q

    @property
    def q(self) -> int:
        """|Q|."""
        return len(self.counts)

    def sample(self, size: float) -> Flow[Draws]:
        """Sample(I, {μ̃_i}, Q, S), at most `size` times and at least once."""
        n = max(1, int(min(size, self._chunk)))
        draws = yield from self._draw(n)
        self._chunk = min(2 * self._chunk, LARGEST_DRAW)
        if self._kinds.n_labelled > self._labelled:
            self._labelled = self._kinds.n_labelled
            self._chunk = self._settings.batch_size(self._kinds.n_samples)
        return draws

    def _draw(self, n: int) -> Flow[Draws]:
        """Draw n rows and learn their kinds."""
        return draw(*self._context, n)

    def add(self, draws: Draws) -> None:
        """Put draws into S, and their kinds into Q where they are not recovered."""
        self.size += draws.rows.size
        for kind in np.unique(draws.kinds).tolist():
            if kind >= 0 and not self._kinds.is_recovered(kind):
                own = draws.kinds == kind
                self.counts[kind] += int(own.sum())
                lowest = float(draws.costs[own].min())
                self.smallest[kind] = min(lowest, self.smallest.get(kind, lowest))


def rejection_sample(
    this: Round,
    points: Points,
    kinds: Kinds,
    rng: np.random.Generator,
    epsilon: float,
    enough: float,
    wanted: list[int],
) -> Flow[None]:
    """RejSamp(I, {μ̃_i}, T, W, {x_j*}): at least T uniform samples of every kind in W."""
    for kind in wanted:
        kinds.set_uniform(kind, [])  # S_j ← ∅
    while any(kinds.n_uniform[kind] < enough for kind in wanted):  # Alg. 4, l. 6
        draws = yield from this.sample(np.inf)  # Alg. 4, l. 2-3
        coins = rng.random(draws.rows.size)
        for kind in wanted:  # Alg. 4, l. 4
            own = np.flatnonzero(draws.kinds == kind)
            ratio = this.smallest[kind] / draws.costs[own]
            accept = epsilon / 128 * ratio
            if (accept > 1).any():
                kinds.note(
                    f"The bound Φ(x*)/Φ(x) ≤ 128/ε did not hold for a kind: {ratio.max():.3g} > "
                    f"{128 / epsilon:.3g}. Its samples are not quite uniform."
                )
            kept = own[coins[own] < accept]  # Alg. 4, l. 5
            for x in points.rows(draws.rows[kept]):
                kinds.add_uniform(kind, x)
