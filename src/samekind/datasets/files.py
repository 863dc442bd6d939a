"""Points from whatever a caller passes as X, the name of a file among it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from samekind.datasets._files import file_kind, read_matrix
from samekind.points import Points, as_points

__all__ = ["points_of"]

PARQUET_SUFFIXES = (".parquet", ".parq", ".pq")


def points_of(X: Any) -> Points:
    """Return X as points: an array, a Dask collection or Points, or the name of a file or folder.

    A ``.npy`` file is mapped into memory; rows of Parquet files (a file, folder or pattern) stay there.
    """
    if not isinstance(X, str | Path):
        return as_points(X)
    path = Path(X).expanduser()
    pattern = any(sign in str(path) for sign in "*?[") and not path.exists()
    if pattern or path.is_dir() or path.suffix.lower() in PARQUET_SUFFIXES:
        from samekind.points import ParquetPoints

        return ParquetPoints(path)
    kind = file_kind(path)
    if kind != "npy":
        raise ValueError(
            f"X is the name of a file that must be read first, {str(X)!r}. Pass "
            f"samekind.datasets.read_points({str(X)!r}).X, or the name of a .npy or Parquet file."
        )
    return as_points(read_matrix(path, kind).X)
