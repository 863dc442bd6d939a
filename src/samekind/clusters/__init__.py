"""The result of a run."""

from __future__ import annotations

from samekind.algorithms import Classified
from samekind.clusters.result import Clusters
from samekind.clusters.tables import STOP_REASONS

__all__ = ["STOP_REASONS", "Classified", "Clusters"]
