"""Which pairs to ask about next.

First those that the two priors disagree most about, then those of which the model is least certain. Once
nothing is in doubt, the likeliest of the rest come first, which proves all entities with few questions: what
is the same leaves fewer entities to compare.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from samekind.algorithms.records.evidence import held_by
from samekind.algorithms.records.known_pairs import KnownPairs
from samekind.algorithms.records.scores import View, chance_of
from samekind.flow import FloatArray, IntArray, Pairs

__all__ = ["Doubts", "Wave", "best_first", "find_doubts", "likeliest_first"]

SETTLED = 0.02  # probability of being wrong, below which a pair is in no doubt
LUCK = 0.1  # by which doubts differ at random, so that other seeds ask other questions
CONTESTED = 10  # answers that decide between the priors
WANTED_DIFFERENT = 0.55  # share of answers: people tire of strangers
PUSH = 0.1  # log-odds for every such answer more
MOST_PUSHED = 2.0


class Doubts(NamedTuple):
    """The open pairs, and the log-odds that what each decides is a match."""

    numbers: IntArray
    odds: FloatArray
    stake: FloatArray
    """How many records depend on each."""

    @property
    def is_quiet(self) -> bool:
        """Whether nothing is in doubt."""
        chance = chance_of(self.odds)
        return bool(np.minimum(chance, 1 - chance).max(initial=0.0) < SETTLED)


class Wave:
    """Questions to be asked at the same time: neither they nor those that are taken share an entity."""

    def __init__(self, most: int, known: KnownPairs, taken: Collection[int]) -> None:
        self._most = most
        self._root = known.root
        self._sizes = np.bincount(known.root)
        self._busy = set(known.root[list(taken)].tolist())
        self._found: list[tuple[int, int]] = []

    def __len__(self) -> int:
        return len(self._found)

    @property
    def pairs(self) -> Pairs:
        """The questions, the record of which less is known first."""
        return np.array(self._found, dtype=np.intp).reshape(-1, 2)

    def add(self, pairs: NDArray[np.integer], most: int | None = None) -> None:
        """Add the first of these pairs, while there is room."""
        room = self._most if most is None else min(self._most, len(self) + most)
        for pair in pairs:
            if len(self) >= room:
                return
            a, b = pair.tolist()
            one, other = self._root[pair].tolist()
            if one in self._busy or other in self._busy:
                continue
            self._busy |= {one, other}
            self._found.append((b, a) if self._sizes[one] > self._sizes[other] else (a, b))


def find_doubts(view: View, known: KnownPairs) -> Doubts:
    """Return the open pairs of the pool."""
    numbers = view.pool[~known.decided[view.pool]]
    if known.infers or not len(known):
        return Doubts(numbers, view.odds[numbers].astype(np.float64), np.ones(numbers.size))
    odds, stake = held_by(numbers, view, known)
    return Doubts(numbers, odds, stake)


def best_first(doubts: Doubts, view: View, known: KnownPairs, luck: FloatArray) -> IntArray:
    """Return the candidate pairs in doubt, those most worth a question first."""
    if len(known) < CONTESTED and view.contest.any():
        value = view.contest[doubts.numbers]
    else:
        n_different = np.count_nonzero(known.votes < 0)
        tired = max(n_different - WANTED_DIFFERENT * len(known), 0.0)
        moved = chance_of(doubts.odds - min(MOST_PUSHED, PUSH * tired))
        value = moved * (1 - moved) * doubts.stake
    value = value * (1 + LUCK * luck[(doubts.numbers * 40_503) % luck.size])
    return doubts.numbers[np.argsort(-value, kind="stable")]


def likeliest_first(view: View, known: KnownPairs) -> IntArray:
    """Return all candidate pairs that nothing is known of, the likeliest first."""
    return np.asarray(view.likeliest[~known.decided[view.likeliest]])
