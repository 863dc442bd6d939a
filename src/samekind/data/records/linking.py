"""Two files whose records are linked: which columns of the one are which of the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from samekind.data.readers import plain_place
from samekind.data.sources import Source
from samekind.data.tables import FrameTable
from samekind.errors import DataError, Message, Parameter, no_such_column

__all__ = ["both_files", "linked"]


def both_files(
    frame: pd.DataFrame,
    other: pd.DataFrame,
    columns: Mapping[str, str] | None,
    source: str,
    beside: str,
) -> tuple[pd.DataFrame, NDArray[np.int8], list[str], list[str]]:
    """Return the rows of two files as one table, the file of each, unshared columns, and what to say."""
    renamed = {}
    for mine, theirs in (columns or {}).items():
        if mine not in frame.columns:
            raise no_such_column(source, "columns", mine, list(map(str, frame.columns)))
        if theirs not in other.columns:
            raise no_such_column(beside, "columns", theirs, list(map(str, other.columns)))
        renamed[theirs] = mine
    second = other.rename(columns=renamed)
    if not second.columns.is_unique:
        twice = second.columns[second.columns.duplicated()][0]
        raise DataError(
            Parameter("columns"),
            f" gives {beside} a second column {twice!r}. Leave one of them out.",
        )
    shared = [name for name in frame.columns if name in set(second.columns)]
    here = [str(name) for name in frame.columns if name not in shared]
    there = [str(name) for name in second.columns if name not in shared]
    if not shared:
        raise DataError(
            f"{source} and {beside} have no column of the same name: {_listed(here)} here, "
            f"{_listed(there)} there. Say which hold the same: ",
            *(Parameter("columns", [f"{here[0]}={there[0]}"]), "."),
        )
    notes: list[str] = []
    if here or there:
        parts = [(here, source), (there, beside)]
        only = " and ".join(
            f"{_listed(names)} (only in {where})" for names, where in parts if names
        )
        same = Parameter("columns", [f"{here[0]}={there[0]}"]) if here and there else ""
        notes.append(
            Message(
                f"not compared: {only}", "; say it if they hold the same: " if same else "", same
            )
        )
    both = pd.concat([frame, second], ignore_index=True)
    both = both[[*shared, *here, *there]]
    files = np.repeat(np.array([0, 1], np.int8), [len(frame), len(other)])
    return both, files, [*here, *there], notes


def linked(one: Source, other: Source) -> Source:
    """Return the records of two files as one source, with a column that names the file."""
    for source in (one, other):
        if source.shown is None or source.is_streamed:
            raise DataError(f"{source.name} is no table in memory: only tables can be linked.")
    assert one.shown is not None
    assert other.shown is not None
    options = one.options
    pairs = dict(_renamed(name) for name in options.columns or ())
    frame, files, apart, notes = both_files(
        one.shown.frame, other.shown.frame, pairs, one.name, other.name
    )
    if options.labels in apart:
        raise DataError(
            Parameter("labels"),
            f" must be in both files, but only one has the column {options.labels!r}.",
        )
    called = "file" if "file" not in frame.columns else "samekind_file"
    names = np.array([one.options.data.name, other.options.data.name], dtype=object)
    frame.insert(0, called, pd.array(names[files].tolist(), dtype="str"))

    def fingerprint() -> str:
        return f"{one.fingerprint()} {other.fingerprint()}"

    def place(row: int) -> str:
        n = len(frame) - int(files.sum())
        return f"{plain_place(row if row < n else row - n)} of {(other if row >= n else one).name}"

    table = FrameTable(one.name, frame, place, [], fingerprint)
    said = [*one.notes, *(note for note in other.notes if note not in one.notes), *notes]
    joined = replace(
        one, n=len(frame), fingerprint=fingerprint, table=table, shown=table, notes=said
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
