"""Several who answer: the cheap ones first, the dear ones where it is worth it.

Every pair of a wave goes to the first one who may still be asked. What they say is written down at once, but
what the rule wants reviewed is held back from the algorithm, and put to the next one, whose word stands. Who
turns out to be of no use is not asked any more, and what they said is taken back.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from samekind._validation import check_int
from samekind.engine.audited_rates import AuditedRates
from samekind.engine.escalation import AskingRule, Turn
from samekind.engine.hearing import SPENT, count_earlier, hear_wave
from samekind.engine.session import Session
from samekind.engine.trust import disregard, is_disregarded, keep_rates, kept_rates
from samekind.flow import UNSURE, Heard, Oracle, Pairs, StreamingOracle, check_answers
from samekind.ledger import keys_of
from samekind.measures import percent

__all__ = ["OraclePanel", "PanelMember", "make_members"]


@dataclass
class PanelMember:
    """Somebody who answers, and how much they may be asked."""

    oracle: Oracle | StreamingOracle
    name: str
    budget: int | None = None
    price: float | None = None
    n_asked: int = 0
    rates: AuditedRates = field(default_factory=AuditedRates)
    is_dropped: bool = False
    is_spent: bool = False

    @property
    def left(self) -> int | None:
        """How many more questions they may be asked; None is no limit."""
        if self.is_dropped or self.is_spent:
            return 0
        return None if self.budget is None else max(0, self.budget - self.n_asked)


class OraclePanel:
    """Lets several oracles answer all questions of a session.

    Parameters
    ----------
    session : Session
        What asks.
    members : list of PanelMember
        Who answers, the cheapest first.
    rule : AskingRule
        Decides which answers are put to the next one.
    """

    def __init__(self, session: Session, members: list[PanelMember], rule: AskingRule) -> None:
        self.members = members
        self.rule = rule
        self._attach(session)

    def _attach(self, session: Session) -> None:
        """Begin with what the ledger says of earlier runs."""
        self.go_on(session)
        for member in self.members:
            member.rates = kept_rates(session.ledger, member.name)
            member.is_dropped = is_disregarded(session.ledger, member.name)
            if isinstance(member.oracle, StreamingOracle):
                count_earlier(session, member.oracle)

    def go_on(self, session: Session) -> None:
        """Go on with another session of the same ledger; what was asked before counts."""
        self.session = session
        ledger = session.ledger
        lines = ledger.written(0, ledger.revision.answers)
        for member in self.members:
            if member.name in ledger.annotators:
                own = lines["who"] == ledger.annotators.index(member.name)
                member.n_asked = int((own & lines["asked"]).sum())

    @property
    def n_left(self) -> int:
        """How many of the members are still asked."""
        return sum(member.left != 0 for member in self.members)

    def answer(self, after_wave: Callable[[], object] | None = None) -> bool:
        """Answer until the session is over, or nobody may be asked; return False if somebody was dropped."""
        try:
            while not self.session.done:
                if not self.n_left:
                    spent = any(member.is_spent for member in self.members)
                    self.session.stop(SPENT if spent else "budget")
                    break
                if self._is_time_to_settle():
                    self.session.settle()
                if self._answer_wave():
                    return False
                if after_wave is not None:
                    after_wave()
        finally:
            for member in self.members:
                getattr(member.oracle, "close", lambda: None)()
        return True

    def _is_time_to_settle(self) -> bool:
        """Return whether the best one alone is left, after others have answered what they may."""
        *others, best = self.members
        if best.left == 0 or any(member.left != 0 for member in others):
            return False
        return any(member.n_asked and not member.is_dropped for member in others)

    def _answer_wave(self) -> bool:
        """Let everyone answer what is theirs of the wave; return whether somebody was dropped."""
        session = self.session
        waiting = session.pending()
        audited: dict[int, int] = {}  # what was put to the next one as part of the audit
        checked: PanelMember | None = None  # who said that
        asked = [member for member in self.members if member.left != 0]
        for member, checker in zip(asked, [*asked[1:], None], strict=True):
            own = waiting[: member.left]
            others = waiting[len(own) :]
            audited, reviewed = self._ask(member, own, checker, checked, audited)
            checked = member
            waiting = np.concatenate([reviewed, others])
            waiting = waiting[np.isin(keys_of(waiting), keys_of(session.pending()))]
            if not len(waiting):
                break
        session.release()
        checkers = [*self.members[1:], None]
        useless = [
            member
            for member, checker in zip(self.members, checkers, strict=True)
            if checker is not None
            and not member.is_dropped
            and self.rule.is_useless(member.rates, checker.budget)
        ]
        for member in useless:
            member.is_dropped = True
            disregard(session, member.name)
        return bool(useless)

    def _ask(
        self,
        member: PanelMember,
        pairs: Pairs,
        checker: PanelMember | None,
        checked: PanelMember | None,
        to_check: Mapping[int, int],
    ) -> tuple[dict[int, int], Pairs]:
        """Let one answer; return what was audited, by pair, and all pairs to be put to the next one."""
        session = self.session
        audited: dict[int, int] = {}
        reviewed: list[Pairs] = [pairs[:0]]

        def on_heard(heard: Heard) -> None:
            keys = keys_of(heard.pairs)
            member.n_asked += len(keys) * (not heard.skipped)
            if checked is not None and not heard.skipped:
                for key, answer in zip(keys.tolist(), heard.answers.tolist(), strict=True):
                    if key in to_check:
                        checked.rates.count(to_check[key], answer)
                        keep_rates(session.ledger, checked.name, checked.rates)
            if checker is None:
                return
            if heard.skipped:
                session.hold(heard.pairs, member.name)
                reviewed.append(heard.pairs)
                return
            turn = Turn(member.rates, member.left, checker.left, checker.budget)
            review = self.rule.review(session, heard.pairs, heard.answers, turn)
            chosen = review.audited | review.doubtful
            if chosen.any():
                session.hold(heard.pairs[chosen], member.name)
                reviewed.append(heard.pairs[chosen])
            said = heard.answers[review.audited].tolist()
            audited.update(zip(keys[review.audited].tolist(), said, strict=True))

        if isinstance(member.oracle, StreamingOracle):
            member.is_spent = not hear_wave(session, member.oracle, pairs, on_heard)
            if member.is_spent and checker is not None:
                left = np.isin(keys_of(pairs), keys_of(session.pending()))
                known = np.isin(keys_of(pairs), keys_of(np.concatenate(reviewed)))
                reviewed.append(pairs[left & ~known])
            return audited, np.concatenate(reviewed)
        answers = check_answers(member.oracle(pairs), len(pairs))
        given = np.ones(len(pairs), dtype=bool)
        if checker is not None and getattr(member.oracle, "abstains", False):
            given = answers != UNSURE
        reviewed.append(pairs[~given])
        if given.any():
            on_heard(Heard(pairs[given], answers[given]))
            session.tell(pairs[given], answers[given], who=member.name)
        return audited, np.concatenate(reviewed)

    def notes(self) -> list[str]:
        """Return in words who answered how much, how often they err, and what nobody checked."""
        return [_in_words(member) for member in self.members if member.n_asked or member.is_dropped]


def _in_words(member: PanelMember) -> str:
    rates, n = member.rates, member.n_asked
    head = f"{member.name} answered {n:,} question{'s' * (n != 1)}"
    if member.price is not None:
        head += f", for {member.price * n:,.6g}"
    if not rates.n:
        return f"{head}; nobody checked any of them."
    wrong = [
        f'"{word}" of {of} rows: {percent(rate.mean)} ({percent(rate.low)} to {percent(rate.high)})'
        for word, of, rate in (
            ("same", "different", rates.false_same),
            ("different", "the same", rates.false_different),
        )
    ]
    head += f"; {rates.n:,} were checked at random, {rates.n_wrong:,} of them wrong; {', '.join(wrong)}."
    if member.is_dropped:
        head += (
            " That is too often: they were not asked any more, and none of their answers counts."
        )
    return head


def make_members(
    oracles: Sequence[Oracle | StreamingOracle], budget: object, price: object
) -> list[PanelMember]:
    """Return who answers, with what they may be asked and what an answer costs, the cheapest first.

    Budgets and prices go by the names of the oracles or, under any other names, by their order; names that
    stand there twice are numbered. A single number is money, which all who cost something share evenly.
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
        values = [given[name] for name in names] if set(given) == set(names) else [*given.values()]
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
