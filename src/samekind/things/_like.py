"""New things with the features of others."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from samekind.datasets import DataError
from samekind.things._cache import Cache
from samekind.things._calls import Tick, ignore, plain_errors
from samekind.things._options import ARRAYS, absolute
from samekind.things._source import open_source
from samekind.things._things import Things
from samekind.things._transforms import make_features, read_embeddings


def load_like(
    first: Things, data: str | Path, *, embeddings: str | Path | None, progress: Tick | None
) -> Things:
    """Load things through the transform of the first ones."""
    tick = ignore if progress is None else progress
    known = first._transform()
    if known is None and embeddings is None:
        raise DataError(
            "the first things were loaded with embeddings: pass embeddings for the new ones, too, "
            "made by the same model."
        )
    if known is not None and embeddings is not None:
        raise DataError(
            "the first things were loaded without embeddings: leave them out for the new ones."
        )
    path = absolute(data)
    options = replace(
        first._options,
        data=path,
        show=None,
        show_table=None,
        exclude=(),
        embeddings=None if embeddings is None else absolute(embeddings),
    )
    if path.is_dir() or path.suffix.lower() in ARRAYS:  # new pictures may come in another form
        options = replace(options, text=None, image=None)
    with plain_errors():
        source = open_source(options, Cache(None), tick, medium=first.medium)
        source.options = replace(source.options, show=first._options.show)
        made = make_features(source, known, tick, only_pictures=known is None)
        if options.embeddings is not None:
            made.X, _ = read_embeddings(options.embeddings, source.n, first.X.shape[1])
        made.notes = source.notes + made.notes
    return Things(source, made, first.feature_names, transform=lambda: known, recipe=None)
