"""Features of pictures: shapes, colours and texture, reduced to at most 64 numbers (PCA).

All measures are taken from pictures of 32 × 32 pixels, many pictures at once. scikit-image has the like
for one picture at a time.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from samekind.data.cache import State
from samekind.data.text_features import Done, sample_rows

if TYPE_CHECKING:
    from samekind.data.pictures import Bytes

__all__ = ["HogFeatures", "greys"]

Floats: TypeAlias = NDArray[np.float32]

COMPONENTS = 64
_CHUNK = 1_000  # pictures between two signs of life
_AT_ONCE = 100  # pictures that a thread measures: their numbers stay near the processor
_LUMA = np.array([0.299, 0.587, 0.114], dtype=np.float32)
_CELL = 8  # pixels
_ORIENTATIONS = 9
_CLIP = np.float32(0.2)  # the most that one orientation counts, as in Dalal and Triggs (2005)
_HUES, _GREYS = 12, 4
# Saturation up to which a pixel is grey, and from which on it is coloured.
_PALE, _VIVID = 0.08, 0.28
_FLAT = np.float32(0.01)  # difference of light that is noise
_EDGES = (0.0, 0.02, 0.05, 0.1, 0.2, 0.4, np.inf)
_SCALES = (1, 2, 4)
_TINY = np.float32(1e-2)
_RING = ((0, 0), (0, 1), (0, 2), (1, 2), (2, 2), (2, 1), (2, 0), (1, 0))


class HogFeatures:
    """Histograms of oriented gradients, colours and texture, each with the same weight.

    Parameters
    ----------
    axes : ndarray of shape (k, d)
        The principal axes of the measures.
    mean : ndarray of shape (d,)
        The mean of the measures.
    """

    described = "their shapes, colours and texture"

    def __init__(self, axes: Floats, mean: Floats) -> None:
        self.axes = axes
        self.mean = mean

    @property
    def names(self) -> list[str]:
        """A name for each feature."""
        return [f"picture {i + 1}" for i in range(len(self.axes))]

    @classmethod
    def fit(cls, pictures: Bytes, done: Done) -> tuple[HogFeatures, Floats]:
        """Learn in what pictures (n, 32, 32, 3) differ from their mean, and return their points."""
        n = len(pictures)
        rows = sample_rows(n)
        if len(rows) < n:
            made = cls._of(_measures(pictures[rows], lambda share: None))
            return made, made.transform(pictures, done)
        measured = _measures(pictures, done)
        made = cls._of(measured)
        return made, made._reduced(measured)

    @classmethod
    def _of(cls, measured: Floats) -> HogFeatures:
        """Return principal axes, by the covariance; scikit-learn would take a second to load.

        An axis has two directions: its largest part is positive.
        """
        mean = measured.mean(axis=0)
        centred = (measured - mean).astype(np.float64)
        _, vectors = np.linalg.eigh(centred.T @ centred)
        axes = vectors[:, ::-1].T[: min(COMPONENTS, *measured.shape)]
        largest = np.take_along_axis(axes, np.abs(axes).argmax(axis=1)[:, None], axis=1)
        return cls((axes * np.sign(largest)).astype(np.float32), mean)

    def transform(self, pictures: Bytes, done: Done) -> Floats:
        """Return the points of pictures."""
        n = len(pictures)
        X = np.empty((n, len(self.axes)), dtype=np.float32)
        for start in range(0, n, _CHUNK):
            rows = slice(start, min(start + _CHUNK, n))
            X[rows] = self._reduced(_describe(pictures[rows]))
            done(rows.stop / n)
        return X

    def _reduced(self, measured: Floats) -> Floats:
        return np.asarray((measured - self.mean) @ self.axes.T, dtype=np.float32)

    def state(self) -> State:
        """Return what `from_state` makes it from."""
        return State({}, {"axes": self.axes, "mean": self.mean})

    @classmethod
    def from_state(cls, state: State) -> HogFeatures:
        """Make it again."""
        return cls(state.arrays["axes"], state.arrays["mean"])


def greys(pictures: Bytes) -> Bytes:
    """Return pictures (n, 32, 32, 3) in grey, with the weights of Pillow."""
    grey = np.empty(pictures.shape[:3], dtype=np.uint8)
    for start in range(0, len(pictures), _CHUNK):
        rows = slice(start, start + _CHUNK)
        red, green, blue = np.moveaxis(pictures[rows].astype(np.uint16), 3, 0)
        grey[rows] = (77 * red + 150 * green + 29 * blue) >> 8
    return grey


def _measures(pictures: Bytes, done: Done) -> Floats:
    n = len(pictures)
    measured = []
    for start in range(0, n, _CHUNK):
        measured.append(_describe(pictures[start : start + _CHUNK]))
        done(min(start + _CHUNK, n) / n)
    return np.concatenate(measured)


def _describe(pictures: Bytes) -> Floats:
    """Return the shapes, colours and texture of pictures, each part of length 1."""
    chunks = [pictures[i : i + _AT_ONCE] for i in range(0, len(pictures), _AT_ONCE)]
    with ThreadPoolExecutor(os.cpu_count()) as pool:  # NumPy lets others go on
        return np.concatenate(list(pool.map(_described, chunks)))


def _described(pictures: Bytes) -> Floats:
    red, green, blue = np.moveaxis(pictures, 3, 0).astype(np.float32) / np.float32(255)
    grey = _LUMA[0] * red + _LUMA[1] * green + _LUMA[2] * blue
    parts = [
        _oriented_gradients(grey),
        _colour_histogram(red, green, blue),
        _texture_histogram(grey),
    ]
    return np.hstack([_unit(part) for part in parts])


def _oriented_gradients(grey: Floats) -> Floats:
    """Return histograms of oriented gradients: which edges there are, and roughly where.

    Cells of 8 × 8 pixels, 9 orientations, normalised in blocks of 2 × 2 cells (L2-Hys).
    """
    n, height, width = grey.shape
    strength, angle = _gradients(grey)
    place = (angle % np.pi) * np.float32(_ORIENTATIONS / np.pi)
    rows, columns = height // _CELL, width // _CELL
    cells = np.empty((n, rows, columns, _ORIENTATIONS), dtype=np.float32)
    for number, share in enumerate(_shares(place, _ORIENTATIONS, around=True)):
        votes = (strength * share)[:, : rows * _CELL, : columns * _CELL]
        cells[..., number] = votes.reshape(n, rows, _CELL, columns, _CELL).sum(axis=(2, 4))
    corners = [(i, j) for i in (0, 1) for j in (0, 1)]
    blocks = np.concatenate(
        [cells[:, i : rows - 1 + i, j : columns - 1 + j] for i, j in corners], axis=3
    )
    clipped = np.minimum(_unit(blocks), _CLIP)
    return _unit(clipped).reshape(n, -1)


def _colour_histogram(red: Floats, green: Floats, blue: Floats) -> Floats:
    """Return how much of a picture has which hue, or for pale pixels which grey; wherever that is."""
    high = np.maximum(np.maximum(red, green), blue)
    span = high - np.minimum(np.minimum(red, green), blue)
    safe = np.maximum(span, np.float32(1e-6))
    sixth = np.where(
        high == red,
        (green - blue) / safe % 6,
        np.where(high == green, (blue - red) / safe + 2, (red - green) / safe + 4),
    )
    vivid = np.clip((span - _PALE) / (_VIVID - _PALE), 0, 1)
    grey = (red + green + blue) / np.float32(3)
    hues = _shares(sixth * np.float32(_HUES / 6), _HUES, around=True)
    greys = _shares(grey * np.float32(_GREYS - 1), _GREYS, around=False)
    columns = [(vivid * share).mean(axis=(1, 2)) for share in hues]
    columns += [((1 - vivid) * share).mean(axis=(1, 2)) for share in greys]
    return _root(columns)


def _texture_histogram(grey: Floats) -> Floats:
    """Return local binary patterns and strengths of edges at three scales, wherever they are."""
    columns: list[Floats] = []
    for scale in _SCALES:
        n, height, width = grey.shape
        cut = grey.reshape(n, height // scale, scale, width // scale, scale).mean(axis=(2, 4))
        columns += _binary_patterns(cut)
        strength, _ = _gradients(cut)
        columns += [
            ((strength >= low) & (strength < high)).mean(axis=(1, 2))
            for low, high in pairwise(_EDGES)
        ]
    return _root(columns)


def _binary_patterns(grey: Floats) -> list[Floats]:
    """Return the shares of the ten rotation-invariant uniform patterns: neighbours that are brighter."""
    centre = grey[:, 1:-1, 1:-1]
    height, width = centre.shape[1:]
    brighter = [grey[:, i : i + height, j : j + width] > centre + _FLAT for i, j in _RING]
    count, changes = np.zeros((2, *centre.shape), dtype=np.uint8)
    for number, this in enumerate(brighter):
        count += this
        changes += this != brighter[number - 1]
    code = np.where(changes <= 2, count, len(_RING) + 1)
    return [(code == number).mean(axis=(1, 2)) for number in range(len(_RING) + 2)]


def _root(columns: list[Floats]) -> Floats:
    """Return shares as their square roots, whose distances are Hellinger's."""
    return np.sqrt(np.stack(columns, axis=1), dtype=np.float32)


def _gradients(grey: Floats) -> tuple[Floats, Floats]:
    down, right = np.gradient(grey, axis=(1, 2))
    return np.hypot(right, down), np.arctan2(down, right)


def _shares(place: Floats, bins: int, *, around: bool) -> list[Floats]:
    """Return how much each of some bins gets of values, which fall between two of them."""
    below = np.floor(place)
    above_share = place - below
    first = below.astype(np.int8)
    second = first + 1
    if around:
        first, second = first % bins, second % bins
    return [
        (first == number) * (1 - above_share) + (second == number) * above_share
        for number in range(bins)
    ]


def _unit(values: Floats) -> Floats:
    """Give the last axis length 1, or less where there is next to nothing."""
    length = np.sqrt((values**2).sum(axis=-1, keepdims=True) + _TINY**2)
    unit: Floats = (values / length).astype(np.float32)
    return unit
