"""The one exception for data that cannot be used as it is, and the words of its messages."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from pathlib import Path

__all__ = ["DataError", "did_you_mean", "no_such_column", "no_such_file"]


class DataError(ValueError):
    """A file or table cannot be used; the message says where, why, and what to do.

    Examples
    --------
    >>> import samekind
    >>> from samekind.errors import DataError
    >>> try:
    ...     samekind.load("flowers.doc")
    ... except DataError as error:
    ...     print(str(error).partition(". ")[0])
    flowers.doc has a suffix that is not known: '.doc'
    """


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """Name the closest of the names, with a leading blank, or nothing where none is close."""
    folded = {other.strip().casefold(): other for other in names}
    close = difflib.get_close_matches(name.strip().casefold(), folded, n=1)
    return f" Did you mean {folded[close[0]]!r}?" if close else ""


def no_such_file(path: Path) -> FileNotFoundError:
    """Return the error that says that there is no such file, and names one of a similar name."""
    folder = path.parent
    there = [other.name for other in folder.iterdir()] if folder.is_dir() else []
    return FileNotFoundError(
        f"{path} does not exist.{did_you_mean(path.name, there)} Paths start at the folder that the "
        "program was started in."
    )


def no_such_column(source: str, parameter: str, name: str, names: Sequence[str]) -> DataError:
    """Return the error that says that `parameter` names a column which `source` does not have."""
    shown = ", ".join(map(repr, names[:30])) + (", …" if len(names) > 30 else "")
    return DataError(
        f"{source} has no column {name!r}, which {parameter} names."
        f"{did_you_mean(name, names)} Its columns are {shown}."
    )
