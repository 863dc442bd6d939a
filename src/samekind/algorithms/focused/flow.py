"""The flow of `focused`: what to ask about next."""

from __future__ import annotations

from collections import Counter
from itertools import islice, product

import numpy as np
from numpy.typing import NDArray

from samekind.algorithms.findings import Findings
from samekind.algorithms.focused.ask import Doubt, settle
from samekind.algorithms.focused.audit import CERTAIN, Audit
from samekind.algorithms.focused.centers import rectified
from samekind.algorithms.focused.evidence import make_evidence
from samekind.algorithms.focused.relations import Relations
from samekind.algorithms.focused.trials import Trials
from samekind.algorithms.kinds import GIVEN_UP, UNKNOWN, Kinds
from samekind.algorithms.sampling import Draws, QuietTest, Settings
from samekind.flow import DIFFERENT, SAME, Flow
from samekind.points import Points

__all__ = ["CERTIFY", "PARTS", "STOPS", "Focus"]

CERTIFY = ("lazy", "full")
STOPS = ("reducible", "certified")
PARTS = (
    "explore",
    "survey",
    "fill",
    "refine",
    "graph",
    "discriminant",
    "merge",
    "audit",
    "rectify",
)
"""What can be switched off, to see what it is worth."""

AUDIT = 1 / 16  # share of the draws that are uniform and audited, once there is something to audit
PAPER = 1 / 16  # share that is the paper's own, with respect to the recovered centres
EXPLORE = 1 / 2  # the least share of the rest that explores
WARM = 32  # draws before the first audit
ALIKE = 0.1  # likeness at which two kinds are compared at once
PROVE = 1 / 8  # questions about pairs of kinds, likeliest first, for each question about a row
IDLE = 1.0  # the same when rows hardly bring anything new
ACCURATE = 0.05  # estimated error of a centre at which its cluster is recovered
HOPELESS = 60  # trials after which a kind that is not recovered gets no more
LOOKING = ("explore", "survey")  # the aims that look for new kinds
DOUBTFUL = 4  # doubtful rows that are found at once
TRIES = 64
WAVE = 1 / 16  # rows asked about at once, as a share of those known
AT_ONCE = 6  # trials of a kind that are made before looking at their outcome
FADING = 0.97  # what stays, with each draw, of the memory of what draws brought
POOL = 1024  # rows of a kind among which those for its trials are drawn


class Yields:
    """Which way to look for new kinds finds more of them with a question."""

    def __init__(self) -> None:
        self._found = {"explore": 2.0, "survey": 0.2}
        self._asked = {"explore": 4.0, "survey": 4.0}

    def add(self, aim: str, is_new: bool, n_asked: int) -> None:
        """Take in what a draw brought."""
        self._found[aim] = FADING * self._found[aim] + is_new
        self._asked[aim] = FADING * self._asked[aim] + n_asked

    def take_back(self, aim: str) -> None:
        """Note that a kind found this way was none."""
        self._found[aim] = max(0.0, self._found[aim] - 1)

    def choose(self, uniform: float) -> str:
        """Choose a way, with a chance in proportion to what it brings."""
        explore, survey = ((self._found[aim] + 0.1) / (self._asked[aim] + 4.0) for aim in LOOKING)
        return "survey" if uniform * (explore + survey) < survey else "explore"


class Focus:
    """One run."""

    def __init__(
        self, points: Points, kinds: Kinds, rng: np.random.Generator, settings: Settings
    ) -> None:
        self.points = points
        self.kinds = kinds
        self.rng = rng
        self.settings = settings
        self.evidence = make_evidence(points, self.without)
        self.relations = Relations()
        self.trials = Trials()
        self.audit = Audit()
        self.quiet = QuietTest(settings.epsilon)
        self.paper = kinds.sampler = points.sampler()
        self.uncovered: list[int] = []  # recovered kinds whose centres the paper's sampler lacks
        self.n_covered = 0
        self.n_paper = 0  # draws by the paper's sampler
        self.rate = 1.0  # of new kinds among the last rows explored
        self.yields = Yields()
        self.founders: dict[int, tuple[Doubt, str]] = {}  # the rows that were called new, by kind
        self.is_dry = False  # whether every row lies on a labelled one
        self.planned = self.planned_looking = 0  # rows about to be asked about
        self.planned_trials: Counter[int] = Counter()
        self.unsure: set[tuple[int, int]] = set()  # pairs of rows that nobody could tell
        self.surprises = {"explore": 0.5, "refine": 0.5}  # share of rows that were not as predicted
        self.held: dict[int, list[int]] = {}  # rows picked for the trials of a kind
        self.doubtful: list[int] = []
        self.unfilled_at: tuple[tuple[int, ...], list[int]] = (
            (),
            [],
        )  # when they were last listed, they
        self.n_asked = 0  # questions about rows
        self.spent = self.spent_looking = 0.0  # the last ones, and those that looked for new kinds
        self.n_asked_before = 0  # when kinds were compared last
        self.n_compared = 0  # questions about pairs of kinds
        self.owed = 0.0  # such questions, to be asked soon
        self.compared: Counter[tuple[int, int]] = Counter()
        kinds.findings = self.findings

    def without(self, part: str) -> bool:
        """Return whether a part is switched off."""
        return part in self.settings.without

    def run(self) -> Flow[str]:
        """Draw, ask and learn until there is a reason to stop."""
        while not (reason := self.reason_to_stop()):
            plan = self.draw(self.wave())
            if plan:
                yield from self.ask(plan)
            if not self.without("merge"):
                for kind in sorted({doubt.kind for doubt, _ in plan if doubt.kind is not None}):
                    if kind < 0 or not self.evidence.alive[kind]:
                        continue
                    yield from self.compare(ALIKE, of=kind)
                yield from self.prove(IDLE if self.is_idle() else PROVE)
        if reason != "target":
            yield from self.compare(0.0)
            if reason == "exhausted":
                self.kinds.settle(self.points)
        return reason

    def wave(self) -> int:
        """Return how many rows to ask about at once.

        The rows of a wave do not learn from each other, so it is a small part of what is known.
        """
        if self.settings.batch == "auto":
            return 1
        return max(1, min(self.settings.batch, int(WAVE * self.kinds.n_labelled)))

    def reason_to_stop(self) -> str:
        """Return why to stop now, or nothing."""
        kinds, settings = self.kinds, self.settings
        if kinds.n_labelled == self.points.n:
            return "exhausted"
        if settings.target is not None and len(kinds.recovered) >= settings.target:
            return "target"
        if settings.stop == "certified":
            return "certified" if self.is_certified() else ""
        return "reducible" if self.quiet.passed else ""

    def is_certified(self) -> bool:
        """Return whether the certificate's bounds are within the tolerance."""
        if not self.audit.draws:
            return False
        rows = np.array(self.audit.rows, dtype=np.intp)
        predicted = self.evidence.predicted(rows) if rows.size else rows
        promise = self.audit.certificate(predicted, unproven=0)  # which no bound depends on
        return max(promise.undiscovered, promise.wrong) <= self.settings.tolerance

    def prove(self, share: float) -> Flow[None]:
        """Compare kinds with a share of the questions that the last rows took."""
        self.owed += share * (self.n_asked - self.n_asked_before)
        self.n_asked_before = self.n_asked
        while self.owed >= 1:
            n_kinds, n_compared = self.kinds.n_discovered, self.n_compared
            yield from self.compare(0.0, most=1)
            if n_compared == self.n_compared:
                self.owed = 0.0  # nothing is left to compare
            elif n_kinds == self.kinds.n_discovered:
                self.owed -= 1  # had two been one, it would pay to go on

    def is_idle(self) -> bool:
        """Return whether all kinds are recovered and rows are nearly always as predicted."""
        return max(self.surprises.values()) < 0.05 and not self.unfilled()

    # What to ask about

    def draw(self, size: int) -> list[tuple[Doubt, str]]:
        """Choose up to `size` unknown rows to ask about, each with its aim."""
        plan: list[tuple[Doubt, str]] = []
        chosen: set[int] = set()
        self.planned = self.planned_looking = 0
        self.planned_trials.clear()
        for _ in range(TRIES * size):
            if len(plan) == size:
                break
            aim = self.aim()
            row = getattr(self, f"draw_to_{aim}")()
            if row < 0 or row in chosen:
                continue
            known = int(self.kinds.kind_of(np.array([row]))[0])
            self.kinds.n_samples += known == UNKNOWN
            if known != UNKNOWN:
                self.know_already(row, known, aim)
                if self.quiet.passed:
                    break
                continue
            self.add_to(plan, chosen, row, aim)
        if not plan:
            row = self.any_unknown()
            if row >= 0:
                self.add_to(plan, chosen, row, "explore")
        return plan

    def add_to(self, plan: list[tuple[Doubt, str]], chosen: set[int], row: int, aim: str) -> None:
        """Add a row to the plan."""
        chosen.add(row)
        predicted = -1
        if self.evidence.n_kinds:
            predicted = int(self.evidence.predicted(np.array([row]))[0])
        if aim == "explore":
            self.evidence.anchor(row, predicted, lent=True)
        if aim in LOOKING:
            self.planned_looking += 1
        self.planned += 1
        plan.append((Doubt(row, self.points.rows(np.array([row]))[0], predicted), aim))

    def aim(self) -> str:
        """Choose what the next draw is for."""
        share = self.rng.random()
        if share < AUDIT:
            return (
                "audit" if self.kinds.n_samples >= WARM and not self.without("audit") else "explore"
            )
        if share < AUDIT + PAPER:
            return "paper"
        eager = self.settings.stop == "certified" and self.rate < 0.1
        if eager and share < 0.5 and not self.unfilled():
            return "audit"
        spent, looking = self.spent + self.planned, self.spent_looking + self.planned_looking
        if looking <= max(EXPLORE, self.rate) * spent:
            aim = self.yields.choose(self.rng.random())
            if aim == "explore" and (self.is_dry or self.without("explore")):
                return "survey"
            return aim if not self.without(aim) else "explore"
        if not self.without("fill") and self.unfilled():
            return "fill"
        if self.without("refine"):
            return "explore"
        explore, refine = (max(0.01, self.surprises[aim]) for aim in ("explore", "refine"))
        return "refine" if self.rng.random() * (explore + refine) < refine else "explore"

    def draw_to_paper(self) -> int:
        """D²-sample with respect to the recovered centres."""
        self.n_paper += 1
        due = len(self.uncovered) > self.n_covered / 4 or self.n_paper % 64 == 0
        if self.uncovered and due:
            self.paper.add(self.kinds.centers[self.uncovered])
            self.n_covered += len(self.uncovered)
            self.uncovered = []
            self.quiet.restart()
        if self.paper.total == 0:
            return -1
        return int(self.paper.draw(self.rng.random(1))[0])

    def draw_to_explore(self) -> int:
        """Draw far from all labelled rows; -1 when every row lies on one of them, now and from then on."""
        row = self.evidence.cells.draw(self.rng)
        self.is_dry = row < 0
        return row

    def draw_to_survey(self) -> int:
        """Draw uniformly."""
        return int(self.rng.random() * self.points.n)

    draw_to_audit = draw_to_survey

    def draw_to_fill(self) -> int:
        """Draw from the rows predicted to be of the kind that is nearest to being recovered."""
        planned = self.planned_trials
        waiting = [kind for kind in self.unfilled() if planned[kind] < AT_ONCE]
        if not waiting:
            return -1
        kind = max(waiting, key=self.trials.promise)
        planned[kind] += 1
        held = self.held.setdefault(kind, [])
        for _ in range(2):
            while held:
                row = held.pop()
                unknown = int(self.kinds.kind_of(np.array([row]))[0]) == UNKNOWN
                if unknown and int(self.evidence.predicted(np.array([row]))[0]) == kind:
                    return row
            held += self.influential(self.evidence.pick(kind, self.rng, POOL))
        self.trials.miss(kind)  # hardly a row left
        self.recover([kind])
        return -1

    def influential(self, rows: NDArray[np.intp]) -> list[int]:
        """Draw some unknown ones of these rows, in proportion to their distance from the mean of all."""
        if not rows.size:
            return []
        X = self.points.rows(rows)
        distances = np.sqrt(((X - X.mean(axis=0)) ** 2).sum(axis=1))
        unknown = np.flatnonzero(self.kinds.kind_of(rows) == UNKNOWN)
        rows, distances = rows[unknown], distances[unknown]
        if not distances.any():
            return list(map(int, rows[:8]))
        places = np.searchsorted(np.cumsum(distances), self.rng.random(8) * distances.sum())
        return list(map(int, rows[np.minimum(places, rows.size - 1)]))

    def unfilled(self) -> list[int]:
        """Return the kinds that need trials, but for those that seem hopeless."""
        state = (
            len(self.kinds),
            self.kinds.n_discovered,
            len(self.kinds.recovered),
            self.trials.n_made,
        )
        if state != self.unfilled_at[0]:
            k = len(self.kinds)
            tried = self.trials.made[:k] >= HOPELESS
            found = np.flatnonzero(self.kinds.is_open(np.arange(k)) & ~tried).tolist()
            self.unfilled_at = state, found
        return self.unfilled_at[1]

    def draw_to_refine(self) -> int:
        """Take a row whose predicted kind is doubtful."""
        if not self.doubtful:
            self.doubtful = self.evidence.doubtful(self.rng, DOUBTFUL).tolist()[::-1]
        return self.doubtful.pop() if self.doubtful else self.draw_to_explore()

    def any_unknown(self) -> int:
        """Return a row that nobody was asked about, or -1 when there is none."""
        n = self.points.n
        start = int(self.rng.random() * n)
        for first in range(0, n, 4096):
            rows = (start + np.arange(first, min(first + 4096, n))) % n
            unknown = rows[self.kinds.kind_of(rows) == UNKNOWN]
            if unknown.size:
                return int(unknown[0])
        return -1

    # What the answers teach

    def ask(self, plan: list[tuple[Doubt, str]]) -> Flow[None]:
        """Ask about the rows of a plan and learn their kinds."""
        yield from self.settle([doubt for doubt, _ in plan])
        for doubt, aim in plan:
            self.n_asked += doubt.n_asked
            looking = aim in LOOKING
            self.spent = 0.98 * self.spent + doubt.n_asked
            self.spent_looking = 0.98 * self.spent_looking + looking * doubt.n_asked
            assert doubt.kind is not None
            if doubt.kind == GIVEN_UP:
                self.give_up(doubt)
            else:
                self.learn(doubt, aim, doubt.kind)

    def settle(self, doubts: list[Doubt]) -> Flow[None]:
        """Ask until the kind of each row is known."""
        return settle(
            doubts,
            self.evidence,
            self.kinds,
            self.settings.certify,
            self.settings.patience,
            self.found,
            self.unsure,
        )

    def found(self, doubt: Doubt, kind: int) -> None:
        """Take in a new kind."""
        self.relations.found()
        self.trials.found()
        for other in doubt.refused:
            self.relations.part(kind, other)

    def learn(self, doubt: Doubt, aim: str, kind: int) -> None:
        """Take in the kind of a row."""
        row, x = doubt.row, doubt.x
        if not doubt.is_new:
            self.kinds.add_members(np.array([row]), np.array([kind]))
        known = len(doubt.chances)
        if known and aim != "audit":
            self.evidence.choice.learn(
                *doubt.features, self.evidence.alive[:known], self.lesson(doubt, kind, known)
            )
        self.relations.note(kind, self.posterior(doubt), doubt.refused)
        if doubt.is_new:
            self.founders[kind] = doubt, aim
        if aim == "audit":
            if doubt.is_new:
                self.learn_released(self.audit.found_new())
            else:
                self.audit.add(row, kind)
        elif not doubt.is_new:
            counts = aim in LOOKING and not self.evidence.frugal
            self.evidence.learn(row, x, kind, surprising=counts or doubt.predicted != kind)
        if aim in self.surprises:
            self.surprises[aim] += ((doubt.predicted != kind) - self.surprises[aim]) / 32
        if aim == "survey":
            self.audit.survey(is_new=doubt.is_new)
        if aim in LOOKING:
            self.yields.add(aim, doubt.is_new, doubt.n_asked)
            self.rate += (doubt.is_new - self.rate) / 16
        if aim == "fill" and doubt.predicted >= 0:
            self.trials.add(doubt.predicted, kind)
            self.recover([doubt.predicted])
        if aim == "paper":
            self.hear(row, kind)

    def lesson(self, doubt: Doubt, kind: int, known: int) -> int | NDArray[np.float64]:
        """Return what a row teaches the model of the kinds, of which there were so many when it was asked."""
        return kind if kind < known and not doubt.is_new else -1

    def posterior(self, doubt: Doubt) -> NDArray[np.float64]:
        """Return the chances of the kinds that a row could still be of, after those that refused it."""
        chances = doubt.chances.copy()
        refused = [kind for kind in doubt.refused if kind < chances.size]
        left = 1.0 - chances[refused].sum()
        chances[refused] = 0.0
        if doubt.is_new and left > 0:
            chances /= left
        return chances

    def learn_released(self, rows: list[tuple[int, int]]) -> None:
        """Learn from rows that were audited."""
        for row, kind in rows:
            x = self.points.rows(np.array([row]))[0]
            predicted = int(self.evidence.predicted(np.array([row]))[0])
            self.evidence.learn(row, x, kind, surprising=predicted != kind)

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
            self.hear(row, kind)
        elif aim == "explore":  # as it is no site, it would be drawn again and again
            if kind >= 0 and row not in self.audit.rows:
                self.evidence.anchor(row, kind)
            else:
                predicted = int(self.evidence.predicted(np.array([row]))[0])
                self.evidence.anchor(row, predicted, lent=True)

    def hear(self, row: int, kind: int) -> None:
        """Hold the paper's test; a kind counts as recovered once its centre is among the sampler's."""
        if kind in self.uncovered:
            self.quiet.restart()
        else:
            self.quiet.outside(Draws(np.array([row]), np.array([kind]), np.zeros(1)), self.kinds)

    def recover(self, some: list[int]) -> None:
        """Recover the kinds among these whose centres are accurate enough."""
        members = self.kinds.members
        some = [
            kind
            for kind in some
            if not self.kinds.is_recovered(kind)
            and (self.trials.foreign(kind) ** 2 <= ACCURATE or self.trials.made[kind] % 8 == 0)
        ]
        if not some:
            return
        counts, means, _ = self.evidence.regions()
        self.evidence.sizes[: counts.size] = counts
        for kind in some:
            if self.trials.error(kind, int(counts[kind]), len(members[kind])) <= ACCURATE:
                self.kinds.set_center(kind, means[kind])
                self.kinds.recover([kind])
                self.kinds.n_rounds += 1
                self.uncovered.append(kind)

    # Which kinds are one

    def compare(self, least: float, *, most: float = np.inf, of: int | None = None) -> Flow[None]:
        """Ask about pairs of kinds that may be one, likeliest first, while they look so much alike."""
        last = self.n_compared + most
        while (
            self.n_compared < last and (found := self.relations.likeliest(of)) and found[0] >= least
        ):
            _, a, b = found
            pair = self.pair_to_compare(a, b)
            if pair is None:
                self.relations.despair(a, b)
                continue
            answers = yield np.array([pair])
            self.n_compared += 1
            if answers[0] == SAME:
                self.merge(a, b)
            elif answers[0] == DIFFERENT:
                self.relations.part(a, b)
            else:
                self.compared[min(a, b), max(a, b)] += 1
                self.unsure.add((min(pair), max(pair)))

    def pair_to_compare(self, a: int, b: int) -> tuple[int, int] | None:
        """Return members of two kinds that were not compared yet; None when it is no use."""
        if self.compared[min(a, b), max(a, b)] >= self.settings.patience:
            return None
        for first, second in islice(product(self.kinds.members[a], self.kinds.members[b]), TRIES):
            if (min(first, second), max(first, second)) not in self.unsure:
                return first, second
        return None

    def merge(self, a: int, b: int) -> None:
        """Make two kinds one."""
        keep, gone = min(a, b), max(a, b)
        self.kinds.merge(keep, gone)
        self.evidence.merge(keep, gone)
        self.relations.merge(keep, gone)
        self.trials.merge(keep, gone)
        self.audit.merge(keep, gone)
        self.held.pop(gone, None)
        self.regret(keep, gone)
        self.uncovered = [kind for kind in self.uncovered if kind != gone]

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
        if aim in LOOKING:
            self.yields.take_back(aim)

    # What it amounts to

    def findings(self) -> Findings:
        """Say what is known now."""
        k = len(self.kinds)
        labels, (counts, means, spreads) = self.evidence.look()
        errors = np.array(
            [
                self.trials.error(kind, int(counts[kind]), len(members))
                for kind, members in enumerate(self.kinds.members)
            ]
        )
        centers = np.array(self.kinds.centers)
        held = counts > 0
        centers[held] = means[held]
        rows = np.array(self.audit.rows, dtype=np.intp)
        if rows.size and not self.without("rectify"):
            kinds = np.array(self.audit.kinds, dtype=np.intp)
            centers = rectified(
                centers, counts, self.points.rows(rows), kinds, labels[rows], self.points.n
            )
        for kind, members in enumerate(self.kinds.members):
            if not counts[kind] and members:
                centers[kind] = self.points.rows(np.array(members)).mean(axis=0)
        all_known = self.kinds.n_labelled == self.points.n and not self.kinds.given_up
        if self.kinds.n_labelled == self.points.n:
            centers, errors = np.array(self.kinds.centers), np.zeros(k)
        unproven = self.relations.unproven()
        return Findings(
            labels=labels,
            centers=centers,
            standard_errors=np.where(
                np.isfinite(errors), np.sqrt(np.minimum(errors, 1e300) * spreads), np.inf
            ),
            certificate=(
                CERTAIN if all_known else self.audit.certificate(labels[rows], len(unproven))
            ),
            unproven=unproven,
            muddled=[(a, b) for a in range(k) for b in self.trials.muddled(a)],
        )
