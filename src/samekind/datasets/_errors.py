"""The one exception for data that cannot be used as it is."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class DataError(ValueError):
    """A file or table cannot be used; the message says where, why, and what to do.

    Examples
    --------
    >>> from samekind.datasets import DataError, read_points
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
