"""Points from the name of a file."""

from __future__ import annotations

from pathlib import Path

from samekind.points._base import Points
from samekind.points._parquet_files import SUFFIXES, is_pattern
from samekind.points.array import ArrayPoints

__all__ = ["points_in"]


def points_in(source: str | Path) -> Points:
    """Return the points of a ``.npy`` or Parquet file, a folder of Parquet files, or a pattern."""
    path = Path(source).expanduser()
    suffix = path.suffix.lower()
    if is_pattern(path) or path.is_dir() or suffix in SUFFIXES:
        from samekind.points.parquet import ParquetPoints

        return ParquetPoints(path)
    from samekind.datasets import _files

    kind = _files.file_kind(path)
    if kind != "npy":
        raise ValueError(
            f"X is the name of a file that must be read first, {str(source)!r}. Pass "
            f"samekind.datasets.read_points({str(source)!r}).X, or the name of a .npy or Parquet file."
        )
    return ArrayPoints(_files.read_matrix(path, kind).X)
