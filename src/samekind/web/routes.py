"""The routes of a project's API. Each is added to the router of the least role that may use it."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import IO, Annotated, Any, Literal, TypeVar
from urllib.parse import unquote

from fastapi import APIRouter, Body, Depends, Header, HTTPException, Path, Query, Request, Response
from fastapi.encoders import jsonable_encoder
from fastapi.responses import JSONResponse, StreamingResponse
from fastapi.security import HTTPBearer

from samekind.errors import DataError
from samekind.ledger import Link, Links
from samekind.project import (
    EXPORTS,
    AnnotatorPage,
    AnswerPage,
    ClusterPage,
    History,
    ItemView,
    Overview,
    PressPage,
    Project,
    QuestionClosed,
    ReviewPage,
    RowMap,
    SearchPage,
    Status,
    Suggestion,
    Threshold,
    part_name,
)
from samekind.web import schemas as s
from samekind.web.auth import Caller
from samekind.web.guard import CALLER

__all__ = ["API", "ROUTERS"]

API = "/p/{project}/api"
PICTURES = ("image/png", "image/jpeg", "image/webp", "image/gif")  # never SVG: it can hold scripts
PIECE = 1 << 18
FILES = {one.file: one for one in EXPORTS}
OPENING = "The project is being opened. Try again in a moment."

Responses = dict[int | str, dict[str, Any]]
Reply = TypeVar("Reply", bound=s.NextQuestions)


# What routes take


async def _caller(
    request: Request,
    project: Annotated[
        str, Path(max_length=63, description="The name of the project in addresses.")
    ],
) -> Caller:
    caller: Caller | None = request.scope.get(CALLER)
    if caller is None:
        raise HTTPException(401, "The token is missing.")
    return caller


CallerOf = Annotated[Caller, Depends(_caller)]


async def _project(caller: CallerOf) -> Project:
    project = caller.hosted.project
    if project is None or caller.hosted.state != "ready":
        words = OPENING if caller.hosted.state == "opening" else caller.hosted.doing
        raise HTTPException(503, words, {"Retry-After": "3"})
    return project


ProjectOf = Annotated[Project, Depends(_project)]


async def _links(caller: CallerOf) -> Links:
    if caller.hosted.parent is not None:
        raise HTTPException(404, "A part has the links of its parent. Make and revoke them there.")
    try:
        return caller.hosted.links
    except LookupError:
        raise HTTPException(404, "There are no links here: samekind serve has them.") from None


LinksOf = Annotated[Links, Depends(_links)]


async def _who(
    caller: CallerOf,
    x_samekind_who: Annotated[
        str,
        Header(
            max_length=1200,
            description="The person's name, percent-encoded UTF-8. Ignored where people have links.",
        ),
    ] = "",
) -> str:
    if caller.who is not None:
        return caller.who
    try:
        name = unquote(x_samekind_who, errors="strict").strip()
    except UnicodeDecodeError:
        raise HTTPException(422, "X-Samekind-Who must be percent-encoded UTF-8.") from None
    if len(name) > 100 or not name.isprintable():
        raise HTTPException(422, "A name has at most 100 printable characters. Choose another one.")
    return name


Who = Annotated[str, Depends(_who)]


@dataclass(frozen=True)
class _Act:
    """A change by somebody, done once however often it is sent with the same key."""

    project: Project
    who: str
    key: str
    digest: str

    def once(self, do: Callable[[], object]) -> Any:
        """Do it; return what it returns, or returned when it was done."""
        if not self.key:
            return do()
        return self.project.once(self.key, self.digest, do, who=self.who)

    def __call__(self, do: Callable[[Project, str], object]) -> s.Changed:
        """Do it with the project, in the person's name; return the state after it."""
        self.once(lambda: do(self.project, self.who))
        return s.Changed(self.project.standing.at_once())


async def _act(
    request: Request,
    project: ProjectOf,
    who: Who,
    idempotency_key: Annotated[
        str,
        Header(
            max_length=200,
            pattern=r"^[!-~]*$",
            description="A text that no other request has: a request repeated with it is done once.",
        ),
    ] = "",
) -> _Act:
    path = request.url.path.removeprefix(request.scope["root_path"])
    asked = f"{request.method} {path} ".encode() + await request.body()
    return _Act(project, who, idempotency_key, hashlib.sha256(asked).hexdigest())


Act = Annotated[_Act, Depends(_act)]


@dataclass(frozen=True)
class _Wanted:
    project: ProjectOf
    who: Who
    lineup: Annotated[bool, Query(description="Whether line-ups may be asked.")] = True
    most: Annotated[int, Query(ge=1, le=10, description="How many questions to fetch ahead.")] = 1

    def reply(self, form: type[Reply], **more: object) -> Reply:
        """Return the next questions and the status."""
        questions = self.project.next(self.who, lineup=self.lineup, most=self.most)
        return form(questions=questions, status=self.project.status(), **more)


Wanted = Annotated[_Wanted, Depends()]


class _Kept:
    """Lets a browser keep a reply, and ask each time whether it still holds."""

    def __init__(
        self,
        request: Request,
        response: Response,
        tags: Annotated[str, Header(alias="If-None-Match", max_length=1000)] = "",
    ) -> None:
        self._edition: str = request.app.state.edition
        self._given = [tag.strip().removeprefix("W/") for tag in tags.split(",")]
        self._response = response

    def unchanged(self, *what: object) -> Response | None:
        """Return the reply to a browser that has this already; otherwise mark the reply with it."""
        tag = "-".join([self._edition, *map(str, what)])
        headers = {"ETag": f'"{tag}"', "Cache-Control": "private, no-cache"}
        if headers["ETag"] in self._given:
            return Response(status_code=304, headers=headers)
        self._response.headers.update(headers)
        return None


Kept = Annotated[_Kept, Depends()]
Offset = Annotated[int, Query(ge=0, le=s.LARGEST)]
Limit = Annotated[int, Query(ge=1, le=200)]
Members = Annotated[int, Query(ge=1, le=50)]
ClusterNumber = Annotated[
    int, Path(ge=0, le=s.LARGEST, description="A row that stands for the cluster.")
]


def _failures(*statuses: int, model: type = s.Failure) -> Responses:
    return {status: {"model": model} for status in statuses}


def _router(role: str) -> APIRouter:
    async def check(caller: CallerOf) -> None:
        if not caller.may(role):
            raise HTTPException(
                403, f"This is for those whose role is {role!r}; yours is {caller.role!r}."
            )

    responses = _failures(400, 401, 403, 404, 408, 413, 422, 503)
    documented = Depends(HTTPBearer(auto_error=False))  # `Guard` looks at the token
    return APIRouter(prefix=API, dependencies=[documented, Depends(check)], responses=responses)


answering, reviewing, owning = ROUTERS = tuple(map(_router, ("answer", "review", "own")))


# Questions and answers


@answering.get("/about")
def about(caller: CallerOf) -> s.About:
    """The project, how far it is open, and who you are in it."""
    hosted = caller.hosted
    title = None if hosted.project is None else hosted.project.title
    return s.About(
        hosted.name, title, hosted.state, hosted.doing, hosted.share, caller.who, caller.role,  # type: ignore[arg-type]
        part_of=None if hosted.parent is None else hosted.parent.name,
    )  # fmt: skip


@answering.get("/status")
def status(project: ProjectOf) -> Status:
    """Where the work stands, and whether it is safe to stop."""
    return project.standing.glance()


@answering.get("/next")
def next_questions(wanted: Wanted) -> s.NextQuestions:
    """The next questions; the same until they are answered."""
    return wanted.reply(s.NextQuestions)


@answering.post("/answers", response_model=s.Saved, responses=_failures(409, model=s.Closed))
def answer(wanted: Wanted, act: Act, given: s.AnswerBody) -> s.Saved | Response:
    """Answer a question. The answer is on disk when the reply says so."""
    try:
        act.once(lambda: wanted.project.answer(given.id, given.said(), who=wanted.who))
    except QuestionClosed as error:
        return JSONResponse(jsonable_encoder(wanted.reply(s.Closed, error=str(error))), 409)
    return wanted.reply(s.Saved)


@answering.post("/undo")
def undo(wanted: Wanted, caller: CallerOf, act: Act, how: s.UndoBody) -> s.Undone:
    """Take back your last acts. Only an owner's undo resumes a finished project."""
    project, resume = wanted.project, caller.may("own")

    def take_back() -> list[dict[str, Any]]:
        return list(
            map(asdict, project.take_back(how.count, who=wanted.who or None, resume=resume))
        )

    acts = [
        s.UndoneItems(**one, items=list(map(project.item, one["rows"][:2])))
        for one in act.once(take_back)
    ]
    return wanted.reply(s.Undone, undone=[one.text for one in acts], acts=acts)


@answering.get("/skipped")
def skipped(project: ProjectOf, most: Annotated[int, Query(ge=1, le=100)] = 3) -> s.Skipped:
    """Pairs that were skipped, to be asked again."""
    return s.Skipped(project.questions.skipped(most))


@answering.get("/find")
def find(
    project: ProjectOf,
    text: Annotated[str, Query(max_length=200, description="A name, or words of examples.")] = "",
    row: Annotated[
        int | None, Query(ge=0, le=s.LARGEST, description="The row to be placed.")
    ] = None,
    most: Annotated[int, Query(ge=1, le=1000)] = 20,
) -> s.Found:
    """Clusters whose names or examples are like a text; without one all, the likeliest first."""
    return s.Found(project.kinds.find(text, row=row, most=most))


# Items


def _existing(project: ProjectOf, row: Annotated[int, Path(ge=0, le=s.LARGEST)]) -> int:
    if row >= project.items.n:
        raise HTTPException(404, f"There is no row {row}; the last one is {project.items.n - 1}.")
    return row


ExistingRow = Annotated[int, Depends(_existing)]


def _file(*types: str) -> Responses:
    binary = {"type": "string", "format": "binary"}
    content = {name: {"schema": {} if name == "application/json" else binary} for name in types}
    return {200: {"content": content, "description": "The file"}}


@answering.get("/items/{row}")
def item(project: ProjectOf, row: ExistingRow) -> ItemView:
    """What is shown of a row. All of it is data, never markup."""
    return project.item(row)


@answering.get("/items/{row}/picture", response_class=Response, responses=_file(*PICTURES))
def picture(
    project: ProjectOf,
    kept: Kept,
    response: Response,
    row: ExistingRow,
    size: Literal["small", "large"] = "small",
) -> Response:
    """A row's picture, at most 256 or 2048 pixels wide and high."""
    if (unchanged := kept.unchanged(row, size)) is not None:
        return unchanged
    try:
        found = project.items.picture(row, size)
    except DataError as error:
        raise HTTPException(404, str(error)) from None
    if found.media_type not in PICTURES:
        raise HTTPException(404, f"Pictures of the type {found.media_type} are not shown.")
    return Response(found.body, media_type=found.media_type, headers=dict(response.headers))


# What was found, and changes of it


@reviewing.get("/clusters", response_model=Overview)
def clusters(project: ProjectOf, kept: Kept, members: Members = 8) -> Overview | Response:
    """All clusters found so far, with some members of each."""
    return kept.unchanged(project.revision, members) or project.overview.all(members)


@reviewing.get("/clusters/{cluster}")
def cluster(
    project: ProjectOf, cluster: ClusterNumber, offset: Offset = 0, limit: Limit = 24
) -> ClusterPage:
    """Some members of a cluster: the known ones first, then the predicted ones."""
    return project.overview.one(cluster, offset=offset, limit=limit)


@reviewing.put("/clusters/{cluster}/name")
def rename(act: Act, cluster: ClusterNumber, new: s.NameBody) -> s.Changed:
    """Rename a cluster, and define it."""
    return act(
        lambda project, who: project.kinds.rename(
            cluster, new.name, definition=new.definition, who=who
        )
    )


@reviewing.post("/clusters/{cluster}/suggestion")
def suggest(project: ProjectOf, cluster: ClusterNumber) -> Suggestion:
    """A name and a definition of a cluster, from the model that answers; each time it is asked, and paid."""
    return project.kinds.suggest(cluster)


@reviewing.post("/clusters/{cluster}/remove")
def remove(act: Act, cluster: ClusterNumber, removed: s.RowsBody) -> s.Changed:
    """Take rows out of a cluster."""
    return act(lambda project, who: project.kinds.remove(cluster, removed.rows, who=who))


@reviewing.post("/clusters/merge")
def merge(act: Act, merged: s.MergeBody) -> s.Changed:
    """Merge clusters."""
    return act(lambda project, who: project.kinds.merge(merged.clusters, who=who))


@reviewing.post("/rows/place")
def place(act: Act, placed: s.PlaceBody) -> s.Changed:
    """Put rows into a cluster."""
    return act(lambda project, who: project.kinds.place(placed.rows, placed.cluster, who=who))


@reviewing.post("/rows/new")
def place_in_new(act: Act, new: s.NewKindBody) -> s.Changed:
    """Put rows into a new cluster."""
    return act(lambda project, who: project.kinds.place_in_new(new.rows, new.name, who=who))


@owning.post("/clusters/{cluster}/split")
def split(act: Act, caller: CallerOf, cluster: ClusterNumber, how: s.SplitBody) -> s.Part:
    """Sort the items of a cluster further, in a part: a project of its own."""
    number = act.project.parts.split(cluster, how.criterion)  # again, it changes nothing
    return s.Part(part_name(caller.hosted.name, number))


@reviewing.get("/map", response_model=RowMap)
def map_of_rows(project: ProjectOf, kept: Kept) -> RowMap | Response:
    """Rows in the plane, coloured by cluster."""
    now = project.revision, project.overview.maps.state
    return kept.unchanged(*now) or project.overview.map()


@reviewing.get("/search")
def search(
    project: ProjectOf,
    text: Annotated[str, Query(min_length=1, max_length=200)],
    regex: Annotated[bool, Query(description="Whether it is a regular expression (RE2).")] = False,
    column: Annotated[str, Query(max_length=200, description="Where to look; anywhere.")] = "",
    offset: Offset = 0,
    limit: Limit = 24,
) -> SearchPage:
    """Items by what they say, and the cluster that each is known or predicted to be in."""
    return project.search(text, regex=regex, column=column, offset=offset, limit=limit)


@reviewing.get("/history")
def history(project: ProjectOf) -> History:
    """How many clusters were found after how many questions."""
    return project.standing.history()


# Answers, people, disagreement


@reviewing.get("/answers")
def answers(project: ProjectOf, offset: Offset = 0, limit: Limit = 50) -> AnswerPage:
    """The answers that stand, newest first."""
    return project.answers.page(offset, limit)


@reviewing.put("/answers")
def correct(act: Act, given: s.PairBody) -> s.Changed:
    """Change the answer to a pair."""
    return act(
        lambda project, who: project.answers.correct(given.a, given.b, given.answer, who=who)
    )


@reviewing.get("/presses")
def presses(
    project: ProjectOf,
    offset: Offset = 0,
    limit: Limit = 20,
    search: Annotated[str, Query(max_length=200)] = "",
) -> PressPage:
    """The acts that stand, newest first."""
    return project.answers.presses(offset, limit, search)


@reviewing.get("/contradictions")
def contradictions(project: ProjectOf) -> s.Contradictions:
    """Answers that cannot all be true."""
    return s.Contradictions(project.answers.contradictions())


@reviewing.get("/annotators")
def annotators(project: ProjectOf) -> AnnotatorPage:
    """Annotators, people and models: how much they answered, how often they err, what they cost."""
    return project.team.annotators()


@reviewing.get("/reviews")
def reviews(project: ProjectOf, offset: Offset = 0, limit: Limit = 20) -> ReviewPage:
    """Pairs that people disagree about, and what each of them said."""
    return project.team.reviews(offset, limit)


@reviewing.post("/reviews")
def settle(act: Act, given: s.PairBody) -> s.Changed:
    """Settle what people disagree about."""
    return act(lambda project, who: project.team.settle(given.a, given.b, given.answer, who=who))


@reviewing.get("/threshold")
def threshold(
    project: ProjectOf, at: Annotated[float | None, Query(gt=0, lt=1)] = None
) -> Threshold:
    """What records a match threshold would join; by default the one that is kept."""
    return project.entities.at(project.entities.threshold if at is None else at)


# The project as a whole


@owning.get("/exports")
def exports(project: ProjectOf) -> s.ExportList:
    """The files that can be had of the project."""
    found = project.exports.available()
    return s.ExportList([s.ExportRecord(one.file, one.about, one.media_type) for one in found])


@owning.put("/budget")
def budget(act: Act, given: s.BudgetBody) -> s.Changed:
    """Set how many presses there may be in all."""
    return act(lambda project, who: project.standing.set_budget(given.budget))


@owning.get(
    "/export/{name}",
    response_class=Response,
    responses=_file(*sorted({one.media_type for one in EXPORTS})),
)
def export(
    project: ProjectOf, name: Annotated[str, Path(json_schema_extra={"enum": sorted(FILES)})]
) -> Response:
    """What was found, as a file."""
    if name not in FILES:
        raise HTTPException(404, f"There is no export {name!r:.60}.")
    # an unnamed file: nothing of it is left behind even if the server is killed
    file = tempfile.TemporaryFile(prefix="samekind-")  # noqa: SIM115 - closed once it is sent
    try:
        project.export(name, file)
        size = file.seek(0, os.SEEK_END)
        file.seek(0)
    except OSError as error:
        file.close()
        raise HTTPException(
            503, f"The file could not be written: {error.strerror}. Make room and try again."
        ) from error
    except BaseException:
        file.close()
        raise
    headers = {"Content-Length": str(size), "Content-Disposition": f'attachment; filename="{name}"'}
    return StreamingResponse(_pieces(file), media_type=FILES[name].media_type, headers=headers)


def _pieces(file: IO[bytes]) -> Iterator[bytes]:
    with file:
        while piece := file.read(PIECE):
            yield piece


@owning.post("/answers/import")
def import_answers(act: Act, body: Annotated[bytes, Body(media_type="text/csv")]) -> s.Imported:
    """Import answers from a CSV with the columns a, b and answer; rows are numbers or ids."""
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise HTTPException(422, "The file is not UTF-8. Save it as CSV in UTF-8.") from None
    project, read = act.project, act.project.answers.read(text)  # without a lock
    imported, contradictory = act.once(lambda: project.answers.take_in(read, who=act.who))
    return s.Imported(imported=imported, contradictory=contradictory, status=project.status())


@owning.post("/finish")
def finish(act: Act) -> s.Changed:
    """Stop asking."""
    return act(lambda project, who: project.standing.finish())


@owning.post("/resume")
def resume(act: Act) -> s.Changed:
    """Ask again after `finish`."""
    return act(lambda project, who: project.standing.resume())


@owning.put("/sheets")
def sheets(act: Act, wanted: s.SheetsBody) -> s.Changed:
    """Ask about many rows at once where that saves answers, or never."""
    return act(lambda project, who: project.questions.use_sheets(wanted.sheets))


@owning.put("/criterion")
def criterion(act: Act, given: s.CriterionBody) -> s.Changed:
    """Say when two rows belong to one cluster."""
    return act(lambda project, who: project.standing.set_criterion(given.criterion))


@owning.put("/threshold")
def keep_threshold(act: Act, wanted: s.ThresholdBody) -> Threshold:
    """Keep a match threshold; exports use it."""
    act(lambda project, who: project.entities.set_threshold(wanted.threshold))
    return act.project.entities.at(wanted.threshold)


@owning.get("/links")
def links(found: LinksOf) -> s.LinkList:
    """All links, also those that no longer hold."""
    return s.LinkList(list(map(_record, found.all())))


@owning.post("/links", responses=_failures(409))
def invite(links: LinksOf, caller: CallerOf, act: Act, wanted: s.InvitationBody) -> s.NewLink:
    """Make a link. Repeated with the same key it names the link, whose token is not kept."""
    given: list[tuple[Link, str]] = []

    def make() -> int:
        named, ledger = (wanted.who, wanted.role), act.project.session.ledger
        try:
            given.append(links.invite(*named, expires=wanted.expires, within=ledger))
        except ValueError as error:
            raise HTTPException(422, f"{str(error)[:1].upper()}{str(error)[1:]}") from None
        return given[0][0].id

    with act.project.ledger.turn():  # or the ledger may be in the transaction of another request
        number = act.once(make)
    if not given:
        raise HTTPException(
            409,
            f"This request has made link {number} before, and its token was told then: it is not kept. If "
            f"nobody has it, revoke link {number} and make another one, with a new Idempotency-Key.",
        )
    [(made, token)] = given
    return s.NewLink(_record(made), token, f"/p/{caller.hosted.name}/#token={token}")


@owning.post("/links/{link}/revoke")
def revoke(links: LinksOf, act: Act, link: Annotated[int, Path(ge=1, le=10**9)]) -> s.LinkRecord:
    """Revoke a link, at once and on every server."""
    act.once(lambda: None)  # a key belongs to one request; revoking twice changes nothing
    links.revoke(number=link)
    found = links.get(link)
    if found is None:
        raise HTTPException(404, f"There is no link {link}.")
    return _record(found)


def _record(link: Link) -> s.LinkRecord:
    return s.LinkRecord(link.id, link.who, link.role, link.at, link.expires, link.revoked)  # type: ignore[arg-type]
