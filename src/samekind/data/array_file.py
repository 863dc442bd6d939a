"""Features of tables that are too large for memory: one array in a file, written once, then mapped."""

from __future__ import annotations

import contextlib
import glob
import os
import secrets
from pathlib import Path

import numpy as np

from samekind.data.readers import Array
from samekind.data.row_features import RowFeatures
from samekind.data.tables import FrameTable, Table, Tick
from samekind.points.array import room_for

__all__ = ["array_of"]


def array_of(table: Table, features: RowFeatures, path: Path | None, tick: Tick) -> Array:
    """Return the features of all rows of a table, as a memory map if they are many.

    They are written to `path`. Without it, or if nothing can be written there, they are kept in memory up to
    1 GiB; more go to a temporary file that is deleted with the array. An array in a file that needs no change
    is mapped as it is.
    """
    if isinstance(table, FrameTable) and (X := features.unchanged(table)) is not None:
        return X
    if path is not None:
        with contextlib.suppress(OSError):
            return _written(path, table, features, tick)
    out = room_for(table.n, len(features.names), features.dtype)
    _fill(out, table, features, tick)
    return out


def _written(path: Path, table: Table, features: RowFeatures, tick: Tick) -> Array:
    """Write features to a file, and return a map of it. A file that is not complete is never at its place.

    What a killed process left is deleted first. If another one is still writing, it goes on without a file.
    """
    for left in path.parent.glob(f".{glob.escape(path.name)}.*"):
        left.unlink()
    part = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))  # for its owner only
    try:
        shape = table.n, len(features.names)
        mapped = np.lib.format.open_memmap(part, "w+", features.dtype, shape)
        _fill(mapped, table, features, tick)
        del mapped  # Windows cannot rename a mapped file
        os.replace(part, path)
    except BaseException:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)
        raise
    found: Array = np.load(path, mmap_mode="r")
    return found


def _fill(out: Array, table: Table, features: RowFeatures, tick: Tick) -> None:
    end = 0
    for block in table.map(lambda block: features.transform(block, table), features.inputs):
        start, end = end, end + len(block)
        out[start:end] = block
        tick("features", end, table.n)
