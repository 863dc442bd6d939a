"""Texts as points: what `samekind.embed`, the commands and whoever passes texts as X use."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from samekind.data.feature_names import AUTO, WORDS, resolve_features
from samekind.data.model_features import PREFIX, ModelFeatures
from samekind.data.text_features import Done, TfidfFeatures
from samekind.data.text_inputs import checked_texts
from samekind.data.word_features import WordFeatures

if TYPE_CHECKING:
    TextFeatures: TypeAlias = TfidfFeatures | WordFeatures | ModelFeatures

__all__ = ["embed", "fit_texts", "transform_texts"]


def embed(
    texts: Iterable[str],
    features: str = AUTO,
    *,
    fit_on: Iterable[str] | None = None,
    progress: Done | None = None,
) -> NDArray[np.float32]:
    """Return texts as points of length 1, such that similar texts are close to each other.

    Parameters
    ----------
    texts : iterable of str
        The texts. An empty one becomes a row of zeros, unless a model says otherwise.
    features : str, default="auto"
        "words": mean word vectors beside words and parts of words (needs the extra ``text``); "plain":
        words and parts of words alone (TF-IDF, truncated SVD); "auto": "words" if it is installed, else
        "plain"; ``"sentence-transformers:NAME_OR_FOLDER"``: a model (needs the extra ``models``).
    fit_on : iterable of str, default=None
        The texts that words are counted in; by default `texts` themselves. To compare new texts with
        earlier ones, pass the earlier ones. Models do not need it.
    progress : callable, default=None
        Called with the share that is done, from 0 to 1.

    Returns
    -------
    X : ndarray of shape (n, d), float32

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
    wanted = checked_texts(texts)
    done = _silent if progress is None else progress
    if fit_on is None:
        return fit_texts(wanted, features, done)[1]
    fitted, _ = fit_texts(fit_on, features)
    return transform_texts(fitted, wanted, done)


def _silent(share: float) -> None:
    """Tell nobody."""


def fit_texts(
    texts: Iterable[str], features: str = AUTO, done: Done = _silent
) -> tuple[TextFeatures, NDArray[np.float32]]:
    """Return features that were learnt from texts, and the points of these."""
    texts, name = checked_texts(texts), resolve_features(features, "text")
    if name.startswith(PREFIX):
        model = ModelFeatures.at(name.removeprefix(PREFIX))
        return model, model.transform(texts, done)
    with threadpool_limits(1):  # the threads of linear algebra would change the last digits
        return WordFeatures.fit(texts, done) if name == WORDS else TfidfFeatures.fit(texts, done)


def transform_texts(
    features: TextFeatures, texts: Iterable[str], done: Done = _silent
) -> NDArray[np.float32]:
    """Return the points of texts by features that were learnt before."""
    texts = checked_texts(texts)
    if isinstance(features, ModelFeatures):
        return features.transform(texts, done)
    with threadpool_limits(1):
        return features.transform(texts, done)
