"""Texts that somebody passes as X."""

from __future__ import annotations

from collections.abc import Iterable

from samekind.errors import DataError

__all__ = ["are_texts", "checked_texts"]


def are_texts(X: object) -> bool:
    """Whether X is a list or another one-dimensional collection of texts; a single text is a path.

    Examples
    --------
    >>> are_texts(["a", "b"]), are_texts([["1.5"]]), are_texts("a.csv"), are_texts([1.5])
    (True, False, False, False)
    """
    if isinstance(X, list | tuple):
        return len(X) > 0 and isinstance(X[0], str)
    kind = getattr(getattr(X, "dtype", None), "kind", "")
    if getattr(X, "ndim", 0) != 1 or kind not in "OUT" or not len(X):  # type: ignore[arg-type]
        return False
    return isinstance(next(iter(X)), str)  # type: ignore[call-overload]


def checked_texts(texts: Iterable[str]) -> list[str]:
    """Return texts as a list, if they are."""
    if isinstance(texts, str | bytes):
        raise DataError(f"texts must be a list of texts, got one text, {texts[:40]!r}.")
    found = list(texts)
    for row, text in enumerate(found):
        if not isinstance(text, str):
            raise DataError(
                f"texts must all be str, got {type(text).__name__} in row {row}. Write an empty text "
                "for a missing one."
            )
    if not found:
        raise DataError("texts must hold at least one text, got none.")
    return found
