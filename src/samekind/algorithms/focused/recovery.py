"""Which clusters are recovered: those whose centres are accurate, by trials of their purity."""

from __future__ import annotations

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from samekind.algorithms.focused import constants as const
from samekind.algorithms.focused.cluster_model import ClusterModel
from samekind.algorithms.focused.paper_draws import PaperDraws
from samekind.algorithms.focused.purity import PurityTrials
from samekind.algorithms.state import UNKNOWN, ClusterState

__all__ = ["Recovery"]


class Recovery:
    """Draws rows for trials, and recovers clusters by their outcome; `paper` is told which."""

    def __init__(
        self,
        state: ClusterState,
        model: ClusterModel,
        rng: np.random.Generator,
        paper: PaperDraws,
    ) -> None:
        self.trials = PurityTrials()
        self._state = state
        self._model = model
        self._rng = rng
        self._paper = paper
        self._planned: Counter[int] = Counter()  # trials of each cluster in this wave
        self._drawn: dict[int, list[int]] = {}  # rows for the next trials of a cluster
        self._unfilled: tuple[tuple[int, ...], list[int]] = (), []  # when listed last, and they

    def begin_wave(self) -> None:
        """Begin a wave: no trial is planned."""
        self._planned.clear()

    def merge(self, keep: int, gone: int) -> None:
        """Make one cluster part of another."""
        self.trials.merge(keep, gone)
        self._drawn.pop(gone, None)
        self._unfilled = (), []

    def unfilled(self) -> list[int]:
        """Return the clusters that need trials, but for those that had too many already."""
        state, trials = self._state, self.trials
        when = (len(state.members), len(state.recovered), trials.n_made)
        if when != self._unfilled[0]:
            k = len(state)
            tried = trials.made[:k] >= const.MAX_TRIALS
            self._unfilled = when, (state.is_open(np.arange(k)) & ~tried).nonzero()[0].tolist()
        return self._unfilled[1]

    def draw(self) -> int:
        """Draw a row predicted to be in the cluster that is nearest to being recovered; -1: none."""
        planned = self._planned
        waiting = [
            cluster for cluster in self.unfilled() if planned.get(cluster, 0) < const.TRIALS_AT_ONCE
        ]
        if not waiting:
            return -1
        cluster = max(waiting, key=self.trials.priority.__getitem__)
        planned[cluster] += 1
        drawn = self._drawn.setdefault(cluster, [])
        predictor = self._model.predictor
        for _ in range(2):
            while drawn:
                row = drawn.pop()
                unknown = self._state.cluster_of_row(row) == UNKNOWN
                if unknown and predictor.cluster_of_row(row) == cluster:
                    return row
            drawn += self._influential(predictor.sample(cluster, self._rng, const.TRIAL_POOL))
        self.trials.add_missing(cluster)  # hardly a row is left
        self._recover(cluster)
        return -1

    def _influential(self, rows: NDArray[np.intp]) -> list[int]:
        """Draw some unknown ones of these rows, in proportion to their distance from the mean of all."""
        if not rows.size:
            return []
        X = self._model.points.rows(rows)
        steps = X - X.mean(axis=0)
        distances = np.sqrt(np.einsum("ij,ij->i", steps, steps))
        unknown = self._state.cluster_of(rows) == UNKNOWN
        distances *= unknown
        if not distances.any():
            few: list[int] = rows[unknown][: const.TRIAL_ROWS].tolist()
            return few
        sums = distances.cumsum()
        places = sums.searchsorted(self._rng.random(const.TRIAL_ROWS) * sums[-1], side="right")
        drawn: list[int] = rows[np.minimum(places, rows.size - 1)].tolist()
        return drawn

    def add_trial(self, predicted: int, cluster: int) -> None:
        """Add a trial of the cluster `predicted`, with a row that is in `cluster`."""
        self.trials.add(predicted, cluster)
        self._recover(predicted)

    def _recover(self, cluster: int) -> None:
        """Recover a cluster if its centre is accurate enough."""
        trials, state = self.trials, self._state
        if state.is_recovered(cluster):
            return
        too_foreign = trials.foreign_share(cluster) ** 2 > const.ACCURATE
        if too_foreign and trials.made[cluster] % const.RECHECK != 0:
            return
        counts, means, _ = self._model.predictor.regions()
        self._model.set_sizes(counts)
        error = trials.center_error(cluster, int(counts[cluster]), len(state.members[cluster]))
        if error <= const.ACCURATE:
            state.set_center(cluster, means[cluster])
            state.recover([cluster])
            state.n_rounds += 1
            self._paper.add_recovered(cluster)
