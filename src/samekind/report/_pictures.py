"""Small pictures as PNG data URIs."""

from __future__ import annotations

import base64
import io

import numpy as np
from numpy.typing import NDArray

__all__ = ["data_uri", "to_bytes"]

LARGEST_SIDE = 96  # pixels; larger pictures are thinned, or a page of hundreds would be huge


def to_bytes(images: NDArray[np.generic]) -> NDArray[np.uint8]:
    """Map the values of images onto 0 to 255, darkest to brightest; uint8 stays as it is.

    Pictures that are compared must be passed together, so that they share a scale.
    """
    if images.dtype == np.uint8:
        return images.astype(np.uint8, copy=False)
    values = images.astype(np.float64)
    finite = values[np.isfinite(values)]
    low, high = (finite.min(), finite.max()) if finite.size else (0.0, 0.0)
    # Halves, because the difference of two large numbers may not be one.
    span = high / 2 - low / 2
    if span == 0:
        return np.zeros(values.shape, dtype=np.uint8)
    shares = np.nan_to_num((values / 2 - low / 2) / span, nan=0.0, posinf=1.0, neginf=0.0)
    return np.rint(255 * shares).astype(np.uint8)


def data_uri(image: NDArray[np.uint8]) -> str:
    """Return a grey (h, w) or colour (h, w, 3) picture as a ``data:`` address."""
    from PIL import Image

    step = -(-max(image.shape[:2]) // LARGEST_SIDE)
    png = io.BytesIO()
    Image.fromarray(np.ascontiguousarray(image[::step, ::step])).save(png, "PNG")
    return "data:image/png;base64," + base64.b64encode(png.getvalue()).decode("ascii")
