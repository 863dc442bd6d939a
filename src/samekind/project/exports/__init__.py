"""What was found, as files: one list for the page, the API and the command line."""

from __future__ import annotations

from samekind.project.exports.registry import EXPORTS, Export, Exports, find_export
from samekind.project.exports.tables import beside_own_columns, write_answers, write_csv

__all__ = [
    "EXPORTS",
    "Export",
    "Exports",
    "beside_own_columns",
    "find_export",
    "write_answers",
    "write_csv",
]
