"""Small pictures as PNG data URIs."""

from __future__ import annotations

import base64
import struct
import zlib

import numpy as np
from numpy.typing import NDArray

__all__ = ["data_uri", "to_bytes"]

LARGEST_SIDE = 96  # pixels; larger pictures are thinned, or a page of hundreds would be huge
GREY, RGB = 0, 2  # PNG colour types


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
    step = -(-max(image.shape[:2]) // LARGEST_SIDE)
    pixels = np.ascontiguousarray(image[::step, ::step])
    height, width = pixels.shape[:2]
    color_type = GREY if pixels.ndim == 2 else RGB
    lines = pixels.reshape(height, -1)
    # Every line of a PNG begins with the number of its filter; 0 is none.
    raw = np.column_stack([np.zeros(height, dtype=np.uint8), lines]).tobytes()
    head = struct.pack(">IIBBBBB", width, height, 8, color_type, 0, 0, 0)
    png = b"\x89PNG\r\n\x1a\n" + b"".join(
        _chunk(kind, body)
        for kind, body in ((b"IHDR", head), (b"IDAT", zlib.compress(raw, 9)), (b"IEND", b""))
    )
    return "data:image/png;base64," + base64.b64encode(png).decode("ascii")


def _chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
