"""Grey pictures in characters."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from rich.color import Color
from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.segment import Segment
from rich.style import Style

__all__ = ["TextPicture", "pictures"]

SHADES = " ░▒▓█"


class TextPicture:
    """A picture of numbers from 0 to 1, in so many columns and lines at most; brighter is denser.

    Where the terminal knows shades of grey, every character shows two pixels.
    """

    def __init__(self, pixels: NDArray[np.float64], columns: int, lines: int) -> None:
        self._pixels = pixels
        height, width = pixels.shape
        # A character is twice as high as it is wide: as blocks, two of them make a pixel.
        scale = min(columns / width, 2 * lines / height)
        if scale >= 2:
            scale = 2 * int(scale / 2)
        self.width = max(2, round(width * scale) // 2 * 2)
        self._height = max(2, round(height * scale) // 2 * 2)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        fine = console.color_system in ("256", "truecolor")
        width = self.width if fine else self.width // 2
        height = self._height if fine else self._height // 2
        shown = _stretched(_stretched(self._pixels, height).T, width).T
        yield from _in_grey(shown) if fine else _in_blocks(shown)

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement(self.width, self.width)


def pictures(images: Sequence[NDArray[np.generic]], columns: int, lines: int) -> list[TextPicture]:
    """Return pictures in one scale of brightness."""
    grey = [np.asarray(image, dtype=np.float64) for image in images]
    low, high = min(map(np.min, grey)), max(map(np.max, grey))
    return [TextPicture((image - low) / ((high - low) or 1.0), columns, lines) for image in grey]


def _in_blocks(pixels: NDArray[np.float64]) -> RenderResult:
    numbers = np.minimum((pixels * len(SHADES)).astype(int), len(SHADES) - 1)
    for line in numbers.tolist():
        yield Segment("".join(SHADES[number] * 2 for number in line))
        yield Segment.line()


def _in_grey(pixels: NDArray[np.float64]) -> RenderResult:
    levels = (pixels * 255).round().astype(int)
    for upper, lower in zip(levels[::2].tolist(), levels[1::2].tolist(), strict=True):
        for above, below in zip(upper, lower, strict=True):
            color, ground = Color.from_rgb(*[above] * 3), Color.from_rgb(*[below] * 3)
            yield Segment("▀", Style(color=color, bgcolor=ground))
        yield Segment.line()


def _stretched(pixels: NDArray[np.float64], size: int) -> NDArray[np.float64]:
    """Return so many lines: means of lines of pixels, or the lines several times."""
    n = len(pixels)
    edges = np.arange(size) * n // size
    if size >= n:
        return pixels[edges]
    means: NDArray[np.float64] = np.add.reduceat(pixels, edges, axis=0)
    return means / np.diff(np.append(edges, n))[:, None]
