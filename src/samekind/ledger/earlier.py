"""What was answered before to pairs that somebody answers anew."""

from __future__ import annotations

import numpy as np

from samekind.flow import Pairs
from samekind.ledger.log import AnswerLog, keys_of, pairs_of

__all__ = ["EarlierAnswers"]


class EarlierAnswers:
    """The answers that stand to some pairs.

    Attributes
    ----------
    lines : dict
        The numbers of their lines, by the place of the pair.
    paid : ndarray of bool
        (pairs,) whether one of them was paid for.
    """

    def __init__(self, log: AnswerLog, pairs: Pairs) -> None:
        self._log = log
        self.lines: dict[int, list[int]] = {}
        self.paid = np.zeros(len(pairs), dtype=np.bool_)
        place_of = {key: place for place, key in enumerate(keys_of(pairs).tolist())}
        standing = log.standing
        keys = keys_of(pairs_of(log.lines[standing]))
        about = np.isin(keys, keys_of(pairs))
        for line, key in zip(standing[about].tolist(), keys[about].tolist(), strict=True):
            self.lines.setdefault(place_of[key], []).append(line)
            self.paid[place_of[key]] |= log.lines["asked"][line]

    def of_others(self, who: int) -> list[int]:
        """Return the places of the pairs that somebody else answered, too."""
        by = self._log.lines["who"]
        return [place for place, lines in self.lines.items() if (by[lines] != who).any()]
