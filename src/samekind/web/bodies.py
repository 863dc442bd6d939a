"""What a page sends: only what is known here, and within bounds."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictInt, StrictStr

from samekind.project import NewCluster, Said, SheetAnswer

__all__ = [
    "LARGEST",
    "Answer",
    "Correction",
    "Criterion",
    "Merge",
    "Name",
    "NewKind",
    "Placing",
    "Removal",
    "Sheets",
    "Undo",
]

LARGEST = 2**53 - 1  # JavaScript's
Row = Annotated[StrictInt, Field(ge=0, le=LARGEST)]
Rows = Annotated[list[Row], Field(min_length=1, max_length=1000)]
SheetRows = Annotated[list[Row], Field(max_length=100)]
NameText = Annotated[StrictStr, Field(max_length=200)]


class Body(BaseModel):
    """Of a request."""

    model_config = ConfigDict(extra="forbid")


class New(Body):
    """None of the clusters found so far; what its own is called, or ""."""

    new: NameText


class Sheet(Body):
    """Which rows of a sheet do not belong to the others, and of which nobody can tell."""

    different: SheetRows = []
    unsure: SheetRows = []


class Answer(Body):
    """To a pair: same, different, unsure or skip; to a line-up: none, unsure or skip; to either also the
    number of any cluster, or a new one. To a sheet: its rows that do not belong, unsure or skip.
    """

    id: Annotated[StrictStr, Field(min_length=1, max_length=1000)]
    answer: Literal["same", "different", "unsure", "skip", "none"] | Row | New | Sheet

    def said(self) -> Said:
        """Return it as the project takes it."""
        if isinstance(self.answer, New):
            return NewCluster(self.answer.new)
        if isinstance(self.answer, Sheet):
            return SheetAnswer(self.answer.different, self.answer.unsure)
        return self.answer


class Undo(Body):
    """How many clicks to take back."""

    count: Annotated[StrictInt, Field(ge=1, le=10_000)] = 1


class Name(Body):
    """What to call a cluster; "" for nothing."""

    name: NameText


class Removal(Body):
    """Rows that do not belong to a cluster."""

    rows: Rows


class Placing(Body):
    """Rows that are in a cluster."""

    rows: Rows
    cluster: Row


class NewKind(Body):
    """Rows that are in a cluster of their own; what it is called, or ""."""

    rows: Rows
    name: NameText = ""


class Sheets(Body):
    """Whether to ask about many rows at once."""

    sheets: StrictBool


class Criterion(Body):
    """When two are of one cluster, in a sentence; "" for none."""

    criterion: NameText


class Merge(Body):
    """Clusters that are one."""

    clusters: Annotated[list[Row], Field(min_length=2, max_length=1000)]


class Correction(Body):
    """Another answer to a pair."""

    a: Row
    b: Row
    answer: Literal["same", "different", "unsure"]
