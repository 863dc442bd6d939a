"""What requests and replies hold, besides the records of the project. Requests take known fields only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictInt, StrictStr

from samekind.project import (
    ClusterMatch,
    ContradictionRecord,
    ItemView,
    LineupQuestion,
    NewCluster,
    PairQuestion,
    Said,
    SheetAnswer,
    SheetQuestion,
    Status,
    UndoneAct,
)
from samekind.web.site import State

LARGEST = 2**53 - 1  # JavaScript's largest exact integer
Row = Annotated[StrictInt, Field(ge=0, le=LARGEST)]
Rows = Annotated[list[Row], Field(min_length=1, max_length=1000)]
SheetRows = Annotated[list[Row], Field(max_length=100)]
Name = Annotated[StrictStr, Field(max_length=200)]
Verdict = Literal["same", "different", "unsure"]
Role = Literal["answer", "review", "own"]


class Body(BaseModel):
    """The body of a request."""

    model_config = ConfigDict(extra="forbid")


class New(Body):
    """A cluster that was not found before, with its name or ""."""

    new: Name


class Sheet(Body):
    """The rows of a sheet that do not belong to its cluster, and those that are unclear."""

    different: SheetRows = []
    unsure: SheetRows = []


class AnswerBody(Body):
    """An answer to a question.

    To a pair: same, different, unsure or skip. To a line-up: none, unsure or skip. To either also the number
    of a cluster, or a new one. To a sheet: a sheet, unsure or skip.
    """

    id: Annotated[StrictStr, Field(min_length=1, max_length=1000)]
    answer: Literal["same", "different", "unsure", "skip", "none"] | Row | New | Sheet

    def said(self) -> Said:
        """Return the answer as a project takes it."""
        if isinstance(self.answer, New):
            return NewCluster(self.answer.new)
        if isinstance(self.answer, Sheet):
            return SheetAnswer(self.answer.different, self.answer.unsure)
        return self.answer


class UndoBody(Body):
    """How many acts to take back."""

    count: Annotated[StrictInt, Field(ge=1, le=10_000)] = 1


class NameBody(Body):
    """The name of a cluster, and a sentence that says what belongs to it; "" for none.

    Without a definition, the one that it has stays.
    """

    name: Name
    definition: Name | None = None


class RowsBody(Body):
    """Rows."""

    rows: Rows


class PlaceBody(RowsBody):
    """Rows, and the cluster that they belong to."""

    cluster: Row


class NewKindBody(RowsBody):
    """Rows that form a cluster of their own, and its name or ""."""

    name: Name = ""


class MergeBody(Body):
    """Clusters that are one."""

    clusters: Annotated[list[Row], Field(min_length=2, max_length=1000)]


class SplitBody(Body):
    """When two items of the kind belong together, in a sentence; "" leaves it as it is."""

    criterion: Name = ""


class PairBody(Body):
    """What two rows are."""

    a: Row
    b: Row
    answer: Verdict


class SheetsBody(Body):
    """Whether to ask about many rows at once."""

    sheets: StrictBool


class CriterionBody(Body):
    """When two rows belong to one cluster, in a sentence; "" for none."""

    criterion: Name


class BudgetBody(Body):
    """The most presses in all; null for no limit."""

    budget: Annotated[StrictInt, Field(ge=1, le=10**9)] | None


class ThresholdBody(Body):
    """The probability from which records are exported as one entity."""

    threshold: Annotated[float, Field(gt=0, lt=1, allow_inf_nan=False)]


class InvitationBody(Body):
    """The name on a link, its role, and when it ends, in seconds since 1970."""

    who: Annotated[StrictStr, Field(min_length=1, max_length=100)]
    role: Role = "answer"
    expires: Annotated[float, Field(gt=0, lt=10**12, allow_inf_nan=False)] | None = None


Question = Annotated[PairQuestion | LineupQuestion | SheetQuestion, Field(discriminator="type")]


@dataclass(frozen=True)
class Failure:
    """What went wrong, in plain words."""

    error: str


@dataclass(frozen=True)
class Part:
    """A part of a project: its name in addresses, beside that of its parent."""

    name: str


@dataclass(frozen=True)
class About:
    """A project, how far it is open, and who asks: `who` is None where there are no links.

    `part_of` is the name of its parent, where it is a part.
    """

    name: str
    title: str | None
    state: State
    doing: str
    share: float
    who: str | None
    role: Role
    part_of: str | None


@dataclass(frozen=True)
class Changed:
    """The state after a change."""

    status: Status


@dataclass(frozen=True)
class NextQuestions(Changed):
    """The next questions; none when all is done."""

    questions: list[Question]


@dataclass(frozen=True)
class Saved(NextQuestions):
    """The answer is on disk."""

    saved: Literal[True] = True


@dataclass(frozen=True)
class UndoneItems(UndoneAct):
    """An act that was taken back, and up to two of the items that it was about."""

    items: list[ItemView]


@dataclass(frozen=True)
class Undone(NextQuestions):
    """What was taken back: in words, and as data."""

    undone: list[str]
    acts: list[UndoneItems]


@dataclass(frozen=True)
class ExportRecord:
    """A file that can be had of the project."""

    file: str
    about: str
    media_type: str


@dataclass(frozen=True)
class ExportList:
    """All files that can be had of the project."""

    exports: list[ExportRecord]


@dataclass(frozen=True)
class Closed(NextQuestions):
    """The question is no longer open; these are."""

    error: str


@dataclass(frozen=True)
class Skipped:
    """Pairs that were skipped."""

    questions: list[PairQuestion]


@dataclass(frozen=True)
class Imported(Changed):
    """How many answers are new, and how many pairs were answered both ways; the last answer counts."""

    imported: int
    contradictory: int


@dataclass(frozen=True)
class Found:
    """Clusters, best first."""

    clusters: list[ClusterMatch]


@dataclass(frozen=True)
class Contradictions:
    """Answers that cannot all be true."""

    contradictions: list[ContradictionRecord]


@dataclass(frozen=True)
class LinkRecord:
    """A link, without its token; times in seconds since 1970."""

    id: int
    who: str
    role: Role
    at: float
    expires: float | None
    revoked: float | None


@dataclass(frozen=True)
class LinkList:
    """All links of a project."""

    links: list[LinkRecord]


@dataclass(frozen=True)
class NewLink:
    """A new link. Its token is in this reply only; `path` is that of the page, with the token."""

    link: LinkRecord
    token: str
    path: str
