"""What the routes take: parameters, and what may go wrong with them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeVar
from urllib.parse import unquote

from fastapi import APIRouter, Depends, Header, HTTPException, Path, Query, Request, Response

from samekind.project import Project
from samekind.web.bodies import LARGEST
from samekind.web.doors import CALLER, Caller
from samekind.web.guard import REQUEST
from samekind.web.replies import Failure, NextQuestions
from samekind.web.roles import may, needed_for

__all__ = [
    "CallerOf",
    "ClusterNumber",
    "Limit",
    "Offset",
    "Once",
    "ProjectOf",
    "Responses",
    "Revalidation",
    "RowNumber",
    "WantedBy",
    "Who",
    "own_request",
    "responses",
    "routers",
]

Responses = dict[int | str, dict[str, object]]
"""What a route may answer, by the status, as OpenAPI has it."""

Reply = TypeVar("Reply", bound=NextQuestions)


def responses(*statuses: int, model: type = Failure) -> Responses:
    """Return that a route may answer with these statuses, and what it says then."""
    return {status: {"model": model} for status in statuses}


async def _caller(request: Request) -> Caller:
    """Return who asks, if they may."""
    caller: Caller = request.scope[CALLER]
    route = request.scope["route"].name
    if not may(caller.role, route):
        raise HTTPException(
            403, f"This is for those whose role is {needed_for(route)!r}; yours is {caller.role!r}."
        )
    return caller


CallerOf = Annotated[Caller, Depends(_caller)]


async def _project(caller: CallerOf) -> Project:
    return caller.project


async def own_request(
    x_samekind: Annotated[
        Literal["1"], Header(description="Says that the request is not another site's.")
    ],
) -> None:
    """Document what the guard checks."""


async def _who(
    caller: CallerOf,
    x_samekind_who: Annotated[
        str,
        Header(
            max_length=1200,
            description="The person's name, percent-encoded UTF-8; of no meaning where people have links.",
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
        raise HTTPException(
            422, "A name has at most 100 characters, all of them printable. Choose another name."
        )
    return name


def routers(tag: str) -> tuple[APIRouter, APIRouter]:
    """Return what routes that only read are added to, and what those that change something are."""
    may_ask = [Depends(_caller)]
    reads = APIRouter(
        tags=[tag], responses=responses(400, 403, 404, 422, 503), dependencies=may_ask
    )
    changes = APIRouter(
        tags=[tag], responses=responses(400, 403, 413, 422, 503), dependencies=may_ask
    )
    return reads, changes


ProjectOf = Annotated[Project, Depends(_project)]
Who = Annotated[str, Depends(_who)]


class _Once:
    """Does what a request asks for once, however often it is repeated with the same key."""

    def __init__(
        self,
        request: Request,
        project: ProjectOf,
        who: Who,
        idempotency_key: Annotated[
            str,
            Header(
                max_length=200,
                pattern=r"^[!-~]*$",
                description="Any text that no other request has: repeated with it, nothing is done twice.",
            ),
        ] = "",
    ) -> None:
        self._project, self._who, self._key = project, who, idempotency_key
        self._request: str = request.scope.get(REQUEST, "")

    def __call__(self, do: Callable[[], object]) -> Any:
        """Return what it returns, or did when it was done."""
        if not self._key:
            return do()
        return self._project.once(self._key, self._request, do, who=self._who)


Once = Annotated[_Once, Depends()]
Offset = Annotated[int, Query(ge=0, le=LARGEST)]
Limit = Annotated[int, Query(ge=1, le=200)]
ClusterNumber = Annotated[int, Path(ge=0, le=LARGEST, description="The row that stands for it.")]
RowNumber = Annotated[int, Path(ge=0, le=LARGEST)]


@dataclass(frozen=True)
class Wanted:
    """Who asks for questions, and for which."""

    project: ProjectOf
    who: Who
    lineup: Annotated[bool, Query(description="Whether line-ups may be asked.")] = True
    most: Annotated[int, Query(ge=1, le=10, description="How many questions to fetch ahead.")] = 1

    def reply(self, form: type[Reply], **more: object) -> Reply:
        """Return the questions and where the work stands, in a reply that may tell more."""
        with self.project.at_one_moment():
            questions = self.project.next(self.who, lineup=self.lineup, most=self.most)
            return form(questions=questions, status=self.project.status(), **more)


WantedBy = Annotated[Wanted, Depends()]


class _Revalidation:
    """Lets the page keep what it was sent and ask each time whether that still holds."""

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
        """Return what to answer if the page has this already; if not, mark the answer with it."""
        headers = self.headers(*what)
        if headers["ETag"] in self._given:
            return Response(status_code=304, headers=headers)
        self._response.headers.update(headers)
        return None

    def headers(self, *what: object) -> dict[str, str]:
        """Return the headers of an answer that may be kept."""
        tag = "-".join([self._edition, *map(str, what)])
        return {"ETag": f'"{tag}"', "Cache-Control": "private, no-cache"}


Revalidation = Annotated[_Revalidation, Depends()]
