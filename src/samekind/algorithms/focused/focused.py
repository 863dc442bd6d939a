"""`focused`: draw where nothing is known, ask the likeliest cluster first, predict the rest."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from itertools import islice

import numpy as np

from samekind.algorithms.base import Algorithm, Certificate, Snapshot
from samekind.algorithms.exchange import Amendment, ExtraQuestion, Known
from samekind.algorithms.focused import constants as const
from samekind.algorithms.focused.amendment import Amender, separate_founded
from samekind.algorithms.focused.answer_policy import AnswerPolicy
from samekind.algorithms.focused.extras import ExtraPlanner
from samekind.algorithms.focused.guess import guess_clusters
from samekind.algorithms.focused.learner import Learner, OpenRow
from samekind.algorithms.focused.lone_clusters import fold
from samekind.algorithms.focused.noisy_answers import NoisyAnswers
from samekind.algorithms.focused.params import FocusedParams
from samekind.algorithms.focused.planner import RowPlanner
from samekind.algorithms.focused.predictions import predict_clusters
from samekind.algorithms.focused.questions import ClusterQuestions, RowQuestions, score_open_rows
from samekind.algorithms.focused.scheduler import Aim
from samekind.algorithms.focused.sheets import SheetPlanner, keep_sheets, sheet_members
from samekind.algorithms.state import GIVEN_UP, UNKNOWN
from samekind.flow import FloatArray, Flow, IntArray
from samekind.points import Points

__all__ = ["Focused"]


class Focused(Algorithm[FocusedParams]):
    """Draw where no labelled row is near, ask the likeliest cluster first, and predict the rest.

    Every draw has one of these aims:

    - *explore*: rows far from all labelled rows, with a probability proportional to distance⁴;
    - *typical*: where a graph of neighbours is kept and labels are what counts, the row that stands for most
      of the doubt around it, instead of most of the exploring;
    - *survey*: rows drawn uniformly, as often as that finds new clusters, compared with exploring;
    - *fill*: rows predicted to be in a cluster that is not recovered yet, more often far from its centre;
    - *refine*: rows whose predicted cluster is uncertain;
    - *paper*: D²-samples with respect to the recovered centres, a fixed share of all draws, where clusters
      are recovered on the way;
    - *audit*: uniform draws, for a fixed share of the questions: one question each, whether it is as
      predicted; the answers are kept apart and give the certificate.

    With ``stop="certified"`` there are no trials to fill clusters, and typical rows are asked about, too:
    most labels are right when it stops, and all clusters count as recovered then.

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
    version = 8
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
        self._sheets = SheetPlanner(learner, self._planner)
        self._rows = RowQuestions(learner, self._policy)
        self._clusters = ClusterQuestions(learner, self._policy)
        self._open: list[OpenRow] = []  # what is being asked about
        self._first: dict[int, tuple[Aim, int]] = {}  # what is to be asked first: see `Amended`
        self._first_pairs: list[tuple[int, int]] = []
        self._pairs_lead = False  # whether those come before the rows
        self._refused: Mapping[int, list[int]] = {}  # see `Amendment`

    def run(self) -> Flow[str]:
        """Draw, ask and learn until there is a reason to stop."""
        if self.known is not None:
            self._begin_with(self.known)
            self.known = None
        yield from self._ask_first()
        while not (reason := self._reason_to_stop()):
            if self.settles:
                yield from self._policy.settle()
            plan = self._sheets.plan(self._wave())
            if plan:
                yield from self._ask(plan)
            self._sheets.learn(plan)
            if self.params.uses("merge"):
                yield from self._compare_clusters(plan)
        if reason == "certified" and self.params.recovers:
            self._learner.recovery.recover_all()
        if reason != "target":
            yield from self._clusters.compare(0.0, at_once=self._wave())
            if reason == "exhausted":
                self.state.settle(self.points)
        return reason

    def _begin_with(self, known: Known) -> None:
        """Learn what is known already, as if it had just been answered."""
        cluster_of: dict[int, int] = {}  # of each group
        for row, group in zip(known.rows, known.groups, strict=True):
            cluster_of[group] = self._learn_known(row, "given", cluster_of.get(group, -1))
        self._learner.unsure.mark_clear(known.rows)
        for a, b in known.different:
            self._learner.pairs.separate(cluster_of[a], cluster_of[b])
        self.state.n_samples += len(known.rows)
        self._first = dict.fromkeys(known.ask_first, ("refine", -1))

    def _learn_known(self, row: int, aim: Aim, cluster: int) -> int:
        """Learn a row whose cluster is known, as if it had just been answered; -1: a new one. Return it."""
        open_row = self._planner.open_row(row, aim)
        score_open_rows([open_row], self._learner.model)
        if cluster >= 0:
            open_row.cluster = cluster
        else:
            self._learner.discover(open_row)
        assert open_row.cluster is not None
        self._learn(open_row)
        return open_row.cluster

    def set_people(self, count: int) -> None:
        """Ask for so many people at once from here on, before `amend`."""
        super().set_people(count)
        self._rows.founds_several = count > 1

    def interrupt(self) -> list[int]:
        """Learn the rows of the open wave that are decided; return the others."""
        for open_row in self._open:
            if open_row.cluster is not None:
                self._conclude(open_row)
        self._open = [open_row for open_row in self._open if open_row.cluster is None]
        return [open_row.row for open_row in self._open] + list(self._first)

    def amend(self, amendment: Amendment) -> None:
        """Change what is known, and ask first what that leaves open, then what was being asked."""
        open_rows: dict[int, Aim] = {open_row.row: open_row.aim for open_row in self._open}
        open_rows |= {row: aim for row, (aim, _) in self._first.items()}
        n_before = len(self.state)
        amended = Amender(self._learner, amendment, open_rows).amend()
        aim = self._learner.scheduler.steady_aim
        amended.to_ask.update({row: (aim, -1) for row in amendment.ask if row not in open_rows})
        for rows, number in amended.to_learn:
            cluster = number
            self._learner.unsure.mark_clear(rows)
            for row in rows:
                cluster = self._learn_told(row, open_rows.get(row), cluster)
        separate_founded(self._learner, amendment, n_before)
        compared = [pair for pair in amended.to_compare if pair not in self._first_pairs]
        self._first_pairs = [*compared, *self._first_pairs, *self._clusters.interrupt()]
        members = {row: other for row, (aim, other) in self._first.items() if aim == "sheet"}
        members |= sheet_members(self._open)
        self._first = keep_sheets(amended.to_ask, members, self.params.sheet)
        self._pairs_lead = bool(compared)
        self._refused = amendment.refused
        self._open = []

    def _learn_told(self, row: int, aim: Aim | None, cluster: int) -> int:
        """Learn a row that somebody told: one that was being asked about with an aim, or another.

        A row of the audit whose cluster is not known stays in it.
        """
        audit = self._learner.audit
        if aim is not None:
            self._learner.scheduler.spend(aim, 1)
            return self._learn_known(row, aim, cluster)
        if row in audit:
            return self._learn_known(row, "audit", cluster)
        self.state.n_samples += 1
        audit.add_volunteered()
        return self._learn_known(row, "given", cluster)

    def _ask_first(self) -> Flow[None]:
        """Ask what an amendment left open, and what was being asked when it came."""
        if self._pairs_lead:
            yield from self._compare_first()
        while self._first:
            size = self._wave() + const.FIRST_ROWS + self.params.sheet
            if self.n_people > 1:  # who have extra answers on rows that are not decided
                size = max(size, const.ROWS_PER_PERSON * self.n_people)
            some = list(islice(self._first.items(), size))
            plan = [self._planner.open_row(row, aim) for row, (aim, _) in some]
            for open_row, (_, (_, other)) in zip(plan, some, strict=True):
                open_row.compare_first = other
                open_row.sheet_member = other if open_row.aim == "sheet" else -1
                apart = map(self.state.cluster_of_row, self._refused.get(open_row.row, ()))
                open_row.refused = sorted({*open_row.refused, *(c for c in apart if c >= 0)})
            for row, _ in some:
                del self._first[row]
            yield from self._ask(plan)
            if self.n_people > 1 and self.params.uses("merge"):  # marks leave no wave to its end
                yield from self._compare_clusters(plan)
        yield from self._compare_first()

    def _compare_first(self) -> Flow[None]:
        pairs, self._first_pairs = self._first_pairs, []
        yield from self._clusters.compare_again(pairs)

    def _wave(self) -> int:
        """Return how many rows to ask about at once.

        The rows of a wave do not learn from each other, so it is a small part of what is known.
        """
        n_known, batch = self.state.n_labelled, self.params.batch
        if self.n_people > 1 and batch != "auto":
            batch = max(batch, const.ROWS_PER_PERSON * self.n_people)
        if batch == "auto":
            return max(1, min(const.AUTO_WAVE_ROWS, int(const.AUTO_WAVE_SHARE * n_known)))
        return max(1, min(batch, int(const.WAVE_SHARE * n_known)))

    def _ask(self, plan: list[OpenRow]) -> Flow[None]:
        """Ask about some rows and learn their clusters."""
        self._open = plan
        yield from self._rows.settle(plan)
        self._open = []
        self._policy.revise(len(plan))
        for open_row in plan:
            self._conclude(open_row)

    def _conclude(self, open_row: OpenRow) -> None:
        """Take in that a row is decided."""
        n_asked = open_row.n_asked - (open_row.aim == "sheet")  # the sheet is one question for all
        self._learner.scheduler.spend(open_row.aim, max(0, n_asked))
        self._learner.unsure.learn(open_row)
        if open_row.cluster == GIVEN_UP:
            self._learner.give_up(open_row)
        elif open_row.cluster == UNKNOWN:
            self._learner.audit.add_refused(open_row.row, open_row.refused)
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
        above = self._learner.model.predictor.compare_above
        for cluster in sorted(clusters):
            if cluster >= 0 and self._learner.model.scorer.alive[cluster]:
                yield from self._clusters.compare(above, of=cluster)
        idle = self._learner.scheduler.is_flat() and not self._planner.should_fill()
        share = const.COMPARE_SHARE_IDLE if idle else const.COMPARE_SHARE
        yield from self._policy.check_answers()
        yield from self._clusters.compare_young(self._policy.young_clusters())
        worth = min(const.MOST_WORTH, self._learner.scheduler.questions_to_surprise())
        yield from self._clusters.pay_share(share, worth, self._wave())

    def _reason_to_stop(self) -> str:
        """Return why to stop now, or nothing."""
        state, params = self.state, self.params
        if state.n_labelled == self.points.n and not self._learner.unsure.may_return(self.points.n):
            return "exhausted"
        if params.target is not None and len(state.recovered) >= params.target:
            return "target"
        if params.stop == "certified":
            return "certified" if self._is_certified() else ""
        return "reducible" if self._learner.paper.quiet.passed else ""

    def _is_certified(self) -> bool:
        """Return whether the certificate's bounds are within the tolerance."""
        predictor = self._learner.model.predictor

        def within_tolerance(clusters_of: Callable[[IntArray], IntArray]) -> bool:
            promise = self._certificate(clusters_of, n_unproven=0)  # no bound depends on it
            return promise.wrong_at_any_time <= self.params.tolerance  # so is `undiscovered`

        # quick predictions may be a little old: predict anew before stopping
        return within_tolerance(predictor.clusters_of) and within_tolerance(
            predictor.predict().clusters_of
        )

    def _certificate(
        self, clusters_of: Callable[[IntArray], IntArray], n_unproven: int
    ) -> Certificate:
        audit, n = self._learner.audit, self.points.n
        return self._policy.loosen(audit.certificate(clusters_of, self.state, n, n_unproven))

    # What others see

    def snapshot(self) -> Snapshot:
        """Return what is known and predicted now."""
        every_row_known = self.state.n_labelled == self.points.n
        lone = {} if every_row_known else self._policy.lone_clusters()
        found = predict_clusters(self._learner, self._policy, self._certificate, lone)
        return fold(self._snapshot(*found), lone)

    def guess(self) -> Snapshot:
        """Return the modes of the density as clusters."""
        return guess_clusters(self.points)

    def confidence(self, rows: IntArray) -> FloatArray:
        """Return how likely each row is in the cluster that it is known, or predicted, to be in."""
        found = np.ones(rows.size)
        unknown = self.state.cluster_of(rows) < 0
        found[unknown] = self._learner.model.likeliest(rows[unknown])[1]
        return np.minimum(found, self._policy.certainty(rows))

    def rank_clusters(self, row: int) -> list[int]:
        """Return all clusters, those first that a row is likeliest in."""
        order = self._learner.model.rank_clusters(row)
        return [cluster for cluster in order if self.state.members[cluster]]

    def sheet_members(self) -> dict[int, int]:
        """Return the rows that are on a sheet now, each with the member that it is compared with."""
        return sheet_members(self._open)

    def extra_questions(
        self, rng: np.random.Generator, size: int, taken: Collection[int]
    ) -> list[ExtraQuestion]:
        """Return questions beyond those of the flow, for people who would have nothing to do."""
        planner = ExtraPlanner(self._learner, self._policy, self._rows)
        return planner.plan(rng, size, taken) if self.params.trusts_answers else []
