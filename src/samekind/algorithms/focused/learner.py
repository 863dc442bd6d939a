"""What answers teach: all that a run knows besides the clusters themselves, kept consistent."""

from __future__ import annotations

import numpy as np

from samekind.algorithms.base import Algorithm
from samekind.algorithms.focused.audit import Audit
from samekind.algorithms.focused.cluster_model import ClusterModel
from samekind.algorithms.focused.cluster_pairs import ClusterPairs
from samekind.algorithms.focused.params import FocusedParams
from samekind.algorithms.focused.recovery import PaperDraws, Recovery
from samekind.algorithms.focused.scheduler import SEARCH_AIMS, Aim, AimScheduler
from samekind.algorithms.focused.scoring import Features
from samekind.flow import FloatArray

__all__ = ["Learner", "OpenRow"]


class OpenRow:
    """A row that was drawn with an aim, what was answered about it, and its cluster in the end."""

    def __init__(self, row: int, x: FloatArray, predicted: int, aim: Aim) -> None:
        self.row = row
        self.x = x
        self.predicted = predicted
        self.aim: Aim = aim
        self.cluster: int | None = None  # GIVEN_UP when nobody can tell
        self.is_new = False
        self.n_asked = 0  # questions; a line-up is one
        self.n_unsure = 0
        self.asked: dict[int, list[int]] = {}  # members asked about, by cluster
        self.refused: list[int] = []  # clusters it is not in
        self.unsure_clusters: set[int] = set()  # nobody can tell of any of their members
        self.weights = np.zeros(0)  # of each cluster, up to a factor,
        self.new_weight = 1.0  # and of "new"
        self.compare_first = -1  # the row to compare it with before any other
        self.prior = np.zeros(0)  # probability of each cluster before the first answer
        self.features: Features

    def prior_of_others(self) -> FloatArray:
        """Return its prior without the clusters that refused it."""
        prior = self.prior
        if refused := [cluster for cluster in self.refused if cluster < prior.size]:
            left = 1.0 - prior[refused].sum()
            prior = prior.copy()
            prior[refused] = 0.0
            if self.is_new and left > 0:
                prior /= left
        return prior


class Learner:
    """The model of the clusters and everything else that learns from answers."""

    def __init__(self, run: Algorithm[FocusedParams]) -> None:
        self.points = run.points
        self.params = run.params
        self.state = run.state
        self.rng = run.rng
        self.model = ClusterModel(run.points, run.params)
        self.pairs = ClusterPairs()
        self.audit = Audit()
        self.scheduler = AimScheduler()
        self.paper = PaperDraws(run)
        self.recovery = Recovery(run, self.model, self.paper)
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
        self.model.scorer.add_cluster()

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
                self.learn_released(self.audit.end())
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

    def learn_released(self, released: list[tuple[int, int]]) -> None:
        """Let the model learn rows and clusters of an audit that is over."""
        for row, cluster in released:
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
        self.paper.drop(gone)
        founder = self._founders.pop(gone, None)  # was called new, and was not
        if founder is None:
            return
        known, scorer = founder.prior.size, self.model.scorer
        if keep < known:
            for _ in range(2):  # once against what it taught then, once for what it should have
                scorer.logit.learn(*founder.features, scorer.alive[:known], keep)
        self.scheduler.retract_discovery(founder.aim)

    def split(self, cluster: int, rows: list[int]) -> None:
        """Make a new cluster of some members of another."""
        new = self.split_off(cluster, rows)
        for row in rows:
            self.model.move(row, cluster, new)

    def split_off(self, cluster: int, rows: list[int]) -> int:
        """Make a new cluster of some members of another, of which the model knows nothing yet."""
        new = self.state.split(cluster, rows, self.points.row(rows[0]))
        self._add_cluster()
        return new

    def retire(self, cluster: int) -> None:
        """Leave a cluster that has no members any more as a number."""
        self.pairs.retire(cluster)
        self.model.scorer.retire(cluster)
        self.recovery.begin_trials_anew(cluster)
        self.paper.drop(cluster)
        founder = self._founders.pop(cluster, None)
        if founder is not None:
            self.scheduler.retract_discovery(founder.aim)
