"""What a path holds, before it has features: a table, an array, or pictures."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from samekind.data.cache import Cache, digest
from samekind.data.columns import guess_text
from samekind.data.files import (
    check_table,
    file_format,
    map_array,
    read_matrix,
    read_records,
)
from samekind.data.options import LoadOptions, absolute
from samekind.data.parquet_files import file_state, find_files, is_pattern
from samekind.data.picture_paths import file_hash, has_pictures
from samekind.data.picture_sources import (
    Source,
    array_of_pictures,
    folder_of_pictures,
    table_of_pictures,
)
from samekind.data.records.linking import linked
from samekind.data.records.recognition import recognised
from samekind.data.tables import FrameTable, ParquetTable, Table, Tick
from samekind.errors import DataError, Parameter, no_such_column, no_such_file

__all__ = ["open_source"]

LARGE = 2**30  # bytes of values from which on a table stays in its files
TO_PARQUET = "Write it as Parquet first, for instance with pandas.DataFrame.to_parquet."


def open_source(
    options: LoadOptions,
    cache: Cache,
    tick: Tick,
    *,
    medium: str | None = None,
) -> Source:
    """Open what a path names; `medium` is what it must be, None if that is open."""
    path = options.data
    if is_pattern(path) or (path.is_dir() and not _is_for_pictures(path)):
        source = _parquet(options, find_files(absolute(path)), tick, medium)
    elif path.is_dir():
        source = folder_of_pictures(options)
    elif not path.suffix and not path.exists():
        raise no_such_file(path)
    elif options.is_array:
        source = _array(options, cache, tick)
    elif file_format(path) == "parquet":
        source = _parquet(options, [absolute(path)], tick, medium)
    elif options.stream:
        raise DataError(
            Parameter("stream"),
            f" is for .npy and Parquet files, and {path} is neither. {TO_PARQUET}",
        )
    else:
        source = _table(options, _read(options, cache, tick), medium)
        found = source.options
        if (source.medium == "text" and options.text is None) or found.records != options.records:
            # There, "NA" is a text, and a postcode no number.
            source.table = source.shown = _read(found, cache, tick)
    if source.options.other is not None:
        there = replace(options, data=source.options.other, other=None, columns=None, show=None)
        source = linked(source, open_source(replace(there, compare=None, block=None), cache, tick))
    if medium is not None and source.medium != medium:
        raise DataError(
            f"{path} holds things of another sort ({source.medium}) than the first ({medium})."
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


def _array(options: LoadOptions, cache: Cache, tick: Tick) -> Source:
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
        source = array_of_pictures(options, mapped)
    else:
        matrix = read_matrix(path)
        table = FrameTable.of_array(str(path), matrix.X, matrix.names)
        check_table(str(path), table.frame)
        _check_named(options, table, matrix.others)
        source = Source(options, "row", table.n, lambda: file_hash(path), table)
        source.others = matrix.others
        if unused := [key for key in matrix.others if key != options.labels]:
            source.notes.append(f"not used: {', '.join(map(repr, unused))}")
        large = matrix.X.nbytes >= LARGE if options.stream is None else options.stream
        if mapped is not None and large:
            source.is_streamed = True
            source.fingerprint = lambda: repr((str(path), file_state(path)))
    if options.shown_table is not None:
        source.shown = _read(LoadOptions(options.shown_table), cache, tick)
        if source.shown.n != source.n:
            raise DataError(
                f"{options.shown_table} has {source.shown.n:,} rows, but {path} has {source.n:,}. Give "
                "a table with a row for each."
            )
    return source


def _parquet(options: LoadOptions, files: list[Path], tick: Tick, medium: str | None) -> Source:
    """Open Parquet files: one that is small, or of texts or pictures, is read into memory."""
    table = ParquetTable(str(options.data), files, tick)
    whole = (
        options.records is True
        or options.text is not None
        or options.image is not None
        or medium is not None
    )
    if whole and options.stream:
        raise DataError(
            Parameter("stream"),
            " must not be given with texts or pictures, which are compared in memory: rows that stay in "
            "their files are compared by numbers and categories.",
        )
    many = len(files) > 1 or not options.data.is_file()
    large = table.n * len(table.columns) * 8 >= LARGE
    stays = many or large if options.stream is None else options.stream
    if stays and not whole:
        return _in_files(options, table)
    return _table(options, table.load(), medium)


def _in_files(options: LoadOptions, table: ParquetTable) -> Source:
    _check_named(options, table)
    source = Source(options, "row", table.n, lambda: table.fingerprint, table)
    source.is_streamed, source.notes = True, list(table.notes)
    return source


def _table(options: LoadOptions, table: FrameTable, medium: str | None) -> Source:
    _check_named(options, table)
    if options.image is not None or medium == "image":
        return table_of_pictures(options, table)
    notes = list(table.notes)
    if options.records == "auto":
        options, said = recognised(options, table.frame)
        notes += said
    if options.records:
        return Source(options, "row", table.n, lambda: table.fingerprint, table, table, notes=notes)
    guess = None
    if options.text is None and medium is None and options.columns is None:
        guess = guess_text(table.frame, options.not_compared)
    if guess is not None:
        options = replace(options, text=guess)
        notes.append(
            f"the texts in {guess!r} are compared: that column alone holds long texts, and none holds "
            "numbers"
        )
    kind = "row" if options.text is None else "text"
    return Source(options, kind, table.n, lambda: table.fingerprint, table, table, notes=notes)


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


def _read(options: LoadOptions, cache: Cache, tick: Tick) -> FrameTable:
    """Read a table, or take it from the cache."""
    path, name = options.data, str(options.data)
    form = file_format(path)
    if form in ("npy", "npz"):
        raise DataError(f"{path} is an array. To show rows, give a table such as a CSV file.")
    if form == "parquet":
        return ParquetTable(name, [absolute(path)], tick).load()
    # Texts such as "NA" stay what they are where texts are compared, and in labels.
    exact = [text for text in (options.text, options.image, options.labels) if text is not None]
    content = file_hash(path) if cache.prefix is not None else ""
    as_text = options.records is True
    also = {"as_text": True} if as_text else {}
    key = digest(table=content, header=options.header, sheet=options.sheet, exact=exact, **also)
    kept = cache.table(key)
    if kept is not None:
        return FrameTable(name, kept[0], notes=kept[1], fingerprint=content, key=key)
    tick("reading", 0, 1)
    read = read_records(
        path, form, header=options.header, sheet=options.sheet, exact=exact, as_text=as_text
    )
    tick("reading", 1, 1)
    return FrameTable(name, *read, fingerprint=content, key=key)
