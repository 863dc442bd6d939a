"""What a person sees of an item: its text, the cells of its row, its picture."""

from __future__ import annotations

import datetime
import json
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

__all__ = ["SIZES", "ItemView", "PictureFile", "cell_text", "shown_text"]

MAX_CHARACTERS = 100_000
SIZES = {"small": 256, "large": 2048}


@dataclass(frozen=True)
class ItemView:
    """What a person sees of a row; texts are as they are, and not escaped for a page."""

    row: int
    title: str
    text: str | None
    fields: list[tuple[str, str]]
    has_picture: bool
    copies: int = field(default=0, kw_only=True)  # further rows that hold the same text or picture


@dataclass(frozen=True)
class PictureFile:
    """A picture as it is sent to a page: written anew, without the file's metadata."""

    body: bytes
    media_type: str


def clean_text(text: str) -> str:
    """Replace what cannot be written as UTF-8."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def cell_text(value: object) -> str:
    """Return a cell as text; a missing value is empty."""
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, list | tuple | dict | set):
        plain = sorted(value, key=str) if isinstance(value, set) else value
        return clean_text(json.dumps(plain, ensure_ascii=False, default=str))
    if value is None or pd.isna(value):  # type: ignore[call-overload]
        return ""
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, float | np.floating):
        whole = float(value).is_integer() and abs(float(value)) < 1e15
        return str(int(value)) if whole else str(value)
    if isinstance(value, datetime.datetime):
        if value.time() == datetime.time() and value.tzinfo is None:
            return value.date().isoformat()
        seconds = bool(value.second or value.microsecond)
        return value.isoformat(sep=" ", timespec="auto" if seconds else "minutes")
    if isinstance(value, bytes):
        return f"({len(value):,} bytes)"
    return clean_text(str(value))


def shown_text(value: object) -> str:
    """Return a cell as text, cut where it is too long for a page."""
    text = cell_text(value)
    if len(text) <= MAX_CHARACTERS:
        return text
    return f"{text[:MAX_CHARACTERS]}\n… (cut here: {len(text):,} characters in all)"
