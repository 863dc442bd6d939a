"""From a source to features: learnt anew, or as they were learnt before.

Each kind is imported where it is used: SciPy and scikit-learn take longer to load than a cache to open.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import TYPE_CHECKING, TypeAlias, cast

import numpy as np
from threadpoolctl import threadpool_limits

from samekind.data.cache import State
from samekind.data.columns import (
    ColumnUse,
    Role,
    check_most_are_used,
    choose_columns,
    decide,
    long_texts,
    survey,
)
from samekind.data.feature_names import PLAIN, spelling_hint
from samekind.data.readers import Array
from samekind.data.sources import Source
from samekind.data.tables import FrameTable, Tick
from samekind.data.views import cell_text
from samekind.errors import DataError, Message, Parameter

if TYPE_CHECKING:
    from samekind.data.embedding import PictureFeatures, TextFeatures
    from samekind.data.row_features import RowFeatures
    from samekind.data.text_features import Done
    from samekind.points import Points

    Features: TypeAlias = PictureFeatures | RowFeatures | TextFeatures

__all__ = ["Made", "features_from", "make_features", "state_of_features", "uses_of_columns"]

# By the name under which features are kept: their module and class.
_KINDS = {
    "rows": ("row_features", "RowFeatures"),
    "hog": ("picture_features", "HogFeatures"),
    "tfidf": ("text_features", "TfidfFeatures"),
    "words": ("word_vectors", "WordFeatures"),
    "model": ("model_features", "ModelFeatures"),
}


@dataclass
class Made:
    """Features, how they were made, and what is kept with them."""

    X: Array | None
    names: list[str]
    features: Features | None = None
    images: Array | None = None
    points: Points | None = None
    """Records with their pairs; None where features are all there is."""
    columns: list[ColumnUse] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    digests: Array | None = None
    """Of texts and pictures, by which copies are found; None where nobody looked."""

    def take(self, rows: Array) -> Made:
        """Return those of some rows."""
        X, images, digests = (
            None if array is None else array[rows] for array in (self.X, self.images, self.digests)
        )
        return replace(self, X=X, images=images, digests=digests)


def uses_of_columns(source: Source, made: Made) -> list[ColumnUse]:
    """Return what each column of a table is used as."""
    known = {column.name: column for column in made.columns}
    options = source.options
    roles = {options.labels: Role.LABEL, options.text: Role.TEXT, source.picture_column: Role.IMAGE}
    columns = [] if source.table is None else source.table.columns
    return [known.get(name, ColumnUse(name, roles.get(name, Role.SHOWN))) for name in columns]


def state_of_features(features: Features) -> State:
    """Return what `features_from` makes features from."""
    state = features.state()
    made_by = type(features).__name__
    state.about["features"] = next(name for name, (_, kind) in _KINDS.items() if kind == made_by)
    return state


def features_from(state: State) -> Features:
    """Make features again; exactly the classes named here are."""
    home, kind = _KINDS[state.about["features"]]
    features: Features = getattr(import_module(f"samekind.data.{home}"), kind).from_state(state)
    return features


def make_features(
    source: Source, known: Features | None, tick: Tick, *, only_pictures: bool = False
) -> Made:
    """Make features anew, or by known ones; `only_pictures` leaves out the features."""
    if source.medium == "image":
        return _of_pictures(source, known, tick, only_pictures)
    if only_pictures:
        return Made(None, [])
    if source.medium == "text":
        return _of_texts(source, known, tick)
    with threadpool_limits(1):  # the threads of linear algebra would change the last digits
        tick("features", 0, source.n)
        if known is None:
            made = _of_rows(source, tick)
        else:
            rows = cast("RowFeatures", known)
            X, notes = rows.apply(cast("FrameTable", source.table))
            made = Made(X, rows.names, rows, columns=rows.columns, notes=notes)
        tick("features", source.n, source.n)
        return made


def _of_pictures(source: Source, known: Features | None, tick: Tick, only_pictures: bool) -> Made:
    from samekind.data.embedding import fit_pictures, transform_pictures
    from samekind.data.picture_features import greys
    from samekind.data.pictures import ENLARGED_BELOW

    assert source.pictures is not None
    pictures = source.pictures
    small = pictures.thumbnails(tick)
    own = pictures.where
    tiny = isinstance(own, np.ndarray) and own.ndim == 3 and max(own.shape[1:]) < ENLARGED_BELOW
    images = cast("Array", own) if tiny else greys(small)
    if only_pictures:
        return Made(None, [], images=images)
    done = _share_of(source.n, tick)
    done(0.0)
    if known is None:
        features, X = fit_pictures(pictures, small, source.options.features, done)
    else:
        features = cast("PictureFeatures", known)
        X = transform_pictures(features, pictures, small, done)
    note = f"pictures compared by {features.described}, {X.shape[1]:,} features"
    return Made(X, features.names, features, images, notes=[note])


def _of_texts(source: Source, known: Features | None, tick: Tick) -> Made:
    from samekind.data.embedding import fit_texts, transform_texts

    assert source.shown is not None
    column = source.options.text
    texts = [cell_text(value) for value in source.shown.frame[column]]
    empty = sum(not text.strip() for text in texts)
    if empty == len(texts):
        raise DataError(f"{source.name}: the text column {column!r} is empty. Name another column.")
    done = _share_of(source.n, tick)
    if known is None:
        features, X = fit_texts(texts, source.options.features, done)
    else:
        features = cast("TextFeatures", known)
        X = transform_texts(features, texts, done)
    notes = [f"texts of {column!r} compared by {features.described}"]
    if source.options.features == PLAIN:
        notes[0] += spelling_hint()
    notes += [f"{empty:,} text{'s are' if empty > 1 else ' is'} empty"] if empty else []
    return Made(X, features.names, features, notes=notes)


def _of_rows(source: Source, tick: Tick) -> Made:
    from samekind.data.row_features import RowFeatures

    table, options = source.table, source.options
    assert table is not None
    is_array = not table.has_blanks
    chosen = is_array or options.columns is not None
    texts = []
    if isinstance(table, FrameTable) and not chosen:
        texts = long_texts(table.frame, options.not_compared)
    hint = (
        Message("To compare texts, name their column: ", Parameter("text", texts[0]), ".")
        if texts
        else ""
    )
    try:
        found = survey(table, choose_columns(table, options))
        columns = decide(table, found, asked_for=chosen)
    except DataError as error:
        raise DataError(error.message, " ", hint) from error
    if not chosen:
        check_most_are_used(table, columns, texts)
    standardize = options.standardize and options.image_shape is None
    if source.is_streamed and options.image_shape is not None:
        raise DataError(Parameter("image_shape"), " is for rows in memory, and these are too many.")
    used = [column for column in columns if column.is_feature]
    features = RowFeatures.fit(table, used, standardize=standardize)
    made = Made(None, features.names, features)
    if source.is_streamed:
        made.X = features.mapped_points_of(table, source.array_file, tick)
    else:
        assert isinstance(table, FrameTable)
        made.X = features.points_of(table)
        made.images = _as_pictures(source, made.X)
    learnt = {column.name: column for column in features.columns}
    made.columns = [learnt.get(column.name, column) for column in columns]
    numeric = sum(not column.categories for column in features.columns)
    made.notes = [f"{numeric} numeric column{'s' * (numeric != 1)} kept"] if numeric else []
    made.notes += [column.note for column in features.columns if column.note]
    made.notes += [c.note for c in columns if not c.is_feature and c.note]
    if standardize:
        made.notes.append("standardised: every column has mean 0 and variance 1")
        if flat := features.constant_names:
            shown = ", ".join(map(repr, flat[:5])) + (", …" if len(flat) > 5 else "")
            made.notes.append(f"constant, and now 0: {shown}")
    made.notes += [hint] if hint else []
    return made


def _as_pictures(source: Source, X: Array) -> Array | None:
    """Return rows as grey pictures, where the user says that they are."""
    if source.options.image_shape is None:
        return None
    height, width = source.options.image_shape
    if X.shape[1] != height * width:
        raise DataError(
            f"pictures of {height} x {width} have {height * width} columns, but {source.name} has "
            f"{X.shape[1]:,}. Leave others out with ",
            *(Parameter("exclude"), "."),
        )
    source.medium = "image"
    return X.reshape(-1, height, width)


def _share_of(n: int, tick: Tick) -> Done:
    return lambda share: tick("features", round(share * n), n)
