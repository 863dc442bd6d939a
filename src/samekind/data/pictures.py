"""All pictures of a pile: in a folder, or in one array."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np

from samekind.data.picture_paths import inside, unusable
from samekind.data.pixels import (
    SIDE,
    Bytes,
    Canvas,
    Drawing,
    from_array,
    on_canvas,
    open_picture,
)
from samekind.data.tables import Tick
from samekind.errors import DataError

_NEAR = 4 * SIDE  # a JPEG is decoded at about this size for its features


class Pictures(Protocol):
    """Pictures by row number."""

    def __len__(self) -> int: ...

    def name(self, row: int) -> str:
        """Return what to call a picture."""

    def open(self, row: int, near: int) -> tuple[Drawing, str]:
        """Return a picture and its format; a DataError says why it cannot be shown."""

    def canvas(self) -> Canvas:
        """Return what these pictures are best brought to for their features."""


@dataclass(frozen=True)
class FilePictures:
    """Pictures in files of a folder."""

    folder: Path
    names: list[str]

    def __len__(self) -> int:
        return len(self.names)

    def name(self, row: int) -> str:
        """Return the name of the file."""
        return self.names[row]

    def open(self, row: int, near: int) -> tuple[Drawing, str]:
        """Return a picture and its format."""
        return open_picture(inside(self.folder, self.names[row]), near)

    def canvas(self) -> Canvas:
        """Return a small square, with colours."""
        return Canvas()


@dataclass(frozen=True)
class ArrayPictures:
    """Pictures of shape (n, h, w) or (n, h, w, 3)."""

    array: Bytes

    def __len__(self) -> int:
        return len(self.array)

    def name(self, row: int) -> str:
        """Return the number of the row."""
        return f"row {row}"

    def open(self, row: int, near: int) -> tuple[Drawing, str]:
        """Return a picture and a format that fits it."""
        return from_array(self.array[row]), "PNG"

    def canvas(self) -> Canvas:
        """Return the pictures' own size where it is small."""
        height, width = self.array.shape[1:3]
        colour = self.array.ndim == 4
        small = max(height, width) <= SIDE
        return Canvas(height, width, colour) if small else Canvas(colour=colour)


def read_values(pictures: Pictures, canvas: Canvas, tick: Tick) -> Bytes:
    """Return the values of all pictures, a row for each."""
    n = len(pictures)
    values = np.empty((n, canvas.size), dtype=np.uint8)
    broken: list[str] = []

    def read(row: int) -> str | None:
        try:
            values[row] = on_canvas(pictures.open(row, _NEAR)[0], canvas)
        except DataError as error:
            return str(unusable(pictures.name(row), error))
        return None

    tick("reading", 0, n)
    step = max(1, n // 200)
    pool = ThreadPoolExecutor(min(4, os.cpu_count() or 1))
    try:
        for row, problem in enumerate(pool.map(read, range(n)), 1):
            if problem is not None:
                broken.append(problem)
            if row % step == 0 or row == n:
                tick("reading", row, n)
    finally:
        pool.shutdown(cancel_futures=True)
    if broken:
        others = len(broken) - 1
        more = (
            f" {others:,} other{'s' * (others != 1)} of {n:,} cannot be used, either."
            if others
            else ""
        )
        raise DataError(f"{broken[0]}{more} Mend or remove what is broken, and start again.")
    return values
