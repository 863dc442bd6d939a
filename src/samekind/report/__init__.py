"""One HTML page that shows what was found."""

from __future__ import annotations

from samekind.report._projection import choose_rows, project_rows
from samekind.report._report import write_report
from samekind.report._truth import Comparison, compare

__all__ = ["Comparison", "choose_rows", "compare", "project_rows", "write_report"]
