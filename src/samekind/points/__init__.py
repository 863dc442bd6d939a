"""The data: what sees all n rows, and nothing else does."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from samekind._validation import is_dask
from samekind.points.base import Points
from samekind.points.candidates import CandidatePairs, RecordPoints
from samekind.points.labels import LabelMap, RowLabels
from samekind.points.sampler import Sampler
from samekind.points.sources.array import ArrayPoints
from samekind.points.space import WorkingSpace
from samekind.points.space_search import Reduce, check_space, find_space
from samekind.points.voronoi import VoronoiCells

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from samekind.points.sources.dask import ClusterError, DaskPoints
    from samekind.points.sources.parquet import ParquetPoints
    from samekind.points.sources.streamed import StreamedPoints

_LAZY = {  # loaded when first used, for few need them
    "ClusterError": "dask",
    "DaskPoints": "dask",
    "ParquetPoints": "parquet",
    "StreamedPoints": "streamed",
}

__all__ = [
    "ArrayPoints",
    "CandidatePairs",
    "ClusterError",
    "DaskPoints",
    "LabelMap",
    "ParquetPoints",
    "Points",
    "RecordPoints",
    "Reduce",
    "RowLabels",
    "Sampler",
    "StreamedPoints",
    "VoronoiCells",
    "WorkingSpace",
    "as_points",
    "check_space",
    "find_space",
]


def as_points(X: Points | ArrayLike) -> Points:
    """Return X itself if it is Points, else an array or a Dask array or dataframe as such."""
    if isinstance(X, Points):
        return X
    if is_dask(X):
        from samekind.points.sources.dask import DaskPoints

        return DaskPoints(X)
    return ArrayPoints(X)


def __getattr__(name: str) -> object:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"samekind.points.sources.{_LAZY[name]}"), name)
