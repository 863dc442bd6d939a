"""What pays: how much the questions of each aim brought lately."""

from __future__ import annotations

__all__ = ["LOOKING", "Payoff", "Yields"]

LOOKING = ("explore", "survey")  # the aims that look for new kinds
EXPLORE = 1 / 2  # the least share of the questions that looks for them
FADING = 0.97  # what stays, with each draw, of the memory of what draws brought
SPENT = 0.98  # and of what they cost


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

    def per_question(self) -> tuple[float, float]:
        """Return how many kinds each way finds with a question."""
        return self._of("explore"), self._of("survey")

    def _of(self, aim: str) -> float:
        return (self._found[aim] + 0.1) / (self._asked[aim] + 4.0)

    def choose(self, uniform: float) -> str:
        """Choose a way, with a chance in proportion to what it brings."""
        explore, survey = self.per_question()
        return "survey" if uniform * (explore + survey) < survey else "explore"


class Payoff:
    """What the last rows brought, and so what the next are to be asked about for."""

    def __init__(self) -> None:
        self.n_asked = 0  # questions about rows
        self.rate = 1.0  # of new kinds among the last rows that looked for them
        self._yields = Yields()
        self._surprises = {"explore": 0.5, "refine": 0.5}  # share of rows not as predicted
        self._spent = self._spent_looking = 0.0  # the last questions, and those that looked
        self._planned = self._planned_looking = 0  # rows about to be asked about

    def begin(self) -> None:
        """Begin a wave: nothing is planned."""
        self._planned = self._planned_looking = 0

    def plan(self, aim: str) -> None:
        """Note that a row is about to be asked about."""
        self._planned += 1
        self._planned_looking += aim in LOOKING

    def spend(self, aim: str, n_asked: int) -> None:
        """Take in what a row cost."""
        self.n_asked += n_asked
        self._spent = SPENT * self._spent + n_asked
        self._spent_looking = SPENT * self._spent_looking + (aim in LOOKING) * n_asked

    def learn(self, aim: str, n_asked: int, *, is_new: bool, as_predicted: bool) -> None:
        """Take in what a row brought."""
        if aim in self._surprises:
            self._surprises[aim] += ((not as_predicted) - self._surprises[aim]) / 32
        if aim in LOOKING:
            self._yields.add(aim, is_new, n_asked)
            self.rate += (is_new - self.rate) / 16

    def regret(self, aim: str) -> None:
        """Note that a kind was none."""
        if aim in LOOKING:
            self._yields.take_back(aim)

    # What to do next

    def looks(self) -> bool:
        """Return whether it is time to look for new kinds: half of the questions, or more while it pays."""
        spent, looking = self._spent + self._planned, self._spent_looking + self._planned_looking
        return looking <= max(EXPLORE, self.rate) * spent

    def way(self, uniform: float) -> str:
        """Choose a way to look for new kinds, with a chance in proportion to what it brings."""
        return self._yields.choose(uniform)

    def refines(self, uniform: float) -> bool:
        """Choose whether to refine, rather than to explore, by which of them surprises."""
        explore = max(0.01, self._surprises["explore"])
        refine = max(0.01, self._surprises["refine"])
        return uniform * (explore + refine) < refine

    def is_flat(self) -> bool:
        """Return whether rows are nearly always as predicted."""
        return max(self._surprises.values()) < 0.05

    def outlook(self) -> float | None:
        """Return the expected number of questions about rows until the next new kind; None at first.

        As if only those that look for new kinds found them, and as they did lately: when nothing was found
        for long, the true number may be any larger one.
        """
        if not self._spent_looking:
            return None
        explore, survey = self._yields.per_question()
        found = (explore**2 + survey**2) / (explore + survey)  # each is chosen by what it brings
        return self._spent / (found * self._spent_looking)
