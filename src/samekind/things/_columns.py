"""Which column of a table holds the texts, or names the pictures, when nobody says it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
from pandas.api import types

from samekind.datasets import DataError
from samekind.things._paths import SUFFIXES

_LONG = 20  # characters of a middling text that is no name or category
_LOOKED_AT = 10_000


def guess_text(frame: pd.DataFrame, exclude: Sequence[str]) -> str | None:
    """Return the only column of long texts, if no other column could be compared as numbers."""
    names = [name for name in frame.columns if name not in exclude]
    if any(_is_number(frame[name]) for name in names):
        return None
    long = long_texts(frame, exclude)
    return long[0] if len(long) == 1 else None


def long_texts(frame: pd.DataFrame, exclude: Sequence[str]) -> list[str]:
    """Return the columns that hold long texts, most of them different."""
    return [str(n) for n in frame.columns if n not in exclude and _is_long(frame[n])]


def picture_column(source: str, frame: pd.DataFrame, exclude: Sequence[str]) -> str:
    """Return the only column that holds names of pictures."""
    found = [str(n) for n in frame.columns if n not in exclude and _names_files(frame[n])]
    if len(found) == 1:
        return found[0]
    if found:
        raise DataError(
            f"{source} has several columns that name pictures: {', '.join(map(repr, found))}. "
            "Leave out all but one with exclude."
        )
    raise DataError(
        f"{source} has no column that names pictures, such as 'photo-1.png'. Name the column with "
        "image."
    )


def _is_number(series: pd.Series[Any]) -> bool:
    if types.is_bool_dtype(series.dtype) or not types.is_numeric_dtype(series.dtype):
        return False
    # Whole numbers that are all different only name the rows.
    return not (types.is_integer_dtype(series.dtype) and series.is_unique)


def _texts(series: pd.Series[Any]) -> list[str]:
    if not (types.is_string_dtype(series.dtype) or types.is_object_dtype(series.dtype)):
        return []
    return [value for value in series.dropna().head(_LOOKED_AT) if isinstance(value, str)]


def _is_long(series: pd.Series[Any]) -> bool:
    texts = _texts(series)
    if not texts:
        return False
    middle = sorted(map(len, texts))[len(texts) // 2]
    return middle >= _LONG and 2 * len(set(texts)) > len(texts) and not _names_files(series)


def _names_files(series: pd.Series[Any]) -> bool:
    texts = _texts(series)
    return bool(texts) and all(text.lower().endswith(SUFFIXES) for text in texts)
