"""Files whose records are linked: which columns of one are which of another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from samekind.data.readers import plain_place
from samekind.data.sources import Source
from samekind.data.tables import FrameTable
from samekind.errors import DataError, Message, Parameter, no_such_column

__all__ = ["linked", "several_files"]


MOST_FILES = 60


def several_files(
    frames: Sequence[pd.DataFrame], columns: Mapping[str, str] | None, names: Sequence[str]
) -> tuple[pd.DataFrame, NDArray[np.int8], list[str], list[str]]:
    """Return the rows of some files as one table, the file of each, unshared columns, and what to say.

    `columns` are names of the first file's columns, and what others call them. A column that two files share
    is compared; in the others it is missing.
    """
    if len(frames) > MOST_FILES:
        raise DataError(
            Parameter("other"), f" can link {MOST_FILES} files at most, got {len(frames)}."
        )
    first, *others = frames
    for mine, theirs in (columns or {}).items():
        if mine not in first.columns:
            raise no_such_column(names[0], "columns", mine, list(map(str, first.columns)))
        if not any(theirs in frame.columns for frame in others):
            everything = list(dict.fromkeys(str(name) for frame in others for name in frame))
            raise no_such_column(" and ".join(names[1:]), "columns", theirs, everything)
    renamed = {theirs: mine for mine, theirs in (columns or {}).items()}
    tables = [first, *(frame.rename(columns=renamed) for frame in others)]
    for table, called in zip(tables[1:], names[1:], strict=True):
        if not table.columns.is_unique:
            twice = table.columns[table.columns.duplicated()][0]
            raise DataError(
                Parameter("columns"),
                f" gives {called} a second column {twice!r}. Leave one of them out.",
            )
    held = Counter(str(name) for table in tables for name in table.columns)
    shared = [name for name in held if held[name] > 1]
    own = [[str(name) for name in table.columns if held[str(name)] == 1] for table in tables]
    if not shared:
        listed = ", ".join(
            f"{_listed(some)} in {called}" for some, called in zip(own, names, strict=True)
        )
        raise DataError(
            f"{' and '.join(names)} have no column of the same name: {listed}. Say which hold the same: ",
            *(Parameter("columns", [f"{own[0][0]}={own[1][0]}"]), "."),
        )
    notes: list[str] = []
    apart = [name for some in own for name in some]
    if apart:
        only = " and ".join(
            f"{_listed(some)} (only in {called})"
            for some, called in zip(own, names, strict=True)
            if some
        )
        theirs = next((some[0] for some in own[1:] if some), "")
        same = Parameter("columns", [f"{own[0][0]}={theirs}"]) if own[0] and theirs else ""
        notes.append(
            Message(
                f"not compared: {only}", "; say it if they hold the same: " if same else "", same
            )
        )
    joined = pd.concat(tables, ignore_index=True)[[*shared, *apart]]
    files = np.repeat(np.arange(len(tables)), [len(table) for table in tables]).astype(np.int8)
    return joined, files, apart, notes


def linked(sources: Sequence[Source]) -> Source:
    """Return the records of some files as one source, with a column that names the file."""
    first = sources[0]
    tables = []
    for source in sources:
        if source.shown is None or source.is_streamed:
            raise DataError(f"{source.name} is no table in memory: only tables can be linked.")
        tables.append(source.shown.frame)
    options = first.options
    pairs = dict(_renamed(name) for name in options.columns or ())
    frame, files, apart, notes = several_files(tables, pairs, [source.name for source in sources])
    if options.labels in apart:
        raise DataError(
            Parameter("labels"),
            f" must be in every file, but only one has the column {options.labels!r}.",
        )
    called = "file" if "file" not in frame.columns else "samekind_file"
    names = np.array([source.options.data.name for source in sources], dtype=object)
    frame.insert(0, called, pd.array(names[files].tolist(), dtype="str"))
    starts = np.searchsorted(files, np.arange(len(sources)))

    def fingerprint() -> str:
        return " ".join(source.fingerprint() for source in sources)

    def place(row: int) -> str:
        file = int(files[row])
        return f"{plain_place(row - int(starts[file]))} of {sources[file].name}"

    table = FrameTable(first.name, frame, place, [], fingerprint)
    said = list(dict.fromkeys([*(note for source in sources for note in source.notes), *notes]))
    joined = replace(
        first, n=len(frame), fingerprint=fingerprint, table=table, shown=table, notes=said
    )
    joined.file_of_row, joined.only_in_one = files, [called, *apart]
    return joined


def _renamed(text: str) -> tuple[str, str]:
    mine, sign, theirs = text.partition("=")
    if not sign or not mine.strip() or not theirs.strip():
        raise DataError(
            Parameter("columns"),
            f" says which columns of two files hold the same, such as surname=last_name; got {text!r}.",
        )
    return mine.strip(), theirs.strip()


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names[:8])) + (", …" if len(names) > 8 else "")
