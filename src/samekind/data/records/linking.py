"""Two files whose records are linked: which columns of the one are which of the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from samekind.errors import DataError, no_such_column

__all__ = ["both_files"]


def both_files(
    frame: pd.DataFrame,
    other: pd.DataFrame,
    columns: Mapping[str, str] | None,
    source: str,
    beside: str,
) -> tuple[pd.DataFrame, NDArray[np.int8], list[str], list[str]]:
    """Return the rows of two files as one table, the file of each, shared columns, and what to say."""
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
        raise DataError(f"columns gives {beside} a second column {twice!r}. Leave one of them out.")
    shared = [name for name in frame.columns if name in set(second.columns)]
    here = [str(name) for name in frame.columns if name not in shared]
    there = [str(name) for name in second.columns if name not in shared]
    if not shared:
        raise DataError(
            f"{source} and {beside} have no column of the same name: {_listed(here)} here, "
            f"{_listed(there)} there. Say which hold the same: columns={{{here[0]!r}: {there[0]!r}}}."
        )
    notes = []
    if here or there:
        parts = [(here, source), (there, beside)]
        only = " and ".join(
            f"{_listed(names)} (only in {where})" for names, where in parts if names
        )
        if here and there:
            only += f"; say it if they hold the same: columns={{{here[0]!r}: {there[0]!r}}}"
        notes.append(f"not compared: {only}")
    both = pd.concat([frame, second], ignore_index=True)
    both = both[[*shared, *here, *there]]
    files = np.repeat(np.array([0, 1], np.int8), [len(frame), len(other)])
    return both, files, shared, notes


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names[:8])) + (", …" if len(names) > 8 else "")
