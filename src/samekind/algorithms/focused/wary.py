"""`focused` when answers may be wrong: the same draws, but every answer is only evidence."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from math import log

import numpy as np
from numpy.typing import NDArray

from samekind.algorithms.findings import Findings
from samekind.algorithms.focused.ask import Doubt
from samekind.algorithms.focused.beliefs import Beliefs
from samekind.algorithms.focused.flow import Focus
from samekind.algorithms.kinds import GIVEN_UP, UNKNOWN, Kinds
from samekind.algorithms.sampling import Settings
from samekind.flow import DIFFERENT, SAME, Flow
from samekind.points import Points

__all__ = ["Wary"]

SURE = 0.94  # certainty at which a row is of a kind
SURE_NEW = 0.8  # or founds one
ENOUGH = 24  # questions about a row after which the likeliest kind is taken
FLOOR = 0.01  # share of the chances that is spread evenly, as nothing is impossible
LITTLE = 0.01  # chance of a kind that is not worth a question
FIRM = 0.8  # certainty of a member that is asked about rather than others
ONE = 0.998  # chance at which two kinds are merged
TWO = 0.02  # and below which they are held to be different
AGAIN = 0.05  # and beyond which that is in doubt again
CHECK = 1 / 16  # questions to check two rows held to be of one kind, for each other question,
CHECKED = 40  # until there were so many; then a quarter of that
RECONSIDER = 16  # rows after which all beliefs are gone through again
TURNED = 0.9  # chance of another kind at which a row moves there
UNCERTAIN = 0.95
DIVIDE = 8.0  # log ratio of the likelihoods at which one kind becomes two
ERRING = 0.06  # error rate beyond which kinds of one row are confirmed early,
LONELY = 3  # if there are more than these and a quarter of all
CONFIRM = 4  # rows to confirm a kind
NEIGHBOURS = 16


class Wary(Focus):
    """One run in which answers may be wrong.

    - The kind of a row is decided by a sequential test: the chances that the model of the kinds gives are
      the prior, each answer about a member of a kind multiplies them by its likelihood, and questions go to
      the likeliest kind, each about another member, until one is certain enough.
    - A row founds a kind when "new" is certain enough. The kind stays provisional: while it may be another
      one, it is compared with it, by as many pairs of rows as it takes.
    - Nothing is final. A member whose own kind is uncertain counts for less, and all beliefs are gone
      through again and again: rows move, and kinds merge, when evidence turns.
    - Nothing is inferred: each answer speaks of its own two rows.
    """

    def __init__(
        self, points: Points, kinds: Kinds, rng: np.random.Generator, settings: Settings
    ) -> None:
        super().__init__(points, kinds, rng, settings)
        assert settings.error_rate is not None
        self.beliefs = Beliefs(settings.error_rate, self.kind_of)
        self.n_checked = 0
        self.checks_owed = 0.0
        self.n_asked_at_check = 0
        self.rows_since = 0
        self.n_confirming: Counter[int] = Counter()  # rows asked about to confirm a kind

    def kind_of(self, row: int) -> int:
        """Return the kind that a row is held to be of, or a negative number."""
        return int(self.kinds.kind_of(np.array([row]))[0])

    # What to ask about

    def aim(self) -> str:
        """Choose what the next draw is for; kinds of one row are confirmed before more are looked for."""
        lonely = self.lonely()
        if len(lonely) > LONELY + self.kinds.n_discovered / 4 and self.beliefs.rate() > ERRING:
            return "confirm"
        return super().aim()

    def lonely(self) -> list[int]:
        """Return the kinds of one row, but for those that were often tried to confirm."""
        return [
            kind
            for kind, members in enumerate(self.kinds.members)
            if len(members) == 1 and self.n_confirming[kind] < CONFIRM
        ]

    def draw_to_confirm(self) -> int:
        """Take an unknown row near the only one of some kind."""
        lonely = self.lonely()
        kind = lonely[int(self.rng.random() * len(lonely))]
        self.n_confirming[kind] += 1
        founder = self.points.rows(np.array(self.kinds.members[kind]))[0]
        rows = self.evidence.cells.near(founder, NEIGHBOURS)
        unknown = rows[self.kinds.kind_of(rows) == UNKNOWN]
        return int(unknown[0]) if unknown.size else -1

    # Of what kind is a row?

    def settle(self, doubts: list[Doubt]) -> Flow[None]:
        """Ask until the kind of each row is certain enough, in waves of one question a row."""
        n_kinds = -1
        while open_doubts := [doubt for doubt in doubts if doubt.kind is None]:
            if n_kinds != self.evidence.n_kinds:
                n_kinds = self.evidence.n_kinds
                for doubt in open_doubts:
                    doubt.weigh(self.evidence)
            asking: list[tuple[Doubt, int]] = []
            for doubt in open_doubts:
                member = self.next_member(doubt)
                if member >= 0:
                    asking.append((doubt, member))
                elif doubt.is_new:
                    self.start(doubt)
                    break  # the others may be of the new kind
            else:
                if asking:
                    answers = yield np.array([[doubt.row, member] for doubt, member in asking])
                    self.take_answers(asking, answers)
        self.rows_since += len(doubts)
        if self.rows_since >= RECONSIDER:
            self.rows_since = 0
            self.reconsider()

    def take_answers(self, asking: list[tuple[Doubt, int]], answers: NDArray[np.int8]) -> None:
        """Take in the answers of a wave."""
        who = self.kinds.who if self.kinds.who is not None else np.full(len(asking), -1)
        for (doubt, member), answer, by in zip(asking, answers.tolist(), who.tolist(), strict=True):
            doubt.n_asked += 1
            doubt.asked.setdefault(self.kind_of(member), []).append(member)
            if answer in (SAME, DIFFERENT):
                self.beliefs.hear(doubt.row, member, answer, by)
            else:
                doubt.n_unsure += 1
                self.unsure.add((min(doubt.row, member), max(doubt.row, member)))
                if doubt.n_unsure >= self.settings.patience:
                    doubt.kind = GIVEN_UP

    def prior(self, doubt: Doubt) -> NDArray[np.float64]:
        """Return the chances of the kinds, and of being new, before anybody was asked; none is 0 but for
        kinds that were merged into others.
        """
        chances = np.append(doubt.weights, doubt.of_new)
        known = np.append(np.sqrt(doubt.weights), 0.0)
        possible = np.append(self.evidence.alive, True)
        prior: NDArray[np.float64] = chances / chances.sum()
        modest = max(0.02, 1.5 / (20 + self.kinds.n_labelled))
        if known.any():
            prior = (1 - 2 * modest) * prior + modest * known / known.sum()
            prior[-1] += modest
        prior = (1 - FLOOR) * prior + FLOOR * possible / possible.sum()
        return np.maximum(prior, 1e-300)

    def next_member(self, doubt: Doubt) -> int:
        """Return the row to compare with next; -1 when the row's kind is decided, which is noted."""
        prior = self.prior(doubt)
        chances = self.beliefs.posterior(doubt.row, prior)
        new = chances[-1]
        best = int(chances[:-1].argmax()) if chances.size > 1 else -1
        said = self.beliefs.heard.get(doubt.row, ())
        confirmed = any(answer == SAME and self.kind_of(other) == best for other, answer, _ in said)
        full = self.settings.certify == "full"
        if confirmed and chances[best] >= SURE:
            return self.decide(doubt, prior, best, float(chances[best]))
        unheard = self.unheard(doubt) if full else []
        if said and new >= SURE_NEW and not unheard:
            return self.decide(doubt, prior, -1, float(new))
        told_all = confirmed and chances[best] > 0.5 and self.member(doubt, best) < 0
        if (len(said) < ENOUGH and not told_all) or unheard:
            for kind in unheard or np.argsort(-chances[:-1], kind="stable").tolist():
                if not self.evidence.alive[kind]:
                    continue
                if said and not unheard and chances[kind] < LITTLE:
                    break
                member = self.member(doubt, kind)
                if member >= 0:
                    return member
        if best >= 0 and chances[best] > new:
            return self.decide(doubt, prior, best, float(chances[best]))
        return self.decide(doubt, prior, -1, float(new))

    def unheard(self, doubt: Doubt) -> list[int]:
        """Return the kinds about which nothing was asked yet."""
        return [
            kind
            for kind in np.flatnonzero(self.evidence.alive).tolist()
            if kind not in doubt.asked and self.member(doubt, kind) >= 0
        ]

    def decide(self, doubt: Doubt, prior: NDArray[np.float64], kind: int, certainty: float) -> int:
        """Note the kind of a row; a new one (-1) is founded by the caller."""
        doubt.certainty = certainty
        doubt.is_new = kind < 0
        if kind >= 0:
            doubt.kind = kind
            self.beliefs.certainty[doubt.row] = certainty
        self.beliefs.priors[doubt.row] = prior
        return -1

    def lesson(self, doubt: Doubt, kind: int, known: int) -> int | NDArray[np.float64]:
        """Return the chances of the kinds, and of being new, after what was said."""
        chances = self.beliefs.posterior(doubt.row, self.beliefs.priors[doubt.row])
        target = np.append(chances[:known], chances[-1])
        found: NDArray[np.float64] = target / target.sum()
        return found

    def start(self, doubt: Doubt) -> None:
        """Let a row found a kind."""
        doubt.kind = self.kinds.discover(doubt.row, doubt.x)
        self.found(doubt, doubt.kind)
        self.evidence.found()
        self.evidence.learn(doubt.row, doubt.x, doubt.kind, surprising=True)

    def member(self, doubt: Doubt, kind: int) -> int:
        """Return the nearest member of a kind that was not asked about, firm ones first; -1: none is left."""
        asked = doubt.asked_rows()
        fallback = -1
        for member in self.evidence.near_members(doubt.x, kind):
            if member not in asked:
                if self.beliefs.certainty.get(member, 1.0) >= FIRM:
                    return member
                fallback = member if fallback < 0 else fallback
        return fallback

    # Which kinds are one?

    def chance_of_one(self, alike: float, a: int, b: int) -> float:
        """Return how likely two kinds are one, given how alike they look and what was said."""
        members = self.kinds.members
        few, other = (a, b) if len(members[a]) <= len(members[b]) else (b, a)
        prior = float(np.clip(alike, 0.01, 0.5))
        odds = log(prior / (1 - prior)) + self.beliefs.between(members[few], other)
        return float(1 / (1 + np.exp(-np.clip(odds, -500, 500))))

    def compare(self, least: float, *, most: float = np.inf, of: int | None = None) -> Flow[None]:
        """Ask about pairs of kinds that may be one, likeliest first, while they look so much alike."""
        last = self.n_compared + most
        while (
            self.n_compared < last and (found := self.relations.likeliest(of)) and found[0] >= least
        ):
            alike, a, b = found
            chance = self.chance_of_one(alike, a, b)
            if chance >= ONE:
                self.merge(a, b)
                continue
            if chance <= TWO:
                self.relations.part(a, b)
                continue
            pair = self.pair_to_compare(a, b)
            if pair is None:
                self.relations.despair(a, b)
                continue
            answers = yield np.array([pair])
            self.n_compared += 1
            self.take_pair(pair, int(answers[0]))
            if answers[0] not in (SAME, DIFFERENT):
                self.compared[min(a, b), max(a, b)] += 1

    def take_pair(self, pair: tuple[int, int], answer: int) -> None:
        """Take in an answer about two rows whose kinds are held to be known."""
        first, second = min(pair), max(pair)
        if answer in (SAME, DIFFERENT):
            who = -1 if self.kinds.who is None else int(self.kinds.who[0])
            self.beliefs.hear(first, second, answer, who)
            self.beliefs.asked.add((first, second))
        else:
            self.unsure.add((first, second))

    def pair_to_compare(self, a: int, b: int) -> tuple[int, int] | None:
        """Return members of two kinds that were not compared yet, firm ones; None when it is no use."""
        if self.compared[min(a, b), max(a, b)] >= self.settings.patience:
            return None
        for first in self.firm_members(a):
            told = {other for other, _, _ in self.beliefs.heard.get(first, ())}
            for second in self.firm_members(b):
                pair = min(first, second), max(first, second)
                if second not in told and pair not in self.unsure:
                    return first, second
        return None

    def firm_members(self, kind: int) -> list[int]:
        """Return some members of a kind, those whose kind is most certain first."""
        members = self.kinds.members[kind][:64]
        return sorted(members, key=lambda row: -self.beliefs.certainty.get(row, 1.0))

    def regret(self, keep: int, gone: int) -> None:
        """Learn from a row that was called new and was not."""
        super().regret(keep, gone)
        for row, prior in self.beliefs.priors.items():
            if prior.size - 1 > gone:
                prior[keep] += prior[gone]
                prior[gone] = 1e-300
            elif row in self.kinds.members[keep]:
                self.beliefs.certainty.setdefault(row, ONE)

    # Who errs, and whose kind was mistaken?

    def prove(self, share: float) -> Flow[None]:
        """Compare kinds, and check rows of one kind, with a share of the questions about the last rows."""
        if self.beliefs.estimates or self.several_answer():
            slower = 1.0 if self.n_checked < CHECKED else 0.25
            self.checks_owed += CHECK * slower * (self.n_asked - self.n_asked_at_check)
            self.n_asked_at_check = self.n_asked
            while self.checks_owed >= 1:
                self.checks_owed -= 1
                yield from self.check()
        yield from super().prove(share)

    def several_answer(self) -> bool:
        """Return whether more than one person answered so far."""
        return self.kinds.who is not None and bool(self.kinds.who.max(initial=0) > 0)

    def check(self) -> Flow[None]:
        """Ask about two rows that are held to be of one kind, to learn who errs."""
        firm = [kind for kind, members in enumerate(self.kinds.members) if len(members) > 2]
        if not firm:
            return
        kind = firm[int(self.rng.random() * len(firm))]
        rows = [
            row
            for row in self.kinds.members[kind]
            if self.beliefs.certainty.get(row, 1.0) >= UNCERTAIN and row not in self.audit.rows
        ]
        if len(rows) < 2:
            return
        a, b = (rows[int(self.rng.random() * len(rows))] for _ in range(2))
        told = {other for other, _, _ in self.beliefs.heard.get(a, ())}
        if a == b or b in told or (min(a, b), max(a, b)) in self.unsure:
            return
        answers = yield np.array([[a, b]])
        self.n_checked += 1
        self.take_pair((a, b), int(answers[0]))

    def reconsider(self) -> None:
        """Go through all rows whose kinds were asked for, and move those whose kinds seem to be others."""
        n_kinds = self.evidence.n_kinds
        self.beliefs.judge(n_kinds)
        for kind in range(n_kinds):
            for row in self.kinds.members[kind][1:]:
                self.rethink(row, kind, n_kinds)
        for kind in range(n_kinds):
            self.divide(kind)
        for alike, a, b in self.relations.closed(AGAIN):
            if self.chance_of_one(alike, a, b) > AGAIN:
                self.relations.reopen(a, b)

    def rethink(self, row: int, kind: int, n_kinds: int) -> None:
        """Move a row if another kind has become much likelier."""
        prior = self.beliefs.priors.get(row)
        if prior is None:
            return
        full = self.beliefs.spread(prior, n_kinds, kind)
        full[:-1][~self.evidence.alive] = 1e-300
        chances = self.beliefs.posterior(row, full)
        best = int(chances[:-1].argmax())
        self.beliefs.certainty[row] = float(chances[kind])
        if best != kind and chances[best] >= TURNED:
            self.kinds.move(row, best)
            self.evidence.move(row, best)
            self.audit.move(row, best)
            self.beliefs.certainty[row] = float(chances[best])

    def divide(self, kind: int) -> None:
        """Make two kinds of one if what was said among its rows speaks clearly for it."""
        rows = [row for row in self.kinds.members[kind] if row not in self.audit.rows]
        votes = self.beliefs.within(rows)
        if -sum(vote for _, _, vote in votes if vote < 0) < DIVIDE:
            return
        side = parted(self.points.rows(np.array(rows)), votes)
        gain = -sum(vote for i, j, vote in votes if side[i] != side[j])
        if gain < DIVIDE or side[0] != 0:
            return
        apart = [row for row, other in zip(rows, side.tolist(), strict=True) if other]
        new = self.kinds.split(kind, apart, self.points.rows(np.array(apart[:1]))[0])
        self.relations.found()
        self.trials.found()
        self.evidence.found()
        for row in apart:
            self.evidence.move(row, new)

    # What it amounts to

    def findings(self) -> Findings:
        """Say what is known now, and how certain it is."""
        found = super().findings()
        rate = self.beliefs.rate()
        notes = [f"About {100 * rate:.2g} % of the answers seem to be wrong."]
        doubtful = sum(certainty < UNCERTAIN for certainty in self.beliefs.certainty.values())
        if doubtful:
            notes.append(
                f"{doubtful:,} of the {self.kinds.n_labelled:,} rows that were asked about are less than "
                f"{UNCERTAIN:.0%} certain to be where they are."
            )
        lonely = sum(len(members) == 1 for members in self.kinds.members)
        if lonely:
            notes.append(f"{lonely:,} of the clusters rest on one row, which nothing confirmed.")
        return replace(found, error_rate=rate, notes=notes)


def parted(X: NDArray[np.float64], votes: list[tuple[int, int, float]]) -> NDArray[np.intp]:
    """Part rows in two by the votes on pairs of them, -: different; the first row is on side 0.

    The two rows that most clearly differ draw the others by distance; then rows change sides by majority.
    """
    i, j, _ = min(votes, key=lambda vote: vote[2])
    distances = ((X - X[i]) ** 2).sum(axis=1), ((X - X[j]) ** 2).sum(axis=1)
    side: NDArray[np.intp] = (distances[1] < distances[0]).astype(np.intp)
    ballots = np.zeros((len(X), len(X)))
    for a, b, vote in votes:
        ballots[a, b] = ballots[b, a] = vote
    for _ in range(2 * len(X)):
        pull = ballots @ (2 * side - 1)
        turned = np.where(pull == 0, side, pull > 0)
        changed = np.flatnonzero(turned != side)
        if not changed.size:
            break
        most = changed[np.abs(pull[changed]).argmax()]  # one at a time, or two would swap for ever
        side[most] = 1 - side[most]
    if side[0] != 0:
        np.subtract(1, side, out=side)
    return side
