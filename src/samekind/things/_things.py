"""Things to look at, one a row."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from samekind.datasets import DataError
from samekind.things._cells import shown_text

if TYPE_CHECKING:
    import pandas as pd

    from samekind.things._source import Source
    from samekind.things._transforms import Made, Transform

SIZES = {"small": 256, "large": 2048}
_CACHE_BYTES = 64 << 20


@dataclass(frozen=True)
class Shown:
    """What a person sees of a row; texts are as they are, and not escaped for a page."""

    row: int
    title: str
    text: str | None
    fields: list[tuple[str, str]]
    has_picture: bool


@dataclass(frozen=True)
class Picture:
    """A picture as it is sent to a page: written anew, without the file's metadata."""

    body: bytes
    media_type: str


class Things:
    """Things to look at and their features, as :func:`load_things` returns them.

    Attributes
    ----------
    X : ndarray of shape (n, d)
        The features; may be mapped into memory, read-only.
    n : int
        How many things there are.
    feature_names : list of str
        A name for each column of X.
    source : str
        What to call all of them: the name of a file or folder.
    medium : {"text", "image", "row"}
        What a thing is to the eye.
    notes : list of str
        What was done, for a person to read.
    frame : pandas.DataFrame or None
        The table as it stands in the file; for a folder the names of its files.
    images : ndarray of shape (n, h, w) of uint8, or None
        Small grey pictures, where things are pictures.
    """

    def __init__(
        self,
        source: Source,
        made: Made,
        feature_names: list[str],
        *,
        transform: Callable[[], Transform | None],
        recipe: dict[str, Any] | None,
    ) -> None:
        assert made.X is not None
        self.X: NDArray[Any] = made.X
        self.n = source.n
        self.feature_names = feature_names
        self.source = source.options.data.name or source.name
        self.medium = source.medium
        self.notes = made.notes
        self.frame: pd.DataFrame | None = source.frame
        self.images: NDArray[np.uint8] | None = made.images
        self._options = options = source.options
        self._pictures = source.pictures
        self._transform = transform
        self._recipe = recipe
        hidden = {options.text, source.picture_column}
        wanted = [] if self.frame is None else [str(name) for name in self.frame.columns]
        if options.show is not None:
            wanted = [name for name in options.show if name in wanted]
        self._fields = [name for name in wanted if name not in hidden]
        self._sent = _Recent(_CACHE_BYTES)

    def __repr__(self) -> str:
        return f"Things({self.source!r}: {self.n:,} × {self.medium}, {self.X.shape[1]:,} features)"

    def show(self, row: int) -> Shown:
        """Return what a person sees of a row."""
        self._check(row)
        text = None
        fields: list[tuple[str, str]] = []
        if self.frame is not None:
            if self.medium == "text":
                text = shown_text(self.frame[self._options.text].iloc[row])
            fields = [(name, shown_text(self.frame[name].iloc[row])) for name in self._fields]
        title = f"row {row}" if self._pictures is None else self._pictures.name(row)
        return Shown(row, title, text, fields, self._pictures is not None)

    def picture(self, row: int, size: str = "small") -> Picture:
        """Return the picture of a row, "small" (256 pixels at most) or "large" (2,048)."""
        self._check(row)
        if size not in SIZES:
            raise DataError(f"size must be one of {', '.join(SIZES)}, got {size!r}.")
        if self._pictures is None:
            raise DataError(f"row {row} has no picture: {self.source} is no pile of pictures.")
        if (known := self._sent.get((row, size))) is not None:
            return known
        from samekind.things._pixels import encode

        try:
            image, form = self._pictures.open(row, SIZES[size])
        except DataError as error:
            name = self._pictures.name(row)
            raise DataError(f"the picture {name!r} cannot be shown: {error}.") from error
        made = Picture(*encode(image, form, SIZES[size]))
        self._sent.put((row, size), made)
        return made

    def like(
        self,
        data: str | Path,
        *,
        embeddings: str | Path | None = None,
        progress: Callable[[str, int, int], None] | None = None,
    ) -> Things:
        """Load new things with the same features: columns, words, scaling.

        Things that were loaded with embeddings need embeddings for the new ones, too.
        """
        from samekind.things._like import load_like

        return load_like(self, data, embeddings=embeddings, progress=progress)

    def recipe(self) -> dict[str, Any]:
        """Return what loads the same things again, as JSON can hold it: load_things(**recipe)."""
        if self._recipe is None:
            raise DataError(
                "things that were loaded by like() have no recipe of their own. Keep that of the "
                "first things, and call like() again."
            )
        return dict(self._recipe)

    def _check(self, row: int) -> None:
        if not 0 <= row < self.n:
            raise DataError(f"there is no row {row}; rows are 0 to {self.n - 1:,}.")


class _Recent:
    """The pictures that were asked for last, up to so many bytes."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._bytes = 0
        self._kept: OrderedDict[tuple[int, str], Picture] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: tuple[int, str]) -> Picture | None:
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
            return self._kept.get(key)

    def put(self, key: tuple[int, str], picture: Picture) -> None:
        with self._lock:
            if key in self._kept:
                return
            self._kept[key] = picture
            self._bytes += len(picture.body)
            while self._bytes > self._most:
                self._bytes -= len(self._kept.popitem(last=False)[1].body)
