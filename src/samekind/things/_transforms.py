"""From things to points: which transform suits them, fitted or as it was fitted before.

Transforms are imported where they are used: SciPy and scikit-learn take longer than a cache to open.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from samekind.datasets import DataError, read_points
from samekind.datasets._files import file_kind, read_matrix
from samekind.datasets._standardize import row_chunks
from samekind.things._calls import Tick
from samekind.things._cells import cell_text
from samekind.things._columns import long_texts
from samekind.things._source import Source

Transform: TypeAlias = Any  # TextTransform, ImageTransform or RowTransform


@dataclass
class Made:
    """Features, how they were made, and what is kept with them."""

    X: NDArray[Any] | None
    transform: Transform | None
    images: NDArray[np.uint8] | None = None
    notes: list[str] = field(default_factory=list)


def restore(about: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Transform:
    """Make a transform again from its state."""
    if about["kind"] == "text":
        from samekind.things._texts import TextTransform

        return TextTransform.restore(about, arrays)
    if about["kind"] == "image":
        from samekind.things._images import ImageTransform

        return ImageTransform.restore(about, arrays)
    from samekind.things._rows import RowTransform

    return RowTransform.restore(about, arrays)


def make_features(
    source: Source, known: Transform | None, tick: Tick, *, only_pictures: bool
) -> Made:
    """Make features anew, or by a known transform; `only_pictures` leaves out the features.

    The threads of linear algebra would change the last digits, and gain nothing here.
    """
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        return _made(source, known, tick, only_pictures)


def _made(source: Source, known: Transform | None, tick: Tick, only_pictures: bool) -> Made:
    if source.medium == "image":
        return _of_pictures(source, known, tick, only_pictures)
    if only_pictures:
        return Made(None, None)
    if source.medium == "text":
        return _of_texts(source, known, tick)
    tick("features", 0, source.n)
    made = _of_rows(source, known)
    tick("features", source.n, source.n)
    return made


def _of_pictures(source: Source, known: Transform | None, tick: Tick, only_pictures: bool) -> Made:
    from samekind.things._images import ImageTransform
    from samekind.things._pictures import ArrayPictures, read_values
    from samekind.things._pixels import ENLARGED_BELOW

    assert source.pictures is not None
    canvas = source.pictures.canvas() if known is None else known.canvas
    values = read_values(source.pictures, canvas, tick)
    images = values[:, : canvas.pixels].reshape(-1, canvas.height, canvas.width)
    pictures = source.pictures
    if isinstance(pictures, ArrayPictures) and max(pictures.array.shape[1:]) < ENLARGED_BELOW:
        images = pictures.array if pictures.array.ndim == 3 else images
    if only_pictures:
        return Made(None, None, images)
    tick("features", 0, source.n)
    transform = ImageTransform.fit(values, canvas) if known is None else known
    X = transform.apply(values, lambda done: tick("features", done, source.n))
    note = (
        f"pictures compared at {canvas.width} × {canvas.height} pixels, brought to "
        f"{X.shape[1]} features"
    )
    return Made(X, transform, images, [note])


def _of_texts(source: Source, known: Transform | None, tick: Tick) -> Made:
    from samekind.things._texts import TextTransform, count_terms

    assert source.frame is not None
    column = source.options.text
    texts = [cell_text(value) for value in source.frame[column]]
    empty = sum(not text.strip() for text in texts)
    if empty == len(texts):
        raise DataError(f"{source.name}: the text column {column!r} is empty. Name another column.")
    n = len(texts)  # every text is counted, and then placed: 2 n steps
    counts = count_terms(texts, lambda done: tick("features", done, 2 * n))
    transform = TextTransform.fit(counts) if known is None else known
    X = transform.apply(counts, lambda done: tick("features", n + done, 2 * n))
    notes = [f"texts of {column!r} compared by their words and parts of words"]
    notes += [f"{empty:,} text{'s are' if empty > 1 else ' is'} empty"] if empty else []
    return Made(X, transform, None, notes)


def _of_rows(source: Source, known: Transform | None) -> Made:
    from samekind.things._rows import RowTransform

    if source.matrix is not None:
        return _of_matrix(source, known)
    assert source.frame is not None
    frame, exclude = source.frame, source.options.exclude
    if known is not None:
        X, notes = known.apply(source.name, frame, source.place)
        return Made(X, known, None, notes)
    texts = long_texts(frame, exclude)
    hint = f"to compare texts, name their column: text={texts[0]!r}" if texts else ""
    try:
        transform, X, notes = RowTransform.fit(source.name, frame, exclude, source.place)
    except DataError as error:
        raise DataError(f"{error} T{hint[1:]}." if hint else str(error)) from error
    return Made(X, transform, None, [*notes, hint] if hint else notes)


def _of_matrix(source: Source, known: Transform | None) -> Made:
    from samekind.things._rows import RowTransform

    table = read_points(
        source.options.data, exclude=source.options.exclude, standardize=known is None
    )
    if known is not None:
        return Made(known.apply_matrix(source.name, table.X), known)
    assert table.scaling is not None
    transform = RowTransform(table.feature_names, [], table.scaling)
    notes = [*table.notes, "to use the array as it is, pass it as embeddings, too"]
    return Made(table.X, transform, None, notes)


def read_embeddings(path: Path, n: int, d: int | None = None) -> tuple[NDArray[Any], list[str]]:
    """Read features that somebody else computed, as they are, and a name for each."""
    kind = file_kind(path)
    if kind not in ("npy", "npz"):
        raise DataError(f"embeddings must be a .npy or .npz file, got {path}.")
    matrix = read_matrix(path, kind)
    X = matrix.X
    if len(X) != n:
        raise DataError(
            f"the embeddings {path} have {len(X):,} rows, but there are {n:,} things. Compute one "
            "for each, in the same order."
        )
    if d is not None and X.shape[1] != d:
        raise DataError(
            f"the embeddings {path} have {X.shape[1]:,} columns, but the first had {d:,}. Compute "
            "them by the same model."
        )
    if X.dtype not in (np.float32, np.float64):
        X = X.astype(np.float32 if X.dtype == np.float16 else np.float64)
    for rows in row_chunks(*X.shape):
        if not (fine := np.isfinite(X[rows]).all(axis=1)).all():
            first = rows.start + int(np.flatnonzero(~fine)[0])
            raise DataError(
                f"the embeddings {path} hold a value in row {first} that is no finite number. "
                "Compute them anew, without NaN."
            )
    return np.asarray(X, order="C"), matrix.names
