"""One picture: opened with care, made small for features, and written anew for a page."""

from __future__ import annotations

import io
import math
import stat
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageOps, UnidentifiedImageError

from samekind.errors import DataError

Bytes = NDArray[np.uint8]
Drawing = Image.Image

FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF")
MAX_BYTES = 100 << 20
MAX_PIXELS = 89_478_485  # Pillow's own bound, where it only warns
SIDE = 32
COLOUR_SIDE = 8
ENLARGED_BELOW = 65  # pictures this small are shown enlarged, every pixel a square
_PNG_PIXELS = 1 << 20  # larger ones are sent as JPEG


class Canvas(NamedTuple):
    """What a picture is brought to for its features."""

    height: int = SIDE
    width: int = SIDE
    colour: bool = True

    @property
    def pixels(self) -> int:
        """Number of grey values."""
        return self.height * self.width

    @property
    def size(self) -> int:
        """Number of values of a picture."""
        return self.pixels + (2 * COLOUR_SIDE**2 if self.colour else 0)


def open_picture(path: Path, near: int) -> tuple[Drawing, str]:
    """Return the first frame upright, on white, as grey or RGB without metadata, and its format.

    A JPEG may come at a reduced size, but not smaller than `near` pixels.
    """
    try:
        about = path.stat()
        if not stat.S_ISREG(about.st_mode):
            raise DataError("it is no file")
        if about.st_size > MAX_BYTES:
            raise DataError(f"its {about.st_size >> 20:,} MB exceed {MAX_BYTES >> 20} MB")
        with path.open("rb") as file, Image.open(file, formats=FORMATS) as image:
            if math.prod(image.size) > MAX_PIXELS:
                size = f"{image.width:,} × {image.height:,}"
                raise DataError(f"its {size} pixels are more than {MAX_PIXELS:,}")
            form = str(image.format)
            image.draft(None, (near, near))
            return _plain(image), form
    except DataError:
        raise
    except FileNotFoundError:
        raise DataError("there is no such file") from None
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        raise DataError(f"it has more than {MAX_PIXELS:,} pixels") from None
    except Exception as error:  # what decoders raise for damaged files is of every kind
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        if isinstance(error, UnidentifiedImageError):
            reason = "it is no picture of a known format"
        raise DataError(f"it cannot be read ({reason})") from error


def _plain(image: Drawing) -> Drawing:
    image.load()
    with suppress(Exception):  # damaged metadata: the picture itself is fine
        image = ImageOps.exif_transpose(image)
    if image.mode.startswith(("I", "F")):
        image = _stretched(image)
    elif image.has_transparency_data:
        above = image.convert("RGBA")
        image = Image.new("RGB", above.size, "white")
        image.paste(above, mask=above.getchannel("A"))
    elif image.mode not in ("L", "RGB"):
        image = image.convert("L" if image.mode == "1" else "RGB")
    return Image.fromarray(np.array(image))  # the pixels and nothing else


def _stretched(image: Drawing) -> Drawing:
    """Map deep greys, such as of a scanner, from darkest to brightest."""
    values = np.nan_to_num(np.asarray(image, dtype=np.float64))
    low, high = values.min(), values.max()
    scale = 255 / (high - low) if high > low else 0.0
    return Image.fromarray(((values - low) * scale).astype(np.uint8))


def on_canvas(image: Drawing, canvas: Canvas) -> Bytes:
    """Return the values of a picture: its greys, row by row, then its colours if wanted."""
    image = _fitted(image, (canvas.width, canvas.height))
    values = np.empty(canvas.size, dtype=np.uint8)
    values[: canvas.pixels] = np.asarray(image.convert("L")).ravel()
    if canvas.colour:
        if image.mode == "L":
            values[canvas.pixels :] = 128
        else:
            small = image.resize((COLOUR_SIDE, COLOUR_SIDE), Image.Resampling.BOX)
            values[canvas.pixels :] = np.asarray(small.convert("YCbCr"))[:, :, 1:].ravel()
    return values


def thumbnail(image: Drawing) -> Bytes:
    """Return a picture at 32 × 32 pixels in colour."""
    return np.asarray(_fitted(image, (SIDE, SIDE)).convert("RGB"))


def _fitted(image: Drawing, size: tuple[int, int]) -> Drawing:
    """Return a picture of that size, the old one whole in its middle."""
    if image.size == size:
        return image
    scale = min(size[0] / image.width, size[1] / image.height)
    fitted = (max(1, round(image.width * scale)), max(1, round(image.height * scale)))
    return _padded(image.resize(fitted, Image.Resampling.BILINEAR, reducing_gap=3.0), size)


def _padded(image: Drawing, size: tuple[int, int]) -> Drawing:
    """Centre a picture among pixels of the colour of its border."""
    if image.size == size:
        return image
    a = np.asarray(image)
    border = np.concatenate([a[0], a[-1], a[:, 0], a[:, -1]])
    colour = np.median(border, axis=0).astype(int).tolist()
    around = Image.new(image.mode, size, colour if image.mode == "L" else tuple(colour))
    around.paste(image, ((size[0] - image.width) // 2, (size[1] - image.height) // 2))
    return around


def encode(image: Drawing, form: str, most: int) -> tuple[bytes, str]:
    """Write a picture anew, at most so many pixels wide and high; returns it and its type."""
    longest = max(image.size)
    if longest > most:
        image = image.copy()
        image.thumbnail((most, most), Image.Resampling.LANCZOS)
    elif longest < ENLARGED_BELOW:
        times = max(1, min(most, 512) // longest)
        size = (image.width * times, image.height * times)
        image = image.resize(size, Image.Resampling.NEAREST)
    body = io.BytesIO()
    drawn = form in ("PNG", "GIF", "BMP") or longest < ENLARGED_BELOW
    if drawn and math.prod(image.size) <= _PNG_PIXELS:
        image.save(body, "PNG")
        return body.getvalue(), "image/png"
    image.save(body, "JPEG", quality=88)
    return body.getvalue(), "image/jpeg"
