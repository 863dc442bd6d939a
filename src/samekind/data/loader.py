"""Load items from a file or folder, with features from the cache if they are there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from samekind.data.cache import Cache, State, digest
from samekind.data.columns import ColumnUse, labels_of
from samekind.data.embedding_files import read_embeddings
from samekind.data.feature_names import AUTO, resolve_features
from samekind.data.features import Made, features_from, make_features, state_of_features
from samekind.data.items import Items, Labels
from samekind.data.model_features import is_of_other_model
from samekind.data.options import DEMO, LoadOptions, absolute
from samekind.data.picture_paths import UnusablePicturesError
from samekind.data.readers import Array
from samekind.data.sources import Source, open_source, pictures_of
from samekind.data.tables import FrameTable, Tick, silent
from samekind.errors import DataError, Parameter

if TYPE_CHECKING:
    from samekind.data.features import Features
    from samekind.data.records.kinds import Compare
    from samekind.data.records.rules import Block

__all__ = ["demo_items", "load", "load_new"]


def load(
    data: str | Path,
    *,
    text: str | None = None,
    image: str | Path | None = None,
    labels: str | None = None,
    columns: str | Sequence[str] | None = None,
    exclude: str | Sequence[str] = (),
    show: str | Path | Sequence[str] | None = None,
    embeddings: str | Path | None = None,
    header: bool = True,
    sheet: str | None = None,
    standardize: bool = True,
    image_shape: Sequence[int] | None = None,
    features: str = AUTO,
    records: bool | str = False,
    compare: Compare = None,
    block: Block = None,
    other: str | Path | Sequence[str | Path] | None = None,
    cache: str | Path | None = None,
    progress: Tick | None = None,
) -> Items:
    r"""Load items to cluster from a file or folder: their features, and what a person sees of them.

    Rows of a table are compared by its numbers and by its categories, which are columns of at most 20
    different texts, one-hot encoded. Columns of more texts, dates, lists, and a column that only numbers
    the rows are left out; `notes` say what became of every column. Where most columns would be left out,
    an error asks which to use. A missing number is taken to be the median of its column, a missing category
    is one of its own. An infinite value, or a text in a column of numbers, is an error that names its place.
    Folders of Parquet files, and ``.npy`` and Parquet files from 1 GiB on, are not loaded: their features
    are written to an array file beside the project with `cache`, else to a temporary one.

    Parameters
    ----------
    data : str or Path
        A table (CSV, TSV, JSON lines, JSON, Excel, Parquet), a folder of Parquet files or a pattern such
        as ``"data/*.parquet"``, a folder of pictures, or an array (``.npy``, ``.npz``): numbers, or
        pictures of shape (n, h, w) of uint8. Text formats may be compressed (``.csv.gz``, ``.bz2``,
        ``.xz``) and must be UTF-8; CSV may be separated by commas, semicolons, tabs or bars.
    text : str, default=None
        The column of a table that holds the texts to compare. Without, a table's numbers and categories
        are compared, unless it has but one column of long texts.
    image : str or Path, default=None
        The column that names a picture for each row, relative to the table's folder; or the folder that
        the names of the one column that holds such names are relative to.
    labels : str, default=None
        The column that holds the labels; it never becomes a feature and is not shown. In a ``.npz``, the
        name of an array. The columns of an array without names are x0, x1, ….
    columns : sequence of str, default=None
        The columns to use; None uses all that can be.
    exclude : sequence of str, default=()
        Columns that are no features.
    show : sequence of str, or Path, default=None
        Columns that a person sees; all by default. Beside an array: a table with a row for each.
    embeddings : str or Path, default=None
        A file of features to use instead, as they are, with a row for each item: an array, or Parquet
        with one column of lists, or columns of numbers alone.
    header : bool, default=True
        Whether the first line of a CSV, TSV or Excel file holds the names of the columns.
    sheet : str, default=None
        The sheet of an Excel file; the first by default.
    standardize : bool, default=True
        Whether to give each column mean 0 and variance 1; the variances of the one-hot columns of one
        category add up to 1, so that it weighs as much as a number. Constant columns become 0.
    image_shape : (int, int), default=None
        Rows are grey pictures of that height and width, line by line; they are not standardised.
    features : str, default="auto"
        What texts and pictures are compared by. Texts: "words", mean word vectors beside words and parts
        of words (needs the extra ``text``), or "plain", words and parts of words alone; pictures: "hog",
        shapes, colours and texture. Both: ``"sentence-transformers:NAME_OR_FOLDER"``, a model (needs the
        extra ``models``). "auto" takes the first that is installed.
    records : bool or "auto", default=False
        Rows are records that may be duplicates: of people, firms, papers. Then pairs of them that may be
        one are compared field by field, for ``algorithm="records"``. "auto" takes a table for one if it
        looks so; `notes` say it.
    compare : str, default=None
        The fields of records that are compared and what they hold: ``"surname:name,birth:date"``. Known are
        name, address, code, date, number, set, text, meaning and category. By default all, as they look.
    block : str, default=None
        Compare only records that agree in these columns: ``"postcode"``; ``"postcode,surname+birth"`` in the
        one, or in both of the others.
    other : str, Path or sequence of them, default=None
        Further files of records to link with the first, each without duplicates of its own. Where columns
        are called differently, ``columns=["surname=last_name"]`` says which are the same.
    cache : str or Path, default=None
        The project beside which features are kept: those of ``mine.db`` in ``mine.features.npy``.
    progress : callable, default=None
        Called with a stage ("reading", "features"), how much of it is done, and of how much.

    Returns
    -------
    items : Items
        What `samekind.solve`, `samekind.Session` and the estimator take as X.

    Raises
    ------
    DataError
        A ValueError whose message says what is wrong, where, and what to do.
    FileNotFoundError
        If there is no such file.

    Examples
    --------
    >>> import pathlib, tempfile, samekind
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> path = folder / "messages.csv"
    >>> _ = path.write_text("id,message\n1,Where is my card?\n2,Is my card lost?\n3,Good morning\n")
    >>> items = samekind.load(path, text="message")
    >>> items.show(0)
    ItemView(row=0, title='row 0', text='Where is my card?', fields=[('id', '1')], ...)
    >>> bool(items.X[0] @ items.X[1] > items.X[0] @ items.X[2])
    True

    >>> path = folder / "flowers.csv"
    >>> _ = path.write_text("name,height,colour,kind\n"
    ...                     "Ann,1,red,rose\nBob,2,red,rose\nCyd,3,blue,iris\n")
    >>> items = samekind.load(path, labels="kind", standardize=False)
    >>> items.feature_names, items.X[0].tolist(), items.labels.tolist()
    (['height', 'colour=blue', 'colour=red'], [1.0, 0.0, 1.0], ['rose', 'rose', 'iris'])
    >>> for note in items.notes:
    ...     print(note)
    1 numeric column kept
    column 'colour' one-hot encoded into 2 columns
    column 'name' left out: 3 different texts in 3 rows
    """
    if str(data) == DEMO:
        return demo_items(features)
    options = LoadOptions(
        data=Path(data),
        text=text,
        image=image,  # type: ignore[arg-type]
        labels=labels,
        columns=columns,
        exclude=exclude,
        show=show,  # type: ignore[arg-type]
        embeddings=embeddings,  # type: ignore[arg-type]
        header=header,
        sheet=sheet,
        standardize=standardize,
        image_shape=image_shape,
        features=features,
        records=records,
        compare=compare,  # type: ignore[arg-type]
        block=block,
        other=other,  # type: ignore[arg-type]
    )
    tick = silent if progress is None else progress
    kept = Cache(None if cache is None else absolute(cache))
    with _plain_errors():
        source = open_source(options, tick)
        if options.embeddings is None and source.options.records is not True:
            chosen = resolve_features(options.features, source.medium)
            source.options = replace(source.options, features=chosen)
        if source.n < 2:
            raise DataError(
                f"{source.name} has only one row, but finding kinds takes at least two. Add more."
            )
        if kept.prefix is None:
            return _items(source, _made(source, tick))
        if source.is_streamed:
            source.array_file = kept.path("features.npy")
        key = _key_of(source)
        return _from_cache(source, kept, key) or _kept(source, kept, key, tick)


def load_new(
    first: Items, data: str | Path, *, embeddings: str | Path | None, progress: Tick | None
) -> Items:
    """Load items with the features of the first ones."""
    tick = silent if progress is None else progress
    if first.is_records:
        raise DataError(
            "new records are compared with all others: add them to the file, and load it again."
        )
    known = first.features
    if known is None and embeddings is None:
        raise DataError(
            "the first items were loaded with embeddings: pass ",
            Parameter("embeddings"),
            " of the new ones, too, made by the same model.",
        )
    if known is not None and embeddings is not None:
        raise DataError(
            "the first items were loaded without embeddings: leave them out for the new ones."
        )
    path = Path(data).expanduser()
    before = first.options
    forgotten = dict.fromkeys(("labels", "columns", "show", "sheet"))
    given = {"data": path, "exclude": (), "embeddings": embeddings}
    options = replace(before, **forgotten, **given)  # type: ignore[arg-type]
    # New pictures may come in another form.
    if path.is_dir() or options.is_array:
        options = replace(options, text=None, image=None)
    with _plain_errors():
        medium = "row" if before.image_shape is not None else first.medium
        source = open_source(options, tick, medium=medium)
        source.options = replace(source.options, show=before.show)
        made = _made(source, tick, known, len(first.feature_names))
    return _items(source, made, has_recipe=False)


def demo_items(features: str = AUTO) -> Items:
    """Return scikit-learn's digits, 1,797 pictures of 8 × 8 pixels.

    Examples
    --------
    >>> from samekind.data import demo_items
    >>> demo_items()
    Items('digits': 1,797 × image, 64 features)
    """
    from samekind.datasets import load_digits

    X, _ = load_digits(return_X_y=True)
    pixels = np.rint(X.reshape(-1, 8, 8) * (255 / 16)).astype(np.uint8)
    options = LoadOptions(Path("digits"), features=resolve_features(features, "image"))
    source = Source(options, "image", len(pixels), lambda: DEMO, pictures=pictures_of(pixels))
    source.notes = ["handwritten digits of 43 people, from scikit-learn"]
    items = _items(source, make_features(source, None, silent))
    items.options = replace(options, data=Path(DEMO))
    return items


@contextmanager
def _plain_errors() -> Iterator[None]:
    """Turn errors of the system into a `DataError`."""
    try:
        yield
    except FileNotFoundError:
        raise
    except UnicodeEncodeError as error:
        raise DataError(
            f"a text holds {error.object[error.start]!r}, which is only half of a character. "
            "Correct it."
        ) from error
    except OSError as error:
        what = error.filename or "the data"
        raise DataError(
            f"{what} cannot be read ({error.strerror or error}). Check its permissions, and that it "
            "is a plain file."
        ) from error


def _items(source: Source, made: Made, *, has_recipe: bool = True) -> Items:
    labels = _labels(source)
    return Items(source, made, labels=labels, features=lambda: made.features, has_recipe=has_recipe)


def _labels(source: Source) -> Labels | None:
    """Return the labels of a source, none of them missing."""
    name, table = source.options.labels, source.table
    if name is None:
        return None
    if table is None:
        raise DataError(
            f"{source.name} has pictures only: ", Parameter("labels"), " needs a table."
        )
    if name in source.others:  # an array beside that of the points
        values = source.others[name]
        if values.shape != (table.n,):
            raise DataError(
                f"{table.name}: the array {name!r} has shape {values.shape}; labels must be one for "
                f"each of the {table.n:,} points."
            )
        table = FrameTable.of_array(table.name, values[:, None], [name])
    return labels_of(table, name, coded=source.is_streamed)


def _made(source: Source, tick: Tick, known: Features | None = None, d: int | None = None) -> Made:
    if source.options.records is True:
        from samekind.data.records.loading import made_of_records

        return made_of_records(source, tick)
    embeddings = source.options.embeddings
    if embeddings is None:
        try:
            return make_features(source, known, tick)
        except UnusablePicturesError as error:
            fewest = 2 if known is None else 1
            if not source.may_leave_out or source.n - len(error.broken) < fewest:
                raise
            source.leave_out(error.broken)
            return make_features(source, known, tick)
    images = make_features(source, None, tick, only_pictures=True).images
    return _given(embeddings, source.n, images, d)


def _given(path: Path, n: int, images: Array | None, d: int | None = None) -> Made:
    X, names = read_embeddings(path, n, d)
    return Made(X, names, images=images, notes=[f"features taken from {path.name}"])


def _key_of(source: Source) -> str:
    """Return the key of all that features depend on."""
    asked = source.options.recipe() | {"data": source.fingerprint(), "show": None}
    embeddings = source.options.embeddings
    asked["embeddings"] = embeddings and embeddings.name
    return digest(medium=source.medium, pictures=source.picture_column, **asked)


def _from_cache(source: Source, cache: Cache, key: str) -> Items | None:
    if not cache.has(key) or is_of_other_model(cache.about.get("transform") or {}):
        return None
    embeddings = source.options.embeddings
    try:
        source.leave_out([(str(name), str(why)) for name, why in cache.about.get("left_out", [])])
        names, notes = cache.texts("names"), cache.texts("notes")
        if source.options.records is True:
            from samekind.data.records.loading import records_from_cache

            of_records = records_from_cache(source, cache)
            return None if of_records is None else _items(source, of_records)
        made = Made(cache.array("features"), names, images=cache.array("images"), notes=notes)
        made.digests = cache.array("digests")
        made.columns = [ColumnUse.from_json(kept) for kept in cache.about.get("columns", [])]
        if embeddings is not None:
            made = _given(embeddings, source.n, made.images)
        elif made.X is None or made.X.shape != (source.n, len(names)):
            return None
    except (OSError, KeyError, TypeError, EOFError):  # damaged, or written by something else
        return None

    def features() -> Features | None:
        if embeddings is not None:
            return None
        state = cache.state()
        if state is None:
            raise DataError(
                f"the features kept beside {cache.prefix} were written anew. Open it again."
            )
        return features_from(state)

    if source.options.image_shape is not None:
        source.medium = "image"
    return Items(source, made, labels=_labels(source), features=features, has_recipe=True)


def _kept(source: Source, cache: Cache, key: str, tick: Tick) -> Items:
    """Compute features, and keep them; a mapped array of the user's is as good as a kept one."""
    made = _made(source, tick)
    own = source.options.embeddings is None
    if source.is_streamed and made.X is getattr(source.table, "array", None):
        return _items(source, made)
    items = _items(source, made)
    arrays = {"features": made.X if own else None, "images": made.images, "digests": items.digests}
    if source.options.records is True:
        from samekind.data.records.loading import arrays_of_records

        arrays |= arrays_of_records(made)
    state: State | None = None if made.features is None else state_of_features(made.features)
    about = {
        "key": key,
        "names": made.names if own else [],
        "notes": made.notes,
        "left_out": source.left_out,
        "columns": [asdict(column) for column in made.columns],
    }
    try:
        cache.keep(about, {n: a for n, a in arrays.items() if a is not None}, state)
    except OSError as error:
        items.notes.append(f"features are not kept for the next time ({error.strerror or error})")
    return items
