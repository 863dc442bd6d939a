"""Routes: questions and answers."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Body, HTTPException, Query

from samekind.desk import Stale
from samekind.web import records as r
from samekind.web.bodies import Answer, Correction, Undo
from samekind.web.parameters import CHANGES, READS, Limit, Lineup, Most, Offset, ViewOf, Who
from samekind.web.views import View

__all__ = ["OutdatedError", "router"]

router = APIRouter(prefix="/api", tags=["asking"])
OUTDATED: dict[int | str, dict[str, Any]] = {409: {"model": r.Outdated}}


class OutdatedError(Exception):
    """An answer to a question that is not open any more, with those that are."""

    def __init__(self, record: r.Outdated) -> None:
        super().__init__(record.error)
        self.record = record


@router.get("/state", **READS)
def state(view: ViewOf) -> r.State:
    """Where the work stands."""
    return view.state()


@router.get("/next", **READS)
def next_questions(view: ViewOf, who: Who, lineup: Lineup = True, most: Most = 1) -> r.Questions:
    """What to ask next. Asked again, it is the same until it is answered."""
    return r.Questions(**_onward(view, who, lineup, most))


@router.post(
    "/answers", dependencies=CHANGES["dependencies"], responses=CHANGES["responses"] | OUTDATED
)
def answer(view: ViewOf, who: Who, said: Answer, lineup: Lineup = True, most: Most = 1) -> r.Saved:
    """Answer a question. It is on disk when this says so."""
    try:
        view.desk.answer(said.id, said.answer, who=who)
    except Stale as error:
        onward = _onward(view, who, lineup, most)
        raise OutdatedError(r.Outdated(error=str(error), **onward)) from None
    return r.Saved(**_onward(view, who, lineup, most))


@router.post("/undo", **CHANGES)
def undo(view: ViewOf, who: Who, how: Undo, lineup: Lineup = True, most: Most = 1) -> r.Undone:
    """Take back the last clicks, one's own if one has a name."""
    undone = view.desk.undo(how.count, who=who or None)
    return r.Undone(undone=undone, **_onward(view, who, lineup, most))


@router.get("/skipped", **READS)
def skipped(view: ViewOf, most: Annotated[int, Query(ge=1, le=100)] = 3) -> r.Skipped:
    """Pairs that were skipped, to be asked again."""
    return r.Skipped(questions=view.questions(view.desk.skipped(most)))


@router.get("/answers", **READS)
def answers(view: ViewOf, offset: Offset = 0, limit: Limit = 50) -> r.Answers:
    """Answers that stand, newest first."""
    return view.answers(offset, limit)


@router.put("/answers", **CHANGES)
def correct(view: ViewOf, who: Who, said: Correction) -> r.Afterwards:
    """Change one's mind about a pair."""
    view.desk.correct(said.a, said.b, said.answer, who=who)
    return r.Afterwards(state=view.state())


@router.post("/answers/import", **CHANGES)
def import_answers(
    view: ViewOf, who: Who, body: Annotated[bytes, Body(media_type="text/csv")]
) -> r.Imported:
    """Take in answers from a CSV with the columns a, b and answer."""
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise HTTPException(422, "The file is not UTF-8. Save it as CSV in UTF-8.") from None
    imported = view.desk.import_answers(text, who=who)
    return r.Imported(imported=imported, state=view.state())


@router.get("/contradictions", **READS)
def contradictions(view: ViewOf) -> r.Contradictions:
    """Answers that cannot all be true."""
    return view.contradictions()


@router.post("/finish", **CHANGES)
def finish(view: ViewOf) -> r.Afterwards:
    """End asking."""
    view.desk.finish()
    return r.Afterwards(state=view.state())


@router.post("/resume", **CHANGES)
def resume(view: ViewOf) -> r.Afterwards:
    """Go on asking after all."""
    view.desk.resume()
    return r.Afterwards(state=view.state())


def _onward(view: View, who: str, lineup: bool, most: int) -> dict[str, Any]:
    questions = view.questions(view.desk.next(who, lineup=lineup, most=most))
    return {"questions": questions, "state": view.state()}
