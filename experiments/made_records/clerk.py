"""Somebody who writes records down, and makes mistakes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
import pandas as pd

__all__ = ["Clerk", "shuffled"]

T = TypeVar("T")


class Clerk:
    """Draws by one seed; `slips` is how many times as many slips are made as the makers of records say."""

    def __init__(self, seed: int, slips: float = 1.0) -> None:
        self.rng = np.random.default_rng(seed)
        self.slips = slips

    def happens(self, chance: float) -> bool:
        """Whether something of this chance happens."""
        return bool(self.rng.random() < chance)

    def errs(self, chance: float) -> bool:
        """Whether a slip of this chance happens, or one that is so many times as likely."""
        return self.happens(min(0.9, chance * self.slips))

    def one(self, some: Sequence[T]) -> T:
        """Return one of several."""
        return some[int(self.rng.integers(len(some)))]

    def often_first(self, some: Sequence[T], power: float = 0.8) -> T:
        """Return one of several, the first ones more often: names are as unevenly frequent as words."""
        ranks = (np.arange(len(some)) + 5.0) ** -power
        return some[int(np.searchsorted(np.cumsum(ranks / ranks.sum()), self.rng.random()))]

    def number(self, low: int, high: int) -> int:
        """Return a number from `low` to below `high`."""
        return int(self.rng.integers(low, high))

    def written(self, text: str, chance: float = 0.05) -> str:
        """Return a text with a slip in some of its words."""
        words = text.split(" ")
        return " ".join(self.slip(word) if self.errs(chance) else word for word in words)

    def slip(self, word: str) -> str:
        """Return a word with a letter changed, left out, doubled or swapped with the next."""
        if len(word) < 3:
            return word
        i = int(self.rng.integers(len(word) - 1))
        ways = [
            word[:i] + word[i + 1] + word[i] + word[i + 2 :],
            word[:i] + word[i + 1 :],
            word[:i] + word[i] + word[i:],
            word[:i] + self.one("0123456789" if word[i].isdigit() else "aeinorst") + word[i + 1 :],
        ]
        return self.one(ways)

    def left_out(self, value: str, chance: float) -> str | None:
        """Return a value, or None where it was left out."""
        return None if not value or self.errs(chance) else value

    def digits(self, count: int) -> str:
        """Return so many digits."""
        return "".join(map(str, self.rng.integers(0, 10, count)))


def shuffled(
    records: list[dict[str, str | None]], entities: list[int], clerk: Clerk
) -> tuple[pd.DataFrame, np.ndarray]:
    """Return records in a random order, and the entity of each."""
    order = clerk.rng.permutation(len(records))
    frame = pd.DataFrame([records[i] for i in order]).astype("str")
    return frame, np.array(entities)[order]
