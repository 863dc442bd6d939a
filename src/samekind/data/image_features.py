"""Features of pictures: what they look like, or their pixels, brought to at most 64 numbers (PCA)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from samekind.data.fitted import FittedState
from samekind.data.picture_descriptors import describe
from samekind.data.pixels import COLOUR_SIDE, Bytes, Canvas
from samekind.data.principal_axes import PrincipalAxes
from samekind.data.tables import Tick
from samekind.data.text_features import Done, sample_rows

if TYPE_CHECKING:
    from samekind.data.pictures import Pictures

__all__ = ["HogFeatures", "ImageFeatures"]

COMPONENTS = 64
_CHUNK = 1_000


class _PictureFeatures(ABC):
    """Turns pictures into points: measures of each, brought to their principal axes."""

    axes: PrincipalAxes

    @property
    def names(self) -> list[str]:
        """A name for each feature."""
        return [f"picture {i + 1}" for i in range(len(self.axes.components_))]

    @abstractmethod
    def read(self, pictures: Pictures, tick: Tick) -> Bytes:
        """Return what is measured of all pictures, small."""

    @abstractmethod
    def greys(self, values: Bytes) -> Bytes:
        """Return what was read as small grey pictures to look at."""

    @abstractmethod
    def measures(self, values: Bytes) -> NDArray[np.float32]:
        """Return the measures of some of what was read."""

    def fit(self, values: Bytes) -> Self:
        """Learn in what pictures differ from their mean."""
        chosen = sample_rows(len(values))
        parts = np.array_split(chosen, -(-len(chosen) // _CHUNK))
        return self._fit([self.measures(values[rows]) for rows in parts])

    def fit_transform(self, values: Bytes, done: Done) -> NDArray[np.float32]:
        """Learn from what was read, and return its points; what few pictures are like is measured once."""
        n = len(values)
        if len(sample_rows(n)) < n:
            return self.fit(values).transform(values, done)
        measured = []
        for start in range(0, n, _CHUNK):
            measured.append(self.measures(values[start : start + _CHUNK]))
            done(min(start + _CHUNK, n) / n)
        self._fit(measured)
        return np.concatenate([self.axes.transform(part) for part in measured])

    def _fit(self, measured: list[NDArray[np.float32]]) -> Self:
        sample = np.concatenate(measured)
        self.axes = PrincipalAxes.fit(sample, min(COMPONENTS, *sample.shape))
        return self

    def transform(self, values: Bytes, done: Done) -> NDArray[np.float32]:
        """Return the points of what was read."""
        n = len(values)
        X = np.empty((n, len(self.names)), dtype=np.float32)
        for start in range(0, n, _CHUNK):
            rows = slice(start, min(start + _CHUNK, n))
            X[rows] = self.axes.transform(self.measures(values[rows]))
            done(rows.stop / n)
        return X


class HogFeatures(_PictureFeatures):
    """Shapes (histograms of oriented gradients), colours and texture, each weighing the same."""

    described = "their shapes, colours and texture"

    def read(self, pictures: Pictures, tick: Tick) -> Bytes:
        """Return all pictures at 32 × 32 pixels in colour."""
        return pictures.thumbnails(tick)

    def greys(self, values: Bytes) -> Bytes:
        """Return small grey pictures."""
        grey = np.empty(values.shape[:3], dtype=np.uint8)
        for start in range(0, len(values), _CHUNK):
            rows = slice(start, start + _CHUNK)
            red, green, blue = np.moveaxis(values[rows].astype(np.uint16), 3, 0)
            grey[rows] = (
                77 * red + 150 * green + 29 * blue
            ) >> 8  # as Pillow turns colours to grey
        return grey

    def measures(self, values: Bytes) -> NDArray[np.float32]:
        """Return shapes, colours and texture."""
        return describe(values)

    def state(self) -> FittedState:
        """Return what `from_state` makes it from."""
        state = FittedState()
        state.put("axes", self.axes.state())
        return state

    @classmethod
    def from_state(cls, state: FittedState) -> HogFeatures:
        """Make it again."""
        made = cls()
        made.axes = PrincipalAxes.from_state(state.part("axes"))
        return made


class ImageFeatures(_PictureFeatures):
    """Light and a few colours, pixel by pixel.

    Parameters
    ----------
    canvas : Canvas
        What pictures are brought to first.
    """

    def __init__(self, canvas: Canvas) -> None:
        self.canvas = canvas

    @property
    def described(self) -> str:
        """What pictures are compared by, in words."""
        return f"light and colours at {self.canvas.width} × {self.canvas.height} pixels"

    def read(self, pictures: Pictures, tick: Tick) -> Bytes:
        """Return the values of all pictures on the canvas."""
        return pictures.values(self.canvas, tick)

    def greys(self, values: Bytes) -> Bytes:
        """Return small grey pictures."""
        canvas = self.canvas
        return values[:, : canvas.pixels].reshape(-1, canvas.height, canvas.width)

    def measures(self, values: Bytes) -> NDArray[np.float32]:
        """Return values near 0 to 1; a colour weighs as the pixels of its cell, of which it is one."""
        scaled = values.astype(np.float32) / np.float32(255)
        cell = self.canvas.pixels / COLOUR_SIDE**2
        scaled[:, self.canvas.pixels :] *= np.float32(cell**0.5)
        return scaled

    def state(self) -> FittedState:
        """Return what `from_state` makes it from."""
        state = FittedState({"canvas": list(self.canvas)})
        state.put("axes", self.axes.state())
        return state

    @classmethod
    def from_state(cls, state: FittedState) -> ImageFeatures:
        """Make it again."""
        made = cls(Canvas(*state.about["canvas"]))
        made.axes = PrincipalAxes.from_state(state.part("axes"))
        return made
