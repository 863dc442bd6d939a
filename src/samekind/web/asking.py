"""Routes: questions and answers."""

from __future__ import annotations

from typing import Annotated

from fastapi import Body, HTTPException, Query, Response
from fastapi.encoders import jsonable_encoder
from fastapi.responses import JSONResponse

from samekind.project import AnswerPage, PressPage, QuestionClosed, Status
from samekind.web import parameters as p
from samekind.web import replies as r
from samekind.web.bodies import Answer, Correction, Undo
from samekind.web.parameters import Limit, Offset, Once, ProjectOf, WantedBy, Who
from samekind.web.roles import may

__all__ = ["changes", "reads"]

reads, changes = p.routers("asking")


@reads.get("/status")
def status(project: ProjectOf) -> Status:
    """Where the work stands, and whether it is safe to stop."""
    project.standing.advice()
    return project.status()


@reads.get("/next")
def next_questions(wanted: WantedBy) -> r.NextQuestions:
    """What to ask next. Asked again, it is the same until it is answered."""
    return wanted.reply(r.NextQuestions)


@changes.post("/answers", response_model=r.Saved, responses=p.responses(409, model=r.Closed))
def answer(wanted: WantedBy, once: Once, given: Answer) -> r.Saved | Response:
    """Answer a question. It is on disk when this says so."""
    with wanted.project.at_one_moment():
        try:
            once(lambda: wanted.project.answer(given.id, given.said(), who=wanted.who))
        except QuestionClosed as error:
            return JSONResponse(jsonable_encoder(wanted.reply(r.Closed, error=str(error))), 409)
        return wanted.reply(r.Saved)


@changes.post("/undo")
def undo(wanted: WantedBy, caller: p.CallerOf, once: Once, how: Undo) -> r.Undone:
    """Take back the last clicks, one's own if one has a name; a finished project goes on for owners alone."""
    project, goes_on = wanted.project, may(caller.role, "resume")
    with project.at_one_moment():
        undone = once(lambda: project.undo(how.count, who=wanted.who or None, resume=goes_on))
        return wanted.reply(r.Undone, undone=undone)


@reads.get("/skipped")
def skipped(project: ProjectOf, most: Annotated[int, Query(ge=1, le=100)] = 3) -> r.Skipped:
    """Pairs that were skipped, to be asked again."""
    return r.Skipped(questions=project.questions.skipped(most))


@reads.get("/answers")
def answers(project: ProjectOf, offset: Offset = 0, limit: Limit = 50) -> AnswerPage:
    """Answers that stand, newest first."""
    return project.answers.page(offset, limit)


@reads.get("/presses")
def presses(
    project: ProjectOf,
    offset: Offset = 0,
    limit: Limit = 20,
    search: Annotated[str, Query(max_length=200)] = "",
) -> PressPage:
    """What was answered, press by press, newest first."""
    return project.answers.presses(offset, limit, search)


@changes.put("/answers")
def correct(project: ProjectOf, who: Who, once: Once, given: Correction) -> r.Changed:
    """Change one's mind about a pair."""
    once(lambda: project.answers.correct(given.a, given.b, given.answer, who=who))
    return r.Changed(status=project.status())


@changes.post("/answers/import")
def import_answers(
    project: ProjectOf, who: Who, once: Once, body: Annotated[bytes, Body(media_type="text/csv")]
) -> r.Imported:
    """Take in answers from a CSV with the columns a, b and answer; rows go by number or by any id."""
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise HTTPException(422, "The file is not UTF-8. Save it as CSV in UTF-8.") from None
    read = project.answers.read(text)  # before anybody has to wait
    imported, contradictory = once(lambda: project.answers.take_in(read, who=who))
    return r.Imported(imported=imported, contradictory=contradictory, status=project.status())


@reads.get("/contradictions")
def contradictions(project: ProjectOf) -> r.Contradictions:
    """Answers that cannot all be true."""
    return r.Contradictions(contradictions=project.answers.contradictions())


@changes.post("/finish")
def finish(project: ProjectOf, once: Once) -> r.Changed:
    """End asking."""
    once(project.standing.finish)
    return r.Changed(status=project.status())


@changes.post("/resume")
def resume(project: ProjectOf, once: Once) -> r.Changed:
    """Go on asking after all."""
    once(project.standing.resume)
    return r.Changed(status=project.status())
