"""Where people label: questions one by one, what was found so far, and what they do to it."""

from __future__ import annotations

from samekind.project import records
from samekind.project.annotators import AnnotatorPage, AnnotatorRecord
from samekind.project.assistant import Assistant, AssistantRecord
from samekind.project.entities import ChangedPair, Threshold
from samekind.project.expectations import ExpectedShare, expectations_of
from samekind.project.exports import (
    EXPORTS,
    beside_own_columns,
    exports_of,
    write_answers,
    write_csv,
)
from samekind.project.new_rows import classify_new, new_rows_table, oracle_of_names
from samekind.project.numbers import ClusterNumbers
from samekind.project.overlap import check_overlap
from samekind.project.project import Project
from samekind.project.records import *  # noqa: F403
from samekind.project.reviews import OpinionRecord, ReviewPage, ReviewRecord
from samekind.project.store import (
    cache_of,
    changes_of_data,
    data_of,
    features_of,
    make_project,
    open_project,
)
from samekind.project.words import (
    ANSWERS,
    NO_KIND,
    NO_NAME,
    KeyReused,
    ProjectError,
    QuestionClosed,
    counted,
    name_in_table,
    name_of,
    numbered,
    plain,
    title_of,
)

__all__ = [
    "ANSWERS",
    "EXPORTS",
    "NO_KIND",
    "NO_NAME",
    "AnnotatorPage",
    "AnnotatorRecord",
    "Assistant",
    "AssistantRecord",
    "ChangedPair",
    "ClusterNumbers",
    "ExpectedShare",
    "KeyReused",
    "OpinionRecord",
    "Project",
    "ProjectError",
    "QuestionClosed",
    "ReviewPage",
    "ReviewRecord",
    "Threshold",
    "beside_own_columns",
    "cache_of",
    "changes_of_data",
    "check_overlap",
    "classify_new",
    "counted",
    "data_of",
    "expectations_of",
    "exports_of",
    "features_of",
    "make_project",
    "name_in_table",
    "name_of",
    "new_rows_table",
    "numbered",
    "open_project",
    "oracle_of_names",
    "plain",
    "title_of",
    "write_answers",
    "write_csv",
]
__all__ += records.__all__
