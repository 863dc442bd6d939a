"""The log: every answer that was ever written, in order, and which of them still count."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from samekind.flow import Answers, Pairs
from samekind.ledger._components import write_keys

__all__ = ["AnswerLog", "Asked", "LedgerLine", "Lines", "Revision", "Wave", "keys_of", "pairs_of"]

LINE = np.dtype(
    [
        ("a", np.int64),
        ("b", np.int64),
        ("answer", np.int8),
        ("who", np.int32),  # the annotator's number
        ("when", np.float64),
        ("asked", np.bool_),
        ("struck", np.bool_),  # taken back
        ("retracted", np.bool_),  # taken back, or replaced by a later answer
    ]
)
Lines = NDArray[np.void]
"""Lines of the log, as a structured array."""

Asked = bool | NDArray[np.bool_]
"""Whether answers cost a question: all of them, or each."""


class LedgerLine(NamedTuple):
    """One answer in the ledger."""

    a: int
    b: int
    answer: int
    who: str
    when: float
    asked: bool
    retracted: bool


class Revision(NamedTuple):
    """How much was written so far: it changes with every change of what counts."""

    answers: int
    retracted: int
    checkpoints: int
    names: int


class Wave(NamedTuple):
    """Answers that were written at once; one value for all of them, or one for each."""

    pairs: Pairs
    answers: Answers
    who: int | NDArray[np.int32]
    when: float | NDArray[np.float64]
    asked: Asked


def keys_of(pairs: Pairs) -> NDArray[np.int64]:
    """Return one number for each unordered pair; row numbers are below 2^31."""
    keys = np.empty(len(pairs), dtype=np.int64)
    write_keys(pairs, keys)
    return keys


def pairs_of(lines: Lines) -> Pairs:
    """Return the pairs on lines of the log."""
    return np.column_stack([lines["a"], lines["b"]]).astype(np.intp, copy=False)


class AnswerLog:
    """Lines are appended and marked, never removed. Annotators go by numbers here."""

    def __init__(self) -> None:
        self._lines = np.empty(0, dtype=LINE)
        self._waves: list[Wave] = []  # not yet in _lines: a wave costs no more than its answers
        self._unasked: list[int] = []  # lines that were written free of charge
        self.size = 0
        self.n_struck = 0

    @property
    def lines(self) -> Lines:
        """All lines."""
        if self._waves:
            waves, self._waves = self._waves, []
            sizes = [len(wave.pairs) for wave in waves]
            new = np.zeros(sum(sizes), dtype=LINE)
            new["a"], new["b"] = np.concatenate([wave.pairs for wave in waves]).T
            new["answer"] = np.concatenate([wave.answers for wave in waves])
            for name in ("who", "when", "asked"):
                parts = [getattr(wave, name) for wave in waves]
                if all(map(np.isscalar, parts)):
                    new[name] = np.repeat(np.array(parts), sizes)
                else:
                    new[name] = np.concatenate(list(map(np.broadcast_to, parts, sizes)))
            self._lines = np.concatenate([self._lines, new])
        return self._lines

    @property
    def standing(self) -> NDArray[np.intp]:
        """The numbers of the lines that are not retracted."""
        return np.flatnonzero(~self.lines["retracted"])

    @property
    def largest_row(self) -> int:
        """The largest row that any line is about, or -1."""
        return int(max(self.lines["a"].max(initial=-1), self.lines["b"].max(initial=-1)))

    def append(self, wave: Wave) -> None:
        """Add lines."""
        self._waves.append(wave._replace(pairs=wave.pairs.copy(), answers=wave.answers.copy()))
        if wave.asked is not True:
            free = np.flatnonzero(~np.broadcast_to(wave.asked, len(wave.pairs)))
            self._unasked += (self.size + free).tolist()
        self.size += len(wave.pairs)

    def volunteered(self) -> Lines:
        """Return the lines that stand and cost no question, at no cost if there never were any."""
        if not self._unasked:
            return np.empty(0, dtype=LINE)
        lines: Lines = self.lines[self._unasked]
        standing: Lines = lines[~lines["asked"] & ~lines["retracted"]]
        return standing

    def about(self, a: int, b: int) -> NDArray[np.intp]:
        """Return the numbers of all lines about one pair."""
        return np.flatnonzero(keys_of(pairs_of(self.lines)) == keys_of(np.array([[a, b]])))

    def strike(self, numbers: NDArray[np.intp]) -> None:
        """Mark lines as taken back; what they replaced stands again."""
        lines = self.lines
        lines["struck"][numbers] = True
        lines["retracted"] = lines["struck"]
        self.n_struck += numbers.size
        self.replace_earlier(None)

    def replace_earlier(self, keys: NDArray[np.int64] | None) -> bool:
        """Mark answers to these pairs, or to any, that the same annotator gave anew later.

        Returns whether there were such answers.
        """
        lines, standing = self.lines, self.standing
        answered = keys_of(pairs_of(lines[standing]))
        if keys is not None:
            again = np.isin(answered, keys)
            standing, answered = standing[again], answered[again]
        _, first, by = np.unique(
            np.column_stack([answered, lines["who"][standing]]),
            axis=0,
            return_index=True,
            return_inverse=True,
        )
        if first.size == standing.size:
            return False
        latest = np.zeros(first.size, dtype=np.intp)
        np.maximum.at(latest, by, standing)
        paid = lines["asked"][standing]
        np.logical_or.at(lines["asked"], latest[by], paid)  # what is paid stays paid
        lines["retracted"][np.setdiff1d(standing, latest)] = True
        return True
