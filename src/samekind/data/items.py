"""Items: rows with their features, and what a person sees of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from samekind.data.columns import ColumnUse, Role
from samekind.data.contents import (
    Contents,
    contents_of,
    digests_of_pictures,
    digests_of_texts,
)
from samekind.data.copies import Copies
from samekind.data.features import Made, uses_of_columns
from samekind.data.options import LoadOptions
from samekind.data.picture_paths import inside
from samekind.data.readers import Array
from samekind.data.sources import Source, pictures_of
from samekind.data.tables import FrameTable, Tick
from samekind.data.views import SIZES, ItemView, PictureFile, shown_text
from samekind.errors import DataError, Message

if TYPE_CHECKING:
    import pandas as pd

    from samekind.data.features import Features
    from samekind.points import Points

__all__ = ["Items", "Labels"]

Labels: TypeAlias = "Array | pd.Categorical[str]"
"""A label for each row: an array, or codes and categories."""

_PICTURES = 200  # encoded ones that are kept: about 20 MB
_SHOWN = 2**24  # numbers of an array that are copied to be shown
_VIEWS = 1_000  # of rows that are kept
FEW_NUMBERS = 64  # up to which embeddings are taken as they are


class Items:
    """Rows to cluster with their features and looks, as `samekind.load` returns them.

    `samekind.solve`, `samekind.Session` and the estimator take them as X.

    Attributes
    ----------
    X : ndarray of shape (n, d)
        The features; may be mapped into memory, read-only.
    points : Points
        The features as the algorithms see them.
    n : int
        How many items there are.
    feature_names, shown_columns : list of str
        A name for each feature; the columns of a table that a person sees.
    labels : ndarray, pandas.Categorical or None
        The label column, where one was named.
    source : str
        What to call all of them: the name of a file or folder.
    medium : {"text", "image", "row"}
        What a person sees of an item.
    columns : list of ColumnUse
        What each column of a table is used as.
    notes : list of str
        What was done, for a person to read.
    frame : pandas.DataFrame or None
        The table as it stands in the file; for a folder of pictures the names of its files.
    images : ndarray of shape (n, h, w), or None
        Small grey pictures, where items are pictures.
    left_out : list of (str, str)
        Pictures of a folder that cannot be read, and why.
    is_streamed : bool
        Whether there are too many rows for memory: their features are mapped from a file.
    options : LoadOptions
        The parameters of `samekind.load`, with what was found out filled in.
    metric : {"auto", "cosine"}
        How rows are best compared; a `Session` takes it unless it is told otherwise.
    whole : Items
        All rows, where these are only some of them: see `distinct` and `take`.
    copies : Copies or None
        Which rows of `whole` are one of these items; None: each row is an item of its own.
    """

    def __init__(
        self,
        source: Source,
        made: Made,
        *,
        labels: Labels | None,
        features: Callable[[], Features | None],
        has_recipe: bool,
    ) -> None:
        self._source, self._made = source, made
        self.whole = self
        self.copies: Copies | None = None
        self.rows: Array | None = None  # of the items in the file; None: the numbers are the same
        self._X = made.X
        self.n = source.n
        self.feature_names = made.names
        self.labels = labels
        self.source = source.options.data.absolute().name
        self.path = source.name
        self.medium = source.medium
        self.columns = uses_of_columns(source, made)
        said = [*source.notes, *made.notes, *_only_shown(self.columns)]
        self.notes = list(dict.fromkeys(said))
        self.frame = None if source.shown is None else source.shown.frame
        self.images: Array | None = made.images
        self.left_out = source.left_out
        self._points = made.points
        self.is_streamed = source.is_streamed
        self._table = source.table
        self.options = options = source.options
        self._pictures = source.pictures
        self._features = features
        self._has_recipe = has_recipe
        hidden = {options.text, source.picture_column, options.labels}
        wanted = [] if source.table is None or self.images is not None else source.table.columns
        if self.frame is not None:
            wanted = [str(name) for name in self.frame.columns]
        if options.show is not None and not options.is_array:
            wanted = [name for name in options.show if name in wanted]
        self.shown_columns = [name for name in wanted if name not in hidden]
        self._encoded = lru_cache(_PICTURES)(self._encode)
        self._viewed = lru_cache(_VIEWS)(self._view)

    @classmethod
    def of_array(
        cls,
        X: Array,
        source: str,
        feature_names: list[str],
        *,
        labels: Labels | None = None,
        images: Array | None = None,
    ) -> Items:
        """Return the rows of an array in memory as items; `images` are what a person sees of them."""
        table = FrameTable.of_array(source, X, feature_names)
        medium = "row" if images is None else "image"
        opened = Source(LoadOptions(Path(source)), medium, len(X), lambda: source, table=table)
        columns = [ColumnUse(name, Role.NUMBER) for name in feature_names]
        made = Made(X, feature_names, images=images, columns=columns)
        return cls(opened, made, labels=labels, features=lambda: None, has_recipe=False)

    def __repr__(self) -> str:
        size = f"{self.n:,} × {self.medium}, {len(self.feature_names):,} features"
        return f"Items({self.source!r}: {size})"

    def __len__(self) -> int:
        return self.n

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> Array:
        """Return the features: items pass for an array wherever one is taken."""
        return np.array(self.X, dtype=dtype, copy=copy)

    @property
    def X(self) -> Array:  # noqa: N802
        """The features, an array of shape (n, d); may be mapped into memory, read-only."""
        assert self._X is not None
        return self._X

    @property
    def points(self) -> Points:
        """The features as the algorithms see them."""
        if self._points is None:
            from samekind.points import ArrayPoints

            self._points = ArrayPoints(self.X)
            if self.copies is not None:
                self._points.weights = (1 + self.copies.counts).astype(np.float64)
        return self._points

    @property
    def metric(self) -> str:
        """How rows are best compared: "cosine" by given embeddings of texts and pictures, else "auto".

        Other features of texts and of pictures by a model have length 1, which "auto" recognises.
        """
        given = self.options.embeddings is not None and self.medium in ("text", "image")
        return "cosine" if given and len(self.feature_names) > FEW_NUMBERS else "auto"

    @property
    def is_records(self) -> bool:
        """Whether items are records that may be duplicates."""
        return self.options.records is True

    @property
    def features(self) -> Features | None:
        """How features are made; None where they were given."""
        return self._features()

    @property
    def is_standardized(self) -> bool:
        """Whether features are columns of a file, standardised."""
        return self.medium == "row" and bool(getattr(self.features, "is_standardized", False))

    def in_file_units(self, points: ArrayLike) -> NDArray[np.float64]:
        """Return points such as centres in the units of the file, if they were standardised."""
        from samekind.data.row_features import RowFeatures

        features = self.features if self.medium == "row" else None
        if isinstance(features, RowFeatures):
            return features.in_file_units(points)
        return np.asarray(points, dtype=np.float64)

    @property
    def files(self) -> list[Path]:
        """The files that rows stay in."""
        return list(getattr(self._table, "files", []))

    def shown_frame(self, *, with_labels: bool) -> pd.DataFrame | None:
        """Return the rows in memory as a person sees them; None where there are none, or too many."""
        frame, table = self.frame, self._table
        if frame is None and isinstance(table, FrameTable) and not self.is_streamed:
            frame = None if table.frame.size > _SHOWN else table.frame
        if frame is None or with_labels or self.options.labels is None:
            return frame
        return frame.drop(columns=[self.options.labels], errors="ignore")

    def summary(self) -> Message:
        """Return a few lines that say what was read and what was done with it."""
        what = "picture" if self.medium == "image" else self.medium
        about = f"{_counted(self.whole.n, what)}, {_counted(len(self.feature_names), 'feature')}"
        lines = [f"{self.path}: {about}" + ", read as needed" * self.is_streamed]
        if (kinds := n_labels(self.labels)) is not None:
            lines.append(f"  labels of {_counted(kinds, 'kind')}")
        return Message("\n".join(lines), *(Message("\n  ", note) for note in self.notes))

    def distinct(self) -> Items:
        r"""Return the first of all rows that hold the same text or picture; the others are `copies`.

        Of texts, capitals and spaces do not matter. Rows of numbers, and records, are all items.

        Examples
        --------
        >>> import pathlib, tempfile, samekind
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "messages.csv"
        >>> _ = path.write_text("text\nWhere is my card?\nwhere is  my card?\nGood morning\n")
        >>> items = samekind.load(path, text="text").distinct()
        >>> items.n, items.show(0).copies, items.whole.n
        (2, 1, 3)
        """
        digests = self.digests
        copies = None if digests is None else Copies.of(digests)
        if copies is None or copies.rows.size == self.n:
            return self
        some = self.take(copies.rows)
        some.whole, some.copies = self, copies
        some.notes.append(f"{_said(self.n - some.n)} of others, and asked about once")
        return some

    def take(self, rows: NDArray[np.intp]) -> Items:
        """Return some of the rows, which are in memory, as items."""
        labels = None if self.labels is None else self.labels[rows]
        made = replace(self._made.take(rows), notes=[])
        source = replace(self._source.take(rows), notes=list(self.notes))
        some = Items(
            source, made, labels=labels, features=self._features, has_recipe=self._has_recipe
        )
        some.rows, some.options = self.rows_in_file(rows), self.options
        return some

    def rows_in_file(self, items: Any) -> Any:
        """Return where items are in the file."""
        return items if self.rows is None else self.rows[items]

    @property
    def digests(self) -> Array | None:
        """Digests of texts and pictures, by which copies are found; None of other items."""
        made, source = self._made, self._source
        if made.digests is None and source.pictures is not None:
            made.digests = digests_of_pictures(source.pictures)
        elif made.digests is None and self.medium == "text" and self.frame is not None:
            made.digests = digests_of_texts(self.frame[source.options.text])
        return made.digests

    def texts(self, rows: NDArray[np.intp]) -> list[str]:
        """Return the texts of rows, as far as they are shown; only where items are texts."""
        if self.frame is None or self.options.text is None:
            raise DataError(f"{self.source} has no column of texts.")
        return [shown_text(text) for text in self.frame[self.options.text].iloc[rows]]

    def show(self, row: int) -> ItemView:
        """Return what a person sees of a row."""
        self._check(row)
        return self._viewed(row)

    def picture(self, row: int, size: str = "small") -> PictureFile:
        """Return the picture of a row, "small" (256 pixels at most) or "large" (2,048)."""
        self._check(row)
        if size not in SIZES:
            raise DataError(f"size must be one of {', '.join(SIZES)}, got {size!r}.")
        if self._pictures is None:
            if self.images is None:
                raise DataError(f"row {row} has no picture: {self.source} is no pile of pictures.")
            self._pictures = pictures_of(_as_bytes(self.images))
        return self._encoded(row, SIZES[size])

    def picture_path(self, row: int) -> Path | None:
        """Return the file of a row's picture; None where it is in none of its own."""
        self._check(row)
        where = None if self._pictures is None else self._pictures.where
        if self._pictures is None or not isinstance(where, Path):
            return None
        return inside(where, self._pictures.names[row])

    def _encode(self, row: int, size: int) -> PictureFile:
        from samekind.data.pictures import encode

        assert self._pictures is not None
        try:
            image, form = self._pictures.open(row, size)
        except DataError as error:
            name = self._pictures.name(row)
            raise DataError(f"the picture {name!r} cannot be shown: {error}.") from error
        return PictureFile(*encode(image, form, size))

    def load_new(
        self,
        data: str | Path,
        *,
        embeddings: str | Path | None = None,
        progress: Tick | None = None,
    ) -> Items:
        """Load new items with the same features: columns, words, scaling.

        Items that were loaded with embeddings need embeddings for the new ones, too.
        """
        from samekind.data.loader import load_new

        return load_new(self, data, embeddings=embeddings, progress=progress)

    def contents(self, like: dict[str, list[str]] | None = None) -> Contents | None:
        """Return by what rows are recognised when the data have changed; None where they stay in files.

        `like` has the columns of earlier `Contents`.
        """
        table = self._table
        frame = self.frame
        if frame is None and isinstance(table, FrameTable) and self._pictures is None:
            frame = table.frame
        if self.is_streamed or (frame is None and self._pictures is None):
            return None
        compared = [
            use.name
            for use in self.columns
            if use.is_feature or use.role in (Role.TEXT, Role.FIELD)
        ]
        hidden = [] if self.options.labels is None else [self.options.labels]
        text = self.options.text if self.medium == "text" else None
        return contents_of(frame, self._pictures, compared, hidden, like, text)

    def recipe(self) -> dict[str, object]:
        """Return what loads the same items again, as JSON can hold it: ``samekind.load(**recipe)``."""
        if not self._has_recipe:
            raise DataError(
                "items that were loaded by load_new() have no recipe of their own. Keep that of the "
                "first items, and call load_new() again."
            )
        return self.options.recipe()

    def _view(self, row: int) -> ItemView:
        text = None
        cells: dict[str, object] = {}
        if self.frame is not None:
            cells = {name: self.frame[name].iloc[row] for name in self.shown_columns}
            if self.medium == "text":
                text = shown_text(self.frame[self.options.text].iloc[row])
        elif self.shown_columns and self._table is not None:
            cells = self._table.view(row)
        fields = [(name, shown_text(cells[name])) for name in self.shown_columns]
        title = f"row {self.rows_in_file(row)}"
        if self._pictures is not None and isinstance(self._pictures.where, Path):
            title = self._pictures.name(row)
        copies = 0 if self.copies is None else int(self.copies.counts[row])
        return ItemView(row, title, text, fields, self.medium == "image", copies=copies)

    def _check(self, row: int) -> None:
        if not 0 <= row < self.n:
            raise DataError(f"there is no row {row}; rows are 0 to {self.n - 1:,}.")


def _said(n: int) -> str:
    return f"{n:,} row is a copy" if n == 1 else f"{n:,} rows are copies"


def _counted(n: int, noun: str) -> str:
    return f"{n:,} {noun}{'s' * (n != 1)}"


def _only_shown(columns: list[ColumnUse]) -> list[str]:
    """Say which columns are not compared, because the user or a column of texts or pictures decided so."""
    names = [column.name for column in columns if column.role is Role.SHOWN]
    shown = ", ".join(map(repr, names[:20])) + (", …" if len(names) > 20 else "")
    return [f"not compared: {shown}"] if names else []


def _as_bytes(images: Array) -> Array:
    """Return grey pictures of any numbers as bytes, from the darkest to the brightest."""
    low, high = float(images.min()), float(images.max())
    scaled: Array = ((images - low) * (255 / (high - low or 1.0))).astype(np.uint8)
    return scaled


def n_labels(labels: Labels | None) -> int | None:
    """Return how many different labels there are, where that is known without a pass."""
    if isinstance(labels, np.ndarray):
        return len(np.unique(labels))
    categories = getattr(labels, "categories", None)
    return None if categories is None else len(categories)
