"""What there is to look at, before it has features: a table, a folder of pictures, or an array."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from samekind.datasets import DataError
from samekind.datasets._files import Matrix, _load, file_kind, read_matrix, read_records
from samekind.errors import no_such_column
from samekind.things._cache import Cache, digest
from samekind.things._calls import Tick
from samekind.things._cells import cell_text
from samekind.things._columns import guess_text, picture_column
from samekind.things._options import Options, absolute
from samekind.things._paths import check_name, file_hash, find_pictures, names_hash, unusable

if TYPE_CHECKING:
    from samekind.things._pictures import Pictures


@dataclass
class Source:
    """Things without features; `options` has what was found out about them filled in."""

    options: Options
    medium: str
    n: int
    fingerprint: str
    frame: pd.DataFrame | None = None
    matrix: Matrix | None = None
    pictures: Pictures | None = None
    picture_column: str | None = None
    place: Callable[[int], str] = "row {}".format
    notes: list[str] = field(default_factory=list)
    table_key: str | None = None  # under which the table may be kept
    table_notes: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        """Return the path, for messages."""
        return str(self.options.data)


def open_source(options: Options, cache: Cache, tick: Tick, *, medium: str | None) -> Source:
    """Read what is to be looked at; `medium` is what it must be, None if that is open."""
    path = options.data
    if not path.suffix and not path.exists():
        raise FileNotFoundError(f"{path} does not exist. Check the name.")
    if path.is_dir():
        source = _folder(options)
    elif path.suffix.lower() in (".npy", ".npz"):
        source = _array(options, cache, tick)
    else:
        source = _table(options, cache, tick, medium)
    if medium is not None and source.medium != medium:
        raise DataError(
            f"{path} holds things of another sort ({source.medium}) than the first ({medium})."
        )
    return source


def _folder(options: Options) -> Source:
    given = {"text": options.text, "image": options.image, "show": options.show}
    given["exclude"] = options.exclude or None
    if wrong := [name for name, value in given.items() if value is not None]:
        raise DataError(f"{options.data} is a folder of pictures: {wrong[0]} needs a table.")
    names, notes = find_pictures(options.data)
    return Source(
        options,
        "image",
        len(names),
        names_hash(options.data, names),
        frame=pd.DataFrame({"file": names}),
        pictures=pictures_of(options.data, names),
        picture_column="file",
        notes=[f"{len(names):,} picture{'s' * (len(names) != 1)} in the folder", *notes],
    )


def _array(options: Options, cache: Cache, tick: Tick) -> Source:
    path = options.data
    kind = file_kind(path)
    for name, value in (("text", options.text), ("image", options.image)):
        if value is not None:
            raise DataError(
                f"{path} is an array without named columns: {name} needs a table. To use the "
                "array as features of a table, pass the table first and the array as embeddings."
            )
    source = Source(options, "row", 0, file_hash(path))
    array: Any = None
    if kind == "npy":
        array = _load(path, lambda: np.load(path, mmap_mode="r", allow_pickle=False))
    if array is not None and array.ndim in (3, 4):
        if array.dtype != np.uint8 or 0 in array.shape or array.shape[3:] not in ((), (3,)):
            raise DataError(
                f"{path} holds an array of {array.dtype} of shape {array.shape}. Pictures must be "
                "uint8 (0 to 255) of shape (n, height, width) or (n, height, width, 3); rows must "
                "be numbers of shape (n, columns)."
            )
        source.medium, source.n = "image", len(array)
        source.pictures = pictures_of(array)
    else:
        source.matrix = read_matrix(path, kind)
        source.n = len(source.matrix.X)
    if options.show_table is not None:
        shown = _records(replace(options, data=options.show_table), None, cache, tick)
        if len(shown.frame) != source.n:
            raise DataError(
                f"{options.show_table} has {len(shown.frame):,} rows, but {path} has "
                f"{source.n:,}. Give a table with a row for each."
            )
        source.frame = shown.frame
        source.table_key, source.table_notes = shown.key, shown.notes
    return source


def _table(options: Options, cache: Cache, tick: Tick, medium: str | None) -> Source:
    path = options.data
    read = _records(options, options.text or options.image, cache, tick)
    names = [str(name) for name in read.frame.columns]
    for parameter, given in (("show", options.show or ()), ("exclude", options.exclude)):
        for name in given:
            if name not in names:
                raise no_such_column(str(path), parameter, name, names)
    notes = list(read.notes)
    if options.image is not None or medium == "image":
        return _table_of_pictures(options, read, notes)
    guess = None
    if options.text is None and medium is None:
        guess = guess_text(read.frame, options.exclude)
    if guess is not None:
        options = replace(options, text=guess)
        read = _records(options, guess, cache, tick)
        notes.append(
            f"the column {guess!r} is compared as text: it alone holds long texts, and no column "
            "holds numbers"
        )
    if options.text is not None and options.text not in names:
        raise no_such_column(str(path), "text", options.text, names)
    return Source(
        options,
        "row" if options.text is None else "text",
        len(read.frame),
        read.hash,
        frame=read.frame,
        place=read.place,
        notes=notes,
        table_key=read.key,
        table_notes=read.notes,
    )


def _table_of_pictures(options: Options, read: _Read, notes: list[str]) -> Source:
    path, image = options.data, options.image
    folder = path.parent
    if image in read.frame.columns:
        column = str(image)
    else:
        if image is not None:
            folder = absolute(image)
            if not folder.is_dir():
                names = [str(name) for name in read.frame.columns]
                raise DataError(
                    f"{no_such_column(str(path), 'image', image, names)} There is no folder of "
                    "this name, either."
                )
            options = replace(options, image=str(folder))
        column = picture_column(str(path), read.frame, options.exclude)
        notes.append(f"pictures are named in the column {column!r}")
    files = [cell_text(value) for value in read.frame[column]]
    for row, file in enumerate(files):
        if not file:
            raise DataError(
                f"{path}: the column {column!r} names no picture in {read.place(row)}. Name one, "
                "or remove the row."
            )
        try:
            check_name(folder, file)
        except DataError as error:
            raise unusable(file, error) from None
    return Source(
        options,
        "image",
        len(files),
        digest(table=read.hash, files=names_hash(folder, files)),
        frame=read.frame,
        pictures=pictures_of(folder, files),
        picture_column=column,
        place=read.place,
        notes=notes,
        table_key=read.key,
        table_notes=read.notes,
    )


@dataclass
class _Read:
    frame: pd.DataFrame
    place: Callable[[int], str]
    notes: list[str]
    hash: str
    key: str | None


def _records(options: Options, exact: str | None, cache: Cache, tick: Tick) -> _Read:
    """Read a table, or take it from the cache; texts such as "NA" stay in the column `exact`."""
    path = options.data
    kind = file_kind(path)
    if kind in ("npy", "npz"):
        raise DataError(f"{path} is an array. To show rows, give a table such as a CSV file.")
    content = file_hash(path)
    key = digest(table=content, kind=kind, header=options.header, exact=exact)
    kept = cache.table(key)
    if kept is not None:
        return _Read(kept[0], "row {}".format, kept[1], content, key)
    tick("reading", 0, 1)
    records = read_records(path, kind, header=options.header, labels=exact)
    tick("reading", 1, 1)
    keep = None if kind == "parquet" else key
    return _Read(records.frame, records.place, records.notes, content, keep)


def pictures_of(where: Any, names: list[str] | None = None) -> Pictures:
    """Return the pictures of a folder with these names, or of an array."""
    try:
        from samekind.things._pictures import ArrayPictures, FilePictures
    except ImportError as error:
        raise DataError("pictures need Pillow. Install it: pip install 'samekind[web]'.") from error
    assert isinstance(where, Path | np.ndarray)
    return (
        ArrayPictures(where) if isinstance(where, np.ndarray) else FilePictures(where, names or [])
    )
