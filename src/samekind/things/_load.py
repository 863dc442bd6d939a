"""Load things from a file or folder; their features from the cache, if they are there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from samekind.datasets import DataError
from samekind.things._cache import Cache, digest
from samekind.things._calls import Tick, ignore, plain_errors
from samekind.things._options import DEMO, Options, absolute
from samekind.things._source import Source, open_source
from samekind.things._things import Things
from samekind.things._transforms import (
    Made,
    Transform,
    make_features,
    read_embeddings,
    restore,
)


def load_things(
    data: str | Path,
    *,
    text: str | None = None,
    image: str | Path | None = None,
    show: str | Path | Sequence[str] | None = None,
    exclude: str | Sequence[str] | None = None,
    embeddings: str | Path | None = None,
    header: bool = True,
    cache: str | Path | None = None,
    progress: Tick | None = None,
) -> Things:
    r"""Load things to look at, and compute their features.

    Parameters
    ----------
    data : str or Path
        A table (CSV, TSV, Parquet, JSON lines), a folder of pictures, or an array (``.npy``,
        ``.npz``): features, or pictures of shape (n, h, w) of uint8.
    text : str, default=None
        The column of a table that holds the texts to compare. Without, a table's numbers and
        categories are compared, unless it has but one column of long texts.
    image : str or Path, default=None
        The column that names a picture for each row, relative to the table's folder; or the folder
        that the names of the one column that holds such names are relative to.
    show : sequence of str, or Path, default=None
        Columns that a person sees; all by default. Beside an array: a table with a row for each.
    exclude : sequence of str, default=None
        Columns that are no features.
    embeddings : str or Path, default=None
        An array of features to use instead, as it is, with a row for each thing.
    header : bool, default=True
        Whether the first line of a CSV or TSV file holds the names of the columns.
    cache : str or Path, default=None
        The project beside which features are kept: those of ``mine.db`` in ``mine.features.npy``.
    progress : callable, default=None
        Called with a stage ("reading", "features"), how much of it is done, and of how much.

    Returns
    -------
    things : Things

    Raises
    ------
    DataError
        A ValueError whose message says what is wrong, and what to do.
    FileNotFoundError
        If there is no such file.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from samekind.things import load_things
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "messages.csv"
    >>> _ = path.write_text("id,message\n1,Where is my card?\n2,Is my card lost?\n3,Good morning\n")
    >>> things = load_things(path, text="message")
    >>> things.show(0)
    Shown(row=0, title='row 0', text='Where is my card?', fields=[('id', '1')], has_picture=False)
    >>> bool(things.X[0] @ things.X[1] > things.X[0] @ things.X[2])
    True
    """
    if str(data) == DEMO:
        from samekind.things._demo import demo_things

        return demo_things()
    options = Options.make(
        data,
        text=text,
        image=image,
        show=show,
        exclude=exclude,
        embeddings=embeddings,
        header=header,
    )
    tick = ignore if progress is None else progress
    kept = Cache(None if cache is None else absolute(cache))
    with plain_errors():
        source = open_source(options, kept, tick, medium=None)
        if source.n < 2:
            raise DataError(
                f"{source.name} has only one row, but finding kinds takes at least two. Add more."
            )
        key = digest(
            source=source.fingerprint,
            medium=source.medium,
            text=source.options.text,
            pictures=source.picture_column,
            exclude=sorted(source.options.exclude),
            embeddings=source.options.embeddings and source.options.embeddings.name,
            header=source.options.header,
        )
        things = _from_cache(source, kept, key)
        return things if things is not None else _computed(source, kept, key, tick)


def _from_cache(source: Source, cache: Cache, key: str) -> Things | None:
    if not cache.has(key):
        return None
    try:
        made = Made(cache.array("features"), None, cache.array("images"), cache.about["notes"])
        if source.options.embeddings is None:
            X = made.X
            names = cache.about["names"]
            if X is None or X.shape != (source.n, len(names)):
                return None
        else:
            made.X, names = read_embeddings(source.options.embeddings, source.n)
    except (OSError, KeyError, TypeError, EOFError):  # damaged, or written by something else
        return None

    def transform() -> Transform | None:
        if source.options.embeddings is not None:
            return None
        state = cache.transform()
        if state is None:
            raise DataError(
                f"the features kept beside {cache.prefix} were written anew. Open it again."
            )
        return restore(*state)

    recipe = source.options.recipe()
    return Things(source, made, names, transform=transform, recipe=recipe)


def _computed(source: Source, cache: Cache, key: str, tick: Tick) -> Things:
    embeddings = source.options.embeddings
    if embeddings is None:
        made = make_features(source, None, tick, only_pictures=False)
        assert made.transform is not None
        names = made.transform.names
    else:
        X, names = read_embeddings(embeddings, source.n)
        made = make_features(source, None, tick, only_pictures=True)
        made = replace(made, X=X, notes=[f"features taken from {embeddings.name}"])
    made.notes = source.notes + made.notes
    arrays = {"features": made.X if embeddings is None else None, "images": made.images}
    about, state = ({}, {}) if made.transform is None else made.transform.state()
    try:
        cache.keep(
            {
                "key": key,
                "names": names if embeddings is None else [],
                "notes": made.notes,
                "transform": about,
                "table_key": source.table_key,
                "table_notes": source.table_notes,
            },
            {name: array for name, array in arrays.items() if array is not None},
            state,
            source.frame if source.table_key is not None else None,
        )
    except OSError as error:
        made.notes.append(f"features are not kept for the next time ({error.strerror or error})")
    recipe = source.options.recipe()
    return Things(source, made, names, transform=lambda: made.transform, recipe=recipe)
