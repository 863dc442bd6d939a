"""Routes: what something is, said without being asked, and by what it is judged."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query

from samekind.web import parameters as p
from samekind.web.bodies import LARGEST, Criterion, NewKind, Placing, Sheets
from samekind.web.parameters import Once, ProjectOf, Who
from samekind.web.replies import Changed, Found

__all__ = ["changes", "reads"]

reads, changes = p.routers("saying")


@reads.get("/find")
def find(
    project: ProjectOf,
    text: Annotated[str, Query(max_length=200, description="A name, or words of examples.")] = "",
    row: Annotated[int | None, Query(ge=0, le=LARGEST, description="What it is for.")] = None,
    most: Annotated[int, Query(ge=1, le=1000)] = 20,
) -> Found:
    """Clusters whose names or examples are like a text; without one, all, the likeliest first."""
    return Found(project.kinds.find(text, row=row, most=most))


@changes.post("/rows/place")
def place(project: ProjectOf, who: Who, once: Once, placing: Placing) -> Changed:
    """Say of rows that they are in a cluster."""
    once(lambda: project.kinds.place(placing.rows, placing.cluster, who=who))
    return Changed(status=project.status())


@changes.post("/rows/new")
def place_in_new(project: ProjectOf, who: Who, once: Once, new: NewKind) -> Changed:
    """Say of rows that they are in none of the clusters found so far, but in one of their own."""
    once(lambda: project.kinds.place_in_new(new.rows, new.name, who=who))
    return Changed(status=project.status())


@changes.put("/sheets")
def sheets(project: ProjectOf, once: Once, wanted: Sheets) -> Changed:
    """Ask about many rows at once where that saves answers, or never."""
    once(lambda: project.questions.use_sheets(wanted.sheets))
    return Changed(status=project.status())


@changes.put("/criterion")
def criterion(project: ProjectOf, once: Once, given: Criterion) -> Changed:
    """Say when two are of one cluster."""
    once(lambda: project.standing.set_criterion(given.criterion))
    return Changed(status=project.status())
