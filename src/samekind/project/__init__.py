"""Where people label: questions one by one, what was found so far, and what they do to it."""

from __future__ import annotations

from samekind.project import records
from samekind.project.assistant import Assistant
from samekind.project.classify import classify_new, new_rows_table, oracle_of_names
from samekind.project.expectations import ExpectedShare, expectations_of
from samekind.project.exports import (
    EXPORTS,
    Export,
    Exports,
    beside_own_columns,
    find_export,
    write_answers,
    write_csv,
)
from samekind.project.files import (
    cache_of,
    changes_of_data,
    data_of,
    features_of,
    make_project,
    open_project,
)
from samekind.project.numbers import ClusterNumbers
from samekind.project.parts import parent_of, part_name, place_of_part, with_parts
from samekind.project.project import Project
from samekind.project.records import *  # noqa: F403
from samekind.project.team import check_overlap
from samekind.project.words import (
    ANSWERS,
    NO_KIND,
    NO_NAME,
    KeyReused,
    ProjectError,
    QuestionClosed,
    counted,
    name_in_table,
    numbered,
    plain,
    title_of,
)

__all__ = [
    "ANSWERS",
    "EXPORTS",
    "NO_KIND",
    "NO_NAME",
    "Assistant",
    "ClusterNumbers",
    "ExpectedShare",
    "Export",
    "Exports",
    "KeyReused",
    "Project",
    "ProjectError",
    "QuestionClosed",
    "beside_own_columns",
    "cache_of",
    "changes_of_data",
    "check_overlap",
    "classify_new",
    "counted",
    "data_of",
    "expectations_of",
    "features_of",
    "find_export",
    "make_project",
    "name_in_table",
    "new_rows_table",
    "numbered",
    "open_project",
    "oracle_of_names",
    "parent_of",
    "part_name",
    "place_of_part",
    "plain",
    "title_of",
    "with_parts",
    "write_answers",
    "write_csv",
]
__all__ += records.__all__
