"""Several who answer: the cheap ones first, and the best one where it is left to decide.

1. *Exam.* The first questions are put to everybody. So the algorithm can tell from the start how often each
   of them is wrong: all answers are evidence, with one error rate for each annotator.
2. The cheap ones answer until their budgets are spent.
3. The best one answers, with what is left of its budget, the questions that are worth most then.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from samekind._validation import check_int, did_you_mean
from samekind.engine.hearing import SPENT, count_earlier, hear
from samekind.engine.session import Session
from samekind.flow import UNSURE, BoolArray, Oracle, Pairs, StreamingOracle, check_answers
from samekind.ledger import keys_of, pairs_of

__all__ = ["OraclePanel", "PanelMember", "make_members"]

EXAM = 20  # questions that everybody is asked at first,
EXAM_SHARE = 4  # or one in so many of what the best one may be asked


@dataclass
class PanelMember:
    """Somebody who answers, and how much they may be asked."""

    oracle: Oracle | StreamingOracle
    name: str
    budget: int | None = None
    price: float | None = None
    n_asked: int = 0
    is_spent: bool = False

    @property
    def left(self) -> int | None:
        """How many more questions they may be asked; None is no limit."""
        if self.is_spent:
            return 0
        return None if self.budget is None else max(0, self.budget - self.n_asked)


class OraclePanel:
    """Lets several oracles answer all questions of a session.

    Parameters
    ----------
    session : Session
        What asks.
    members : list of PanelMember
        Who answers, the cheapest first and the best one last.
    """

    def __init__(self, session: Session, members: list[PanelMember]) -> None:
        self.session = session
        self.members = members
        ledger = session.ledger
        lines = ledger.log.lines
        for member in members:  # what was asked in earlier runs counts
            if member.name in ledger.annotators:
                own = lines["who"] == ledger.annotators.index(member.name)
                member.n_asked = int((own & lines["asked"]).sum())
            if isinstance(member.oracle, StreamingOracle):
                count_earlier(session, member.oracle)

    def answer(self, after_wave: Callable[[], object] | None = None) -> None:
        """Answer until the session is over, or nobody may be asked."""
        try:
            while not self.session.done:
                asked = [member for member in self.members if member.left != 0]
                if not asked:
                    spent = any(member.is_spent for member in self.members)
                    self.session.stop(SPENT if spent else "budget")
                    break
                pairs, exam = self.session.pending(), self._exam_left()
                if exam and len(asked) > 1:
                    for member in asked:
                        self._ask(member, pairs[:exam])
                else:
                    self._pass_on(asked, pairs)
                if after_wave is not None:
                    after_wave()
        finally:
            for member in self.members:
                getattr(member.oracle, "close", lambda: None)()

    def _exam_left(self) -> int:
        """Return how many more questions are put to everybody."""
        *_, best = self.members
        size = EXAM if best.budget is None else min(EXAM, best.budget // EXAM_SHARE)
        return max(0, size - best.n_asked)

    def _pass_on(self, asked: list[PanelMember], pairs: Pairs) -> None:
        """Let the first one answer what they can, and others what that one leaves."""
        for place, member in enumerate(asked):
            is_last = place == len(asked) - 1
            pairs = self._ask(member, pairs, must=is_last)
            if not len(pairs):
                return

    def _ask(self, member: PanelMember, pairs: Pairs, *, must: bool = False) -> Pairs:
        """Let one answer as much as they may; return what they could not say, unless they `must`."""
        pairs = pairs[: member.left]
        if isinstance(member.oracle, StreamingOracle):
            member.is_spent = not hear(self.session, member.oracle, pairs)
            said = self._answered_by(member.name, pairs)
            member.n_asked += int(said.sum())
            return pairs[~said]
        answers = check_answers(member.oracle(pairs), len(pairs))
        given = np.ones(len(pairs), dtype=bool)
        if not must and getattr(member.oracle, "abstains", False):
            given = answers != UNSURE
        expected = self.session.expect(pairs[given])
        with self.session.act():
            self.session.write(pairs[given], answers[given], member.name, given[given], expected)
        member.n_asked += int(given.sum())
        return pairs[~given]

    def _answered_by(self, name: str, pairs: Pairs) -> BoolArray:
        ledger = self.session.ledger
        lines = ledger.active()
        number = ledger.annotators.index(name) if name in ledger.annotators else -1
        found: BoolArray = np.isin(keys_of(pairs), keys_of(pairs_of(lines, lines["who"] == number)))
        return found

    def notes(self) -> list[str]:
        """Return in words who answered how much, and for how much."""
        return [_in_words(member) for member in self.members if member.n_asked]


def _in_words(member: PanelMember) -> str:
    n = member.n_asked
    text = f"{member.name} answered {n:,} question{'s' * (n != 1)}"
    return f"{text}." if member.price is None else f"{text}, for {member.price * n:,.6g}."


def make_members(
    oracles: Sequence[Oracle | StreamingOracle], budget: object, price: object
) -> list[PanelMember]:
    """Return who answers, with what they may be asked and what an answer costs, the cheapest first.

    Budgets and prices go by the names of the oracles, or by their order; names that stand there twice are
    numbered. A single number is money, which all who cost something share evenly.
    """
    names = _names(oracles)
    prices = _by_order("price", price, names)
    if isinstance(budget, int | float) and None not in prices:
        budget = _share_money(float(budget), [cost or 0.0 for cost in prices])
    budgets = _by_order("budget", budget, names)
    members = [
        PanelMember(
            oracle,
            name,
            check_int(f"budget of {name}", given, minimum=0, none="ask without limit"),
            cost,
        )
        for oracle, name, given, cost in zip(oracles, names, budgets, prices, strict=True)
    ]
    if all(cost is not None for cost in prices):
        members.sort(key=lambda member: member.price or 0.0)
    return members


def _share_money(total: float, prices: list[float]) -> list[int | None]:
    """Return how many answers of each a sum of money pays for; None for who costs nothing."""
    share = total / max(1, sum(cost > 0 for cost in prices))
    return [int(share / cost) if cost > 0 else None for cost in prices]


def _names(oracles: Sequence[Oracle | StreamingOracle]) -> list[str]:
    names: list[str] = []
    for number, oracle in enumerate(oracles, start=1):
        name = str(getattr(oracle, "name", "")) or f"oracle {number}"
        names.append(name if name not in names else f"{name} {number}")
    return names


def _by_order(what: str, given: object, names: list[str]) -> list[float | None]:
    if given is None:
        return [None] * len(names)
    if isinstance(given, Mapping):
        unknown = [name for name in given if name not in names]
        if unknown or len(given) < len(names):
            wrong = repr(unknown[0]) if unknown else "too few"
            raise ValueError(
                f"{what} must name each oracle: {', '.join(map(repr, names))}; got {wrong}."
                + did_you_mean(str(unknown[0]), names) * bool(unknown)
            )
        values = [given[name] for name in names]
    elif isinstance(given, Sequence) and not isinstance(given, str):
        values = list(given)
    else:
        raise ValueError(
            f"{what} of several oracles must say it of each, such as "
            f'{{"model": 5_000, "person": 200}}, got {given!r}.'
            + (" A sum of money needs the price of each." if what == "budget" else "")
        )
    if len(values) != len(names):
        raise ValueError(
            f"{what} has {len(values)} numbers for {len(names)} oracles: {', '.join(names)}."
        )
    return values
