"""Rows on a Dask cluster."""

from samekind.points.sources.dask.blocks import ClusterError
from samekind.points.sources.dask.points import DaskPoints

__all__ = ["ClusterError", "DaskPoints"]
