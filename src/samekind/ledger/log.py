"""The log: every answer that was ever written, in order, and which of them still count."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from samekind.flow import UNSURE, Answers, Pairs
from samekind.ledger._components import write_keys

__all__ = [
    "MOST_EXPECTED",
    "AnswerLog",
    "Asked",
    "Expected",
    "LedgerLine",
    "Lines",
    "Wave",
    "keys_of",
    "pairs_of",
]

MOST_EXPECTED = 8  # numbers that are kept with an answer

LINE = np.dtype(
    [
        ("a", np.int64),
        ("b", np.int64),
        ("answer", np.int8),
        ("who", np.int32),  # the annotator's number
        ("when", np.float64),
        ("asked", np.bool_),  # paid for, by this line or one that it replaced
        ("struck", np.bool_),  # taken back
        ("retracted", np.bool_),  # taken back, or replaced by a later answer
        ("paid", np.bool_),  # paid for by this line
        ("expected", np.float32, (MOST_EXPECTED,)),  # when it was asked; NaN where nothing was
    ]
)
Lines = NDArray[np.void]
"""Lines of the log, as a structured array."""

Expected = NDArray[np.float32] | None
"""What was expected of each pair when it was asked, a row each; NaN, or None for all, where nobody asked."""

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


class Wave(NamedTuple):
    """Answers that were written at once; one value for all of them, or one for each."""

    pairs: Pairs
    answers: Answers
    who: int | NDArray[np.int32]
    when: float | NDArray[np.float64]
    asked: Asked
    expected: Expected = None


def keys_of(pairs: Pairs) -> NDArray[np.int64]:
    """Return one number for each unordered pair; row numbers are below 2^31."""
    keys = np.empty(len(pairs), dtype=np.int64)
    write_keys(np.ascontiguousarray(pairs), keys)  # one layout is compiled once
    return keys


def pairs_of(lines: Lines, chosen: NDArray[np.bool_] | None = None) -> Pairs:
    """Return the pairs on lines of the log, on all or on some; what else is on them is not copied."""
    a, b = (lines[name] if chosen is None else lines[name][chosen] for name in ("a", "b"))
    return np.column_stack([a, b]).astype(np.intp, copy=False)


def _repeated(keys: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which of these numbers are there more than once."""
    _, by, counts = np.unique(keys, return_inverse=True, return_counts=True)
    found: NDArray[np.bool_] = counts[by] > 1
    return found


class _Room:
    """Lines, and room for more behind those that are used; several logs may have their first lines in one."""

    def __init__(self, lines: Lines) -> None:
        self.lines = lines
        self.used = len(lines)


class AnswerLog:
    """Lines are appended and marked, never removed. Annotators go by numbers here."""

    def __init__(self) -> None:
        self._room, self._used = _Room(np.empty(0, dtype=LINE)), 0
        self._waves: list[Wave] = []  # not yet in the room: a wave costs no more than its answers
        self._unasked: list[int] = []  # lines that were written free of charge,
        self._skips: list[int] = []  # and those of them that are UNSURE
        self._strikes: list[int] = []  # the lines that were taken back, in that order
        self.size = 0
        self.n_rewrites = 0
        """How many times lines stopped to count, or counted again."""

    @property
    def n_struck(self) -> int:
        """How many lines were taken back."""
        return len(self._strikes)

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
            new["paid"] = new["asked"]
            new["expected"] = np.nan
            first = 0
            for wave, size in zip(waves, sizes, strict=True):
                if wave.expected is not None:
                    new["expected"][first : first + size, : wave.expected.shape[1]] = wave.expected
                first += size
            self._extend(new)
        return self._room.lines[: self._used]

    def _extend(self, new: Lines) -> None:
        """Add lines where there is room; a copy of this log that has added others since keeps its own."""
        first, last = self._used, self._used + len(new)
        if self._room.used != first or last > len(self._room.lines):
            # so that all additions together take linear time
            larger = np.empty(2 * last, dtype=LINE)
            larger[:first] = self._room.lines[:first]
            self._room = _Room(larger)
        self._room.lines[first:last] = new
        self._room.used = self._used = last

    def _keep(self, lines: Lines) -> Lines:
        """Go on with lines that are nobody else's; return them."""
        self._room, self._used = _Room(lines), len(lines)
        return lines

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
            self._skips += (self.size + free[wave.answers[free] == UNSURE]).tolist()
        self.size += len(wave.pairs)

    def volunteered(self) -> Lines:
        """Return the lines that stand and cost no question, at no cost if there never were any."""
        return self._free(self._unasked)

    def skipped(self) -> Lines:
        """Return those of them that are UNSURE."""
        return self._free(self._skips)

    def _free(self, numbers: list[int]) -> Lines:
        if not numbers:
            return np.empty(0, dtype=LINE)
        lines: Lines = self.lines[numbers]
        standing: Lines = lines[~lines["asked"] & ~lines["retracted"]]
        return standing

    def about(self, a: int, b: int) -> NDArray[np.intp]:
        """Return the numbers of all lines about one pair."""
        return np.flatnonzero(keys_of(pairs_of(self.lines)) == keys_of(np.array([[a, b]])))

    def struck(self, first: int, last: int) -> list[int]:
        """Return the lines that were taken back from the first-th time on and before the last-th."""
        return self._strikes[first:last]

    def strike(self, numbers: NDArray[np.intp]) -> NDArray[np.intp]:
        """Mark lines as taken back; what they replaced stands again.

        Return the lines that stood before or stand now, but not both.
        """
        about = self._about(keys_of(pairs_of(self.lines[numbers])))
        lines = self._keep(self.lines.copy())  # copies of the log keep theirs
        before = lines["retracted"][about]
        lines["struck"][numbers] = True
        lines["retracted"][about] = lines["struck"][about]
        lines["asked"][about] = lines["paid"][about]
        self._strikes += numbers.tolist()
        self.n_rewrites += 1
        self._replace_earlier(about)
        changed: NDArray[np.intp] = about[before != lines["retracted"][about]]
        return changed

    def replace_earlier(self, keys: NDArray[np.int64]) -> NDArray[np.intp]:
        """Mark answers to these pairs that the same annotator gave anew later; return those that stood."""
        about = self._about(keys)
        lines = self._keep(self.lines.copy())  # copies of the log keep theirs
        before = lines["retracted"][about]
        self._replace_earlier(about)
        replaced: NDArray[np.intp] = about[before != lines["retracted"][about]]
        self.n_rewrites += bool(replaced.size)
        return replaced

    def _about(self, keys: NDArray[np.int64]) -> NDArray[np.intp]:
        """Return the numbers of all lines about these pairs."""
        pairs = np.column_stack([self.lines["a"], self.lines["b"]])
        return np.flatnonzero(np.isin(keys_of(pairs), keys))

    def _replace_earlier(self, about: NDArray[np.intp]) -> None:
        lines = self.lines
        standing = about[~lines["struck"][about]]
        answered = keys_of(pairs_of(lines[standing]))
        several = _repeated(answered)
        standing, answered = standing[several], answered[several]
        _, first, by = np.unique(
            np.column_stack([answered, lines["who"][standing]]),
            axis=0,
            return_index=True,
            return_inverse=True,
        )
        if first.size == standing.size:
            return
        latest = np.zeros(first.size, dtype=np.intp)
        np.maximum.at(latest, by, standing)
        paid = lines["asked"][standing] = lines["paid"][standing]
        np.logical_or.at(lines["asked"], latest[by], paid)  # what is paid stays paid
        lines["retracted"][np.setdiff1d(standing, latest)] = True
