"""What a caller passes as X, turned into points. Nothing slow is imported before it is needed."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, cast

from samekind.points import Points
from samekind.points import as_points as points_of

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import ArrayLike

    from samekind.data.items import Items

__all__ = ["are_texts", "as_points"]


def as_points(
    X: str | Path | Items | Points | ArrayLike | Iterable[str], *, as_records: bool = False
) -> Points:
    """Return X as points: an array, a Dask collection, Points, Items, or the name of a file or folder.

    The values of a file are taken as they are, as `samekind.load` does with ``standardize=False``. A list
    of texts is embedded. With `as_records` a file or dataframe holds records, of which pairs are compared.

    Examples
    --------
    >>> as_points([[0.0, 1.0], [2.0, 3.0]]).n
    2
    """
    if as_records and (isinstance(X, str | Path) or hasattr(X, "itertuples")):
        from samekind.data.loader import load
        from samekind.data.records import records_of

        if isinstance(X, str | Path):
            return load(X, records=True).points
        return records_of(cast("pd.DataFrame", X)).points
    if isinstance(X, str | Path):
        from samekind.data.loader import load

        return load(X, standardize=False).points
    if are_texts(X):
        from samekind.data.embedding import embed

        return points_of(embed(X))  # type: ignore[arg-type]
    points = getattr(X, "points", None)
    return points_of(cast("ArrayLike", X)) if points is None else points


def are_texts(X: object) -> bool:
    """Whether X is a list or another one-dimensional collection of texts; a single text is a path.

    Examples
    --------
    >>> are_texts(["a", "b"]), are_texts([["1.5"]]), are_texts("a.csv"), are_texts([1.5])
    (True, False, False, False)
    """
    if isinstance(X, list | tuple):
        return len(X) > 0 and isinstance(X[0], str)
    kind = getattr(getattr(X, "dtype", None), "kind", "")
    if getattr(X, "ndim", 0) != 1 or kind not in "OUT" or not len(X):  # type: ignore[arg-type]
        return False
    return isinstance(next(iter(X)), str)  # type: ignore[call-overload]
