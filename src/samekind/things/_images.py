"""Features of pictures: greys and a few colours, brought to at most 64 numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from samekind.things._pixels import COLOUR_SIDE, Bytes, Canvas
from samekind.things._principal import dense_axes, sample_rows

COMPONENTS = 64
_CHUNK = 2_000

Tick = Callable[[int], None]  # with the number of rows that are done


@dataclass(frozen=True)
class ImageTransform:
    """Turns pictures into points; pictures of similar light and colour are close to each other."""

    canvas: Canvas
    mean: NDArray[np.float32]
    axes: NDArray[np.float32]

    @property
    def names(self) -> list[str]:
        """Return a name for each feature."""
        return [f"picture {i + 1}" for i in range(len(self.axes))]

    @classmethod
    def fit(cls, values: Bytes, canvas: Canvas) -> ImageTransform:
        """Learn the mean picture, and in what pictures differ from it."""
        sample = _scaled(values[sample_rows(len(values))], canvas)
        mean = sample.mean(axis=0, dtype=np.float64).astype(np.float32)
        return cls(canvas, mean, dense_axes(sample - mean, COMPONENTS))

    def apply(self, values: Bytes, tick: Tick) -> NDArray[np.float32]:
        """Return the points of pictures that were brought to the canvas."""
        n = len(values)
        X = np.empty((n, len(self.axes)), dtype=np.float32)
        for start in range(0, n, _CHUNK):
            rows = slice(start, min(start + _CHUNK, n))
            X[rows] = (_scaled(values[rows], self.canvas) - self.mean) @ self.axes.T
            tick(rows.stop)
        return X

    def state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return what `restore` makes it from."""
        about = {"kind": "image", "canvas": list(self.canvas)}
        return about, {"mean": self.mean, "axes": self.axes}

    @classmethod
    def restore(cls, about: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> ImageTransform:
        """Make it again."""
        return cls(Canvas(*about["canvas"]), arrays["mean"], arrays["axes"])


def _scaled(values: Bytes, canvas: Canvas) -> NDArray[np.float32]:
    """Return values near 0 to 1; a colour weighs as the pixels of its cell, of which it is one."""
    scaled = values.astype(np.float32) / np.float32(255)
    cell = canvas.pixels / COLOUR_SIDE**2
    scaled[:, canvas.pixels :] *= np.float32(cell**0.5)
    return scaled
