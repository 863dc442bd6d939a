"""Copies: rows that hold the same text or the same picture are one item."""

from __future__ import annotations

import base64
import unicodedata
import zlib
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Copies", "normal_text", "packed_rows", "unpacked_rows"]

Rows = NDArray[np.intp]


class Copies(NamedTuple):
    """Which rows are one item.

    Examples
    --------
    >>> Copies.of(np.array([7, 9, 7, 7]))
    Copies(item_of=array([0, 1, 0, 0]), rows=array([0, 1]))
    """

    item_of: Rows
    """The item of each row."""
    rows: Rows
    """The first row of each item."""

    @classmethod
    def of(cls, digests: NDArray[np.uint64]) -> Copies:
        """Return which rows have equal digests; items are in the order of their first rows."""
        _, first, of = np.unique(digests, return_index=True, return_inverse=True)
        order = np.argsort(first)
        number = np.empty_like(order)
        number[order] = np.arange(order.size)
        return cls(number[of], first[order])

    @property
    def counts(self) -> Rows:
        """How many rows beside the first one each item has."""
        return np.bincount(self.item_of) - 1

    @property
    def first_rows(self) -> Rows:
        """For each row the first row of its item."""
        return self.rows[self.item_of]


def normal_text(text: str) -> str:
    r"""Return a text without capitals, further spaces, and Unicode's several ways to write one letter.

    On banking77, hwu64 and stackoverflow this joins no texts of different kinds that are not equal anyway.
    Without punctuation it does; so do hashes of pictures that allow for small differences.

    Examples
    --------
    >>> normal_text("  Where is\tmy CARD? ")
    'where is my card?'
    """
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def packed_rows(rows: Rows | None) -> str:
    """Return ascending numbers of rows as a short text; "" for none."""
    if rows is None:
        return ""
    steps = np.diff(rows, prepend=0).astype("<i8").tobytes()
    return base64.b64encode(zlib.compress(steps)).decode()


def unpacked_rows(text: str) -> Rows | None:
    """Return what `packed_rows` made a text of; a ValueError says that it did not."""
    if not text:
        return None
    try:
        steps = zlib.decompress(base64.b64decode(text, validate=True))
    except zlib.error as error:
        raise ValueError(str(error)) from error
    return np.cumsum(np.frombuffer(steps, dtype="<i8")).astype(np.intp)
