"""How questions are divided among the aims: by what those of each aim brought lately."""

from __future__ import annotations

from typing import Literal

from samekind.algorithms.focused import constants as const

__all__ = ["SEARCH_AIMS", "Aim", "AimScheduler", "SteadyAim"]

SearchAim = Literal["explore", "survey", "typical"]
SteadyAim = Literal["explore", "typical"]
Aim = Literal[
    "explore", "survey", "typical", "fill", "refine", "paper", "audit", "confirm", "sheet", "given"
]
"""What a row is asked about for: see `Focused`. Besides, with noisy answers, to "confirm" a cluster of one
row by a neighbour; "sheet" rows are asked about together; "given" rows were known before."""

SEARCH_AIMS: tuple[SearchAim, ...] = ("explore", "survey", "typical")
"""The aims that look for new clusters."""


class AimScheduler:
    """What the last rows of each aim cost and brought, and so which aim comes next."""

    def __init__(self, steady_aim: SteadyAim) -> None:
        self.steady_aim: SteadyAim = steady_aim
        self.n_asked = 0  # questions about rows,
        self._n_rows = 0  # and these
        self.discovery_rate = 1.0  # share of new rows among the last of the search
        self._found: dict[Aim, float] = {aim: const.PRIOR_FOUND[aim] for aim in SEARCH_AIMS}
        self._asked: dict[Aim, float] = {aim: const.PRIOR_ASKED[aim] for aim in SEARCH_AIMS}
        self._surprises: dict[Aim, float] = dict.fromkeys(
            (self.steady_aim, "refine"), const.PRIOR_SURPRISE
        )  # share of rows that were not as predicted
        self._spent = self._spent_searching = 0.0  # the last questions
        self._n_audits = 0  # questions that audited
        self._planned = self._planned_searching = self._planned_audits = 0  # rows of this wave

    def begin_wave(self) -> None:
        """Begin a wave: no row is planned."""
        self._planned = self._planned_searching = self._planned_audits = 0

    def plan(self, aim: Aim) -> None:
        """Note that a row is about to be asked about."""
        self._planned += 1
        self._planned_searching += aim in SEARCH_AIMS
        self._planned_audits += aim == "audit"

    def spend(self, aim: Aim, n_asked: int) -> None:
        """Note how many questions a row took."""
        self.n_asked += n_asked
        self._n_rows += 1
        self._n_audits += n_asked * (aim == "audit")
        self._spent = const.SPENT_DECAY * self._spent + n_asked
        self._spent_searching = (
            const.SPENT_DECAY * self._spent_searching + (aim in SEARCH_AIMS) * n_asked
        )

    def learn(self, aim: Aim, n_asked: int, *, is_new: bool, as_predicted: bool) -> None:
        """Note what a row brought."""
        if aim in self._surprises:
            surprise = (not as_predicted) - self._surprises[aim]
            self._surprises[aim] += surprise / const.SURPRISE_WINDOW
        if aim in SEARCH_AIMS:
            self._found[aim] = const.FOUND_DECAY * self._found[aim] + is_new
            self._asked[aim] = const.FOUND_DECAY * self._asked[aim] + n_asked
            self.discovery_rate += (is_new - self.discovery_rate) / const.DISCOVERY_WINDOW

    def retract_discovery(self, aim: Aim) -> None:
        """Note that a cluster which was found this way is part of another."""
        if aim in SEARCH_AIMS:
            self._found[aim] = max(0.0, self._found[aim] - 1)

    # What to do next

    def should_audit(self) -> bool:
        """Return whether less than a fixed share of the questions was for the audit."""
        n_asked = self.n_asked + self._planned
        return self._n_audits + self._planned_audits < const.AUDIT_SHARE * n_asked

    def should_search(self) -> bool:
        """Return whether to look for new clusters: half of the questions, or more while it pays."""
        spent = self._spent + self._planned
        searching = self._spent_searching + self._planned_searching
        return searching <= max(const.SEARCH_SHARE, self.discovery_rate) * spent

    def search_aim(self, uniform: float) -> SearchAim:
        """Choose how to look for new clusters, in proportion to what a question finds each way.

        Where there are typical rows, a fixed share of the others are still far ones.
        """
        steady, survey = (
            self._found_per_question(self.steady_aim),
            self._found_per_question("survey"),
        )
        if uniform * (steady + survey) < survey:
            return "survey"
        rest = uniform - survey / (steady + survey)
        is_far = rest * (steady + survey) < const.FAR_SHARE * steady
        return "explore" if is_far else self.steady_aim

    def _found_per_question(self, aim: SearchAim) -> float:
        least = const.RATE_SURVEYED[self.steady_aim] if aim == "survey" else const.RATE_FOUND
        return (self._found[aim] + least) / (self._asked[aim] + const.RATE_ASKED)

    def should_refine(self, uniform: float) -> bool:
        """Choose whether to refine rather than go on, in proportion to how often either surprises."""
        steady = max(const.MIN_SURPRISE, self._surprises[self.steady_aim])
        refine = max(const.MIN_SURPRISE, self._surprises["refine"])
        return uniform * (steady + refine) < refine

    def surprise(self) -> float:
        """Return the share of doubtful rows that were not as predicted lately."""
        return self._surprises["refine"]

    def expected_surprise(self) -> float:
        """Return the probability that the next row which is not searched for is not as predicted."""
        shares = [max(const.MIN_SURPRISE, share) for share in self._surprises.values()]
        return sum(share**2 for share in shares) / sum(shares)  # as `should_refine` chooses

    def questions_to_surprise(self) -> float:
        """Return how many questions about rows it takes until one is not as predicted, on average."""
        return max(1.0, self.n_asked / max(1, self._n_rows)) / self.expected_surprise()

    def is_flat(self) -> bool:
        """Return whether rows are nearly always as predicted."""
        return max(self._surprises.values()) < const.FLAT
