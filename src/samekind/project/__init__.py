"""Where people label: questions one by one, what was found so far, and what they do to it."""

from __future__ import annotations

from samekind.project.exports import EXPORTS, beside_own_columns, write_answers, write_csv
from samekind.project.project import Project
from samekind.project.records import (
    AnsweredPair,
    AnswerPage,
    AnswerRecord,
    CertificateRecord,
    ClusterMember,
    ClusterOption,
    ClusterPage,
    ClusterRef,
    ClusterSummary,
    ContradictionRecord,
    History,
    ItemView,
    LineupQuestion,
    Overview,
    PairQuestion,
    Question,
    RowMap,
    Status,
)
from samekind.project.store import cache_of, data_of, make_project, open_project
from samekind.project.words import ANSWERS, ProjectError, QuestionClosed, plain

__all__ = [
    "ANSWERS",
    "EXPORTS",
    "AnswerPage",
    "AnswerRecord",
    "AnsweredPair",
    "CertificateRecord",
    "ClusterMember",
    "ClusterOption",
    "ClusterPage",
    "ClusterRef",
    "ClusterSummary",
    "ContradictionRecord",
    "History",
    "ItemView",
    "LineupQuestion",
    "Overview",
    "PairQuestion",
    "Project",
    "ProjectError",
    "Question",
    "QuestionClosed",
    "RowMap",
    "Status",
    "beside_own_columns",
    "cache_of",
    "data_of",
    "make_project",
    "open_project",
    "plain",
    "write_answers",
    "write_csv",
]
