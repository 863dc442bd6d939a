"""One HTML page that shows what was found."""

from __future__ import annotations

from samekind.report._report import write_report

__all__ = ["write_report"]
