"""What answers say besides which rows are in one cluster: the audit, doubts, and what is closed."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from samekind.algorithms.focused.audit import Audit
from samekind.algorithms.focused.evidence import ELSEWHERE, Evidence, Kind
from samekind.algorithms.folding import Answered
from samekind.flow import DIFFERENT, SAME, UNSURE, BoolArray, IntArray

__all__ = ["Facts", "facts_of"]


@dataclass
class Facts:
    """Answers, sorted by what they are for."""

    answers: Answered
    audit: Audit
    learnt: BoolArray
    """Which answers are evidence that is learnt from."""
    unsure: dict[int, int] = field(default_factory=dict)
    """How often somebody was not sure of a row about which nothing is known."""
    given_up: set[int] = field(default_factory=set)
    skipped: set[int] = field(default_factory=set)
    mentioned: set[int] = field(default_factory=set)
    apart: list[tuple[int, int]] = field(default_factory=list)
    """Rows of different clusters, as an audited row tells that is the same as one and not as the other."""

    @property
    def n_asked(self) -> int:
        """How many questions somebody answered: about a row, at one time, with however many others."""
        asked = ~np.isnan(self.answers.expected[:, 0])
        stage = np.nan_to_num(self.answers.expected[asked, 1].astype(float))
        return int(np.unique(stage * 2.0**31 + self.answers.pairs[asked, 0]).size)

    def refusals(self, row: int) -> list[int]:
        """Return the rows that a row was said to be different from."""
        pairs = self.answers.pairs[self.answers.answers == DIFFERENT]
        own = pairs[(pairs == row).any(axis=1)]
        return [int(other) for other in own.sum(axis=1) - row]

    def quiet(self) -> tuple[int, int]:
        """Return how many draws of the paper's test were as predicted since the last one that was not.

        And the number of this test: one more than there were others.
        """
        kind, said = self.answers.expected[:, 0], self.answers.answers
        drawn = np.flatnonzero(kind % ELSEWHERE == Kind.TEST)
        drawn = drawn[np.argsort(self.answers.expected[drawn, 1], kind="stable")]
        outside = np.flatnonzero((kind[drawn] >= ELSEWHERE) | (said[drawn] != SAME))
        last = int(outside[-1]) if outside.size else -1
        return drawn.size - 1 - last, 1 + outside.size

    def evidence(self, nodes: IntArray, chosen: BoolArray | None = None) -> Evidence:
        """Return answers that are learnt from, or some of them, as evidence about nodes, (m, 2)."""
        chosen = self.learnt if chosen is None else chosen
        answers = self.answers
        stored = answers.expected[chosen].astype(float)
        asked = ~np.isnan(stored[:, -1])
        kind, stage, net, walk, lost, size, close, _ = np.where(asked[:, None], stored, 0.0).T
        group = (kind == Kind.GROUPS) | (kind == Kind.LINK_OF_GROUPS)
        near = np.where(group, close, 0.0), np.where(group, 0.0, close)
        members, lone = np.where(group, size, 0.0), asked & ~group & (size == 0)
        return Evidence(
            pairs=np.sort(nodes, axis=1),
            yes=answers.answers[chosen] == SAME,
            who=np.asarray(answers.who[chosen], dtype=np.intp),
            kind=np.where(asked, kind, -1).astype(np.intp),
            phi=np.column_stack([asked, walk, lost, group, members, *near, lone]).astype(float),
            net=net,
            stage=stage,
        )


def _resolved(same: dict[int, int]) -> dict[int, int]:
    """Return for each audited row one that it is the same as and that is not audited itself."""
    found = {}
    for row in same:
        chain = {row}
        while (end := same[row]) in same and end not in chain:
            chain.add(end)
            row = end
        found.update(dict.fromkeys(chain, end))
    return found


def facts_of(answers: Answered, n_rows: int, seed: int, patience: int) -> Facts:
    """Return what answers say."""
    pairs, said = answers.pairs, answers.answers
    audited = answers.expected[:, 0] % ELSEWHERE == Kind.AUDIT
    clear = said != UNSURE
    facts = Facts(answers, Audit(n_rows, seed), clear & ~audited)
    founded = audited & (answers.expected[:, 0] >= ELSEWHERE) & (said == DIFFERENT)
    told = {*pairs[facts.learnt].ravel().tolist(), *pairs[founded, 0].tolist()}
    refusals: list[tuple[int, int]] = []
    for i in np.flatnonzero(audited).tolist():
        a, b = pairs[i].tolist()
        row, other = (b, a) if a in told and b not in told else (a, b)
        if row in told:  # somebody told more of it: it is learnt from, and stays in the sample
            facts.learnt[i] = clear[i]
            is_right = bool(said[i] == SAME and answers.expected[i, 0] == Kind.AUDIT)
            facts.audit.told[row] = facts.audit.told.get(row, True) and is_right
        else:
            facts.audit.add(row, other, int(said[i]))
            if said[i] == DIFFERENT:
                refusals.append((row, other))
    same = facts.audit.same = _resolved(facts.audit.same)
    facts.apart = [(same[row], other) for row, other in refusals if row in same]
    facts.mentioned = set(pairs.ravel().tolist())
    known = told | set(facts.audit.same)
    for i in np.flatnonzero(~clear & ~audited).tolist():
        a, b = pairs[i].tolist()
        strangers = [row for row in (a, b) if row not in known]
        if answers.skipped[i]:
            facts.skipped.update(strangers[:1])
        else:  # of two, either may be what nobody can tell
            for row in strangers:
                facts.unsure[row] = facts.unsure.get(row, 0) + 1
    facts.given_up = {row for row, count in facts.unsure.items() if count >= patience}
    return facts
