"""`focused`: draw where nothing is known, ask the likeliest cluster first, predict the rest."""

from __future__ import annotations

import numpy as np

from samekind.algorithms.base import Algorithm, Known, Prediction, Snapshot
from samekind.algorithms.focused import constants as const
from samekind.algorithms.focused.answer_policy import AnswerPolicy
from samekind.algorithms.focused.audit import ALL_KNOWN, rectified_centers
from samekind.algorithms.focused.learner import Learner, OpenRow
from samekind.algorithms.focused.noisy_answers import NoisyAnswers
from samekind.algorithms.focused.params import FocusedParams
from samekind.algorithms.focused.planner import RowPlanner
from samekind.algorithms.focused.questions import ClusterQuestions, RowQuestions, score_open_rows
from samekind.algorithms.state import GIVEN_UP
from samekind.flow import FloatArray, Flow, IntArray
from samekind.points import Points

__all__ = ["Focused"]


class Focused(Algorithm[FocusedParams]):
    """Draw where no labelled row is near, ask the likeliest cluster first, and predict the rest.

    Every draw has one of these aims:

    - *explore*: rows far from all labelled rows, with a probability proportional to distance⁴;
    - *survey*: rows drawn uniformly, as often as that finds new clusters, compared with exploring;
    - *fill*: rows predicted to be in a cluster that is not recovered yet, more often far from its centre;
    - *refine*: rows whose predicted cluster is uncertain;
    - *paper*: D²-samples with respect to the recovered centres, a fixed share of all draws;
    - *audit*: uniform draws, a fixed share, whose answers are kept apart and give the certificate.

    With ``goal="labels"`` nothing is asked for the sake of accurate centres: no fill, so no cluster is
    recovered, and the run ends with the budget, the certificate, or when every row is known.

    What is guaranteed: the paper's draws are exactly those of its Algorithm 2, whatever the rest does, and
    the number of draws between two of them does not depend on their outcome. So Lemma 2 holds for them:
    while clusters that are not ε-reducible are missing, each falls outside the recovered ones with
    probability at least ε/4, and the run stops by itself only after more than 8/ε·ln(10 t) of them in a row
    did not (`QuietTest`). The other draws only add to what is known. The certificate's bounds hold for any
    data; see `Audit`.

    With an error rate, answers may be wrong: see `NoisyAnswers`. Then the guarantees hold as far as the rows
    asked about are where they are held to be.

    A `RowPlanner` draws rows; `RowQuestions` ask about them, `ClusterQuestions` about pairs of clusters; an
    `AnswerPolicy`, one for trusted and one for noisy answers, draws conclusions; the `Learner` learns.
    """

    name = "focused"
    Params = FocusedParams
    predicts = True
    resumes_from_known = True
    asks_lineups = True
    reduces = True

    def __init__(
        self,
        points: Points,
        params: FocusedParams,
        rng: np.random.Generator,
        known: Known | None = None,
    ) -> None:
        super().__init__(points, params, rng, known)
        self._learner = learner = Learner(self)
        self._policy = AnswerPolicy(learner) if params.trusts_answers else NoisyAnswers(learner)
        self._planner = RowPlanner(learner, self._policy)
        self._rows = RowQuestions(learner, self._policy)
        self._clusters = ClusterQuestions(learner, self._policy)

    def run(self) -> Flow[str]:
        """Draw, ask and learn until there is a reason to stop."""
        if self.known is not None:
            yield from self._begin_with(self.known)
        while not (reason := self._reason_to_stop()):
            plan = self._planner.plan(self._wave())
            if plan:
                yield from self._ask(plan)
            if self.params.uses("merge"):
                yield from self._compare_clusters(plan)
        if reason != "target":
            yield from self._clusters.compare(0.0, at_once=self._wave())
            if reason == "exhausted":
                self.state.settle(self.points)
        return reason

    def _begin_with(self, known: Known) -> Flow[None]:
        """Learn what is known already, as if it had just been answered; ask what it leaves open."""
        cluster_of: dict[int, int] = {}  # of each group
        for row, group in zip(known.rows, known.groups, strict=True):
            open_row = self._planner.open_row(row, "given")
            score_open_rows([open_row], self._learner.model)
            if group in cluster_of:
                open_row.cluster = cluster_of[group]
            else:
                self._learner.discover(open_row)
                assert open_row.cluster is not None
                cluster_of[group] = open_row.cluster
            self._learn(open_row)
        for a, b in known.different:
            self._learner.pairs.separate(cluster_of[a], cluster_of[b])
        self.state.n_samples += len(known.rows)
        for row in known.ask_first:
            yield from self._ask([self._planner.open_row(row, "refine")])

    def _wave(self) -> int:
        """Return how many rows to ask about at once.

        The rows of a wave do not learn from each other, so it is a small part of what is known.
        """
        n_known, batch = self.state.n_labelled, self.params.batch
        if batch == "auto":
            return max(1, min(const.AUTO_WAVE_ROWS, int(const.AUTO_WAVE_SHARE * n_known)))
        return max(1, min(batch, int(const.WAVE_SHARE * n_known)))

    def _ask(self, plan: list[OpenRow]) -> Flow[None]:
        """Ask about some rows and learn their clusters."""
        yield from self._rows.settle(plan)
        self._policy.revise(len(plan))
        for open_row in plan:
            self._learner.scheduler.spend(open_row.aim, open_row.n_asked)
            if open_row.cluster == GIVEN_UP:
                self._learner.give_up(open_row)
            else:
                self._learn(open_row)

    def _learn(self, open_row: OpenRow) -> None:
        """Learn from a row whose cluster is decided."""
        known, model = open_row.prior.size, self._learner.model
        if known and open_row.aim != "audit":
            target = self._policy.target(open_row)
            model.scorer.logit.learn(*open_row.features, model.scorer.alive[:known], target)
        self._learner.learn(open_row)

    def _compare_clusters(self, plan: list[OpenRow]) -> Flow[None]:
        """Compare the clusters of the last rows with similar ones, and others with a share of questions."""
        clusters = {open_row.cluster for open_row in plan if open_row.cluster is not None}
        for cluster in sorted(clusters):
            if cluster >= 0 and self._learner.model.scorer.alive[cluster]:
                yield from self._clusters.compare(const.COMPARE_ABOVE, of=cluster)
        idle = self._learner.scheduler.is_flat() and not self._planner.should_fill()
        share = const.COMPARE_SHARE_IDLE if idle else const.COMPARE_SHARE
        yield from self._policy.check_answers()
        yield from self._clusters.pay_share(share, self._wave())

    def _reason_to_stop(self) -> str:
        """Return why to stop now, or nothing."""
        state, params = self.state, self.params
        if state.n_labelled == self.points.n:
            return "exhausted"
        if params.target is not None and len(state.recovered) >= params.target:
            return "target"
        if params.stop == "certified":
            return "certified" if self._is_certified() else ""
        return "reducible" if self._learner.paper.quiet.passed else ""

    def _is_certified(self) -> bool:
        """Return whether the certificate's bounds are within the tolerance."""
        audit, predictor = self._learner.audit, self._learner.model.predictor
        if not audit.n_draws:
            return False
        rows = np.array(audit.rows, dtype=np.intp)

        def within_tolerance(predicted: IntArray) -> bool:
            promise = audit.certificate(predicted, n_unproven=0)  # no bound depends on it
            return max(promise.undiscovered, promise.wrong) <= self.params.tolerance

        # quick predictions may be a little old: predict anew before stopping
        quick = predictor.clusters_of(rows) if rows.size else rows
        return within_tolerance(quick) and within_tolerance(predictor.predict().clusters_of(rows))

    # What others see

    def snapshot(self) -> Snapshot:
        """Return what is known and predicted now."""
        learner, points, state = self._learner, self.points, self.state
        audit, trials, k = learner.audit, learner.recovery.trials, len(state)
        predicted = learner.model.predictor.predict()
        counts, means, variances = predicted.regions
        errors = np.array(
            [
                trials.center_error(cluster, int(counts[cluster]), len(members))
                for cluster, members in enumerate(state.members)
            ]
        )
        centers = np.array(state.centers)
        centers[counts > 0] = means[counts > 0]
        rows = np.array(audit.rows, dtype=np.intp)
        of_audited = predicted.clusters_of(rows) if rows.size else rows
        if rows.size and self.params.uses("rectify"):
            audited = np.array(audit.clusters, dtype=np.intp)
            centers = rectified_centers(
                centers, counts, points.rows(rows), audited, of_audited, points.n
            )
        for cluster, members in enumerate(state.members):
            if not counts[cluster] and members:
                centers[cluster] = points.rows(np.array(members)).mean(axis=0)
        all_asked = state.n_labelled == points.n
        if all_asked:
            centers, errors = np.array(state.centers), np.zeros(k)
        unproven = learner.pairs.unproven()
        prediction = Prediction(
            labels=predicted.label_rows,
            standard_errors=np.where(
                np.isfinite(errors), np.sqrt(np.minimum(errors, 1e300) * variances), np.inf
            ),
            certificate=ALL_KNOWN
            if all_asked and not state.given_up
            else audit.certificate(of_audited, len(unproven)),
            unproven=unproven,
            confused=[(a, b) for a in range(k) for b in trials.confused_with(a)],
            notes=self._policy.notes(),
            error_rate=self._policy.error_rate(),
        )
        return self._snapshot(centers, prediction)

    def confidence(self, rows: IntArray) -> FloatArray:
        """Return how likely each row is in the cluster that it is known, or predicted, to be in."""
        found = np.ones(rows.size)
        unknown = self.state.cluster_of(rows) < 0
        found[unknown] = self._learner.model.confidence(rows[unknown])
        return np.minimum(found, self._policy.certainty(rows))

    def questions_to_next_cluster(self) -> float | None:
        """Return the expected number of questions until the next new cluster."""
        scheduler = self._learner.scheduler
        expected = scheduler.questions_to_next_cluster()
        if expected is None or self._planner.is_exhausted:
            return None
        return expected * (1 + self._clusters.n_asked / scheduler.n_asked)
