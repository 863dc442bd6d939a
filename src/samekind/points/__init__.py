"""The data: n rows of numbers, draws from all of them, and labels of all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from samekind._validation import is_dask
from samekind.points.array import ArrayPoints
from samekind.points.base import Points
from samekind.points.labels import LabelMap, RowLabels
from samekind.points.records import CandidatePairs, RecordPoints
from samekind.points.sampler import Sampler
from samekind.points.space import WorkingSpace
from samekind.points.space_search import Reduce, check_space, find_space

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from samekind.points.dask import DaskPoints

__all__ = [
    "ArrayPoints",
    "CandidatePairs",
    "DaskPoints",
    "LabelMap",
    "Points",
    "RecordPoints",
    "Reduce",
    "RowLabels",
    "Sampler",
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
        from samekind.points.dask import DaskPoints

        return DaskPoints(X)
    return ArrayPoints(X)


def __getattr__(name: str) -> object:
    if name != "DaskPoints":  # few need it, and Dask takes long to load
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from samekind.points.dask import DaskPoints

    return DaskPoints
