"""Dates as they stand in files: years, months and days of texts in the usual forms."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Dates", "parse_dates"]

_NUMBERS = re.compile(r"\d+")
_MONTHS = {
    name: number
    for number, name in enumerate(
        ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"), 1
    )
}
_WORD = re.compile(r"[^\W\d]{3,}")
_TIME = re.compile(r"[T ]\d{1,2}:\d{2}.*$")
_YEARS = (1500, 2200)
_TURN = 30  # of the century: 29 is 2029, 30 is 1930


class Dates(NamedTuple):
    """Year, month and day of each text, as far as they can be read; 0 where not."""

    year: NDArray[np.int16]
    month: NDArray[np.int8]
    day: NDArray[np.int8]

    @property
    def share(self) -> float:
        """The share of texts that are dates without a slip."""
        months = (self.month >= 1) & (self.month <= 12)
        fits = (self.year > 0) & months & (self.day >= 1) & (self.day <= 31)
        return float(fits.mean()) if fits.size else 0.0


def parse_dates(texts: Sequence[str]) -> Dates:
    """Return the dates that texts are.

    Understood are 1980-12-31, 1980/12/31, 19801231, 31.12.1980, 12/31/1980, 31 Dec 1980 and the like, with or
    without a time of day. Of 3/4/1980 the day is taken to come first: comparisons hold the two
    for each other where it matters. A text with eight digits that can be no date, such as 19801331, is
    read as year, month and day all the same: it is a date with a slip, and is compared as such.
    """
    read = [_parse(text) for text in texts]
    table = np.array(read, dtype=np.int16).reshape(-1, 3)
    return Dates(table[:, 0], table[:, 1].astype(np.int8), table[:, 2].astype(np.int8))


def _parse(text: str) -> tuple[int, int, int]:
    text = _TIME.sub("", text.strip())
    if len(text) > 20:
        return 0, 0, 0
    parts = _NUMBERS.findall(text)
    month = next(
        (_MONTHS[w[:3].lower()] for w in _WORD.findall(text) if w[:3].lower() in _MONTHS), 0
    )
    if month and len(parts) == 2:
        year, day = (parts[0], parts[1]) if len(parts[0]) == 4 else (parts[1], parts[0])
        return _checked(_year(year), month, int(day) if len(day) <= 2 else 99)
    if _WORD.search(text):
        return 0, 0, 0
    if len(parts) == 1 and len(parts[0]) == 8 and parts[0] == text:
        year, second, third = int(text[:4]), int(text[4:6]), int(text[6:])
        if not _YEARS[0] <= year <= _YEARS[1]:
            return _checked(int(text[4:]), int(text[2:4]), int(text[:2]))
        return _checked(year, second, third)
    if len(parts) != 3 or any(len(part) > 4 for part in parts):
        return 0, 0, 0
    if len(parts[0]) == 4:
        return _checked(int(parts[0]), int(parts[1]), int(parts[2]))
    day, middle = int(parts[0]), int(parts[1])
    if middle > 12 >= day:  # 12/31/1980
        day, middle = middle, day
    return _checked(_year(parts[2]), middle, day)


def _year(text: str) -> int:
    year = int(text)
    return year if len(text) > 2 else year + (2000 if year < _TURN else 1900)


def _checked(year: int, month: int, day: int) -> tuple[int, int, int]:
    fits = _YEARS[0] <= year <= _YEARS[1] and 0 <= month <= 99 and 0 <= day <= 99
    return (year, month, day) if fits else (0, 0, 0)
