"""Which kinds are one? Pairs of them, likeliest first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice, product

import numpy as np

from samekind.algorithms.focused.relations import Relations
from samekind.algorithms.state import ClusterState
from samekind.flow import DIFFERENT, SAME, UNANSWERED, Flow

__all__ = ["Comparing"]

TRIES = 64  # pairs of members that are looked at to find one for a question


class Comparing:
    """Asks about pairs of kinds that may be one, taking every answer for true.

    Those that are one go to `merge`. Pairs of rows that nobody can tell are in `unsure`, and are not asked
    about.
    """

    in_waves = True  # whether to ask about several pairs at once, where that is wanted

    def __init__(
        self,
        kinds: ClusterState,
        relations: Relations,
        patience: int,
        merge: Callable[[int, int], None],
        unsure: set[tuple[int, int]],
        lineup: int = 1,
    ) -> None:
        self._kinds = kinds
        self._lineup = lineup
        self._relations = relations
        self._patience = patience
        self._merge = merge
        self._unsure = unsure
        self._n_unsure: Counter[tuple[int, int]] = Counter()  # answers about two kinds
        self._owed = 0.0  # questions to be asked soon
        self._n_asked_before = 0  # about rows, when kinds were compared last
        self.n_asked = 0

    def prove(self, share: float, n_asked: int, at_once: int = 1) -> Flow[None]:
        """Compare kinds with a share of the questions about rows since the last time, of `n_asked` in all."""
        self._owed += share * (n_asked - self._n_asked_before)
        self._n_asked_before = n_asked
        while self._owed >= 1:
            n_kinds, before = self._kinds.n_discovered, self.n_asked
            size = min(at_once, int(self._owed))
            yield from self.compare(0.0, most=size, at_once=size)
            if before == self.n_asked:
                self._owed = 0.0  # nothing is left to compare
            elif n_kinds == self._kinds.n_discovered:
                self._owed -= self.n_asked - before  # had two been one, it would pay to go on

    def compare(
        self, least: float, *, most: float = np.inf, of: int | None = None, at_once: int = 1
    ) -> Flow[None]:
        """Ask about pairs of kinds that may be one, likeliest first, while they look so much alike."""
        last = self.n_asked + most
        size = at_once if self.in_waves else 1
        while self.n_asked < last and (
            wave := self._wave(least, of, int(min(size, last - self.n_asked)))
        ):
            reply = yield np.array([pair for _, line_up in wave for _, pair in line_up])
            self.n_asked += len(wave)
            who = [-1] * len(reply.answers) if reply.who is None else reply.who.tolist()
            said = zip(reply.answers.tolist(), who, strict=True)
            for kind, line_up in wave:
                self._take(kind, line_up, [next(said) for _ in line_up])

    def _wave(
        self, least: float, of: int | None, size: int
    ) -> list[tuple[int, list[tuple[int, tuple[int, int]]]]]:
        """Return up to `size` kinds, each with others and pairs of rows to compare; none if none is left.

        Two kinds are compared once in a wave, and a kind has one line-up in it: who answers knows a line-up
        by the row that it is about.
        """
        while True:
            wave: list[tuple[int, list[tuple[int, tuple[int, int]]]]] = []
            compared: set[tuple[int, int]] = set()
            decided = False
            for alike, a, b in self._relations.likeliest(of, size):
                if alike < least:
                    break
                lined_up = self._lineup > 1 and any(kind == a for kind, _ in wave)
                if lined_up or (min(a, b), max(a, b)) in compared:
                    continue
                if self.settle(alike, a, b):
                    decided = True
                    continue
                pair = self._pair(a, b)
                if pair is None:
                    self._relations.despair(a, b)
                    decided = True
                    continue
                line_up = [(b, pair), *self._others(a, b, pair[0], compared)]
                compared |= {(min(a, other), max(a, other)) for other, _ in line_up}
                wave.append((a, line_up))
            if wave or not decided:
                return wave

    def _take(
        self,
        kind: int,
        line_up: list[tuple[int, tuple[int, int]]],
        answers: list[tuple[int, int]],
    ) -> None:
        """Take in answers about a kind and others; where it was found in a line-up, nothing else counts."""
        said = list(zip(line_up, answers, strict=True))
        for (other, pair), (answer, who) in [one for one in said if one[1][0] == SAME][:1] or said:
            if answer == UNANSWERED or not self._relations.is_open(kind, other):
                continue  # the latter if another answer of the wave has settled it
            if answer in (SAME, DIFFERENT):
                self.hear(kind, other, pair, answer, who)
            else:
                self._n_unsure[min(kind, other), max(kind, other)] += 1
                self._unsure.add((min(pair), max(pair)))

    def _others(
        self, kind: int, first: int, row: int, compared: set[tuple[int, int]]
    ) -> list[tuple[int, tuple[int, int]]]:
        """Return the other kinds of a line-up, each with a row to compare with: those not compared yet."""
        found: list[tuple[int, tuple[int, int]]] = []
        for other in self._relations.open_with(kind) if self._lineup > 1 else ():
            if len(found) + 1 == self._lineup:
                break
            if other == first or (min(kind, other), max(kind, other)) in compared:
                continue
            member = self._kinds.members[other][0]
            if (min(row, member), max(row, member)) not in self._unsure:
                found.append((other, (row, member)))
        return found

    def _pair(self, a: int, b: int) -> tuple[int, int] | None:
        """Return members of two kinds to ask about; None when it is no use."""
        if self._n_unsure[min(a, b), max(a, b)] >= self._patience:
            return None
        for pair in self.pairs(a, b):
            if (min(pair), max(pair)) not in self._unsure:
                return pair
        return None

    # What depends on whether answers can be wrong

    def settle(self, alike: float, a: int, b: int) -> bool:
        """Merge or part two kinds if what was said suffices; return whether it did."""
        return False

    def hear(self, a: int, b: int, pair: tuple[int, int], answer: int, who: int) -> None:
        """Take in SAME or DIFFERENT about members of two kinds."""
        if answer == SAME:
            self._merge(a, b)
        else:
            self._relations.part(a, b)

    def pairs(self, a: int, b: int) -> Iterator[tuple[int, int]]:
        """Yield members of two kinds that tell whether they are one."""
        return islice(product(self._kinds.members[a], self._kinds.members[b]), TRIES)
