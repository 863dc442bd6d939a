"""One HTML page that shows what was found, and the map that it shares with the page of a project."""

from __future__ import annotations

from samekind.report._comparison import Comparison, compare
from samekind.report._layout import (
    Layout,
    has_neighbors,
    neighbor_layout,
    quick_layout,
    tsne_elsewhere,
)
from samekind.report._report import write_report

__all__ = [
    "Comparison",
    "Layout",
    "compare",
    "has_neighbors",
    "neighbor_layout",
    "quick_layout",
    "tsne_elsewhere",
    "write_report",
]
