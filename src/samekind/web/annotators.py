"""Routes: who answers, people and models."""

from __future__ import annotations

from samekind.project import AnnotatorPage
from samekind.web.parameters import ProjectOf, routers

__all__ = ["changes", "reads"]

reads, changes = routers("annotators")


@reads.get("/annotators")
def annotators(project: ProjectOf) -> AnnotatorPage:
    """Who answered, how much, how often they err and what they cost; and what a model does now."""
    return project.team.annotators()
