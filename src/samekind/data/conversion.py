"""Whatever a caller passes as X, as points."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, cast

from samekind.data.text_inputs import are_texts
from samekind.points import Points
from samekind.points import as_points as points_of

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import ArrayLike

    from samekind.data.items import Items

__all__ = ["as_points"]


def as_points(
    X: str | Path | Items | Points | ArrayLike | Iterable[str], *, as_records: bool = False
) -> Points:
    """Return X as points: an array, a Dask collection, Points, Items, or the name of a file or folder.

    The values of a file are taken as they are, as `samekind.load` does with ``standardize=False``: a
    ``.npy`` file is mapped into memory, rows of Parquet files stay there. A list of texts is embedded.
    With `as_records` a file or dataframe holds records, of which pairs are compared.

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
        from samekind.data.files import PARQUET_SUFFIXES
        from samekind.data.loader import load

        is_parquet = Path(X).suffix.lower() in PARQUET_SUFFIXES
        return load(X, standardize=False, stream=is_parquet or None).points
    if are_texts(X):
        from samekind.data.embedding import embed

        return points_of(embed(X))  # type: ignore[arg-type]
    points = getattr(X, "points", None)
    return points_of(cast("ArrayLike", X)) if points is None else points
