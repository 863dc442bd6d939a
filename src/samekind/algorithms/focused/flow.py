"""The flow of `focused`: what to ask about next."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from samekind.algorithms.base import Known
from samekind.algorithms.focused.ask import Asking, Doubt, weigh
from samekind.algorithms.focused.audit import Audit
from samekind.algorithms.focused.compare import Comparing
from samekind.algorithms.focused.conclude import conclude
from samekind.algorithms.focused.frontier import Frontier
from samekind.algorithms.focused.paper import PaperDraws
from samekind.algorithms.focused.params import FocusedParams
from samekind.algorithms.focused.payoff import LOOKING, Payoff
from samekind.algorithms.focused.recovery import Recovery
from samekind.algorithms.focused.relations import Relations
from samekind.algorithms.focused.small_evidence import make_evidence
from samekind.algorithms.snapshot import Prediction
from samekind.algorithms.state import GIVEN_UP, UNKNOWN, ClusterState
from samekind.flow import Flow
from samekind.points import Points, Sampler

__all__ = ["Focus"]

AUDIT = 1 / 16  # share of the draws that are uniform and audited, once there is something to audit
PAPER = 1 / 16  # share that is the paper's own, with respect to the recovered centres
WARM = 32  # draws before the first audit
ALIKE = 0.1  # likeness at which two kinds are compared at once
PROVE = 1 / 8  # questions about pairs of kinds, likeliest first, for each question about a row
IDLE = 1.0  # the same when rows hardly bring anything new
TRIES = 64  # draws for each row of a wave, as many may hit known rows
WAVE = 1 / 16  # rows asked about at once, as a share of those known, at most,
QUICK_WAVE, QUICK_ROWS = 1 / 64, 16  # or where answers take no time: this share, and so many


class Focus:
    """One run: chooses rows, has them asked about, and lets every part learn from the answers."""

    def __init__(
        self,
        points: Points,
        kinds: ClusterState,
        rng: np.random.Generator,
        settings: FocusedParams,
        sampler: Sampler,
        given: Known | None,
    ) -> None:
        self.given = given
        self.points = points
        self.kinds = kinds
        self.rng = rng
        self.settings = settings
        self.evidence = make_evidence(points, self.without)
        self.relations = Relations()
        self.audit = Audit()
        self.payoff = Payoff()
        self.frontier = Frontier(points, kinds, self.evidence, rng)
        self.paper = PaperDraws(sampler, kinds, settings.epsilon)
        self.recovery = Recovery(points, kinds, self.evidence, rng, self.paper.cover)
        self.unsure: set[tuple[int, int]] = set()  # pairs of rows that nobody could tell
        self.asking = Asking(self.evidence, kinds, settings, self.start, self.unsure)
        self.comparing = Comparing(
            kinds, self.relations, settings.patience, self.merge, self.unsure, settings.lineup
        )
        self.founders: dict[int, tuple[Doubt, str]] = {}  # the rows that were called new, by kind

    def without(self, part: str) -> bool:
        """Return whether a part is switched off."""
        return part in self.settings.without

    def run(self) -> Flow[str]:
        """Draw, ask and learn until there is a reason to stop."""
        if self.given is not None:
            yield from self.begin_with(self.given)
        while not (reason := self.reason_to_stop()):
            plan = self.draw(self.wave())
            if plan:
                yield from self.ask(plan)
            if not self.without("merge"):
                for kind in sorted({doubt.kind for doubt, _ in plan if doubt.kind is not None}):
                    if kind < 0 or not self.evidence.alive[kind]:
                        continue
                    yield from self.comparing.compare(ALIKE, of=kind)
                yield from self.prove(IDLE if self.is_idle() else PROVE)
        if reason != "target":
            yield from self.comparing.compare(0.0, at_once=self.wave())
            if reason == "exhausted":
                self.kinds.settle(self.points)
        return reason

    def begin_with(self, given: Known) -> Flow[None]:
        """Take in what is known already, as if it had just been answered; ask what it leaves open."""
        kinds: dict[int, int] = {}  # of each group
        for row, group in zip(given.rows, given.groups, strict=True):
            ((doubt, aim),) = self.plan_for([row], "given")
            weigh([doubt], self.evidence)
            if group in kinds:
                doubt.kind = kinds[group]
            else:
                self.start(doubt)
                assert doubt.kind is not None
                kinds[group] = doubt.kind
            self.learn(doubt, aim, doubt.kind)
        for a, b in given.different:
            self.relations.part(kinds[a], kinds[b])
        self.kinds.n_samples += len(given.rows)
        for row in given.ask_first:
            yield from self.ask(self.plan_for([row], "refine"))

    def plan_for(self, rows: list[int], aim: str) -> list[tuple[Doubt, str]]:
        """Return a plan to ask about some rows."""
        plan: list[tuple[Doubt, str]] = []
        chosen: set[int] = set()
        for row in rows:
            self.add_to(plan, chosen, row, aim)
        return plan

    def wave(self) -> int:
        """Return how many rows to ask about at once.

        The rows of a wave do not learn from each other, so it is a small part of what is known.
        """
        known, batch = self.kinds.n_labelled, self.settings.batch
        if batch == "auto":
            return max(1, min(QUICK_ROWS, int(QUICK_WAVE * known)))
        return max(1, min(batch, int(WAVE * known)))

    def reason_to_stop(self) -> str:
        """Return why to stop now, or nothing."""
        kinds, settings = self.kinds, self.settings
        if kinds.n_labelled == self.points.n:
            return "exhausted"
        if settings.target is not None and len(kinds.recovered) >= settings.target:
            return "target"
        if settings.stop == "certified":
            return "certified" if self.is_certified() else ""
        return "reducible" if self.paper.passed else ""

    def is_certified(self) -> bool:
        """Return whether the certificate's bounds are within the tolerance."""
        if not self.audit.draws:
            return False
        rows = np.array(self.audit.rows, dtype=np.intp)
        quick = self.evidence.predicted(rows) if rows.size else rows
        # what is predicted at hand may be a little old: look closely before stopping
        return self.holds(quick) and self.holds(self.evidence.look().of(rows))

    def holds(self, predicted: NDArray[np.intp]) -> bool:
        """Return whether the bounds are within the tolerance if these are the labels of the audited rows."""
        promise = self.audit.certificate(predicted, unproven=0)  # which no bound depends on
        return max(promise.undiscovered, promise.wrong) <= self.settings.tolerance

    def prove(self, share: float) -> Flow[None]:
        """Compare kinds with a share of the questions that the last rows took."""
        return self.comparing.prove(share, self.payoff.n_asked, self.wave())

    def is_idle(self) -> bool:
        """Return whether all kinds are recovered and rows are nearly always as predicted."""
        return self.payoff.is_flat() and not self.fills()

    def fills(self) -> bool:
        """Return whether rows are wanted to make centres accurate."""
        if self.settings.goal == "labels" or self.without("fill"):
            return False
        return bool(self.recovery.unfilled())

    # What to ask about

    def draw(self, size: int) -> list[tuple[Doubt, str]]:
        """Choose up to `size` unknown rows to ask about, each with its aim."""
        plan: list[tuple[Doubt, str]] = []
        chosen: set[int] = set()
        self.payoff.begin()
        self.recovery.begin()
        for _ in range(TRIES * size):
            if len(plan) == size:
                break
            aim = self.aim()
            row = self.draw_to(aim)
            if row < 0 or row in chosen:
                continue
            known = self.kinds.cluster_of_row(row)
            self.kinds.n_samples += known == UNKNOWN
            if known != UNKNOWN:
                self.know_already(row, known, aim)
                if self.paper.passed:
                    break
                continue
            self.add_to(plan, chosen, row, aim)
        if not plan:
            row = self.frontier.any_unknown()
            if row >= 0:
                self.add_to(plan, chosen, row, "explore")
        return plan

    def add_to(self, plan: list[tuple[Doubt, str]], chosen: set[int], row: int, aim: str) -> None:
        """Add a row to the plan."""
        chosen.add(row)
        predicted = self.evidence.predicted_of(row)
        if aim == "explore":
            self.evidence.anchor(row, predicted, lent=True)
        self.payoff.plan(aim)
        plan.append((Doubt(row, self.points.row(row), predicted), aim))

    def aim(self) -> str:
        """Choose what the next draw is for."""
        share = self.rng.random()
        if share < AUDIT:
            warm = self.kinds.n_samples >= WARM and not self.without("audit")
            return "audit" if warm else "explore"
        if share < AUDIT + PAPER:
            return "paper"
        eager = self.settings.stop == "certified" and self.payoff.rate < 0.1
        if eager and share < 0.5 and not self.fills():
            return "audit"
        if self.payoff.looks():
            aim = self.payoff.way(self.rng.random())
            if aim == "explore" and (self.frontier.is_dry or self.without("explore")):
                return "survey"
            return aim if not self.without(aim) else "explore"
        if self.fills():
            return "fill"
        if self.without("refine"):
            return "explore"
        return "refine" if self.payoff.refines(self.rng.random()) else "explore"

    def draw_to(self, aim: str) -> int:
        """Draw a row; -1 when there is none for this aim."""
        match aim:
            case "paper":
                return self.paper.draw(self.rng)
            case "fill":
                return self.recovery.draw()
            case "refine":
                return self.frontier.draw_doubtful()
            case "explore":
                return self.frontier.draw_far()
            case _:  # survey, audit
                return self.frontier.draw_any()

    # What the answers teach

    def ask(self, plan: list[tuple[Doubt, str]]) -> Flow[None]:
        """Ask about the rows of a plan and learn their kinds."""
        yield from self.settle([doubt for doubt, _ in plan])
        for doubt, aim in plan:
            self.payoff.spend(aim, doubt.n_asked)
            assert doubt.kind is not None
            if doubt.kind == GIVEN_UP:
                self.give_up(doubt)
            else:
                self.learn(doubt, aim, doubt.kind)

    def settle(self, doubts: list[Doubt]) -> Flow[None]:
        """Ask until the kind of each row is known."""
        return self.asking.settle(doubts)

    def start(self, doubt: Doubt) -> None:
        """Let a row found a kind."""
        doubt.kind = self.kinds.discover(doubt.row, doubt.x)
        doubt.is_new = True
        self.make_room()
        for other in doubt.refused:
            self.relations.part(doubt.kind, other)
        self.evidence.learn(doubt.row, doubt.x, doubt.kind, surprising=True)

    def make_room(self) -> None:
        """Make room for a new kind."""
        self.relations.found()
        self.recovery.trials.found()
        self.evidence.found()

    def learn(self, doubt: Doubt, aim: str, kind: int) -> None:
        """Take in the kind of a row."""
        row, x = doubt.row, doubt.x
        if not doubt.is_new:
            self.kinds.add_member(row, kind)
        known = len(doubt.chances)
        if known and aim != "audit":
            self.evidence.choice.learn(
                *doubt.features, self.evidence.alive[:known], self.lesson(doubt, kind, known)
            )
        self.relations.note(kind, doubt.posterior(), doubt.refused)
        if doubt.is_new:
            self.founders[kind] = doubt, aim
        as_predicted = doubt.predicted == kind
        if aim == "audit":
            if doubt.is_new:
                self.learn_released(self.audit.found_new())
            else:
                self.audit.add(row, kind)
        elif not doubt.is_new:
            counts = aim in LOOKING and not self.evidence.frugal
            self.evidence.learn(row, x, kind, surprising=counts or not as_predicted)
        self.payoff.learn(aim, doubt.n_asked, is_new=doubt.is_new, as_predicted=as_predicted)
        if aim == "survey":
            self.audit.survey(is_new=doubt.is_new)
        if aim == "fill" and doubt.predicted >= 0:
            self.recovery.learn(doubt.predicted, kind)
        if aim == "paper":
            self.paper.hear(kind)

    def lesson(self, doubt: Doubt, kind: int, known: int) -> int | NDArray[np.float64]:
        """Return what a row teaches the model of the kinds, of which there were so many when it was asked."""
        return kind if kind < known and not doubt.is_new else -1

    def learn_released(self, rows: list[tuple[int, int]]) -> None:
        """Learn from rows that were audited."""
        for row, kind in rows:
            x = self.points.row(row)
            self.evidence.learn(row, x, kind, surprising=self.evidence.predicted_of(row) != kind)

    def give_up(self, doubt: Doubt) -> None:
        """Leave a row alone that nobody can tell; its neighbours are predicted as it would have been."""
        self.kinds.give_up(doubt.row)
        if doubt.predicted >= 0:
            self.evidence.anchor(doubt.row, doubt.predicted, lent=True)

    def know_already(self, row: int, kind: int, aim: str) -> None:
        """Take in a draw of a row whose kind is known."""
        if aim == "audit" and kind >= 0:
            self.audit.hit_known(row, kind)
        elif aim == "survey":
            self.audit.survey(is_new=False)
        elif aim == "paper":
            self.paper.hear(kind)
        elif aim == "explore":  # as it is no site, it would be drawn again and again
            if kind >= 0 and row not in self.audit.rows:
                self.evidence.anchor(row, kind)
            else:
                self.evidence.anchor(row, self.evidence.predicted_of(row), lent=True)

    def merge(self, a: int, b: int) -> None:
        """Make two kinds one."""
        keep, gone = min(a, b), max(a, b)
        for part in (self.kinds, self.evidence, self.relations, self.recovery, self.audit):
            part.merge(keep, gone)
        self.regret(keep, gone)
        self.paper.drop(gone)

    def regret(self, keep: int, gone: int) -> None:
        """Learn from a row that was called new and was not."""
        founder = self.founders.pop(gone, None)
        if founder is None:
            return
        doubt, aim = founder
        known = len(doubt.chances)
        if keep < known:
            for _ in range(2):  # once against what it taught then, once for what it should have
                self.evidence.choice.learn(*doubt.features, self.evidence.alive[:known], keep)
        self.payoff.regret(aim)

    # What it amounts to

    def findings(self) -> tuple[NDArray[np.float64], Prediction]:
        """Say what is known now."""
        return conclude(
            self.points,
            self.kinds,
            self.evidence,
            self.recovery.trials,
            self.audit,
            self.relations,
            rectify=not self.without("rectify"),
        )

    def confidence(self, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return how likely each row is of its kind; see `ClusterState`."""
        known = self.kinds.cluster_of(rows) >= 0
        found = np.ones(rows.size)
        found[~known] = self.evidence.confidence(rows[~known])
        return found

    def outlook(self) -> float | None:
        """Return the expected number of questions until the next new kind; see `ClusterState`."""
        expected = self.payoff.outlook()
        if expected is None or self.frontier.is_dry:
            return None
        return expected * (1 + self.comparing.n_asked / self.payoff.n_asked)
