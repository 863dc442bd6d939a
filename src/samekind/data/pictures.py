"""Pictures: opened with care, made small for features, and written anew for a page."""

from __future__ import annotations

import io
import math
import os
import stat
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray
from PIL import ExifTags, Image, UnidentifiedImageError

from samekind.data.picture_paths import HEIC, UnusablePicturesError, inside, unusable
from samekind.data.tables import Tick
from samekind.errors import DataError

__all__ = [
    "ENLARGED_BELOW",
    "Bytes",
    "Drawing",
    "Pictures",
    "PixelBudget",
    "encode",
    "open_picture",
]

T = TypeVar("T")
Bytes = NDArray[np.uint8]
Drawing: TypeAlias = Image.Image

FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF")
SIDE = 32  # pixels that features are measured at
ENLARGED_BELOW = 65  # pictures this small are shown enlarged, every pixel a square
MAX_BYTES = 100 << 20  # of a file
VARIABLE = "SAMEKIND_MAX_PIXELS"
_USUAL_PIXELS = 89_478_485  # Pillow's own bound, where it only warns
_AT_ONCE = 1 << 26  # pixels that are decoded at once, of about 4 bytes
_OWN_THREAD = 1 << 22  # pixels from which on a picture is decoded in a thread of its own
_LARGE = 1 << 24  # pixels from which on a picture is made small first
_PNG_PIXELS = 1 << 20  # larger ones are sent as JPEG
_BAND = 1 << 20  # pixels that are converted at once
_NEAR = 4 * SIDE  # a JPEG is decoded at about this size for its features
_MOST_TOLD = 10  # pictures that cannot be used
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


@dataclass(frozen=True)
class Pictures:
    """Pictures by row number: named files of a folder, or a sequence of arrays, images or paths.

    An array of pictures has the shape (n, h, w) or (n, h, w, 3).
    """

    where: Path | Sequence[Any] | Bytes
    names: list[str]

    def __len__(self) -> int:
        return len(self.names) if isinstance(self.where, Path) else len(self.where)

    def name(self, row: int) -> str:
        """Return what to call a picture."""
        if isinstance(self.where, Path):
            return self.names[row]
        return str(one) if isinstance(one := self.where[row], Path) else f"row {row}"

    def open(self, row: int, near: int, *, kept_below: int = 0) -> tuple[Drawing, str]:
        """Return a picture and its format, as `open_picture`; a DataError says why it cannot be shown."""
        if isinstance(self.where, Path):
            path = inside(self.where, self.names[row])
            return open_picture(path, near, kept_below=kept_below)
        one = self.where[row]
        if isinstance(one, Path):
            return open_picture(one, near, kept_below=kept_below)
        if isinstance(one, Image.Image):
            return _plain(one, 1), "PNG"
        return Image.fromarray(np.ascontiguousarray(one)), "PNG"

    def take(self, rows: Sequence[int] | NDArray[np.intp]) -> Pictures:
        """Return some of them."""
        if isinstance(self.where, Path):
            return Pictures(self.where, [self.names[row] for row in rows])
        return Pictures([self.where[row] for row in rows], [])

    def without(self, names: set[str]) -> Pictures:
        """Return all of them but some."""
        return Pictures(self.where, [name for name in self.names if name not in names])

    def thumbnails(self, tick: Tick) -> Bytes:
        """Return all pictures at 32 × 32 pixels in colour, an array (n, 32, 32, 3)."""
        n = len(self)
        values = np.empty((n, SIDE, SIDE, 3), dtype=np.uint8)

        def read(row: int) -> DataError | None:
            try:
                values[row] = _thumbnail(self.open(row, _NEAR, kept_below=_LARGE)[0])
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


def max_pixels() -> int:
    """Return how many pixels a picture may have: 89 million, or what SAMEKIND_MAX_PIXELS says."""
    given = os.environ.get(VARIABLE, "")
    if not given:
        return _USUAL_PIXELS
    try:
        most = int(given)
    except ValueError:
        most = 0
    if most < 1:
        raise DataError(f"{VARIABLE} must be a positive number of pixels, got {given!r}")
    if Image.MAX_IMAGE_PIXELS is not None and most > Image.MAX_IMAGE_PIXELS:
        Image.MAX_IMAGE_PIXELS = most  # or else Pillow would refuse what the user allows
    return most


class PixelBudget:
    """Lets threads decode at once as long as their pictures fit a bound together; a larger one goes alone.

    Threads are served in the order in which they ask, so small pictures do not keep a large one waiting.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._used = 0
        self._turn = threading.Lock()
        self._freed = threading.Condition()

    def run(self, pixels: int, decode: Callable[[], T]) -> T:
        """Do what takes room for so many pixels, once there is room."""
        with self._hold(pixels):
            if pixels < _OWN_THREAD:
                return decode()
            # What a thread allocates is given back to the system for certain only when the thread ends.
            with ThreadPoolExecutor(1) as thread:
                return thread.submit(decode).result()

    @contextmanager
    def _hold(self, pixels: int) -> Iterator[None]:
        size = min(pixels, self._most)
        with self._turn, self._freed:
            self._freed.wait_for(lambda: self._used + size <= self._most)
            self._used += size
        try:
            yield
        finally:
            with self._freed:
                self._used -= size
                self._freed.notify_all()


DECODING = PixelBudget(_AT_ONCE)
"""Shared by all threads that decode pictures."""


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


def _thumbnail(image: Drawing) -> Bytes:
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
