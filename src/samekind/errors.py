"""The one exception for data that cannot be used as it is, and the words of its messages."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence

__all__ = ["DataError", "did_you_mean", "no_such_column"]


class DataError(ValueError):
    """A file or table cannot be used; the message says where, why, and what to do.

    Examples
    --------
    >>> from samekind.datasets import read_points
    >>> from samekind.errors import DataError
    >>> try:
    ...     read_points("flowers.xlsx")
    ... except DataError as error:
    ...     print(str(error).partition(". ")[0])
    flowers.xlsx has a suffix that is not known: '.xlsx'
    """


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """Name the closest of the names, with a leading blank, or nothing where none is close."""
    folded = {other.strip().casefold(): other for other in names}
    close = difflib.get_close_matches(name.strip().casefold(), folded, n=1)
    return f" Did you mean {folded[close[0]]!r}?" if close else ""


def no_such_column(source: str, parameter: str, name: str, names: Sequence[str]) -> DataError:
    """Return the error that says that `parameter` names a column which `source` does not have."""
    shown = ", ".join(map(repr, names[:30])) + (", …" if len(names) > 30 else "")
    return DataError(
        f"{source} has no column {name!r}, which {parameter} names."
        f"{did_you_mean(name, names)} Its columns are {shown}."
    )
