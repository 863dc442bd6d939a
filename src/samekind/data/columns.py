"""What the columns of a table hold, and what each becomes: a number, a category, a date, a text, …

`survey` looks at the columns of a table and `survey_column` at one, whatever they are used for; `decide` says
what each becomes as a feature. What fields of records hold is decided in `records.kinds`.
"""

from __future__ import annotations

import datetime
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial, reduce
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api import types

from samekind.data.options import LoadOptions
from samekind.data.picture_paths import SUFFIXES
from samekind.data.readers import Array
from samekind.data.tables import FrameTable, Table
from samekind.errors import DataError, Parameter

__all__ = [
    "ColumnUse",
    "Numbers",
    "Role",
    "Series",
    "Survey",
    "blanks_note",
    "check_most_are_used",
    "choose_columns",
    "decide",
    "guess_text",
    "labels_of",
    "long_texts",
    "numbers_in",
    "picture_column",
    "survey",
    "survey_column",
    "texts_in",
    "unusable_number",
    "with_medians",
]

Series: TypeAlias = "pd.Series[Any]"

MISSING_CATEGORY = "(missing)"
MOST_CATEGORIES = 20  # different texts; a column of more holds names
_MOST_TEXTS = 100_000  # different ones that are counted
_MEDIAN_ROWS = 10**6  # that a median is taken of, evenly spaced
# A whole column of 0, 1, 2, … or 1, 2, 3, … in at least so many rows numbers the rows.
_COUNTER_ROWS = 20
_LONG = 20  # characters of a middling text that is no name or category
_LOOKED_AT = 10_000  # texts
_WITH_COMMA = r"\s*[+-]?\d[\d.]*,\d+\s*"
_ISO_TIME = r"\d{4}-\d\d-\d\d([ T]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?"
_NESTED = (list, dict, set, tuple, np.ndarray)


class Role(StrEnum):
    """What a column is used as."""

    NUMBER = "number"
    CATEGORY = "category"
    TEXT = "text"
    IMAGE = "image"
    LABEL = "label"
    DATE = "date"
    ID = "id"
    EMPTY = "empty"
    NESTED = "nested"
    NAMES = "names"
    """Many different texts, such as names."""
    FIELD = "field"
    """Compared as a field of records."""
    SHOWN = "shown"
    """Not compared: the user said so, or the texts or pictures of another column are."""


@dataclass(frozen=True)
class ColumnUse:
    """A column of a table: what it is used as, and the reason if it is no feature."""

    name: str
    role: Role
    why: str = ""
    blanks: int = 0
    """Missing values."""
    low: float = 0.0
    high: float = 1.0
    categories: tuple[str, ...] = ()
    median: float | None = None
    """What a missing number is taken to be."""
    width: int = 2
    """Bytes of a float that holds its numbers: 4, 8, or 2 where either does."""

    @classmethod
    def from_json(cls, kept: dict[str, Any]) -> ColumnUse:
        """Make it again from what `dataclasses.asdict` returned."""
        return cls(**{**kept, "role": Role(kept["role"]), "categories": tuple(kept["categories"])})

    @property
    def is_feature(self) -> bool:
        """Whether rows are compared by it."""
        return self.role in (Role.NUMBER, Role.CATEGORY)

    @property
    def note(self) -> str:
        """What was done with it, for a person; empty for a column of numbers without blanks."""
        if self.role is Role.CATEGORY:
            size = len(self.categories)
            text = f"column {self.name!r} one-hot encoded into {size} column{'s' * (size != 1)}"
            if self.blanks:
                values = f"{self.blanks:,} missing value{'s' * (self.blanks != 1)}"
                text += f", one of them for the {values}"
            return text
        if self.role is Role.NUMBER and self.blanks:
            assert self.median is not None
            return blanks_note(self.blanks, self.name, "its median", self.median)
        if self.role in (Role.NUMBER, Role.FIELD) or not self.why:
            return ""
        return f"column {self.name!r} left out: {self.why}"


def blanks_note(count: int, name: str, what: str, value: float) -> str:
    """Say what the blanks of a column were taken to be."""
    were = "1 blank in {!r} was" if count == 1 else f"{count:,} blanks in {{!r}} were"
    return f"{were.format(name)} taken to be {what}, {value:g}"


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
    """What some rows of a column hold. The surveys of two runs of rows can be added."""

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
    """Its different texts, None if they are more than `_MOST_TEXTS`."""

    def __add__(self, later: Survey) -> Survey:
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
            texts=_few(self.texts, later.texts),
        )


def survey(table: Table, columns: Sequence[str]) -> dict[str, Survey]:
    """Look through a table once; return what each of these columns holds."""

    def look(block: pd.DataFrame) -> list[Survey]:
        return [
            survey_column(block.iloc[:, j], has_blanks=table.has_blanks)
            for j in range(block.shape[1])
        ]

    blocks = list(table.map(look, columns))
    parts = zip(*blocks, strict=True)
    return {name: reduce(Survey.__add__, own) for name, own in zip(columns, parts, strict=True)}


def survey_column(series: Series, *, has_blanks: bool = True) -> Survey:
    """Return what a column in memory holds; without `has_blanks`, NaN is a value that cannot be used."""
    dtype = series.dtype
    present = series.notna().to_numpy(dtype=bool)
    found = Survey(len(series), int(present.sum()), temporal=_is_time(series))
    found.declared = types.is_numeric_dtype(dtype) or types.is_bool_dtype(dtype)
    if not found.declared:
        cells = series[present]
        found.nested = any(isinstance(value, _NESTED) for value in cells)
        if not found.nested:
            different = pd.Series(cells.astype(str).unique(), dtype=object)
            found.texts = _few(frozenset(different), frozenset())
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


def _few(one: frozenset[str] | None, other: frozenset[str] | None) -> frozenset[str] | None:
    if one is None or other is None or len(found := one | other) > _MOST_TEXTS:
        return None
    return found


def with_medians(table: Table, columns: list[ColumnUse]) -> list[ColumnUse]:
    """Return columns of numbers with their medians; in files only where blanks need them."""
    in_memory = isinstance(table, FrameTable) and table.has_blanks
    wanted = [c for c in columns if c.role is Role.NUMBER and (c.blanks or in_memory)]
    medians = {column.name: _median(table, column.name) for column in wanted}
    return [replace(c, median=medians[c.name]) if c.name in medians else c for c in columns]


def _median(table: Table, name: str) -> float:
    """Return the median of a column, from a million evenly spaced rows if there are more."""

    def finite(block: pd.DataFrame, step: int) -> NDArray[np.float64]:
        numbers = numbers_in(block.iloc[::step, 0])
        assert numbers is not None
        return numbers.values[np.isfinite(numbers.values)]

    found = np.empty(0)
    for step in (-(-table.n // _MEDIAN_ROWS), 1):  # nearly all may be blank
        if not found.size:
            found = np.sort(np.concatenate(list(table.map(partial(finite, step=step), [name]))))
    # Halves are taken first, because a sum may exceed the largest float64.
    return float(found[(len(found) - 1) // 2] / 2 + found[len(found) // 2] / 2)


def choose_columns(table: Table, options: LoadOptions) -> list[str]:
    """Return the names of the columns to look at, in order; the labels are never among them."""
    columns, labels = options.columns, options.labels
    if columns is None:
        return [name for name in table.columns if name not in options.not_compared]
    if labels in columns:
        raise DataError(
            Parameter("columns"),
            f" must not name the labels, got {labels!r}: they are never a feature.",
        )
    if both := [name for name in columns if name in options.exclude]:
        raise DataError(
            *(Parameter("columns"), " and ", Parameter("exclude")),
            f" must not both name a column, got {both[0]!r}.",
        )
    if len(set(columns)) < len(columns):
        raise DataError(
            Parameter("columns"), f" must name every column once, got {list(columns)!r}."
        )
    return list(columns)


def decide(table: Table, found: dict[str, Survey], *, asked_for: bool) -> list[ColumnUse]:
    """Return what each of the surveyed columns is; with `asked_for`, none may be left out."""
    columns = [_decide(table, name, has, asked_for) for name, has in found.items()]
    left_out = [column for column in columns if not column.is_feature]
    if asked_for and left_out:
        raise DataError(
            f"{table.name}: column {left_out[0].name!r} cannot be used: {left_out[0].why}. Leave it "
            "out of ",
            *(Parameter("columns"), "."),
        )
    if len(left_out) == len(columns):
        why = "; ".join(column.note for column in left_out)
        why = why or "the file has only the labels and excluded columns"
        raise DataError(f"{table.name} has no column that can be used as a feature: {why}.")
    return columns


def _decide(table: Table, name: str, has: Survey, asked_for: bool) -> ColumnUse:
    if has.present == 0:
        return ColumnUse(name, Role.EMPTY, "it is empty")
    if has.temporal:
        why = "dates and times are not used; to use them, write them as numbers"
        return ColumnUse(name, Role.DATE, why)
    blanks = has.rows - has.present
    # A column that holds mostly numbers is no list of kinds: the rest are slips.
    if has.declared or 2 * has.numeric > has.present:
        if has.first_unusable is not None:
            row, value = has.first_unusable
            raise unusable_number(table, name, row, value, has.unusable)
        counts = has.counts_from in (0.0, 1.0) and has.present >= _COUNTER_ROWS
        if counts and not asked_for:
            why = "it only numbers the rows; to use it, name the columns to compare by"
            return ColumnUse(name, Role.ID, why)
        return ColumnUse(name, Role.NUMBER, "", blanks, has.low, has.high, width=has.width)
    if has.nested:
        return ColumnUse(name, Role.NESTED, "its values are lists or objects")
    texts = has.texts
    if texts is not None and blanks:
        texts = texts | {MISSING_CATEGORY}
    if texts is None or len(texts) > MOST_CATEGORIES or 1 < len(texts) == has.rows:
        many = "more than 100,000" if texts is None else f"{len(texts):,}"
        return ColumnUse(name, Role.NAMES, f"{many} different texts in {has.rows:,} rows")
    return ColumnUse(name, Role.CATEGORY, blanks=blanks, categories=tuple(sorted(texts)))


def check_most_are_used(table: Table, columns: list[ColumnUse], texts: list[str]) -> None:
    """Refuse to compare rows by few of their columns, unless the user chose them.

    Empty columns and numbers of rows hold nothing to compare and do not count. `texts` are columns of
    long texts, which can be compared instead.
    """
    used = [column.name for column in columns if column.is_feature]
    lost = [column for column in columns if column.role in (Role.NAMES, Role.DATE, Role.NESTED)]
    ids = [name for name in used if _is_id(table, name)] if lost else []
    if len(lost) <= len(used) - len(ids):
        return
    notes = "".join(f"\n  {column.note}" for column in lost)
    ways: list[str] = []
    for name in texts:
        ways += [Parameter("text", name), " compares these texts; "]
    raise DataError(
        f"{table.name}: most columns would not be compared; {len(used)} of {len(used) + len(lost)} would "
        f"({', '.join(map(repr, used))}).{notes}\nSay what to compare: ",
        *ways,
        *(Parameter("records", True), " finds rows that are duplicates; "),
        *(Parameter("columns", used), " compares the numbers and categories alone."),
    )


def _is_id(table: Table, name: str) -> bool:
    """Whether a column of whole numbers has another one in every row, of many."""
    if not isinstance(table, FrameTable) or table.n < _COUNTER_ROWS:
        return False
    return types.is_integer_dtype(table.frame[name].dtype) and table.frame[name].is_unique


def unusable_number(table: Table, name: str, row: int, value: object, count: int) -> DataError:
    """Return the error that says where the first value that is no finite number stands."""
    mend = "Correct it"
    infinite = str(value).strip().lower().lstrip("+-") in ("inf", "infinity")
    if isinstance(value, str) and not infinite:
        what = f"has {value!r}, which is no number,"
        if "," in value and value.strip().lstrip("+-").replace(",", "").replace(".", "").isdigit():
            mend = "Write numbers with a decimal point and no other separator"
    else:
        what = f"has {value}, which is not finite,"
    return DataError(
        f"{table.name}: column {name!r} {what} in {table.place(row)}{_in_all(count)}. {mend}, or "
        "leave the column out with ",
        *(Parameter("exclude", [name]), "."),
    )


def _in_all(count: int) -> str:
    return f", and such values in {count:,} rows in all" if count > 1 else ""


def guess_text(frame: pd.DataFrame, exclude: Collection[str]) -> str | None:
    """Return the only column of long texts, if no other column could be compared as numbers."""
    names = [name for name in frame.columns if name not in exclude]
    if any(_could_be_compared(frame[name]) for name in names):
        return None
    long = long_texts(frame, exclude)
    return long[0] if len(long) == 1 else None


def long_texts(frame: pd.DataFrame, exclude: Collection[str]) -> list[str]:
    """Return the columns that hold long texts, most of them different."""
    return [str(n) for n in frame.columns if n not in exclude and _is_long(frame[n])]


def picture_column(source: str, frame: pd.DataFrame, exclude: Collection[str]) -> str:
    """Return the only column that holds names of pictures."""
    found = [str(n) for n in frame.columns if n not in exclude and _names_files(frame[n])]
    if not found:
        raise DataError(
            f"{source} has no column that names pictures, such as 'photo-1.png'. Name the column with ",
            *(Parameter("image"), "."),
        )
    if len(found) > 1:
        raise DataError(
            f"{source} has several columns that name pictures: {', '.join(map(repr, found))}. "
            "Leave out all but one with ",
            *(Parameter("exclude"), "."),
        )
    return found[0]


def _could_be_compared(series: Series) -> bool:
    if types.is_bool_dtype(series.dtype) or not types.is_numeric_dtype(series.dtype):
        return False
    # Whole numbers that are all different only name the rows.
    return not (types.is_integer_dtype(series.dtype) and series.is_unique)


def _texts(series: Series) -> list[str]:
    if not (types.is_string_dtype(series.dtype) or types.is_object_dtype(series.dtype)):
        return []
    return [value for value in series.dropna().head(_LOOKED_AT) if isinstance(value, str)]


def _is_long(series: Series) -> bool:
    texts = _texts(series)
    if not texts:
        return False
    middle = sorted(map(len, texts))[len(texts) // 2]
    return middle >= _LONG and 2 * len(set(texts)) > len(texts) and not _names_files(series)


def _names_files(series: Series) -> bool:
    texts = _texts(series)
    return bool(texts) and all(text.lower().endswith(SUFFIXES) for text in texts)


def labels_of(table: Table, name: str, *, coded: bool) -> Array | pd.Categorical[Any]:
    """Return the column of labels, of which none may be missing; with `coded`, as a Categorical."""
    blocks = list(table.map(lambda block: _labels_in(block.iloc[:, 0], coded), [name]))
    missing = np.concatenate([missing for missing, _ in blocks])
    if missing.any():
        raise DataError(
            f"{table.name}: the label column {name!r} has no value in "
            f"{table.place(int(missing.argmax()))}{_in_all(int(missing.sum()))}. Fill it in, or remove "
            "the row."
        )
    if coded:
        numbers: dict[object, int] = {}
        for _, values in blocks:
            for value in values.categories:
                numbers.setdefault(value, len(numbers))
        codes = [
            np.array([numbers[value] for value in values.categories], dtype=np.int32)[values.codes]
            for _, values in blocks
        ]
        index = pd.Index(list(numbers))
        return pd.Categorical.from_codes(np.concatenate(codes), categories=index)
    series: Series = pd.concat([values for _, values in blocks], ignore_index=True)
    if not table.has_blanks:
        return np.asarray(series)
    is_kind = (types.is_bool_dtype, types.is_integer_dtype, types.is_float_dtype)
    for is_it, dtype in zip(is_kind, (np.bool_, np.int64, np.float64), strict=True):
        if is_it(series.dtype):
            return np.asarray(series, dtype=dtype)
    return np.array([str(value) for value in series], dtype=np.str_)


def _labels_in(series: Series, coded: bool) -> tuple[NDArray[np.bool_], Any]:
    missing = series.isna().to_numpy(dtype=bool)
    if not coded:
        return missing, series
    codes, values = pd.factorize(series)
    return missing, pd.Categorical.from_codes(codes, categories=values)
