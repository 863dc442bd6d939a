"""The names that `features` may have, and what "auto" stands for."""

from __future__ import annotations

from samekind.data.model_features import PREFIX, model_place
from samekind.data.word_vectors import INSTALL, has_word_vectors
from samekind.errors import DataError, Parameter

__all__ = ["AUTO", "HOG", "PLAIN", "WORDS", "check_features", "resolve_features", "spelling_hint"]

AUTO = "auto"
PLAIN = "plain"
WORDS = "words"
HOG = "hog"
_FOR = {WORDS: "text", PLAIN: "text", HOG: "image"}  # the medium that each is for
_CHOICES = f"auto, words or plain (texts), hog (pictures), or {PREFIX}NAME_OR_FOLDER"
_HINT = f"; with {INSTALL} they would also be compared by what their words mean"


def spelling_hint() -> str:
    """Say what the extra ``text`` would bring, where it is not installed."""
    return "" if has_word_vectors() else _HINT


def check_features(features: object) -> None:
    """Refuse what names no features."""
    if not isinstance(features, str) or not (
        features in (AUTO, *_FOR) or features.startswith(PREFIX)
    ):
        raise DataError(Parameter("features"), f" must be {_CHOICES}, got {features!r}.")


def resolve_features(features: str, medium: str) -> str:
    """Return the features that items of a medium ("text", "image" or "row") are compared by.

    Rows have only their own, "auto". The name of a model's folder becomes absolute.

    Examples
    --------
    >>> resolve_features("auto", "image"), resolve_features("plain", "text")
    ('hog', 'plain')
    """
    check_features(features)
    if medium == "row":
        if features != AUTO:
            raise DataError(
                Parameter("features"),
                f" must be auto where rows of numbers are compared, got {features!r}. To compare texts or "
                "pictures, name their column with ",
                *(Parameter("text"), " or ", Parameter("image"), "."),
            )
        return AUTO
    if _FOR.get(features, medium) != medium:
        what = {"text": "texts", "image": "pictures"}
        raise DataError(
            Parameter("features"),
            f" must be for {what[medium]} here, and {features!r} is for {what[_FOR[features]]}. They can "
            f"be {_CHOICES}.",
        )
    if features.startswith(PREFIX):
        return PREFIX + model_place(features)
    if features != AUTO:
        return features
    if medium == "image":
        return HOG
    return WORDS if has_word_vectors() else PLAIN
