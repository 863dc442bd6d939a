"""One HTML page that shows what was found, and what such pages are made of."""

from __future__ import annotations

from samekind.report._colors import color_of
from samekind.report._comparison import Comparison, compare
from samekind.report._figures import Figure
from samekind.report._layout import Layout, has_neighbors, lay_out, lay_out_elsewhere, quick_layout
from samekind.report._page import page
from samekind.report._projection import choose_rows, project_rows
from samekind.report._report import write_report

__all__ = [
    "Comparison",
    "Figure",
    "Layout",
    "choose_rows",
    "color_of",
    "compare",
    "has_neighbors",
    "lay_out",
    "lay_out_elsewhere",
    "page",
    "project_rows",
    "quick_layout",
    "write_report",
]
