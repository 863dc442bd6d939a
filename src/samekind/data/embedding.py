"""Texts and pictures as points: what `samekind.embed`, `samekind.load` and a list of texts as X use."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from samekind.data.feature_names import AUTO, WORDS, resolve_features
from samekind.data.model_features import PREFIX, ModelFeatures
from samekind.data.picture_paths import SUFFIXES
from samekind.data.sources import check_pictures, pictures_of
from samekind.data.tables import silent
from samekind.data.text_features import Done, TfidfFeatures
from samekind.data.word_vectors import WordFeatures
from samekind.errors import DataError

if TYPE_CHECKING:
    from samekind.data.picture_features import HogFeatures
    from samekind.data.pictures import Bytes, Pictures

    TextFeatures: TypeAlias = TfidfFeatures | WordFeatures | ModelFeatures
    PictureFeatures: TypeAlias = HogFeatures | ModelFeatures

__all__ = ["embed", "fit_pictures", "fit_texts", "transform_pictures", "transform_texts"]

_MOST_PATH = 1_000  # characters: a longer text is no path


def embed(
    items: Iterable[Any],
    features: str = AUTO,
    *,
    fit_on: Iterable[Any] | None = None,
    progress: Done | None = None,
) -> NDArray[np.float32]:
    """Return texts or pictures as points, such that similar items are close to each other.

    Parameters
    ----------
    items : iterable
        Texts; or pictures: paths, Pillow images or arrays of uint8. The path of a file is never taken for
        a text: names that all end like pictures are opened, any other existing file is an error.
        An empty text becomes a row of zeros, unless a model says otherwise.
    features : str, default="auto"
        Texts: "words", mean word vectors beside words and parts of words (needs the extra ``text``), or
        "plain", words and parts of words alone (TF-IDF, truncated SVD); "auto" is "words" if it is
        installed. Pictures: "hog". Both: ``"sentence-transformers:NAME_OR_FOLDER"``, a model (needs the
        extra ``models``).
    fit_on : iterable, default=None
        The texts that words are counted in, or the pictures that axes are learnt from; by default `items`.
        To compare new items with earlier ones, pass the earlier ones. Models do not need it.
    progress : callable, default=None
        Called with the share that is done, from 0 to 1.

    Returns
    -------
    X : ndarray of shape (n, d), float32
        Rows of texts, and of a model, have length 1.

    Examples
    --------
    >>> import samekind
    >>> texts = ["Where is my card?", "My card is lost", "What a fine morning"]
    >>> X = samekind.embed(texts)
    >>> bool(X[0] @ X[1] > X[0] @ X[2])
    True
    >>> new = samekind.embed(["I lost my card!"], fit_on=texts)
    >>> int((X @ new[0]).argmax())
    1
    """
    done = _silent if progress is None else progress
    wanted = _as_list(items)
    pictures = _pictures_among(wanted)
    if pictures is None:
        if fit_on is None:
            return fit_texts(wanted, features, done)[1]
        return transform_texts(fit_texts(fit_on, features)[0], wanted, done)
    name = resolve_features(features, "image")
    small = pictures.thumbnails(silent)
    if fit_on is None:
        return fit_pictures(pictures, small, name, done)[1]
    first = _pictures_among(_as_list(fit_on))
    if first is None:
        raise DataError("fit_on must hold pictures, as items do, got texts.")
    known, _ = fit_pictures(first, first.thumbnails(silent), name, _silent)
    return transform_pictures(known, pictures, small, done)


def _silent(share: float) -> None:
    """Tell nobody."""


def fit_texts(
    texts: Iterable[str], features: str = AUTO, done: Done = _silent
) -> tuple[TextFeatures, NDArray[np.float32]]:
    """Return features that were learnt from texts, and the points of these."""
    texts, name = _checked_texts(texts), resolve_features(features, "text")
    if name.startswith(PREFIX):
        model = ModelFeatures.at(name.removeprefix(PREFIX))
        return model, model.transform(texts, done)
    with threadpool_limits(1):  # the threads of linear algebra would change the last digits
        return WordFeatures.fit(texts, done) if name == WORDS else TfidfFeatures.fit(texts, done)


def transform_texts(
    features: TextFeatures, texts: Iterable[str], done: Done = _silent
) -> NDArray[np.float32]:
    """Return the points of texts by features that were learnt before."""
    texts = _checked_texts(texts)
    if isinstance(features, ModelFeatures):
        return features.transform(texts, done)
    with threadpool_limits(1):
        return features.transform(texts, done)


def fit_pictures(
    pictures: Pictures, small: Bytes, name: str, done: Done
) -> tuple[PictureFeatures, NDArray[np.float32]]:
    """Return features that were learnt from pictures, and the points of these; `small` are thumbnails."""
    from samekind.data.picture_features import HogFeatures

    if name.startswith(PREFIX):
        model = ModelFeatures.at(name.removeprefix(PREFIX))
        return model, model.of_pictures(pictures, done)
    with threadpool_limits(1):
        return HogFeatures.fit(small, done)


def transform_pictures(
    features: PictureFeatures, pictures: Pictures, small: Bytes, done: Done
) -> NDArray[np.float32]:
    """Return the points of pictures by features that were learnt before."""
    if isinstance(features, ModelFeatures):
        return features.of_pictures(pictures, done)
    with threadpool_limits(1):
        return features.transform(small, done)


def _as_list(items: Any) -> Any:
    """Return items as a list; an array of pictures as it is."""
    if isinstance(items, Path):
        raise DataError(f"items must be a list, got one path, {str(items)!r}. Use samekind.load.")
    if isinstance(items, np.ndarray) and items.ndim > 1:
        return items
    return _checked_texts(items) if isinstance(items, str | bytes) else list(items)


def _pictures_among(items: Any) -> Pictures | None:
    """Return items as pictures; None if they are texts."""
    if isinstance(items, np.ndarray):
        check_pictures(items, "items")
        return pictures_of(items)
    if not items or not all(map(_is_picture, items)):
        return None
    for row, one in enumerate(items):
        if isinstance(one, np.ndarray):
            check_pictures(one[None], f"row {row}")
    return pictures_of([Path(one).expanduser() if isinstance(one, str) else one for one in items])


def _is_picture(one: object) -> bool:
    if isinstance(one, str):
        short = len(one) <= _MOST_PATH and "\n" not in one
        return short and one.lower().endswith(SUFFIXES)
    return isinstance(one, Path | np.ndarray) or type(one).__module__.startswith("PIL.")


def _checked_texts(texts: Iterable[str] | bytes) -> list[str]:
    """Return texts as a list, if they are, and no paths of files."""
    if isinstance(texts, str | bytes):
        raise DataError(f"texts must be a list of texts, got one text, {texts[:40]!r}.")
    found = list(texts)
    for row, text in enumerate(found):
        if not isinstance(text, str):
            raise DataError(
                f"texts must all be str, got {type(text).__name__} in row {row}. Write an empty text "
                "for a missing one."
            )
        if "." in text and len(text) <= _MOST_PATH and "\0" not in text and os.path.isfile(text):
            raise DataError(
                f"texts must be texts, got the path of a file in row {row}, {text!r}. Pass what the file "
                "holds, or use samekind.load."
            )
    if not found:
        raise DataError("texts must hold at least one text, got none.")
    return found
