"""What answers teach: all that a run knows besides the clusters themselves, kept consistent."""

from __future__ import annotations

import numpy as np

from samekind.algorithms.focused.answer_policy import OpenRow
from samekind.algorithms.focused.audit import Audit
from samekind.algorithms.focused.cluster_model import ClusterModel
from samekind.algorithms.focused.cluster_pairs import ClusterPairs
from samekind.algorithms.focused.params import FocusedParams
from samekind.algorithms.focused.recovery import PaperDraws, Recovery
from samekind.algorithms.focused.scheduler import SEARCH_AIMS, Aim, AimScheduler
from samekind.algorithms.state import ClusterState
from samekind.points import Points, Sampler

__all__ = ["Learner"]


class Learner:
    """The model of the clusters and everything else that learns from answers."""

    def __init__(
        self,
        points: Points,
        params: FocusedParams,
        state: ClusterState,
        sampler: Sampler,
        rng: np.random.Generator,
    ) -> None:
        self.points = points
        self.state = state
        self.model = ClusterModel(points, params)
        self.pairs = ClusterPairs()
        self.audit = Audit()
        self.scheduler = AimScheduler()
        self.paper = PaperDraws(sampler, state, params.epsilon)
        self.recovery = Recovery(state, self.model, rng, self.paper)
        self.unsure_pairs: set[tuple[int, int]] = set()
        """Pairs of rows, the smaller number first, that nobody could tell."""
        self._founders: dict[int, OpenRow] = {}  # the rows that were called new, by cluster

    # Rows

    def discover(self, open_row: OpenRow) -> None:
        """Make a row the first member of a new cluster."""
        cluster = open_row.cluster = self.state.discover(open_row.row, open_row.x)
        open_row.is_new = True
        self._add_cluster()
        for other in open_row.refused:
            self.pairs.separate(cluster, other)
        self.model.learn(open_row.row, open_row.x, cluster, surprising=True)

    def _add_cluster(self) -> None:
        self.pairs.add_cluster()
        self.recovery.trials.add_cluster()
        self.model.add_cluster()

    def learn(self, open_row: OpenRow) -> None:
        """Learn from a row whose cluster is known now."""
        row, cluster, aim = open_row.row, open_row.cluster, open_row.aim
        assert cluster is not None
        if not open_row.is_new:
            self.state.add_member(row, cluster)
        self.pairs.add_member(cluster, open_row.prior_of_others(), open_row.refused)
        if open_row.is_new:
            self._founders[cluster] = open_row
        as_predicted = open_row.predicted == cluster
        if aim == "audit":
            if open_row.is_new:
                self._learn_released(self.audit.end())
            else:
                self.audit.add(row, cluster)
        elif not open_row.is_new:
            far = aim in SEARCH_AIMS and not self.model.sites.defers
            self.model.learn(row, open_row.x, cluster, surprising=far or not as_predicted)
        self.scheduler.learn(
            aim, open_row.n_asked, is_new=open_row.is_new, as_predicted=as_predicted
        )
        if aim == "survey":
            self.audit.add_survey(is_new=open_row.is_new)
        elif aim == "fill" and open_row.predicted >= 0:
            self.recovery.add_trial(open_row.predicted, cluster)
        elif aim == "paper":
            self.paper.observe(cluster)

    def _learn_released(self, rows: list[tuple[int, int]]) -> None:
        """Learn from rows that were audited."""
        for row, cluster in rows:
            surprising = self.model.predictor.cluster_of_row(row) != cluster
            self.model.learn(row, self.points.row(row), cluster, surprising=surprising)

    def give_up(self, open_row: OpenRow) -> None:
        """Leave a row alone that nobody can tell; its neighbours are predicted as it would have been."""
        self.state.give_up(open_row.row)
        if open_row.predicted >= 0:
            self.model.sites.add(open_row.row, open_row.predicted, surrogate=True)

    def draw_again(self, row: int, cluster: int, aim: Aim) -> None:
        """Learn from a draw of a row whose cluster is known, or which was given up."""
        if aim == "audit" and cluster >= 0:
            self.audit.add_known(row, cluster)
        elif aim == "survey":
            self.audit.add_survey(is_new=False)
        elif aim == "paper":
            self.paper.observe(cluster)
        elif aim == "explore":  # as it is no site, it would be drawn again and again
            if cluster >= 0 and row not in self.audit:
                self.model.sites.add(row, cluster)
            else:
                predicted = self.model.predictor.cluster_of_row(row)
                self.model.sites.add(row, predicted, surrogate=True)

    def move(self, row: int, cluster: int) -> None:
        """Make a member of another cluster one of this."""
        self.model.move(row, self.state.cluster_of_row(row), cluster)
        self.state.move(row, cluster)
        self.audit.move(row, cluster)

    # Clusters

    def merge(self, a: int, b: int) -> None:
        """Make two clusters one: the one that was discovered first."""
        keep, gone = min(a, b), max(a, b)
        for part in (self.state, self.model, self.pairs, self.recovery, self.audit):
            part.merge(keep, gone)
        self._retract_discovery(keep, gone)
        self.paper.drop(gone)

    def _retract_discovery(self, keep: int, gone: int) -> None:
        """Learn from a row that was called new and was not."""
        founder = self._founders.pop(gone, None)
        if founder is None:
            return
        known = founder.prior.size
        if keep < known:
            for _ in range(2):  # once against what it taught then, once for what it should have
                self.model.scorer.logit.learn(*founder.features, self.model.alive[:known], keep)
        self.scheduler.retract_discovery(founder.aim)

    def split(self, cluster: int, rows: list[int]) -> None:
        """Make a new cluster of some members of another."""
        new = self.state.split(cluster, rows, self.points.row(rows[0]))
        self._add_cluster()
        for row in rows:
            self.model.move(row, cluster, new)
