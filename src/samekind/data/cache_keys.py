"""Under which keys features are kept: all that they depend on."""

from __future__ import annotations

from samekind.data.cache import BEFORE, digest
from samekind.data.feature_names import PLAIN
from samekind.data.picture_sources import Source

__all__ = ["key_before", "key_of"]


def key_of(source: Source) -> str:
    """Return the key of all that features depend on."""
    asked = source.options.recipe() | {"data": source.fingerprint(), "show": None, "stream": None}
    embeddings = source.options.embeddings
    asked["embeddings"] = embeddings and embeddings.name
    if asked.get("features") == PLAIN:  # as before features had names
        del asked["features"]
    return digest(medium=source.medium, pictures=source.picture_column, **asked)


def key_before(source: Source) -> str:
    """Return the key of features that an earlier version kept, so that its projects can be opened."""
    options = source.options
    return digest(
        format=BEFORE,
        source=source.fingerprint(),
        medium=source.medium,
        text=options.text,
        pictures=source.picture_column,
        exclude=sorted(options.exclude),
        embeddings=options.embeddings and options.embeddings.name,
        header=options.header,
    )
