"""Routes: what has been found so far."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Response

from samekind.project import ClusterPage, History, Overview, RowMap
from samekind.web import parameters as p
from samekind.web.bodies import Merge, Name, Removal
from samekind.web.parameters import Limit, Offset, Once, ProjectOf, Revalidation, Who
from samekind.web.replies import Changed

__all__ = ["changes", "reads"]

reads, changes = p.routers("found")


@reads.get("/clusters", response_model=Overview)
def clusters(
    project: ProjectOf, kept: Revalidation, members: Annotated[int, Query(ge=1, le=50)] = 8
) -> Overview | Response:
    """All clusters found so far, with some members of each."""
    return kept.unchanged(project.status().revision, members) or project.overview.all(members)


@reads.get("/clusters/{cluster}")
def cluster(
    project: ProjectOf, cluster: p.ClusterNumber, offset: Offset = 0, limit: Limit = 24
) -> ClusterPage:
    """Some members of a cluster: the known ones first, then the predicted ones."""
    return project.overview.one(cluster, offset=offset, limit=limit)


@changes.put("/clusters/{cluster}/name")
def rename(
    project: ProjectOf, who: Who, once: Once, cluster: p.ClusterNumber, new: Name
) -> Changed:
    """Give a cluster a name."""
    once(lambda: project.kinds.rename(cluster, new.name, who=who))
    return Changed(status=project.status())


@changes.post("/clusters/{cluster}/remove")
def remove(
    project: ProjectOf, who: Who, once: Once, cluster: p.ClusterNumber, removal: Removal
) -> Changed:
    """Say of rows that they do not belong to a cluster."""
    once(lambda: project.kinds.remove(cluster, removal.rows, who=who))
    return Changed(status=project.status())


@changes.post("/clusters/merge")
def merge(project: ProjectOf, who: Who, once: Once, merged: Merge) -> Changed:
    """Say of clusters that they are one."""
    once(lambda: project.kinds.merge(merged.clusters, who=who))
    return Changed(status=project.status())


@reads.get("/map", response_model=RowMap)
def map_of_rows(project: ProjectOf, kept: Revalidation) -> RowMap | Response:
    """Rows in the plane, coloured by cluster."""
    now = project.status().revision, project.overview.maps.state
    return kept.unchanged(*now) or project.overview.map()


@reads.get("/history")
def history(project: ProjectOf) -> History:
    """Clusters found after so many questions."""
    return project.standing.history()
