"""Routes: what has been found so far."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Header, Query, Response

from samekind.web import records as r
from samekind.web.bodies import Merge, Name, Removal
from samekind.web.parameters import CHANGES, READS, KindNumber, Limit, Offset, ViewOf, Who

__all__ = ["is_known", "router"]

router = APIRouter(prefix="/api", tags=["found"])
REVALIDATED = "private, no-cache"  # keep it, but ask each time whether it still holds
Tags = Annotated[str, Header(alias="If-None-Match", max_length=1000)]


def is_known(tag: str, tags: str) -> bool:
    """Return whether the page has the thing with this entity tag."""
    return tag in (given.strip().removeprefix("W/") for given in tags.split(","))


@router.get("/kinds", response_model=r.ClusterState, **READS)
def kinds(
    view: ViewOf,
    response: Response,
    members: Annotated[int, Query(ge=1, le=50)] = 8,
    tags: Tags = "",
) -> r.ClusterState | Response:
    """All kinds found so far, with some members of each."""
    tag = view.tag(view.desk.standing().revision, members)
    headers = {"ETag": tag, "Cache-Control": REVALIDATED}
    if is_known(tag, tags):
        return Response(status_code=304, headers=headers)
    response.headers.update(headers)
    return view.kinds(members)


@router.get("/kinds/{kind}", **READS)
def kind(view: ViewOf, kind: KindNumber, offset: Offset = 0, limit: Limit = 24) -> r.KindMembers:
    """Some members of a kind: the known ones first, then the predicted ones."""
    return view.kind(kind, offset, limit)


@router.put("/kinds/{kind}/name", **CHANGES)
def rename(view: ViewOf, kind: KindNumber, new: Name) -> r.Afterwards:
    """Give a kind a name."""
    view.desk.rename(kind, new.name)
    return r.Afterwards(state=view.state())


@router.post("/kinds/{kind}/remove", **CHANGES)
def remove(view: ViewOf, who: Who, kind: KindNumber, removal: Removal) -> r.Afterwards:
    """Say of rows that they do not belong to a kind."""
    view.desk.remove(kind, removal.rows, who=who)
    return r.Afterwards(state=view.state())


@router.post("/kinds/merge", **CHANGES)
def merge(view: ViewOf, who: Who, merged: Merge) -> r.Afterwards:
    """Say of kinds that they are one."""
    view.desk.merge(merged.kinds, who=who)
    return r.Afterwards(state=view.state())


@router.get("/map", response_model=r.Map, **READS)
def map_of_rows(view: ViewOf, response: Response, tags: Tags = "") -> r.Map | Response:
    """Rows in the plane, coloured by kind."""
    tag = view.tag(view.desk.standing().revision)
    headers = {"ETag": tag, "Cache-Control": REVALIDATED}
    if is_known(tag, tags):
        return Response(status_code=304, headers=headers)
    response.headers.update(headers)
    points, found = view.desk.map()
    return r.Map(points=points, kinds=found)


@router.get("/history", **READS)
def history(view: ViewOf) -> r.History:
    """ClusterState found after so many questions."""
    questions, found = view.desk.history()
    return r.History(questions=questions, kinds=found)
