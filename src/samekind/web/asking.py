"""Routes: questions and answers."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Body, HTTPException, Query

from samekind.project import AnswerPage, QuestionClosed, Status
from samekind.web import replies as r
from samekind.web.bodies import Answer, Correction, Undo
from samekind.web.parameters import (
    CHANGES,
    READS,
    Limit,
    Offset,
    ProjectOf,
    WantedBy,
    Who,
    responses,
)

__all__ = ["ClosedError", "router"]

router = APIRouter(prefix="/api", tags=["asking"])


class ClosedError(Exception):
    """An answer to a question that is not open any more, with those that are."""

    def __init__(self, reply: r.Closed) -> None:
        super().__init__(reply.error)
        self.reply = reply


@router.get("/status", **READS)
def status(project: ProjectOf) -> Status:
    """Where the work stands."""
    return project.status()


@router.get("/next", **READS)
def next_questions(wanted: WantedBy) -> r.NextQuestions:
    """What to ask next. Asked again, it is the same until it is answered."""
    return r.NextQuestions(questions=wanted.questions(), status=wanted.project.status())


@router.post(
    "/answers",
    dependencies=CHANGES["dependencies"],
    responses=CHANGES["responses"] | responses(409, model=r.Closed),
)
def answer(wanted: WantedBy, given: Answer) -> r.Saved:
    """Answer a question. It is on disk when this says so."""
    try:
        wanted.project.answer(given.id, given.answer, who=wanted.who)
    except QuestionClosed as error:
        raise ClosedError(
            r.Closed(error=str(error), questions=wanted.questions(), status=wanted.project.status())
        ) from None
    return r.Saved(questions=wanted.questions(), status=wanted.project.status())


@router.post("/undo", **CHANGES)
def undo(wanted: WantedBy, how: Undo) -> r.Undone:
    """Take back the last clicks, one's own if one has a name."""
    undone = wanted.project.undo(how.count, who=wanted.who or None)
    return r.Undone(undone=undone, questions=wanted.questions(), status=wanted.project.status())


@router.get("/skipped", **READS)
def skipped(project: ProjectOf, most: Annotated[int, Query(ge=1, le=100)] = 3) -> r.Skipped:
    """Pairs that were skipped, to be asked again."""
    return r.Skipped(questions=project.skipped(most))


@router.get("/answers", **READS)
def answers(project: ProjectOf, offset: Offset = 0, limit: Limit = 50) -> AnswerPage:
    """Answers that stand, newest first."""
    return project.answers(offset, limit)


@router.put("/answers", **CHANGES)
def correct(project: ProjectOf, who: Who, given: Correction) -> r.Changed:
    """Change one's mind about a pair."""
    project.correct(given.a, given.b, given.answer, who=who)
    return r.Changed(status=project.status())


@router.post("/answers/import", **CHANGES)
def import_answers(
    project: ProjectOf, who: Who, body: Annotated[bytes, Body(media_type="text/csv")]
) -> r.Imported:
    """Take in answers from a CSV with the columns a, b and answer."""
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise HTTPException(422, "The file is not UTF-8. Save it as CSV in UTF-8.") from None
    imported = project.import_answers(text, who=who)
    return r.Imported(imported=imported, status=project.status())


@router.get("/contradictions", **READS)
def contradictions(project: ProjectOf) -> r.Contradictions:
    """Answers that cannot all be true."""
    return r.Contradictions(contradictions=project.contradictions())


@router.post("/finish", **CHANGES)
def finish(project: ProjectOf) -> r.Changed:
    """End asking."""
    project.finish()
    return r.Changed(status=project.status())


@router.post("/resume", **CHANGES)
def resume(project: ProjectOf) -> r.Changed:
    """Go on asking after all."""
    project.resume()
    return r.Changed(status=project.status())
