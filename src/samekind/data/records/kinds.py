"""What a column of records holds: names, addresses, codes, dates …, found out or said by the user."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import TypeAlias

import numpy as np
import pandas as pd
from pandas.api import types

from samekind.data.records.dates import parse_dates
from samekind.errors import DataError, Parameter, did_you_mean, no_such_column

__all__ = ["Compare", "FieldKind", "infer_kinds", "parse_compare", "with_plain_names"]

Compare: TypeAlias = "str | Sequence[str] | Mapping[str, str | None] | None"
"""Which columns are compared and as what: "name:name,birth:date", or a dict; None finds out."""

_SAMPLE = 5_000  # rows that are looked at
_MOSTLY = 0.9  # a share of values that makes a column what they are
_FEW = 30  # different values of a category, at most
_ROWS_PER_CATEGORY = 10
_WORDS_OF_TEXT = 8  # from so many words on, a middling value is free text
_ID_NAMES = re.compile(r"^(row_?|rec(ord)?_?|unique_?)?(id|uuid|guid|index|key|nr)$", re.IGNORECASE)
_CODE_NAMES = re.compile(
    r"(^|[_\W])(no|nr|num|number|code|zip\w*|post\s*code|plz|phone|tel\w*|mobile|fax|ssn|iban|isbn"
    r"|issn|ean|vat|id|account|licen[cs]e)([_\W]|$)|postcode|zipcode|soc_?sec|telephone",
    re.IGNORECASE,
)
_DIGITS_AND_SIGNS = r"(?=.*\d)[\d\s()+/.\-]+"  # +49 (30) 123-456
_SET = re.compile(r"[^;|]+([;|][^;|]+)+")


class FieldKind(StrEnum):
    """What a column holds, and so how two of its values are compared."""

    NAME = "name"
    """Names of people, firms, places: a few letters may differ, words may stand in another order."""
    ADDRESS = "address"
    """Several words and numbers, some of which may be missing."""
    CODE = "code"
    """Digits or letters that mean nothing by themselves; two may be swapped."""
    DATE = "date"
    NUMBER = "number"
    """A quantity: near ones are alike."""
    SET = "set"
    """Lists, or texts with ; or | between their parts."""
    TEXT = "text"
    """Free text of many words."""
    CATEGORY = "category"
    """Few different values, equal or not."""


KINDS = ", ".join(kind.value for kind in FieldKind)


def parse_compare(given: Compare, columns: Sequence[str], source: str) -> dict[str, str | None]:
    """Return the columns to compare, and as what where that was said; empty if nothing was."""
    if given is None:
        return {}
    if isinstance(given, Mapping):
        parts = [(str(name), kind) for name, kind in given.items()]
    else:
        texts = given.split(",") if isinstance(given, str) else list(given)
        parts = []
        for text in filter(None, (str(text).strip() for text in texts)):
            # A column's own name may hold a colon.
            name, colon, end = (text, "", "") if text in columns else text.rpartition(":")
            parts.append((name.strip(), end.strip()) if colon else (text, None))
    if not parts:
        raise DataError(
            Parameter("compare"), ' must name columns, such as "surname:name,birth:date", got none.'
        )
    found: dict[str, str | None] = {}
    for name, kind in parts:
        if name not in columns:
            raise no_such_column(source, "compare", name, columns)
        if name in found:
            raise DataError(
                Parameter("compare"), f" must name every column once, got {name!r} twice."
            )
        if kind is not None and kind not in list(FieldKind):
            raise DataError(
                Parameter("compare"),
                f" says that column {name!r} holds {kind!r}, which is not known."
                f"{did_you_mean(kind, [known.value for known in FieldKind])} Known are {KINDS}.",
            )
        found[name] = kind
    return found


def with_plain_names(frame: pd.DataFrame, source: str) -> pd.DataFrame:
    """Return a table whose columns have texts as names, each its own."""
    frame = frame.set_axis([str(name) for name in frame.columns], axis=1)
    if not frame.columns.is_unique:
        twice = frame.columns[frame.columns.duplicated()][0]
        raise DataError(
            f"{source} has several columns named {twice!r}. Rename them so that every column has a name of "
            "its own."
        )
    return frame


def infer_kinds(
    frame: pd.DataFrame, said: Mapping[str, str | None], leave_out: Sequence[str] = ()
) -> tuple[dict[str, FieldKind], dict[str, str]]:
    """Return what each column to compare holds, and why others are not compared."""
    kinds: dict[str, FieldKind] = {}
    why: dict[str, str] = {}
    for name in said or [str(name) for name in frame.columns if name not in leave_out]:
        kind = said.get(name)
        if kind is not None:
            kinds[name] = FieldKind(kind)
            continue
        series = frame[name]
        found = _kind_of(series, name)
        reason = "" if found is None or name in said else _numbers_rows(series, name)
        if found is None:
            why[name] = "it is empty"
        elif reason:
            why[name] = reason
        else:
            kinds[name] = found
    return kinds, why


def _kind_of(series: pd.Series, name: str) -> FieldKind | None:
    present = series.dropna()
    if present.empty:
        return None
    if types.is_datetime64_any_dtype(series.dtype):
        return FieldKind.DATE
    if types.is_bool_dtype(series.dtype):
        return FieldKind.CATEGORY
    sample = present.sample(_SAMPLE, random_state=0) if len(present) > _SAMPLE else present
    if isinstance(sample.iloc[0], list | tuple | set | frozenset | np.ndarray):
        return FieldKind.SET
    if types.is_float_dtype(series.dtype) and not (sample % 1 == 0).all():
        return FieldKind.NUMBER
    if types.is_numeric_dtype(series.dtype):
        texts = sample.astype("int64", errors="ignore").astype(str)
    else:
        texts = sample.astype(str).str.strip()
        texts = texts[texts != ""]
        if texts.empty:
            return None
    return _kind_of_texts(texts, name, len(present))


def _kind_of_texts(texts: pd.Series, name: str, rows: int) -> FieldKind:
    if parse_dates(texts.tolist()).share >= _MOSTLY:
        return FieldKind.DATE
    different = texts.nunique()
    few = different <= _FEW and rows >= _ROWS_PER_CATEGORY * different
    if texts.str.fullmatch(r"[+-]?\d+").mean() >= _MOSTLY:
        lengths = texts.str.len()
        same_length = (lengths == lengths.mode().iloc[0]).mean() >= 0.8 and lengths.median() >= 4
        is_code = bool(_CODE_NAMES.search(name)) or same_length or lengths.median() >= 7
        return FieldKind.CODE if is_code else FieldKind.CATEGORY if few else FieldKind.NUMBER
    if texts.str.fullmatch(r"[+-]?\d*[.,]?\d+([eE][+-]?\d+)?").mean() >= _MOSTLY:
        return FieldKind.NUMBER
    if few:
        return FieldKind.CATEGORY
    if texts.str.fullmatch(_DIGITS_AND_SIGNS).mean() >= _MOSTLY:
        return FieldKind.CODE
    if texts.str.fullmatch(_SET.pattern).mean() >= 0.5:
        return FieldKind.SET
    if texts.str.count(r"\s+").median() + 1 >= _WORDS_OF_TEXT:
        return FieldKind.TEXT
    with_digits = texts.str.contains(r"\d").mean()
    if texts.str.contains(r"\s").mean() < 0.1 and with_digits >= 0.5:
        return FieldKind.CODE
    is_address = re.search(r"addr|street|strasse|straße|road", name, re.IGNORECASE)
    return FieldKind.ADDRESS if with_digits >= 0.3 or is_address else FieldKind.NAME


def _numbers_rows(series: pd.Series, name: str) -> str:
    """Say why a column tells rows apart instead of bringing them together; empty if it does not."""
    if len(series) < 3 or not series.notna().all():
        return ""
    try:
        unique = series.is_unique
    except TypeError:  # lists
        return ""
    if not unique:
        return ""
    if _ID_NAMES.match(name.strip()):
        return "it has another value in every row"
    if types.is_integer_dtype(series.dtype) and (series.diff().dropna() == 1).all():
        return "it only numbers the rows"
    return ""
