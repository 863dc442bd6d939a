"""The data: what sees all n rows, and nothing else does."""

from __future__ import annotations

from typing import Any

from samekind._validation import is_dask
from samekind.points._base import Cells, Points, Sampler
from samekind.points.array import ArrayPoints
from samekind.points.names import Names

__all__ = ["ArrayPoints", "Cells", "Names", "Points", "Sampler", "as_points"]


def as_points(X: Any) -> Points:
    """Return X itself if it is a Points, otherwise an array or a Dask collection wrapped as one."""
    if is_dask(X):
        from samekind.points.dask import DaskPoints

        return DaskPoints(X)
    return X if hasattr(X, "sampler") and hasattr(X, "nearest") else ArrayPoints(X)
