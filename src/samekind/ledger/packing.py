"""What was expected of an answer, as the database keeps it: little-endian float32, or NULL for nothing."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from samekind.ledger.log import MOST_EXPECTED, Expected

__all__ = ["is_packed", "pack_expected", "unpack_expected"]

WIDTH = 4  # bytes of a number


def pack_expected(expected: Expected, size: int) -> list[bytes | None]:
    """Return the numbers of each answer, packed, without the empty places at the end."""
    if expected is None:
        return [None] * size
    given = ~np.isnan(expected)
    widths = np.where(given.any(axis=1), expected.shape[1] - given[:, ::-1].argmax(axis=1), 0)
    rows = expected.astype("<f4")
    return [
        row[:width].tobytes() if width else None
        for row, width in zip(rows, widths.tolist(), strict=True)
    ]


def is_packed(value: object) -> bool:
    """Return whether this can be what `pack_expected` returned."""
    if value is None:
        return True
    count, rest = divmod(len(value), WIDTH) if isinstance(value, bytes) else (0, 0)
    return not rest and 1 <= count <= MOST_EXPECTED


def unpack_expected(packed: Sequence[object]) -> NDArray[np.float32] | None:
    """Return what `pack_expected` packed; a ValueError says that it cannot be such."""
    if not all(map(is_packed, packed)):
        raise ValueError("what was expected of an answer is no list of numbers.")
    if not any(packed):
        return None
    found = np.full((len(packed), MOST_EXPECTED), np.nan, dtype=np.float32)
    for row, value in zip(found, packed, strict=True):
        if isinstance(value, bytes):
            row[: len(value) // WIDTH] = np.frombuffer(value, dtype="<f4")
    return found
