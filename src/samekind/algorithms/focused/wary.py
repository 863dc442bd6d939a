"""`focused` when answers may be wrong: the same draws, but every answer is only evidence."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from samekind.algorithms.base import Known
from samekind.algorithms.focused.ask import Doubt
from samekind.algorithms.focused.ask_warily import WaryAsking
from samekind.algorithms.focused.beliefs import Beliefs
from samekind.algorithms.focused.compare_warily import ONE, WaryComparing
from samekind.algorithms.focused.flow import Focus
from samekind.algorithms.focused.params import FocusedParams
from samekind.algorithms.focused.parted import parted
from samekind.algorithms.snapshot import Prediction
from samekind.algorithms.state import UNKNOWN, ClusterState
from samekind.flow import DIFFERENT, SAME, Flow
from samekind.points import Points, Sampler

__all__ = ["Wary"]

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

    - The kind of a row is decided by a sequential test (`WaryAsking`). A row founds a kind when "new" is
      certain enough. The kind stays provisional: while it may be another one, it is compared with it, by as
      many pairs of rows as it takes (`WaryComparing`).
    - Nothing is final. A member whose own kind is uncertain counts for less, and all beliefs are gone
      through again and again: rows move, and kinds merge, when evidence turns.
    - Nothing is inferred: each answer speaks of its own two rows.
    """

    def __init__(
        self,
        points: Points,
        kinds: ClusterState,
        rng: np.random.Generator,
        settings: FocusedParams,
        sampler: Sampler,
        given: Known | None,
    ) -> None:
        super().__init__(points, kinds, rng, settings, sampler, given)
        assert settings.error_rate is not None
        self.beliefs = Beliefs(
            settings.error_rate,
            lambda rows: kinds.cluster_of(np.array(rows, dtype=np.intp)).tolist(),
        )
        self.asking: WaryAsking = WaryAsking(
            self.evidence, kinds, settings, self.start, self.unsure, self.beliefs
        )
        self.comparing: WaryComparing = WaryComparing(
            kinds, self.relations, settings.patience, self.merge, self.unsure, self.beliefs
        )
        self.n_checked = 0
        self.checks_owed = 0.0
        self.n_asked_at_check = 0
        self.rows_since = 0  # beliefs were gone through
        self.n_confirming: Counter[int] = Counter()  # rows asked about to confirm a kind

    # What to ask about

    def aim(self) -> str:
        """Choose what the next draw is for; kinds of one row are confirmed before more are looked for."""
        lonely = self.lonely()
        if len(lonely) > LONELY + self.kinds.n_discovered / 4 and self.beliefs.rate() > ERRING:
            return "confirm"
        return super().aim()

    def draw_to(self, aim: str) -> int:
        """Draw a row; -1 when there is none for this aim."""
        return self.draw_to_confirm() if aim == "confirm" else super().draw_to(aim)

    def fills(self) -> bool:
        """Return whether rows are wanted to make centres accurate: not before predictions are."""
        return self.payoff.is_flat() and super().fills()

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
        rows = self.evidence.cells.nearest_rows(founder, NEIGHBOURS)
        unknown = rows[self.kinds.cluster_of(rows) == UNKNOWN]
        return int(unknown[0]) if unknown.size else -1

    # What the answers teach

    def settle(self, doubts: list[Doubt]) -> Flow[None]:
        """Ask until the kind of each row is certain enough; now and then, reconsider all beliefs."""
        yield from super().settle(doubts)
        self.rows_since += len(doubts)
        if self.rows_since >= RECONSIDER:
            self.rows_since = 0
            self.reconsider()

    def lesson(self, doubt: Doubt, kind: int, known: int) -> int | NDArray[np.float64]:
        """Return the chances of the kinds, and of being new, after what was said."""
        chances = self.beliefs.posterior(doubt.row, self.beliefs.priors[doubt.row])
        target = np.append(chances[:known], chances[-1])
        found: NDArray[np.float64] = target / target.sum()
        return found

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
        n_asked = self.payoff.n_asked
        if self.beliefs.estimates or self.beliefs.several:
            slower = 1.0 if self.n_checked < CHECKED else 0.25
            self.checks_owed += CHECK * slower * (n_asked - self.n_asked_at_check)
            self.n_asked_at_check = n_asked
            while self.checks_owed >= 1:
                self.checks_owed -= 1
                yield from self.check()
        yield from super().prove(share)

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
        pair = min(a, b), max(a, b)
        if a == b or b in self.beliefs.told(a) or pair in self.unsure:
            return
        answers, who, _ = yield np.array([[a, b]])
        self.n_checked += 1
        if answers[0] in (SAME, DIFFERENT):
            by = -1 if who is None else int(who[0])
            self.comparing.hear_pair(pair, int(answers[0]), by)
        else:
            self.unsure.add(pair)

    def reconsider(self) -> None:
        """Go through all rows whose kinds were asked for, and move those whose kinds seem to be others."""
        n_kinds = self.evidence.n_kinds
        self.beliefs.judge(n_kinds)
        for kind in range(n_kinds):
            for row in self.kinds.members[kind][1:]:
                self.rethink(row, kind, n_kinds)
        for kind in range(n_kinds):
            self.divide(kind)
        self.comparing.reconsider()

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
        audited = set(self.audit.rows)
        rows = [row for row in self.kinds.members[kind] if row not in audited]
        votes = self.beliefs.within(rows)
        if -sum(vote for _, _, vote in votes if vote < 0) < DIVIDE:
            return
        side = parted(self.points.rows(np.array(rows)), votes)
        gain = -sum(vote for i, j, vote in votes if side[i] != side[j])
        if gain < DIVIDE or side[0] != 0:
            return
        apart = [row for row, other in zip(rows, side.tolist(), strict=True) if other]
        new = self.kinds.split(kind, apart, self.points.rows(np.array(apart[:1]))[0])
        self.make_room()
        for row in apart:
            self.evidence.move(row, new)

    # What it amounts to

    def confidence(self, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return how likely each row is of its kind; see `ClusterState`."""
        found = super().confidence(rows)
        for place, row in enumerate(rows.tolist()):
            found[place] = min(found[place], self.beliefs.certainty.get(row, 1.0))
        return found

    def findings(self) -> tuple[NDArray[np.float64], Prediction]:
        """Say what is known now, and how certain it is."""
        centers, found = super().findings()
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
        return centers, replace(found, notes=notes, error_rate=rate)
