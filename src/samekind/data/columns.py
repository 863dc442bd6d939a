"""Which column of a table is what: a number, a category, a date, a text, a picture, a label …"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import pandas as pd
from pandas.api import types

from samekind.data.options import LoadOptions
from samekind.data.picture_paths import SUFFIXES
from samekind.data.survey import MISSING_CATEGORY, Series, Survey
from samekind.data.tables import Table
from samekind.errors import DataError, Parameter

# A whole column of 0, 1, 2, … or 1, 2, 3, … in at least so many rows numbers the rows.
_COUNTER_ROWS = 20
_LONG = 20  # characters of a middling text that is no name or category
_LOOKED_AT = 10_000


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
    """Not compared, because the user said so or the texts or pictures of others are."""


FEATURES = (Role.NUMBER, Role.CATEGORY)


@dataclass(frozen=True)
class ColumnUse:
    """A column of a table: what it is used as, and in words, why not as a feature."""

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
        return self.role in FEATURES

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
        if self.role is Role.NUMBER:
            if not self.blanks:
                return ""
            assert self.median is not None
            return blanks_note(self.blanks, self.name, "its median", self.median)
        if self.role is Role.FIELD:
            return ""
        return f"column {self.name!r} left out: {self.why}" if self.why else ""


def blanks_note(count: int, name: str, what: str, value: float) -> str:
    """Say what the blanks of a column were taken to be."""
    blanks = "1 blank" if count == 1 else f"{count:,} blanks"
    verb = "was" if count == 1 else "were"
    return f"{blanks} in {name!r} {verb} taken to be {what}, {value:g}"


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


def decide(
    table: Table, found: dict[str, Survey], *, asked_for: bool, max_categories: int
) -> list[ColumnUse]:
    """Return what each of the surveyed columns is; with `asked_for`, none may be left out."""
    columns = [_decide(table, name, has, asked_for, max_categories) for name, has in found.items()]
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


def _decide(
    table: Table, name: str, has: Survey, asked_for: bool, max_categories: int
) -> ColumnUse:
    if has.present == 0:
        return ColumnUse(name, Role.EMPTY, "it is empty")
    if has.temporal:
        why = "dates and times are not used; to use them, write them as numbers"
        return ColumnUse(name, Role.DATE, why)
    blanks = has.rows - has.present
    # Mostly numbers: then what is none is a slip, and the column is no list of kinds.
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
    if texts is None or len(texts) > max_categories or 1 < len(texts) == has.rows:
        many = "more than 100,000" if texts is None else f"{len(texts):,}"
        return ColumnUse(name, Role.NAMES, f"{many} different texts in {has.rows:,} rows")
    return ColumnUse(name, Role.CATEGORY, blanks=blanks, categories=tuple(sorted(texts)))


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
        f"{table.name}: column {name!r} {what} in {table.place(row)}{in_all(count)}. {mend}, or "
        "leave the column out with ",
        *(Parameter("exclude", [name]), "."),
    )


def in_all(count: int) -> str:
    """Say how many rows there are like the one that is spoken of."""
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
