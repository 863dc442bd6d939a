"""Routes: records, and the threshold from which on two are one."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query
from pydantic import Field

from samekind.project import Threshold
from samekind.web.bodies import Body
from samekind.web.parameters import Once, ProjectOf, routers

__all__ = ["changes", "reads"]

reads, changes = routers("records")
Probability = Annotated[float, Query(gt=0, lt=1)]


class NewThreshold(Body):
    """The probability from which on records are exported as one entity."""

    threshold: Annotated[float, Field(gt=0, lt=1, allow_inf_nan=False)]


@reads.get("/threshold")
def threshold(project: ProjectOf, at: Probability | None = None) -> Threshold:
    """What would be found from a probability on, and what that changes; by default the one that is kept."""
    return project.entities.at(at)


@changes.put("/threshold")
def keep_threshold(project: ProjectOf, once: Once, wanted: NewThreshold) -> Threshold:
    """Keep a threshold: exports go by it."""
    once(lambda: project.entities.set_threshold(wanted.threshold))
    return project.entities.at(wanted.threshold)
