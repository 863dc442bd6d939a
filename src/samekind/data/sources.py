"""What a path holds, before it has features: a table, a folder of pictures, or an array."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from samekind.data.cache import Cache, digest
from samekind.data.columns import guess_text, picture_column
from samekind.data.dask_table import DaskTable
from samekind.data.files import (
    PARQUET_SUFFIXES,
    Array,
    file_format,
    map_array,
    no_such_file,
    plain_place,
    read_matrix,
    read_records,
)
from samekind.data.options import LoadOptions, absolute
from samekind.data.parquet_table import LARGE, ParquetTable, is_large
from samekind.data.picture_paths import (
    check_name,
    file_hash,
    find_pictures,
    has_pictures,
    names_hash,
    unusable,
)
from samekind.data.tables import ArrayTable, FrameTable, Table, Tick
from samekind.data.views import cell_text
from samekind.errors import DataError, no_such_column
from samekind.points.sources.parquet_files import find_files, is_pattern

if TYPE_CHECKING:
    from distributed import Client

    from samekind.data.pictures import Pictures

__all__ = ["Source", "open_source", "pictures_of"]


@dataclass
class Source:
    """Items without features; `options` has what was found out about them filled in."""

    options: LoadOptions
    medium: str
    n: int
    fingerprint: Callable[[], str]
    """Returns a text that changes when the data do."""
    table: Table | None = None
    frame: pd.DataFrame | None = None
    """The rows to show, where they are in memory."""
    pictures: Pictures | None = None
    picture_column: str | None = None
    others: dict[str, Array] = field(default_factory=dict)
    """Further arrays of the same file."""
    is_streamed: bool = False
    """Whether rows stay in their files."""
    table_key: str | None = None
    """Under which the table may be kept."""
    notes: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The path, for messages."""
        return self.options.name


def open_source(options: LoadOptions, cache: Cache, tick: Tick, *, medium: str | None) -> Source:
    """Open what a path names; `medium` is what it must be, None if that is open."""
    path = options.data
    if is_pattern(path) or (path.is_dir() and not _is_folder_of_pictures(path)):
        source = _tables(options, find_files(absolute(path)), tick, medium)
    elif path.is_dir():
        source = _folder(options)
    elif not path.suffix and not path.exists():
        raise no_such_file(path)
    elif options.is_array:
        source = _array(options, cache, tick)
    elif file_format(path) == "parquet":
        source = _tables(options, [absolute(path)], tick, medium)
    else:
        if options.stream:
            raise DataError(
                f"stream is for .npy and Parquet files, and {options.name} is neither. Write it "
                "as Parquet first, for instance with pandas.DataFrame.to_parquet."
            )
        source = _read_table(options, cache, tick, medium)
    if medium is not None and source.medium != medium:
        raise DataError(
            f"{path} holds things of another sort ({source.medium}) than the first ({medium})."
        )
    return source


def open_on_cluster(options: LoadOptions, client: Client) -> Source:
    """Open Parquet files that the workers of a Dask cluster read."""
    path = options.data
    given = {"text": options.text, "image": options.image, "embeddings": options.embeddings}
    if wrong := [name for name, value in given.items() if value is not None]:
        raise DataError(
            f"on a Dask cluster rows are compared by numbers and categories: {wrong[0]} needs rows "
            "in memory."
        )
    if path.is_file() and path.suffix.lower() not in PARQUET_SUFFIXES:
        raise DataError(
            f"a Dask cluster reads Parquet files, and {options.name} is none. Write it as "
            "Parquet first, for instance with pandas.DataFrame.to_parquet."
        )
    table = DaskTable(options.name, find_files(path), client)
    _check_named(options, table)
    hashed = digest(files=table.fingerprint)
    return Source(
        options, "row", table.n, lambda: hashed, table=table, is_streamed=True, notes=table.notes
    )


def _is_folder_of_pictures(folder: Path) -> bool:
    """Tell pictures from Parquet files; a folder without either is taken to be for pictures."""
    try:
        find_files(folder)
    except FileNotFoundError:
        return True
    if has_pictures(folder):
        raise DataError(
            f"{folder} holds both pictures and Parquet files. Name those you mean: "
            f"{folder / '*.parquet'}, or a folder of their own."
        )
    return False


def _folder(options: LoadOptions) -> Source:
    given = {"text": options.text, "image": options.image, "show": options.show}
    given |= {"exclude": options.exclude or None, "columns": options.columns}
    given |= {"labels": options.labels}
    if wrong := [name for name, value in given.items() if value is not None]:
        raise DataError(f"{options.data} is a folder of pictures: {wrong[0]} needs a table.")
    folder = absolute(options.data)
    names, notes = find_pictures(folder)
    frame = pd.DataFrame({"file": names})
    return Source(
        options,
        "image",
        len(names),
        lambda: names_hash(folder, names),
        frame=frame,
        table=FrameTable(options.name, frame),
        pictures=pictures_of(folder, names),
        picture_column="file",
        notes=[f"{len(names):,} picture{'s' * (len(names) != 1)} in the folder", *notes],
    )


def _array(options: LoadOptions, cache: Cache, tick: Tick) -> Source:
    path = options.data
    file_format(path)
    for name, value in (("text", options.text), ("image", options.image)):
        if value is not None:
            raise DataError(
                f"{path} is an array without named columns: {name} needs a table. To use the "
                "array as features of a table, pass the table first and the array as embeddings."
            )
    source = Source(options, "row", 0, lambda: file_hash(path))
    array = map_array(path) if path.suffix.lower() == ".npy" else None
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
        matrix = read_matrix(path)
        source.table = ArrayTable(options.name, matrix.X, matrix.names)
        source.others, source.n = matrix.others, len(matrix.X)
        if unused := [key for key in matrix.others if key != options.labels]:
            source.notes.append(f"not used: {', '.join(map(repr, unused))}")
        mapped = path.suffix.lower() == ".npy"
        large = matrix.X.nbytes >= LARGE if options.stream is None else options.stream
        source.is_streamed = mapped and large
    if options.shown_table is not None:
        shown = _records(LoadOptions(options.shown_table), cache, tick)
        if shown.n != source.n:
            raise DataError(
                f"{options.shown_table} has {shown.n:,} rows, but {path} has {source.n:,}. Give a "
                "table with a row for each."
            )
        source.frame, source.table_key = shown.frame, shown.key
    return source


def _tables(options: LoadOptions, files: list[Path], tick: Tick, medium: str | None) -> Source:
    """Open Parquet files: one that is small, or of texts or pictures, is read into memory."""
    table = ParquetTable(options.name, files, tick)
    whole = options.text is not None or options.image is not None or medium is not None
    if whole and options.stream:
        raise DataError(
            "stream must not be given with texts or pictures, which are compared in memory: rows that "
            "stay in their files are compared by numbers and categories."
        )
    many = len(files) > 1 or not options.data.is_file()
    stays = many or is_large(table) if options.stream is None else options.stream
    hashed = digest(files=table.fingerprint)
    if whole or not stays:
        frame = FrameTable(table.name, table.load(), table.place, table.notes)
        return _table(options, _Read(frame, hashed, None), medium)
    _check_named(options, table)
    return Source(
        options, "row", table.n, lambda: hashed, table=table, is_streamed=True, notes=table.notes
    )


def _read_table(options: LoadOptions, cache: Cache, tick: Tick, medium: str | None) -> Source:
    read = _records(options, cache, tick)
    source = _table(options, read, medium)
    if source.medium == "text" and options.text is None:  # there, "NA" is a text
        again = _records(source.options, cache, tick)
        source = replace(source, frame=again.frame, table=again.table, table_key=again.key)
    return source


def _table(options: LoadOptions, read: _Read, medium: str | None) -> Source:
    _check_named(options, read.table)
    notes = list(read.table.notes)
    if options.image is not None or medium == "image":
        return _table_of_pictures(options, read, notes)
    hidden = {*options.exclude, options.labels or ""}
    guess = None
    if options.text is None and medium is None and options.columns is None:
        guess = guess_text(read.frame, hidden)
    if guess is not None:
        options = replace(options, text=guess)
        notes.append(
            f"the texts in {guess!r} are compared: that column alone holds long texts, and none holds "
            "numbers"
        )
    return Source(
        options,
        "row" if options.text is None else "text",
        read.n,
        lambda: read.hash,
        table=read.table,
        frame=read.frame,
        notes=notes,
        table_key=read.key,
    )


def _check_named(options: LoadOptions, table: Table) -> None:
    """Refuse names of columns that are not there."""
    one = [("text", options.text), ("labels", options.labels)]
    named = [(parameter, (name,)) for parameter, name in one if name is not None]
    for parameter, names in [*named, ("show", options.show or ()), ("exclude", options.exclude)]:
        for name in names:
            if name not in table.columns:
                raise no_such_column(table.name, parameter, name, table.columns)


def _table_of_pictures(options: LoadOptions, read: _Read, notes: list[str]) -> Source:
    path, image, table = options.data, options.image, read.table
    folder = absolute(path).parent
    if image in table.columns:
        column = str(image)
    else:
        if image is not None:
            folder = absolute(image)
            if not folder.is_dir():
                raise DataError(
                    f"{no_such_column(table.name, 'image', image, table.columns)} There is no folder "
                    "of this name, either."
                )
            options = replace(options, image=str(folder))
        column = picture_column(table.name, read.frame, {*options.exclude, options.labels or ""})
        notes.append(f"pictures are named in the column {column!r}")
    files = [cell_text(value) for value in read.frame[column]]
    for row, file in enumerate(files):
        if not file:
            raise DataError(
                f"{table.name}: the column {column!r} names no picture in {table.place(row)}. Name "
                "one, or remove the row."
            )
        try:
            check_name(folder, file)
        except DataError as error:
            raise unusable(file, error) from None
    return Source(
        options,
        "image",
        len(files),
        lambda: digest(table=read.hash, files=names_hash(folder, files)),
        table=table,
        frame=read.frame,
        pictures=pictures_of(folder, files),
        picture_column=column,
        notes=notes,
        table_key=read.key,
    )


@dataclass
class _Read:
    """A table in memory, a hash of its file, and the key under which it may be kept."""

    table: FrameTable
    hash: str
    key: str | None

    @property
    def frame(self) -> pd.DataFrame:
        return self.table.frame

    @property
    def n(self) -> int:
        return self.table.n


def _records(options: LoadOptions, cache: Cache, tick: Tick) -> _Read:
    """Read a table, or take it from the cache."""
    path = options.data
    form = file_format(path)
    name = options.name
    if form in ("npy", "npz"):
        raise DataError(f"{path} is an array. To show rows, give a table such as a CSV file.")
    if form == "parquet":
        files = ParquetTable(name, [path], tick)
        return _Read(FrameTable(name, files.load()), digest(files=files.fingerprint), None)
    # Texts such as "NA" stay what they are where texts are compared, and in labels.
    exact = [text for text in (options.text, options.image, options.labels) if text is not None]
    content = file_hash(path) if cache.prefix is not None else ""
    reading = {"header": options.header, "sheet": options.sheet, "exact": exact}
    key = digest(table=content, form=form, **reading)
    kept = cache.table(key)
    if kept is not None:
        return _Read(FrameTable(name, kept[0], plain_place, kept[1]), content, key)
    tick("reading", 0, 1)
    read = read_records(path, form, header=options.header, sheet=options.sheet, exact=exact)
    tick("reading", 1, 1)
    return _Read(FrameTable(name, read.frame, read.place, read.notes), content, key)


def pictures_of(where: Path | Array, names: list[str] | None = None) -> Pictures:
    """Return the pictures of a folder with these names, or of an array."""
    try:
        from samekind.data.pictures import ArrayPictures, FilePictures
    except ImportError as error:
        raise DataError("pictures need Pillow. Install it: pip install 'samekind[web]'.") from error
    if isinstance(where, np.ndarray):
        return ArrayPictures(where)
    return FilePictures(where, names or [])
