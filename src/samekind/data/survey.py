"""What the columns of a table hold, counted block by block."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial, reduce
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api import types

from samekind.data.tables import FrameTable, Table

__all__ = ["MISSING_CATEGORY", "Survey", "medians_of", "numbers_in", "survey", "texts_in"]

Series: TypeAlias = "pd.Series[Any]"

MISSING_CATEGORY = "(missing)"
MOST_TEXTS = 100_000  # different ones that are counted
_WITH_COMMA = r"\s*[+-]?\d[\d.]*,\d+\s*"
_ISO_TIME = r"\d{4}-\d\d-\d\d([ T]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?"
_NESTED = (list, dict, set, tuple, np.ndarray)


class Numbers(NamedTuple):
    """The numbers of a column: NaN where there is no value, or one that is no number."""

    values: NDArray[np.float64]
    present: NDArray[np.bool_]
    unusable: NDArray[np.bool_]
    """Values that are there, but infinite or no numbers."""


def numbers_in(series: Series, *, has_blanks: bool = True) -> Numbers | None:
    """Return the numbers of a column, or None if it is declared to hold something else.

    Without `has_blanks`, NaN is a value that cannot be used.
    """
    if isinstance(series.dtype, pd.CategoricalDtype) or _is_time(series):
        return None
    try:
        parsed = pd.to_numeric(series, errors="coerce")
    except TypeError:  # lists and objects among them
        return None
    if types.is_complex_dtype(parsed.dtype):
        return None
    values = np.ascontiguousarray(parsed.to_numpy(dtype=np.float64, na_value=np.nan))
    present = series.notna().to_numpy(dtype=bool) if has_blanks else np.ones(len(series), bool)
    return Numbers(values, present, present & ~np.isfinite(values))


def texts_in(series: Series) -> Series:
    """Return the categories of a column, a text for each row."""
    return series.astype(object).where(series.notna(), MISSING_CATEGORY).astype(str)


@dataclass
class Survey:
    """What is known of some rows of a column. That of two runs of rows can be put together."""

    rows: int
    present: int
    temporal: bool = False
    nested: bool = False
    declared: bool = False
    """Whether its type is a number, and not what its texts look like."""
    width: int = 8
    """Bytes of a float that holds its numbers: 4, 8, or 2 where either does."""
    numeric: int = 0
    """Values that are numbers, or look as if they were meant to be."""
    low: float = np.inf
    high: float = -np.inf
    unusable: int = 0
    first_unusable: tuple[int, object] | None = None
    """Row and value."""
    counts_from: float | None = None
    """What its first row would hold if it numbers the rows."""
    texts: frozenset[str] | None = frozenset()
    """Its different texts, None if they are more than `MOST_TEXTS`."""

    def __add__(self, later: Survey) -> Survey:
        """Return what is known of both; the other's rows follow these."""
        first, start = later.first_unusable, later.counts_from
        moved = None if first is None else (first[0] + self.rows, first[1])
        starts = [(self, self.counts_from), (later, None if start is None else start - self.rows)]
        known = {start for part, start in starts if part.present}
        return Survey(
            rows=self.rows + later.rows,
            present=self.present + later.present,
            temporal=all(part.temporal for part in (self, later) if part.present),
            nested=self.nested or later.nested,
            declared=self.declared and later.declared,
            width=max(self.width, later.width),
            numeric=self.numeric + later.numeric,
            low=min(self.low, later.low),
            high=max(self.high, later.high),
            unusable=self.unusable + later.unusable,
            first_unusable=self.first_unusable or moved,
            counts_from=known.pop() if len(known) == 1 else None,
            texts=_joined(self.texts, later.texts),
        )


def survey(table: Table, columns: Sequence[str]) -> dict[str, Survey]:
    """Look through a table once; return what each of these columns holds."""
    look = partial(_survey_block, has_blanks=table.has_blanks)
    blocks = list(table.map(look, columns))
    return {
        name: reduce(Survey.__add__, (block[place] for block in blocks))
        for place, name in enumerate(columns)
    }


def _survey_block(block: pd.DataFrame, *, has_blanks: bool) -> list[Survey]:
    return [_survey_column(block.iloc[:, j], has_blanks) for j in range(block.shape[1])]


def _survey_column(series: Series, has_blanks: bool) -> Survey:
    dtype = series.dtype
    present = series.notna().to_numpy(dtype=bool)
    found = Survey(len(series), int(present.sum()), temporal=_is_time(series))
    found.declared = types.is_numeric_dtype(dtype) or types.is_bool_dtype(dtype)
    if not found.declared:
        cells = series[present]
        found.nested = any(isinstance(value, _NESTED) for value in cells)
        if not found.nested:
            different = pd.Series(cells.astype(str).unique(), dtype=object)
            found.texts = _joined(frozenset(different), frozenset())
            found.temporal |= bool(present.any() and different.str.fullmatch(_ISO_TIME).all())
    numbers = numbers_in(series, has_blanks=has_blanks)
    if numbers is None:
        return found
    if isinstance(dtype, np.dtype):
        small = 4 if dtype.kind == "f" else 2
        found.width = small if dtype.itemsize <= small else 8
    values, there, unusable = numbers
    found.present = int(there.sum())
    found.numeric = len(values) - int(np.isnan(values).sum())
    if unusable.any():
        if not found.declared:
            unclear = series[unusable & np.isnan(values)].astype(str)
            found.numeric += int(unclear.str.fullmatch(_WITH_COMMA).sum())
        row = int(unusable.argmax())
        found.unusable, found.first_unusable = int(unusable.sum()), (row, series.iloc[row])
    known = np.flatnonzero(np.isfinite(values))
    if known.size:
        values = values if known.size == len(values) else values[known]
        found.low, found.high = float(values.min()), float(values.max())
        start = float(values[0] - known[0])
        counts = values[-1] - known[-1] == start and bool((values - known == start).all())
        found.counts_from = start if counts else None
    return found


def _is_time(series: Series) -> bool:
    dtype = series.dtype
    if types.is_datetime64_any_dtype(dtype) or types.is_timedelta64_dtype(dtype):
        return True
    if not types.is_object_dtype(dtype):
        return False
    return any(isinstance(cell, datetime.date | datetime.time) for cell in series.dropna().head(1))


def _joined(one: frozenset[str] | None, other: frozenset[str] | None) -> frozenset[str] | None:
    if one is None or other is None or len(found := one | other) > MOST_TEXTS:
        return None
    return found


def medians_of(table: Table, columns: Sequence[str]) -> dict[str, float]:
    """Return the medians of columns of numbers, exactly, without all values at one place."""
    if isinstance(table, FrameTable) and table.array is None:
        sort = {name: np.sort(_finite(table.frame[name])) for name in columns}
        middles = {name: (x[(len(x) - 1) // 2], x[len(x) // 2]) for name, x in sort.items()}
    else:
        middles = {}
        for name in columns:
            size = sum(len(block) for block in table.map(_keys, [name]))
            middles[name] = (_nth(table, name, (size - 1) // 2), _nth(table, name, size // 2))
    # Halves are taken first, because a sum may exceed the largest float64.
    return {name: float(low / 2 + high / 2) for name, (low, high) in middles.items()}


def _nth(table: Table, name: str, rank: int) -> float:
    """Return the value of that rank by radix selection: four passes, each of which finds 16 bits."""
    prefix = 0
    for shift in (48, 32, 16, 0):
        count = partial(_count_digits, prefix=prefix, shift=shift)
        counts = np.sum(list(table.map(count, [name])), axis=0)
        below = np.cumsum(counts)
        digit = int(below.searchsorted(rank, side="right"))
        rank -= int(below[digit] - counts[digit])
        prefix = prefix << 16 | digit
    bits = np.uint64(prefix)
    return float((bits & ~_SIGN if bits & _SIGN else ~bits).view(np.float64))


_SIGN = np.uint64(1 << 63)


def _finite(series: Series) -> NDArray[np.float64]:
    numbers = numbers_in(series)
    assert numbers is not None
    return numbers.values[np.isfinite(numbers.values)]


def _keys(block: pd.DataFrame) -> NDArray[np.uint64]:
    """Return integers in the order of the values: the sign bit of a float turned, or all of them."""
    bits = np.ascontiguousarray(_finite(block.iloc[:, 0])).view(np.uint64)
    return np.where(bits & _SIGN, ~bits, bits | _SIGN)


def _count_digits(block: pd.DataFrame, *, prefix: int, shift: int) -> NDArray[np.int64]:
    """Count how often each value of the next 16 bits follows a prefix."""
    keys = _keys(block)
    if shift < 48:
        keys = keys[keys >> np.uint64(shift + 16) == np.uint64(prefix)]
    digits = (keys >> np.uint64(shift)) & np.uint64(0xFFFF)
    return np.bincount(digits.astype(np.intp), minlength=1 << 16)
