"""What a path holds, before it has features: a table, an array, or pictures."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from samekind.data.cache import digest
from samekind.data.columns import guess_text, picture_column
from samekind.data.options import LoadOptions, absolute
from samekind.data.picture_paths import check_name, file_hash, find_pictures, has_pictures, unusable
from samekind.data.readers import (
    Array,
    check_table,
    file_format,
    map_array,
    read_matrix,
    read_records,
)
from samekind.data.tables import (
    FrameTable,
    ParquetTable,
    Table,
    Tick,
    file_state,
    find_files,
    is_pattern,
)
from samekind.data.views import cell_text
from samekind.errors import DataError, Parameter, no_such_column, no_such_file

if TYPE_CHECKING:
    from samekind.data.pictures import Pictures

__all__ = ["Source", "check_pictures", "open_source", "pictures_of"]

LARGE = 2**30  # bytes of values from which on a table stays in its files
_MOST_TOLD = 10  # pictures that are left out


@dataclass
class Source:
    """Items without features; `options` has what was found out about them filled in."""

    options: LoadOptions
    medium: str
    n: int
    fingerprint: Callable[[], str]
    """Returns a text that changes when the data do."""
    table: Table | None = None
    shown: FrameTable | None = None
    """The rows to show, where they are in memory."""
    pictures: Pictures | None = None
    picture_column: str | None = None
    others: dict[str, Array] = field(default_factory=dict)
    """Further arrays of the same file."""
    is_streamed: bool = False
    """Whether there are too many rows for memory: their features become a file."""
    array_file: Path | None = None
    """Where that file is kept; None: nowhere."""
    notes: list[str] = field(default_factory=list)
    file_of_row: Array | None = None
    """Which of some linked files each record is from."""
    only_in_one: list[str] = field(default_factory=list)
    """Columns that only one of the linked files has."""
    left_out: list[tuple[str, str]] = field(default_factory=list)
    """Pictures that cannot be read, and why."""

    @property
    def may_leave_out(self) -> bool:
        """Whether pictures can be left out: not where something else has a row for each of them."""
        is_folder = self.pictures is not None and isinstance(self.pictures.where, Path)
        return is_folder and self.options.data.is_dir() and self.options.embeddings is None

    def leave_out(self, broken: list[tuple[str, str]]) -> None:
        """Go on without pictures that cannot be read."""
        if not broken:
            return
        assert self.pictures is not None
        assert self.shown is not None
        self.left_out = broken
        self.pictures = self.pictures.without({name for name, _ in broken})
        self.n = len(self.pictures.names)
        frame = pd.DataFrame({"file": self.pictures.names})
        self.table = self.shown = replace(self.shown, frame=frame)
        more = f"\n  … and {len(broken) - _MOST_TOLD:,} more" if len(broken) > _MOST_TOLD else ""
        listed = "".join(f"\n  {name}: {why}" for name, why in broken[:_MOST_TOLD])
        are = "pictures are" if len(broken) > 1 else "picture is"
        more += "\nto allow larger ones, set SAMEKIND_MAX_PIXELS in the environment" * any(
            "pixels are more than" in why for _, why in broken
        )
        self.notes.append(f"{len(broken):,} {are} left out, as they cannot be read:{listed}{more}")

    def take(self, rows: Array) -> Source:
        """Return some of the rows, which are in memory."""
        table = self.table.take(rows) if isinstance(self.table, FrameTable) else None
        shown = None if self.shown is None else self.shown.take(rows)
        pictures = None if self.pictures is None else self.pictures.take(rows)
        return replace(self, n=len(rows), table=table, shown=shown, pictures=pictures)

    @property
    def name(self) -> str:
        """The path as the user gave it, for messages."""
        return str(self.options.data)


def open_source(options: LoadOptions, tick: Tick, *, medium: str | None = None) -> Source:
    """Open what a path names; `medium` is what it must be, None if that is open."""
    path = options.data
    if is_pattern(path) or (path.is_dir() and not _is_for_pictures(path)):
        source = _parquet(options, find_files(absolute(path)), tick, medium)
    elif path.is_dir():
        source = _folder_of_pictures(options)
    elif not path.suffix and not path.exists():
        raise no_such_file(path)
    elif options.is_array:
        source = _array(options, tick)
    elif file_format(path) == "parquet":
        source = _parquet(options, [absolute(path)], tick, medium)
    else:
        source = _table(options, _read(options, tick), medium)
        found = source.options
        if (source.medium == "text" and options.text is None) or found.records != options.records:
            # There, "NA" is a text, and a postcode no number.
            source.table = source.shown = _read(found, tick)
    if source.options.other:
        from samekind.data.records.linking import linked

        plain = replace(options, other=(), columns=None, show=None, compare=None, block=None)
        others = [open_source(replace(plain, data=path), tick) for path in source.options.other]
        source = linked([source, *others])
    if medium is not None and source.medium != medium:
        raise DataError(
            f"{path} holds items of another sort ({source.medium}) than the first ({medium})."
        )
    return source


def _is_for_pictures(folder: Path) -> bool:
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


def _array(options: LoadOptions, tick: Tick) -> Source:
    path = options.data
    file_format(path)
    for name in ("text", "image"):
        if getattr(options, name) is not None:
            raise DataError(
                f"{path} is an array without named columns: ",
                Parameter(name),
                " needs a table. To use the array as features of a table, pass the table first and the "
                "array as ",
                *(Parameter("embeddings"), "."),
            )
    mapped = map_array(path) if path.suffix.lower() == ".npy" else None
    if mapped is not None and mapped.ndim in (3, 4):
        source = _array_of_pictures(options, mapped)
    else:
        matrix = read_matrix(path)
        table = FrameTable.of_array(str(path), matrix.X, matrix.names)
        check_table(str(path), table.frame)
        _check_named(options, table, matrix.others)
        source = Source(options, "row", table.n, lambda: file_hash(path), table)
        source.others = matrix.others
        if unused := [key for key in matrix.others if key != options.labels]:
            source.notes.append(f"not used: {', '.join(map(repr, unused))}")
        if mapped is not None and matrix.X.nbytes >= LARGE:
            source.is_streamed = True
            source.fingerprint = lambda: repr((str(path), file_state(path)))
    if options.shown_table is not None:
        source.shown = _read(LoadOptions(options.shown_table), tick)
        if source.shown.n != source.n:
            raise DataError(
                f"{options.shown_table} has {source.shown.n:,} rows, but {path} has {source.n:,}. Give "
                "a table with a row for each."
            )
    return source


def _parquet(options: LoadOptions, files: list[Path], tick: Tick, medium: str | None) -> Source:
    """Open Parquet files: one that is small, or of texts or pictures, is read into memory."""
    table = ParquetTable(str(options.data), files, tick)
    whole = options.records is True or any(
        given is not None for given in (options.text, options.image, medium)
    )
    many = len(files) > 1 or not options.data.is_file()
    if whole or not (many or table.n * len(table.columns) * 8 >= LARGE):
        return _table(options, table.load(), medium)
    _check_named(options, table)
    source = Source(options, "row", table.n, table.fingerprint, table)
    source.is_streamed, source.notes = True, list(table.notes)
    return source


def _table(options: LoadOptions, table: FrameTable, medium: str | None) -> Source:
    _check_named(options, table)
    if options.image is not None or medium == "image":
        return _table_of_pictures(options, table)
    notes = list(table.notes)
    if options.records == "auto":
        from samekind.data.records.recognition import recognised

        options, said = recognised(options, table.frame)
        notes += said
    chosen = any(given is not None for given in (options.text, options.columns, medium))
    if not options.records and not chosen:
        guess = guess_text(table.frame, options.not_compared)
        if guess is not None:
            options = replace(options, text=guess)
            notes.append(
                f"the texts in {guess!r} are compared: that column alone holds long texts, and none "
                "holds numbers"
            )
    kind = "row" if options.records or options.text is None else "text"
    return Source(options, kind, table.n, table.fingerprint, table, table, notes=notes)


def _check_named(options: LoadOptions, table: Table, others: Iterable[str] = ()) -> None:
    """Refuse names of columns that are not there; labels may be one of the other arrays."""
    own = ("text", "labels", "columns", "exclude") + ("show",) * (options.shown_table is None)
    if options.records is True:  # columns may say which column of the other file is which
        own = tuple(parameter for parameter in own if parameter != "columns")
    for parameter in own:
        known = [*others, *table.columns] if parameter == "labels" else table.columns
        given = getattr(options, parameter)
        for name in [given] if isinstance(given, str) else given or ():
            if name not in known:
                raise no_such_column(table.name, parameter, name, known)


def _read(options: LoadOptions, tick: Tick) -> FrameTable:
    """Read a table into memory."""
    path, name = options.data, str(options.data)
    form = file_format(path)
    if form in ("npy", "npz"):
        raise DataError(f"{path} is an array. To show rows, give a table such as a CSV file.")
    if form == "parquet":
        return ParquetTable(name, [absolute(path)], tick).load()
    # Texts such as "NA" stay what they are where texts are compared, and in labels.
    exact = [text for text in (options.text, options.image, options.labels) if text is not None]
    tick("reading", 0, 1)
    frame, place, notes = read_records(
        path,
        form,
        header=options.header,
        sheet=options.sheet,
        exact=exact,
        as_text=options.records is True,
    )
    tick("reading", 1, 1)
    return FrameTable(name, frame, place, notes, lambda: file_hash(path))


def pictures_of(where: Path | Array | Sequence[object], names: list[str] | None = None) -> Pictures:
    """Return the pictures of a folder with these names, or of a sequence."""
    try:
        from samekind.data.pictures import Pictures
    except ImportError as error:
        raise DataError("pictures need Pillow. Install it: pip install 'samekind[web]'.") from error
    return Pictures(where, names or [])


def _folder_of_pictures(options: LoadOptions) -> Source:
    for name in ("text", "image", "show", "exclude", "columns", "labels"):
        if getattr(options, name):
            raise DataError(
                f"{options.data} is a folder of pictures: ", Parameter(name), " needs a table."
            )
    folder = absolute(options.data)
    names, notes = find_pictures(folder)
    notes.insert(0, f"{len(names):,} picture{'s' * (len(names) != 1)} in the folder")
    table = FrameTable(str(options.data), pd.DataFrame({"file": names}))
    pictures = pictures_of(folder, names)
    hashed = _names_hash(folder, names)
    return Source(
        options, "image", table.n, lambda: hashed, table, table, pictures, "file", notes=notes
    )


def check_pictures(array: Array, what: str) -> None:
    """Refuse an array that does not hold pictures."""
    fits = array.dtype == np.uint8 and array.ndim in (3, 4) and 0 not in array.shape
    if not fits or array.shape[3:] not in ((), (3,)):
        raise DataError(
            f"{what} holds an array of {array.dtype} of shape {array.shape}. Pictures must be "
            "uint8 (0 to 255) of shape (n, height, width) or (n, height, width, 3); rows must be "
            "numbers of shape (n, columns)."
        )


def _array_of_pictures(options: LoadOptions, array: Array) -> Source:
    check_pictures(array, str(options.data))
    pictures = pictures_of(array)
    return Source(options, "image", len(array), lambda: file_hash(options.data), pictures=pictures)


def _table_of_pictures(options: LoadOptions, table: FrameTable) -> Source:
    image, notes = options.image, list(table.notes)
    folder = absolute(options.data).parent
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
        column = picture_column(table.name, table.frame, options.not_compared)
        notes.append(f"pictures are named in the column {column!r}")
    files = [cell_text(value) for value in table.frame[column]]
    for row, file in enumerate(files):
        if not file:
            raise DataError(
                f"{table.name}: the column {column!r} names no picture in {table.place(row)}. Name "
                "one, or remove the row."
            )
        try:
            check_name(file)
        except DataError as error:
            raise unusable(file, error) from None
    pictures = pictures_of(folder, files)

    def fingerprint() -> str:
        return digest(table=table.fingerprint(), files=_names_hash(folder, files))

    return Source(
        options, "image", table.n, fingerprint, table, table, pictures, column, notes=notes
    )


def _names_hash(folder: Path, names: Iterable[str]) -> str:
    """Return a hash of the names, sizes and times of files; one that is not there has none."""
    found = hashlib.blake2b(digest_size=20)
    for name in names:
        known = f"{name}\0\n"
        try:
            size, changed = file_state(folder / name)
            known = f"{name}\0{size}\0{changed}\n"
        except (OSError, ValueError):
            pass
        found.update(known.encode("utf-8", "surrogatepass"))
    return found.hexdigest()
