"""One HTML page that shows what was found."""

from __future__ import annotations

from samekind.report._projection import choose_rows, project
from samekind.report._report import write_report

__all__ = ["choose_rows", "project", "write_report"]
