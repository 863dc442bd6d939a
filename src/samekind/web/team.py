"""The application of a server for a team: several projects, personal links and health."""

from __future__ import annotations

import html
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, FastAPI, HTTPException, Path, Request, Response
from fastapi.responses import HTMLResponse, JSONResponse, PlainTextResponse
from pydantic import Field, StrictStr

from samekind.ledger import Link
from samekind.web.app import STATIC, include_routes, mount_static, new_api
from samekind.web.bodies import Body
from samekind.web.doors import HOSTED
from samekind.web.guard import Guard, Observer
from samekind.web.link_door import API, CALLERS, LinkDoor
from samekind.web.parameters import CallerOf, Once, ProjectOf, responses, routers
from samekind.web.replies import Failure
from samekind.web.site import HostedProject, Site

__all__ = ["make_team_app"]

Role = Literal["answer", "review", "own"]
Called = Annotated[str, Path(max_length=63, description="What the project is called in addresses.")]


async def _named(project: Called) -> None:
    """Document what the door looks at."""


async def _hosted(request: Request) -> HostedProject:
    hosted: HostedProject = request.scope[HOSTED]
    return hosted


HostedOf = Annotated[HostedProject, Depends(_hosted)]


@dataclass(frozen=True)
class ProjectEntry:
    """A project, and who you are in it."""

    name: str
    title: str | None  # None: it is not open
    state: Literal["opening", "ready", "failed"]
    who: str
    role: Role


@dataclass(frozen=True)
class ProjectList:
    """The projects that a token opens."""

    projects: list[ProjectEntry]


@dataclass(frozen=True)
class LinkRecord:
    """Somebody's link, without its token; times in seconds since 1970."""

    id: int
    who: str
    role: Role
    at: float
    expires: float | None
    revoked: float | None


@dataclass(frozen=True)
class LinkList:
    """All links of a project."""

    links: list[LinkRecord]


@dataclass(frozen=True)
class NewLink:
    """A link that was made; its token is told here, and never again."""

    link: LinkRecord
    token: str
    path: str  # of the page, with the token


class Invitation(Body):
    """For whom a link is, what they may do, and when it ends."""

    who: Annotated[StrictStr, Field(min_length=1, max_length=100)]
    role: Role = "answer"
    expires: Annotated[float, Field(gt=0, lt=10**12, allow_inf_nan=False)] | None = None


site_routes = APIRouter(tags=["projects"], responses=responses(401))
reads, changes = routers("projects")
LinkNumber = Annotated[int, Path(ge=1, le=10**9)]


@site_routes.get(f"{API}/projects")
def projects(request: Request) -> ProjectList:
    """The projects that your token opens."""
    found: list[tuple[HostedProject, Link]] = request.scope[CALLERS]
    return ProjectList([_entry(hosted, link.who, link.role) for hosted, link in found])


@reads.get("")
def about(caller: CallerOf, hosted: HostedOf) -> ProjectEntry:
    """What the project is called, and who you are in it."""
    return _entry(hosted, caller.who or "", caller.role)


@reads.get("/links")
def links(hosted: HostedOf) -> LinkList:
    """Who may come in, and who no more."""
    return LinkList(list(map(_record, hosted.links.all())))


@changes.post("/links", responses=responses(409))
def invite(hosted: HostedOf, project: ProjectOf, once: Once, wanted: Invitation) -> NewLink:
    """Make a personal link. Its token is told once: with the same key again, the link's number alone."""
    given: list[tuple[Link, str]] = []

    def make() -> int:
        named, ledger = (wanted.who, wanted.role), project.session.ledger
        try:
            given.append(hosted.links.invite(*named, expires=wanted.expires, within=ledger))
        except ValueError as error:
            raise HTTPException(422, f"{str(error)[:1].upper()}{str(error)[1:]}") from None
        return given[0][0].id

    with project.ledger.turn():  # or else the ledger may be in another's transaction
        number = once(make)
    if not given:
        raise HTTPException(
            409,
            f"This request has made link {number} before, and its token was told then: it is not kept. If "
            f"nobody has it, revoke link {number} and make another one, with a new Idempotency-Key.",
        )
    [(made, token)] = given
    return NewLink(_record(made), token, f"/p/{hosted.name}/#token={token}")


@changes.post("/links/{link}/revoke", responses=responses(404))
def revoke(hosted: HostedOf, once: Once, link: LinkNumber) -> LinkRecord:
    """Let a link open nothing from now on."""
    once(lambda: None)  # a key is for one request; doing this one twice changes nothing
    hosted.links.revoke(number=link)
    found = hosted.links.get(link)
    if found is None:
        raise HTTPException(404, f"There is no link {link}.")
    return _record(found)


def _entry(hosted: HostedProject, who: str, role: str) -> ProjectEntry:
    project = hosted.project
    title = None if project is None else project.title
    return ProjectEntry(hosted.name, title, hosted.state, who, role)  # type: ignore[arg-type]


def _record(link: Link) -> LinkRecord:
    return LinkRecord(link.id, link.who, link.role, link.at, link.expires, link.revoked)  # type: ignore[arg-type]


def make_team_app(
    site: Site,
    *,
    allowed_hosts: Iterable[str],
    root_path: str = "",
    observer: Observer | None = None,
) -> FastAPI:
    """Return a server's pages, API v1 and health as an ASGI application.

    Parameters
    ----------
    site : Site
        The projects. It stays the caller's: start it before, and close it afterwards.
    allowed_hosts : iterable of str
        Names that the server goes by, as for `make_app`.
    root_path : str
        Under which address a proxy has it, such as ``"/kinds"``.
    observer : callable or None
        Is told of every request.
    """
    app = new_api(f"{API}/openapi.json", is_locked=True)
    app.include_router(site_routes)
    refused = responses(401)
    named = [Depends(_named)]
    under = f"{API}/projects/{{project}}"
    for routes in (reads, changes):
        app.include_router(routes, prefix=under, dependencies=named, responses=refused)
    include_routes(app, under, need=named, responses=refused)
    mount_static(app)
    _add_pages(app)
    _add_health(app, site)
    app.add_middleware(
        Guard,
        door=LinkDoor(site, root_path=root_path),
        allowed_hosts=tuple(allowed_hosts),
        root_path=root_path,
        observer=observer,
    )
    return app


def _add_pages(app: FastAPI) -> None:
    @app.get("/p/{name}/", include_in_schema=False)
    async def page(name: str) -> Response:
        """The page is the same for any name: that one is there is told to those who have a link."""
        api = html.escape(f"../..{API}/projects/{name}", quote=True)
        marked = f'<html lang="en" data-api="{api}">'
        text = _page("index.html").replace('<html lang="en">', marked, 1)
        return HTMLResponse(text.replace('"/static/', '"../../static/'), headers=KEPT)

    @app.get("/", include_in_schema=False)
    async def nowhere() -> Response:
        words = "This is a server of samekind. Open the whole link that you were given.\n"
        return PlainTextResponse(words)


KEPT = {"Cache-Control": "no-cache"}


@cache
def _page(name: str) -> str:
    return (STATIC / name).read_text("utf-8")


def _add_health(app: FastAPI, site: Site) -> None:
    """Say to everybody whether the server works, and of a name that they know whether it is ready."""

    @app.get("/healthz", include_in_schema=False)
    async def healthz() -> JSONResponse:
        states = [hosted.state for hosted in site.projects.values()]
        counts = {state: states.count(state) for state in ("ready", "opening", "failed")}
        return JSONResponse({"live": True, "projects": counts})

    @app.get("/healthz/{name}", include_in_schema=False, responses={503: {"model": Failure}})
    async def ready(name: str) -> JSONResponse:
        hosted = site.projects.get(name)
        is_ready = hosted is not None and hosted.state == "ready"
        return JSONResponse({"ready": is_ready}, 200 if is_ready else 503)
