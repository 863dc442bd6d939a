"""Which clusters are recovered: those whose centres are accurate, by trials of their purity."""

from __future__ import annotations

from collections import Counter

import numpy as np
from scipy.special import betaincinv

from samekind.algorithms.base import Algorithm
from samekind.algorithms.focused import constants as const
from samekind.algorithms.focused.cluster_model import ClusterModel
from samekind.algorithms.focused.params import FocusedParams
from samekind.algorithms.paper.quiet_test import QuietTest
from samekind.algorithms.state import UNKNOWN
from samekind.flow import IntArray
from samekind.points import Sampler

__all__ = ["PaperDraws", "PurityTrials", "Recovery"]


class PurityTrials:
    """For each cluster the rows predicted to be in it that were asked about, and where they were indeed.

    A trial is a row drawn from those predicted to be in a cluster, in proportion to its distance from their
    mean. It fails if the row is in another cluster.
    """

    def __init__(self) -> None:
        self.made = np.zeros(16, dtype=np.intp)
        self.n_made = 0
        self.priority: list[float] = []
        """How near each cluster is to being found pure."""
        self._weight: list[float] = []
        self._failed: list[float] = []
        self._went: list[dict[int, float]] = []  # failures by their true cluster

    def add_cluster(self) -> None:
        """Make room for a new cluster."""
        self._went.append({})
        self._weight.append(0.0)
        self._failed.append(0.0)
        self.priority.append(0.0)
        if len(self._went) > self.made.size:
            self.made = np.pad(self.made, (0, self.made.size))

    def add(self, predicted: int, cluster: int) -> None:
        """Add a trial of the cluster `predicted`, with a row that is in `cluster`."""
        self.add_missing(predicted)
        decay = const.TRIAL_DECAY
        self._weight[predicted] = decay * self._weight[predicted] + 1
        self._failed[predicted] = decay * self._failed[predicted] + (cluster != predicted)
        self._prioritise(predicted)
        went = self._went[predicted]
        for other in went:
            went[other] *= decay
        if cluster != predicted:
            went[cluster] = went.get(cluster, 0.0) + 1

    def clear(self, cluster: int) -> None:
        """Forget the trials of a cluster."""
        self.made[cluster] = 0
        self._weight[cluster] = self._failed[cluster] = 0.0
        self._went[cluster] = {}
        self._prioritise(cluster)

    def add_missing(self, predicted: int) -> None:
        """Count a trial for which there was no row."""
        self.made[predicted] += 1
        self.n_made += 1

    def merge(self, keep: int, gone: int) -> None:
        """Make one cluster part of another: rows that went from the one to the other did not fail."""
        for column in (self.made, self._weight, self._failed):
            column[keep] += column[gone]
            column[gone] = 0
        for went in self._went:
            if gone in went:
                went[keep] = went.get(keep, 0.0) + went.pop(gone)
        for other, weight in self._went[gone].items():
            self._went[keep][other] = self._went[keep].get(other, 0.0) + weight
        self._failed[keep] -= min(self._failed[keep], self._went[keep].pop(keep, 0.0))
        self._went[gone] = {}
        self._prioritise(keep)
        self._prioritise(gone)

    def _prioritise(self, cluster: int) -> None:
        self.priority[cluster] = self._weight[cluster] - const.FAILURE_COST * self._failed[cluster]

    def foreign_share(self, cluster: int) -> float:
        """Return an upper estimate of the share of trials that fail: a quantile of Jeffreys' posterior."""
        failed = self._failed[cluster]
        passed = self._weight[cluster] - failed
        return float(betaincinv(failed + 0.5, passed + 0.5, const.PURITY_QUANTILE))

    def center_error(self, cluster: int, n_rows: int, n_members: int) -> float:
        """Return the relative squared error of the mean of the rows predicted to be in a cluster, estimated.

        If a share f of the trials fails, foreign rows move the mean by at most f times the mean distance from
        it, so by f² of the mean squared distance or less. Members are not foreign: their share of the rows
        counts as tried.
        """
        if n_rows == 0 or n_members == 0:
            return np.inf
        return (self.foreign_share(cluster) * max(0.0, 1 - n_members / n_rows)) ** 2

    def confused_with(self, cluster: int) -> list[int]:
        """Return the clusters that at least a quarter of this one's trials were in."""
        if self.made[cluster] < const.CONFUSED_TRIALS:
            return []
        return [
            other
            for other, weight in sorted(self._went[cluster].items())
            if weight >= const.CONFUSED_SHARE * self._weight[cluster]
        ]


class PaperDraws:
    """D²-samples with respect to the recovered centres, whatever the other draws do."""

    def __init__(self, run: Algorithm[FocusedParams]) -> None:
        self._state = run.state
        self._sampler = run.sampler
        self.quiet = QuietTest(run.params.epsilon)
        self._pending: list[int] = []  # recovered clusters whose centres the sampler lacks

    def draw(self, rng: np.random.Generator) -> int:
        """Draw a row; -1 when all lie on centres."""
        if self._pending:
            self._sampler.add_lazily(self._state.centers[self._pending])
            self._pending = []
            self.quiet.restart()
        return next(iter(self._sampler.draw_by_rejection(rng, 1)), -1)

    def observe(self, cluster: int) -> None:
        """Take the cluster of a row that was drawn into the test."""
        if cluster in self._pending or (cluster >= 0 and not self._state.is_recovered(cluster)):
            self.quiet.restart()
        else:
            self.quiet.go_on()

    def add_recovered(self, cluster: int) -> None:
        """Let the sampler have the centre of a recovered cluster before it draws again."""
        self._pending.append(cluster)

    def begin_anew(self, sampler: Sampler) -> None:
        """Draw with another sampler, which has no centres yet."""
        self._sampler = sampler
        self._pending = list(self._state.recovered)
        self.quiet.restart()

    def drop(self, cluster: int) -> None:
        """Forget a cluster that became part of another."""
        self._pending = [other for other in self._pending if other != cluster]


class Recovery:
    """Draws rows for trials, and recovers clusters by their outcome; `paper` is told which."""

    def __init__(
        self, run: Algorithm[FocusedParams], model: ClusterModel, paper: PaperDraws
    ) -> None:
        self.trials = PurityTrials()
        self._state = run.state
        self._rng = run.rng
        self._model = model
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

    def begin_trials_anew(self, cluster: int) -> None:
        """Forget the trials of a cluster whose members changed."""
        self.trials.clear(cluster)
        self._drawn.pop(cluster, None)
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

    def _influential(self, rows: IntArray) -> list[int]:
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

    def recover_all(self) -> None:
        """Recover every cluster, with the mean of the rows predicted to be in it as its centre."""
        counts, means, _ = self._model.predictor.regions()
        left = [k for k in range(len(self._state)) if counts[k] and not self._state.is_recovered(k)]
        self._state.centers[left] = means[left]
        self._state.recover(left)

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
            state.centers[cluster] = means[cluster]
            state.recover([cluster])
            state.n_rounds += 1
            self._paper.add_recovered(cluster)
