"""One HTML page that shows what was found."""

from __future__ import annotations

from samekind.report._projection import choose_rows, project
from samekind.report._report import write_report
from samekind.report._truth import Comparison, compare

__all__ = ["Comparison", "choose_rows", "compare", "project", "write_report"]
