"""Features of pictures: greys and a few colours, brought to at most 64 numbers (PCA)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from samekind.data.fitted import FittedState, restore, state_of
from samekind.data.pixels import COLOUR_SIDE, Bytes, Canvas
from samekind.data.text_features import SEED, Done, sample_rows

if TYPE_CHECKING:
    from sklearn.base import TransformerMixin

__all__ = ["ImageFeatures"]

COMPONENTS = 64
_CHUNK = 2_000


class ImageFeatures:
    """Turns pictures into points; those of similar light and colour are close to each other.

    Parameters
    ----------
    canvas : Canvas
        What pictures are brought to first.
    axes : PCA
        What their values are brought to.
    """

    def __init__(self, canvas: Canvas, axes: TransformerMixin) -> None:
        self.canvas = canvas
        self.axes = axes

    @property
    def names(self) -> list[str]:
        """A name for each feature."""
        return [f"picture {i + 1}" for i in range(len(self.axes.components_))]

    @classmethod
    def fit(cls, values: Bytes, canvas: Canvas) -> ImageFeatures:
        """Learn the mean picture, and in what pictures differ from it."""
        from sklearn.decomposition import PCA

        sample = _scaled(values[sample_rows(len(values))], canvas)
        tall = sample.shape[0] >= sample.shape[1]
        solver = "covariance_eigh" if tall else "full"
        size = min(COMPONENTS, *sample.shape)
        with np.errstate(invalid="ignore"):  # pictures that are all alike have no variance to share
            axes = PCA(size, svd_solver=solver, random_state=SEED).fit(sample)
        return cls(canvas, axes)

    def transform(self, values: Bytes, done: Done) -> NDArray[np.float32]:
        """Return the points of pictures that were brought to the canvas."""
        n = len(values)
        X = np.empty((n, len(self.names)), dtype=np.float32)
        for start in range(0, n, _CHUNK):
            rows = slice(start, min(start + _CHUNK, n))
            X[rows] = self.axes.transform(_scaled(values[rows], self.canvas))
            done(rows.stop / n)
        return X

    def state(self) -> FittedState:
        """Return what `from_state` makes it from."""
        state = FittedState({"canvas": list(self.canvas)})
        state.put("axes", state_of(self.axes))
        return state

    @classmethod
    def from_state(cls, state: FittedState) -> ImageFeatures:
        """Make it again."""
        return cls(Canvas(*state.about["canvas"]), restore(state.part("axes")))


def _scaled(values: Bytes, canvas: Canvas) -> NDArray[np.float32]:
    """Return values near 0 to 1; a colour weighs as the pixels of its cell, of which it is one."""
    scaled = values.astype(np.float32) / np.float32(255)
    cell = canvas.pixels / COLOUR_SIDE**2
    scaled[:, canvas.pixels :] *= np.float32(cell**0.5)
    return scaled
