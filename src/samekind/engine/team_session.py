"""What a session has for several people who answer at the same time.

A wave has few rows, because rows of a wave do not learn from each other. So some people would have nothing
to do while it is answered. They get *extra* questions, beyond those of the flow. Answers to them are written
like any others; the flow takes them in at the next mark (`FlowRunner`), so that it goes the same way when
it is repeated, here or on another server.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from numpy.typing import ArrayLike

from samekind.algorithms import UNKNOWN, Algorithm, Amendment, ExtraQuestion, Params
from samekind.engine.amendments import find_amendment
from samekind.engine.flow_session import FlowSession
from samekind.flow import DIFFERENT, Pairs, check_answers, check_pairs
from samekind.ledger import keys_of, pairs_of

__all__ = ["TeamSession"]

TAKEN_IN = 4  # extra answers after which a flow takes them in, at least,
TAKEN_IN_SHARE = 0.25  # and for each person: it takes about as long as some answers do


class TeamSession(FlowSession):
    """A session that several people answer."""

    seed: int
    _run: Algorithm[Params]

    @property
    def n_people(self) -> int:
        """For how many people at once the flow asks now."""
        return self._run.n_people

    @property
    def n_beyond(self) -> int:
        """How many pairs were answered that the flow has neither asked about nor taken in yet."""
        return len(self._unclaimed)

    def extra_questions(self, size: int, taken: Collection[int] = ()) -> list[ExtraQuestion]:
        """Return questions beyond the pending ones, about none of the rows that are `taken`.

        None where the flow cannot be told of the answers, nor while nothing is asked.
        """
        if not self._amends or self.done:
            return []
        rng = np.random.default_rng([self.seed, self._n_lines, self._n_changes, len(taken)])
        rows = {*taken, *self._wave[:, 0].tolist(), *self._pending[:, 0].tolist()}
        found = self._run.extra_questions(rng, size, rows)
        return [question for question in found if self.is_unanswered(question)]

    def is_unanswered(self, question: ExtraQuestion) -> bool:
        """Return whether nothing is known of any pair of an extra question."""
        pairs = np.array([[question.row, member] for member in question.members])
        return bool((self.ledger.lookup(pairs) < -1).all())

    def tell_extra(
        self, pairs: ArrayLike, answers: ArrayLike, *, who: str = "", people: int = 1
    ) -> None:
        """Answer pairs beyond the pending ones; when this returns the answers are in the ledger.

        They are charged. The flow takes them in some at a time, and asks for so many people then.
        """
        checked = check_pairs(pairs)
        said = check_answers(answers, len(checked))
        with self.act():
            self.ledger.record_checked(checked, said, who, True)
            enough = max(TAKEN_IN, int(TAKEN_IN_SHARE * people))
            if self._amends and self.n_beyond + len(checked) >= enough:
                self.ledger.mark(max(1, people))

    def mark(self, people: int) -> None:
        """Let the flow take in all extra answers now, and ask for so many people from here on."""
        if self._amends and (self.n_beyond or people != self.n_people):
            with self.act():
                self.ledger.mark(max(1, people))

    def _find_beyond(self, people: int, open_rows: list[int]) -> Amendment:
        """Return what extra answers say, and which of their rows are to be asked about further."""
        self._run.set_people(people)
        lines, state = self._view.written(0, self._n_lines), self._run.state
        beyond = np.isin(keys_of(pairs_of(lines)), list(self._unclaimed)) & ~lines["retracted"]
        pairs: Pairs = pairs_of(lines, beyond)
        found = find_amendment(self._view, pairs, pairs[:0], state, open_rows)
        known = {row for group in found.groups for row in group}
        ask = [
            row
            for row in dict.fromkeys(pairs[:, 0].tolist())
            if row not in known and state.cluster_of_row(row) == UNKNOWN
        ]
        return found._replace(ask=ask, refused=self._find_refused([*open_rows, *ask]))

    def _find_refused(self, rows: list[int]) -> dict[int, list[int]]:
        """Return for each row a member of every cluster that it is known not to be in."""
        firsts = np.array([own[0] for own in self._run.state.members if own], dtype=np.intp)
        asked = np.array(rows, dtype=np.intp)
        every = np.column_stack([np.repeat(asked, firsts.size), np.tile(firsts, asked.size)])
        pairs = every[every[:, 0] != every[:, 1]]
        apart = pairs[self._view.lookup(pairs) == DIFFERENT]
        refused: dict[int, list[int]] = {}
        for row, first in apart.tolist():
            refused.setdefault(row, []).append(first)
        return refused
