"""What answers teach: all that a run knows besides the clusters themselves, kept consistent."""

from __future__ import annotations

from samekind.algorithms.base import Algorithm
from samekind.algorithms.focused.audit import Audit
from samekind.algorithms.focused.cluster_model import ClusterModel
from samekind.algorithms.focused.cluster_pairs import ClusterPairs
from samekind.algorithms.focused.open_row import OpenRow
from samekind.algorithms.focused.params import FocusedParams
from samekind.algorithms.focused.recovery import PaperDraws, Recovery
from samekind.algorithms.focused.scheduler import SEARCH_AIMS, Aim, AimScheduler
from samekind.algorithms.focused.unsure_rows import UnsureRows
from samekind.algorithms.state import GIVEN_UP

__all__ = ["Learner", "OpenRow"]


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
        self.scheduler = AimScheduler(self.model.steady_aim)
        self.paper = PaperDraws(run)
        self.recovery = Recovery(run, self.model, self.paper)
        self.unsure = UnsureRows(run.params.patience)
        self._merged_into: dict[int, int] = {}
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
        if cluster and self.state.n_discovered == 1:  # all before it were dissolved
            self.model.predict_surrogates()

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
        if aim != "audit":
            self.audit.release(row)
        if not open_row.is_doubtful:
            self.pairs.add_member(cluster, open_row.prior_of_others(), open_row.refused)
        if open_row.is_new:
            self._founders[cluster] = open_row
        as_predicted = open_row.predicted == cluster
        if aim == "audit":
            if open_row.is_new:
                self.audit.add_founder()
            else:
                self.audit.add(row, cluster)
        elif open_row.is_doubtful:  # its neighbours are predicted as it would have been
            self.model.sites.add(row, open_row.predicted, surrogate=True)
        elif not open_row.is_new:
            far = aim in SEARCH_AIMS and not self.model.sites.defers
            self.model.learn(row, open_row.x, cluster, surprising=far or not as_predicted)
        self.scheduler.learn(
            aim, open_row.n_asked, is_new=open_row.is_new, as_predicted=as_predicted
        )
        if aim == "survey":
            self.audit.surveys.add(is_new=open_row.is_new)
        elif aim == "fill" and open_row.predicted >= 0:
            self.recovery.add_trial(open_row.predicted, cluster)
        elif aim == "paper":
            self.paper.observe(cluster)

    def give_up(self, open_row: OpenRow) -> None:
        """Leave a row alone that nobody can tell; its neighbours are predicted as it would have been.

        If that may be due to the only member of a cluster, and others could not be told because of it, too,
        then it is given up, and they are asked about again.
        """
        self.state.give_up(open_row.row)
        if open_row.predicted >= 0:
            self.model.sites.add(open_row.row, open_row.predicted, surrogate=True)
        if open_row.aim == "audit":
            self.audit.add_undecided(open_row.row)
            return
        self.audit.release(open_row.row)
        self.unsure.set_aside(open_row, self.state.n_labelled)
        if (guilty := self.unsure.guilty()) >= 0:
            self._dissolve(guilty)

    def next_to_return(self) -> OpenRow | None:
        """Return a row that was given up, and that there may be something better to compare with now."""
        n_known = self.state.n_labelled
        all_known = n_known == self.points.n
        while (open_row := self.unsure.next_to_return(n_known, all_known=all_known)) is not None:
            if self.state.cluster_of_row(open_row.row) == GIVEN_UP:  # or somebody told it since
                self.state.forget(open_row.row)
                # clusters may have been merged since
                open_row.refused = sorted({self._current(cluster) for cluster in open_row.refused})
                break
        return open_row

    def _current(self, cluster: int) -> int:
        """Return the cluster that one has become part of, or itself."""
        while cluster in self._merged_into:
            cluster = self._merged_into[cluster]
        return cluster

    def _dissolve(self, row: int) -> None:
        """Give up the only member of a cluster, which made others unsure: they come back."""
        cluster, others = self.state.cluster_of_row(row), self.unsure.acquit(row)
        if cluster < 0 or len(self.state.members[cluster]) > 1:
            return  # somebody told it since
        founder = self._founders.get(cluster)
        self.model.relabel([row], -1)
        self.state.forget(row)
        self.retire(cluster)
        self.state.give_up(row)
        if founder is not None:
            founder.is_new = False
            self.unsure.set_aside(founder, self.state.n_labelled)
        self.unsure.let_return(others)

    def draw_again(self, row: int, cluster: int, aim: Aim) -> None:
        """Learn from a draw of a row whose cluster is known, or which was given up."""
        audited = self.audit.release(row)
        if audited is not None and audited.cluster is not None:
            predicted = self.model.predictor.cluster_of_row(row)
            x = self.points.row(row)
            self.model.learn(row, x, cluster, surprising=predicted != cluster)
        if aim == "survey":
            if cluster >= 0:
                self.audit.surveys.add(is_new=False)
        elif aim == "paper":
            self.paper.observe(cluster)
        elif aim == "explore":  # as it is no site, it would be drawn again and again
            if cluster >= 0:
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
        self._merged_into[gone] = keep
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

    def split(self, cluster: int, rows: list[int]) -> int:
        """Make a new cluster of some members of another; return its number."""
        new = self.split_off(cluster, rows)
        for row in rows:
            self.model.move(row, cluster, new)
        return new

    def split_off(self, cluster: int, rows: list[int]) -> int:
        """Make a new cluster of some members of another, of which the model knows nothing yet."""
        new = self.state.split(cluster, rows, self.points.row(rows[0]))
        self._add_cluster()
        return new

    def compared_with_founder(self, cluster: int) -> set[int]:
        """Return the rows by which a cluster's first row was called new; none if nothing was asked."""
        founder = self._founders.get(cluster)
        return (
            set() if founder is None else {row for rows in founder.asked.values() for row in rows}
        )

    def retire(self, cluster: int) -> None:
        """Leave a cluster that has no members any more as a number."""
        self.pairs.retire(cluster)
        self.model.scorer.retire(cluster)
        self.recovery.begin_trials_anew(cluster)
        self.paper.drop(cluster)
        founder = self._founders.pop(cluster, None)
        if founder is not None:
            self.scheduler.retract_discovery(founder.aim)
