"""What a page sends: only what is known here, and within bounds."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictInt, StrictStr

__all__ = ["LARGEST", "Answer", "Correction", "Decisions", "Merge", "Name", "Removal", "Undo"]

LARGEST = 2**53 - 1  # JavaScript's
Row = Annotated[StrictInt, Field(ge=0, le=LARGEST)]


class Body(BaseModel):
    """Of a request."""

    model_config = ConfigDict(extra="forbid")


class Answer(Body):
    """To a pair: same, different, unsure or skip; to a line-up: a cluster's number, none, unsure or skip."""

    id: Annotated[StrictStr, Field(min_length=1, max_length=1000)]
    answer: Literal["same", "different", "unsure", "skip", "none"] | Row


class Undo(Body):
    """How many clicks to take back."""

    count: Annotated[StrictInt, Field(ge=1, le=10_000)] = 1


class Name(Body):
    """What to call a cluster; "" for nothing."""

    name: Annotated[StrictStr, Field(max_length=200)]


class Removal(Body):
    """Rows that do not belong to a cluster."""

    rows: Annotated[list[Row], Field(min_length=1, max_length=1000)]


class Merge(Body):
    """Clusters that are one."""

    clusters: Annotated[list[Row], Field(min_length=2, max_length=1000)]


class Correction(Body):
    """Another answer to a pair."""

    a: Row
    b: Row
    answer: Literal["same", "different", "unsure"]


Id = Annotated[StrictStr, Field(min_length=1, max_length=100)]


class Decisions(Body):
    """What to do with suggestions, by their ids."""

    decisions: Annotated[dict[Id, Literal["yes", "no"]], Field(min_length=1, max_length=100)]
