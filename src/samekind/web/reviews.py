"""Routes: what people disagree about, and how it is settled. For reviewers: they show who said what."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StrictInt

from samekind.project import ReviewPage
from samekind.web.bodies import LARGEST, Body
from samekind.web.parameters import Limit, Offset, Once, ProjectOf, Who, routers
from samekind.web.replies import Changed

__all__ = ["changes", "reads"]

reads, changes = routers("reviews")

Row = Annotated[StrictInt, Field(ge=0, le=LARGEST)]


class Settlement(Body):
    """What two rows are, once and for all."""

    a: Row
    b: Row
    answer: Literal["same", "different", "unsure"]


@reads.get("/reviews")
def reviews(project: ProjectOf, offset: Offset = 0, limit: Limit = 20) -> ReviewPage:
    """Pairs of which people do not say the same, and what each of them said."""
    return project.team.reviews(offset, limit)


@changes.post("/reviews")
def settle(project: ProjectOf, who: Who, once: Once, given: Settlement) -> Changed:
    """Settle what people disagree about; it counts at once."""
    once(lambda: project.team.settle(given.a, given.b, given.answer, who=who))
    return Changed(status=project.status())
