"""All pictures of a pile: in a folder, or in one array."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image

from samekind.data.picture_paths import UnusablePicturesError, inside, unusable
from samekind.data.pixel_bounds import VARIABLE
from samekind.data.pixels import SIDE, Bytes, Canvas, Drawing, on_canvas, open_picture, thumbnail
from samekind.data.tables import Tick
from samekind.errors import DataError

_NEAR = 4 * SIDE  # a JPEG is decoded at about this size for its features
_LARGE = 1 << 24  # pixels from which on others, too, are made as small first
_MOST_TOLD = 10  # pictures that cannot be used


@dataclass(frozen=True)
class Pictures:
    """Pictures by row number: named files of a folder, or an array (n, h, w) or (n, h, w, 3)."""

    where: Path | Bytes
    names: list[str]

    def name(self, row: int) -> str:
        """Return what to call a picture."""
        return self.names[row] if self.names else f"row {row}"

    def open(self, row: int, near: int, *, kept_below: int = 0) -> tuple[Drawing, str]:
        """Return a picture and its format, as `open_picture`; a DataError says why it cannot be shown."""
        if isinstance(self.where, Path):
            path = inside(self.where, self.names[row])
            return open_picture(path, near, kept_below=kept_below)
        return Image.fromarray(np.ascontiguousarray(self.where[row])), "PNG"

    def canvas(self) -> Canvas:
        """Return what these pictures are best brought to for their features: their own size if small."""
        if isinstance(self.where, Path):
            return Canvas()
        height, width = self.where.shape[1:3]
        colour = self.where.ndim == 4
        return (
            Canvas(height, width, colour) if max(height, width) <= SIDE else Canvas(colour=colour)
        )

    def values(self, canvas: Canvas, tick: Tick) -> Bytes:
        """Return the values of all pictures on a canvas, a row for each."""
        return self._read((canvas.size,), lambda image: on_canvas(image, canvas), tick)

    def thumbnails(self, tick: Tick) -> Bytes:
        """Return all pictures at 32 × 32 pixels in colour, an array (n, 32, 32, 3)."""
        return self._read((SIDE, SIDE, 3), thumbnail, tick)

    def without(self, names: set[str]) -> Pictures:
        """Return all of them but some."""
        return Pictures(self.where, [name for name in self.names if name not in names])

    def _read(self, shape: tuple[int, ...], small: Callable[[Drawing], Bytes], tick: Tick) -> Bytes:
        n = len(self.names) or len(self.where)  # type: ignore[arg-type]
        values = np.empty((n, *shape), dtype=np.uint8)

        def read(row: int) -> DataError | None:
            try:
                values[row] = small(self.open(row, _NEAR, kept_below=_LARGE)[0])
            except DataError as error:
                return error
            return None

        broken: list[tuple[str, DataError]] = []
        tick("reading", 0, n)
        step = max(1, n // 200)
        pool = ThreadPoolExecutor(min(4, os.cpu_count() or 1))
        try:
            for row, problem in enumerate(pool.map(read, range(n)), 1):
                broken += [] if problem is None else [(self.name(row - 1), problem)]
                if row % step == 0 or row == n:
                    tick("reading", row, n)
        finally:
            pool.shutdown(cancel_futures=True)
        if broken:
            raise UnusablePicturesError(
                _told(broken, n), [(name, str(why)) for name, why in broken]
            )
        return values


def _told(broken: list[tuple[str, DataError]], n: int) -> str:
    advice = "Mend or remove what is broken, and start again."
    if any("pixels are more than" in str(problem) for _, problem in broken):
        advice += f" Or allow larger pictures: set {VARIABLE} in the environment."
    if len(broken) == 1:
        return f"{unusable(*broken[0])} {advice}"
    lines = [f"  {name!r}: {problem}." for name, problem in broken[:_MOST_TOLD]]
    others = len(broken) - _MOST_TOLD
    lines += [f"  … and {others:,} more."] * (others > 0)
    head = f"{len(broken):,} of {n:,} pictures cannot be used:"
    return "\n".join([head, *lines, advice])
