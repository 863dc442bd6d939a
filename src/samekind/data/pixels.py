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
from PIL import ExifTags, Image, UnidentifiedImageError

from samekind.data.picture_paths import HEIC
from samekind.data.pixel_bounds import DECODING, MAX_BYTES, max_pixels
from samekind.errors import DataError

Bytes = NDArray[np.uint8]
Drawing = Image.Image

FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF")
SIDE = 32
COLOUR_SIDE = 8
ENLARGED_BELOW = 65  # pictures this small are shown enlarged, every pixel a square
_PNG_PIXELS = 1 << 20  # larger ones are sent as JPEG
_LARGE = 1 << 24  # pixels
_BAND = 1 << 20  # pixels that are converted at once
_COPIES = {"WEBP": 3}  # that the decoder makes of a picture, if more than one
_UPRIGHT = {  # what to do, by what the camera noted of how it was held
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}


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


def open_picture(path: Path, near: int, *, kept_below: int = 0) -> tuple[Drawing, str]:
    """Return the first frame upright, on white, as grey or RGB without metadata, and its format.

    It is at most `near` pixels wide and high; but pictures of fewer pixels than `kept_below` are only reduced
    as far as decoding a JPEG does it for nothing, and then not below `near`.
    """
    try:
        about = path.stat()
        if not stat.S_ISREG(about.st_mode):
            raise DataError("it is no file")
        if about.st_size > MAX_BYTES:
            raise DataError(f"its {about.st_size >> 20:,} MB exceed {MAX_BYTES >> 20} MB")
        most = max_pixels()
        formats = _formats(path)
        with path.open("rb") as file, Image.open(file, formats=formats) as image:
            whole = math.prod(image.size)
            if whole > most:
                size = f"{image.width:,} × {image.height:,}"
                raise DataError(f"its {size} pixels are more than {most:,}")
            form = str(image.format)
            image.draft(None, (near, near))
            decoded = whole if image.info.get("progressive") else math.prod(image.size)
            times = 0 if decoded < kept_below else _times_smaller(image, near)
            copies = _COPIES.get(form, 1) + 1 / max(1, times) ** 2
            return DECODING.run(int(decoded * copies), lambda: _decoded(image, times, near)), form
    except DataError:
        raise
    except FileNotFoundError:
        raise DataError("there is no such file") from None
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        raise DataError(f"it has more than {max_pixels():,} pixels") from None
    except Exception as error:  # what decoders raise for damaged files is of every kind
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        if isinstance(error, UnidentifiedImageError):
            reason = "it is no picture of a known format"
        elif isinstance(error, OSError) and error.strerror:
            reason = error.strerror  # without the path
        raise DataError(f"it cannot be read ({reason})") from error


def _formats(path: Path) -> tuple[str, ...]:
    """Return the formats that a file may have; those of phones are known once somebody comes with one."""
    if path.suffix.lower() not in HEIC:
        return FORMATS
    try:
        import pillow_heif
    except ImportError:
        raise DataError("HEIC needs a further package: pip install 'samekind[heic]'") from None
    pillow_heif.register_heif_opener()
    return (*FORMATS, "HEIF")


def _times_smaller(image: Drawing, near: int) -> int:
    """Return how many times smaller a picture may be made by the simplest means, before it is fitted."""
    spare = 1 if math.prod(image.size) > _LARGE else 2
    return max(1, max(image.size) // (spare * near))


def _decoded(image: Drawing, times: int, near: int) -> Drawing:
    """Return a picture at most `near` pixels wide and high; with 0 `times` as large as it is."""
    plain = _plain(image, max(1, times))
    image.close()  # gives its memory back before others decode theirs
    if times:
        plain.thumbnail((near, near), Image.Resampling.LANCZOS)
    return plain


def _plain(image: Drawing, times: int) -> Drawing:
    """Return a picture so many times smaller, as grey or RGB; only a band of it is ever converted at once."""
    image.load()
    turned = None
    with suppress(Exception):  # damaged metadata: the picture itself is fine
        turned = _UPRIGHT.get(image.getexif().get(ExifTags.Base.Orientation, 1))
    width, height = image.size
    lines = times * max(1, _BAND // (width * times))
    bands = [(0, top, width, min(top + lines, height)) for top in range(0, height, lines)]
    span = None
    if image.mode.startswith(("I", "F")):
        spans = [_span(image.crop(band)) for band in bands]
        span = min(low for low, _ in spans), max(high for _, high in spans)
    plain = None
    for band in bands:
        part = _grey_or_rgb(image.crop(band), span)
        if plain is None:
            plain = Image.new(part.mode, (-(-width // times), -(-height // times)))
        plain.paste(part.reduce(times) if times > 1 else part, (0, band[1] // times))
    assert plain is not None
    return plain if turned is None else plain.transpose(turned)


def _grey_or_rgb(image: Drawing, span: tuple[float, float] | None) -> Drawing:
    """Return a picture on white; deep greys, such as of a scanner, from the darkest to the brightest."""
    if span is not None:
        low, high = span
        scale = 255 / (high - low) if high > low else 0.0
        return Image.fromarray(((_deep(image) - low) * scale).astype(np.uint8))
    if image.has_transparency_data:
        above = image.convert("RGBA")
        image = Image.new("RGB", above.size, "white")
        image.paste(above, mask=above.getchannel("A"))
    elif image.mode not in ("L", "RGB"):
        image = image.convert("L" if image.mode == "1" else "RGB")
    return image


def _span(image: Drawing) -> tuple[float, float]:
    values = _deep(image)
    return float(values.min()), float(values.max())


def _deep(image: Drawing) -> NDArray[np.float64]:
    return np.nan_to_num(np.asarray(image, dtype=np.float64))


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
