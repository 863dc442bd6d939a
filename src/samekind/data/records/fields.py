"""The columns of records as they are compared: each distinct value once, without case, accents and signs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pandas.api import types

from samekind.data.records.dates import Dates, parse_dates
from samekind.data.records.kinds import FieldKind
from samekind.data.views import cell_text
from samekind.errors import DataError, Parameter

__all__ = ["PARTS", "Field", "make_fields"]

PARTS = "|"  # between the parts of a set, which is kept as one text
_NOTHING = ("", "na", "n a", "nan", "none", "null", "unknown", "missing", "not available")


@dataclass(frozen=True)
class Field:
    """One column: which of its distinct values each record has.

    Values that people do not tell apart (``Müller-Lüdenscheidt`` and ``MULLER LUDENSCHEIDT``) are one.
    """

    name: str
    kind: FieldKind
    codes: NDArray[np.int32]
    """The number of each record's value; -1 where it is missing."""
    values: list[str]
    """The distinct values, normalised: words with single blanks between them; parts of sets with `PARTS`."""

    @cached_property
    def dates(self) -> Dates:
        """The values as dates."""
        return parse_dates(self.values)

    @cached_property
    def numbers(self) -> NDArray[np.float64]:
        """The values as numbers; NaN where one is none."""
        texts = pd.Series(self.values, dtype=object)
        found = np.asarray(pd.to_numeric(texts, errors="coerce"), float)
        return np.where(np.isfinite(found), found, np.nan)


def make_fields(
    frame: pd.DataFrame, kinds: Mapping[str, FieldKind], source: str, why: Mapping[str, str]
) -> list[Field]:
    """Return the columns to compare; those without any value are left out.

    `why` says of other columns why they are not compared, for an error where none is left.
    """
    fields = [field_of(frame[name], name, kind) for name, kind in kinds.items()]
    usable = [field for field in fields if field.values]
    if not usable:
        reasons = dict(why) | dict.fromkeys(kinds, "it holds no value")
        named = "; ".join(f"{name!r}: {reason}" for name, reason in list(reasons.items())[:10])
        raise DataError(
            f"{source} has no column by which records could be compared"
            f"{f' ({named})' if named else ', nor any other'}. Name columns with values: ",
            *(Parameter("compare", "surname:name,birth:date"), "."),
        )
    return usable


def field_of(series: pd.Series, name: str, kind: FieldKind) -> Field:
    """Return a column as it is compared."""
    codes, distinct = _distinct(series)
    normal = _normalised(distinct, kind)
    again, values = pd.factorize(np.array(normal, dtype=object), use_na_sentinel=True)
    again = np.append(again, -1).astype(np.int32)  # -1, a missing value, stays that
    return Field(name, kind, again[codes].astype(np.int32), [str(value) for value in values])


def _distinct(series: pd.Series) -> tuple[NDArray[np.intp], list[str]]:
    """Return the number of each row's value, and all distinct ones as texts."""
    dtype = series.dtype
    if types.is_object_dtype(dtype):  # numbers beside texts, lists, dates of Python
        plain = [_plain(value) for value in series]
        codes, texts = pd.factorize(np.array(plain, dtype=object))
        return np.asarray(codes), [str(text) for text in texts]
    codes, distinct = pd.factorize(series)
    return np.asarray(codes), [cell_text(value) for value in distinct]


def _plain(value: object) -> str | None:
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, list | tuple | set | frozenset):
        return PARTS.join(sorted({cell_text(part) for part in value})) or None
    return cell_text(value) or None


def _normalised(texts: list[str], kind: FieldKind) -> list[str | None]:
    """Return texts without case, accents and signs; None where nothing is left."""
    if kind is FieldKind.NUMBER:
        return [text.strip().replace(",", ".") or None for text in texts]
    if kind is FieldKind.DATE:
        dates = parse_dates(texts)
        parts = zip(dates.year.tolist(), dates.month.tolist(), dates.day.tolist(), strict=True)
        # What is no date is compared by its letters, so it stays.
        return [
            f"{y:04d}{m:02d}{d:02d}" if y else text
            for (y, m, d), text in zip(parts, _letters_only(texts), strict=True)
        ]
    if kind is FieldKind.SET:
        return [_set_text(text) for text in texts]
    if kind is FieldKind.CODE:
        squeezed = _letters_only(texts)
        return [None if text is None else text.replace(" ", "") for text in squeezed]
    return _letters_only(texts)


def _set_text(text: str) -> str | None:
    parts = (
        text.replace(";", PARTS).split(PARTS) if PARTS in text or ";" in text else text.split(",")
    )
    return PARTS.join(sorted({p for part in _letters_only(parts) if (p := part)})) or None


def _letters_only(texts: list[str]) -> list[str | None]:
    array = pa.array(texts, pa.large_string())
    array = pc.utf8_normalize(array, "NFKD")
    array = pc.replace_substring_regex(array, r"\pM+", "")
    array = pc.replace_substring(pc.utf8_lower(array), "ß", "ss")
    array = pc.replace_substring_regex(array, r"['’`]", "")  # o'neill is oneill
    array = pc.utf8_trim_whitespace(pc.replace_substring_regex(array, r"[^\pL\pN]+", " "))
    return [None if text in _NOTHING else text for text in array.to_pylist()]
