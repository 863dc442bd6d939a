"""Many row numbers as the database keeps them: little-endian int32, compressed."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["pack_rows", "unpack_rows"]

MOST_BYTES = 2**30


def pack_rows(rows: NDArray[np.int32] | Sequence[int]) -> bytes:
    """Return row numbers, packed."""
    return zlib.compress(np.asarray(rows, dtype="<i4").tobytes())


def unpack_rows(packed: bytes, *, below: int = 2**31) -> NDArray[np.int32]:
    """Return the row numbers that `pack_rows` packed; a ValueError says why they cannot be such."""
    if not isinstance(packed, bytes):
        raise ValueError(f"is no list of rows but {packed!r:.40}")
    most = min(4 * below, MOST_BYTES)  # so that what was made to burst cannot
    stream = zlib.decompressobj()
    try:
        plain = stream.decompress(packed, most + 4)
    except zlib.error as error:
        raise ValueError("is no list of rows: it cannot be unpacked") from error
    if not stream.eof or len(plain) % 4:
        raise ValueError("is no list of rows: it is cut off, or too long")
    rows = np.frombuffer(plain, dtype="<i4").astype(np.int32)
    if rows.size and (rows.min() < 0 or rows.max() >= below):
        wrong = rows.min() if rows.min() < 0 else rows.max()
        raise ValueError(f"holds row {wrong}, which is not there")
    return rows
