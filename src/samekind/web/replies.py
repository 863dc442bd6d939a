"""What the server sends around the records of the project."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from samekind.project import (
    ClusterMatch,
    ContradictionRecord,
    LineupQuestion,
    PairQuestion,
    SheetQuestion,
    Status,
)

__all__ = [
    "Changed",
    "Closed",
    "Contradictions",
    "Failure",
    "Found",
    "Imported",
    "NextQuestions",
    "Saved",
    "Skipped",
    "Undone",
]

Question = Annotated[PairQuestion | LineupQuestion | SheetQuestion, Field(discriminator="type")]


@dataclass(frozen=True)
class Failure:
    """What went wrong, in plain words."""

    error: str


@dataclass(frozen=True)
class Changed:
    """Where the work stands after a change."""

    status: Status


@dataclass(frozen=True)
class NextQuestions(Changed):
    """What to ask next; nothing when all is done."""

    questions: list[Question]


@dataclass(frozen=True)
class Saved(NextQuestions):
    """The answer is on disk."""

    saved: Literal[True] = True


@dataclass(frozen=True)
class Undone(NextQuestions):
    """What was taken back, in words."""

    undone: list[str]


@dataclass(frozen=True)
class Closed(NextQuestions):
    """The question is not open any more; these are."""

    error: str


@dataclass(frozen=True)
class Skipped:
    """Pairs that were skipped."""

    questions: list[PairQuestion]


@dataclass(frozen=True)
class Imported(Changed):
    """So many answers were taken in; so many pairs were answered both ways, and the last answer counts."""

    imported: int
    contradictory: int


@dataclass(frozen=True)
class Found:
    """Clusters to pick from, best first."""

    clusters: list[ClusterMatch]


@dataclass(frozen=True)
class Contradictions:
    """All of them."""

    contradictions: list[ContradictionRecord]
